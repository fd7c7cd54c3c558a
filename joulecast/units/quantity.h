#pragma once

#include <compare>
#include <limits>

namespace joulecast {

/// A number with a unit in its type: explicit in, value() out, arithmetic only where the unit survives it.
template <class Tag>
class Quantity {
  public:
    constexpr Quantity() = default;
    constexpr explicit Quantity(double value) : value_(value) {}

    constexpr double value() const { return value_; }

    friend constexpr auto operator<=>(Quantity, Quantity) = default;
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
    friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity(a.value_ * factor); }
    friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity(a.value_ * factor); }
    friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity(a.value_ / divisor); }
    friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
    constexpr Quantity& operator+=(Quantity other) {
        value_ += other.value_;
        return *this;
    }

  private:
    double value_ = 0.0;
};

using Seconds = Quantity<struct SecondsTag>;
using Joules = Quantity<struct JoulesTag>;
using Watts = Quantity<struct WattsTag>;
using Bytes = Quantity<struct BytesTag>;

constexpr Joules operator*(Watts power, Seconds time) {
    return Joules(power.value() * time.value());
}
constexpr Joules operator*(Seconds time, Watts power) {
    return power * time;
}
constexpr Watts operator/(Joules energy, Seconds time) {
    return Watts(energy.value() / time.value());
}

/// A forecast or measured value; low and high always bound the 90 % interval. NaN where the value is not known.
template <class Unit>
struct Estimate {
    Unit value{std::numeric_limits<double>::quiet_NaN()};
    Unit low{std::numeric_limits<double>::quiet_NaN()};
    Unit high{std::numeric_limits<double>::quiet_NaN()};

    /// False while nothing was measured or forecast.
    constexpr bool known() const { return value.value() == value.value(); }
};

}  // namespace joulecast
