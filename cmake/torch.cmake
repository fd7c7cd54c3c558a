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
# LibTorch brings libstdc++.so.6 with it. A compiler set up to link its own copy statically would put a second one beside
# it, and the process ends in `free(): invalid pointer`: so the shared one is named, before the compiler's own.
target_link_libraries(joulecast_torch_library INTERFACE -l:libstdc++.so.6)
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

# CUDA, where the wheel has it: streams, events, graphs and allocator statistics. The headers and the runtime come from
# the wheels that torch depends on (nvidia/cu13, nvidia/cuda_runtime in older ones), or else from an installed toolkit;
# nothing of it is needed on the machine that builds. --no-as-needed: LibTorch finds its kernels by being loaded.
file(GLOB joulecast_cuda_include ${JOULECAST_TORCH}/../nvidia/cu*/include /usr/local/cuda/include)
list(FILTER joulecast_cuda_include EXCLUDE REGEX "/nvidia/(cudnn|cufft|curand|cublas|cusparse.*|cusolver|cupti|cufile)/")
# The wheels lack the headers below crt/, which cuda_runtime_api.h includes: those that triton brings are taken, on which
# torch depends, or else those of an installed toolkit; the runtime stays the one that torch itself loads.
set(joulecast_torch_has_cuda OFF)
set(joulecast_cudart "")
set(joulecast_cuda_headers "")
set(joulecast_triton_include ${JOULECAST_TORCH}/../triton/backends/nvidia/include)
foreach(folder ${joulecast_cuda_include})
    file(GLOB found ${folder}/../lib/libcudart.so.* ${folder}/../lib64/libcudart.so.*)
    list(APPEND joulecast_cudart ${found})
    if(NOT EXISTS ${folder}/cuda_runtime_api.h)
        continue()
    elseif(EXISTS ${folder}/crt/host_defines.h)
        list(APPEND joulecast_cuda_headers ${folder})
    elseif(EXISTS ${joulecast_triton_include}/crt/host_defines.h)
        list(APPEND joulecast_cuda_headers ${folder} ${joulecast_triton_include})
    endif()
endforeach()
if(joulecast_cudart AND joulecast_cuda_headers AND EXISTS ${JOULECAST_TORCH}/lib/libtorch_cuda.so)
    list(GET joulecast_cudart 0 joulecast_cudart)
    set(joulecast_torch_has_cuda ON)
endif()
if(joulecast_torch_has_cuda)
    add_library(joulecast_torch_cuda_library INTERFACE)
    target_include_directories(joulecast_torch_cuda_library SYSTEM INTERFACE ${joulecast_cuda_headers})
    cmake_path(GET joulecast_cudart PARENT_PATH joulecast_cudart_folder)
    target_link_libraries(joulecast_torch_cuda_library INTERFACE
        joulecast_torch_library -Wl,--push-state,--no-as-needed torch_cuda c10_cuda ${joulecast_cudart} -Wl,--pop-state)
    target_link_options(joulecast_torch_cuda_library INTERFACE -Wl,-rpath,${joulecast_cudart_folder})
    message(STATUS "torch worker: with CUDA (${joulecast_cudart})")
elseif(EXISTS ${JOULECAST_TORCH}/lib/libtorch_cuda.so)
    message(WARNING "torch worker: CPU only. This torch has CUDA, but cuda_runtime_api.h with crt/host_defines.h and "
                    "libcudart were found neither beside it nor in /usr/local/cuda: pip install nvidia-cuda-crt "
                    "nvidia-cuda-runtime of torch's CUDA version, or install a CUDA toolkit")
else()
    message(STATUS "torch worker: CPU only, this torch has no CUDA")
endif()
