# LibTorch out of the PyPI wheel (site-packages/torch), without find_package(Torch): that one demands a CUDA toolkit
# for CUDA wheels and picks its own flags. Links and runs on machines without a GPU.
if(NOT EXISTS ${JOULECAST_TORCH}/include/ATen/ATen.h)
    message(FATAL_ERROR "JOULECAST_TORCH=${JOULECAST_TORCH} holds no include/ATen/ATen.h. "
                        "Give the folder of the installed torch package (.../site-packages/torch), 2.11 or newer.")
endif()

add_library(joulecast_torch_library INTERFACE)
# SYSTEM: their warnings are not ours. Their include folder also holds fmt and protobuf; never include those here.
target_include_directories(joulecast_torch_library SYSTEM INTERFACE
    ${JOULECAST_TORCH}/include ${JOULECAST_TORCH}/include/torch/csrc/api/include)
# Wheels from 2.7 on use the C++11 ABI.
target_compile_definitions(joulecast_torch_library INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
target_link_directories(joulecast_torch_library INTERFACE ${JOULECAST_TORCH}/lib)
target_link_libraries(joulecast_torch_library INTERFACE torch_cpu c10)
# The wheel's libraries find each other, and nvidia/* beside them, through their own run paths.
target_link_options(joulecast_torch_library INTERFACE -Wl,--allow-shlib-undefined -Wl,-rpath,${JOULECAST_TORCH}/lib)

# Threads are pinned from inside of LibTorch's own OpenMP pool, so the program must share its runtime: the libgomp that
# the wheel brings (plain or hashed name, beside the libraries or in torch.libs), not the compiler's.
file(GLOB joulecast_torch_gomp ${JOULECAST_TORCH}/lib/libgomp*.so* ${JOULECAST_TORCH}/../torch.libs/libgomp*.so*)
if(NOT joulecast_torch_gomp)
    message(FATAL_ERROR "${JOULECAST_TORCH}/lib holds no libgomp: is this a wheel of torch for Linux?")
endif()
list(GET joulecast_torch_gomp 0 joulecast_torch_gomp)
target_link_libraries(joulecast_torch_library INTERFACE ${joulecast_torch_gomp})
