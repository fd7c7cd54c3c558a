#include "joulecast/graph/integers.h"

namespace joulecast {

void Integers::move_to_place_for(std::size_t size) {
    if (is_long() && size > few && size <= place_.heap.capacity) return;
    Place next;
    if (size > few) {
        const std::size_t capacity = std::max(size, 2 * size_);
        next.heap = {new std::int64_t[capacity], capacity};
    }
    std::copy_n(begin(), std::min(size, size_), size > few ? next.heap.items : next.own);
    if (is_long()) delete[] place_.heap.items;
    place_ = next;
}

}  // namespace joulecast
