# Warnings and sanitizers in one place; presets make warnings errors.
add_library(joulecast_warnings INTERFACE)
target_compile_options(joulecast_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                                    $<$<BOOL:${JOULECAST_WERROR}>:-Werror>)
if(JOULECAST_UNITY)
    # In joined files a local name may be that of another file's constant: clang-tidy reads single files and warns of
    # real shadows. And g++ takes a class of a joined file for one of a header, which must not use unnamed namespaces.
    target_compile_options(joulecast_warnings INTERFACE -Wno-shadow
                                                        $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 sees overlapping copies in `"x" + std::string` where there are none (GCC bug 105651, fixed in 13).
    target_compile_options(joulecast_warnings INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # libstdc++ 12's stable_sort calls its own deprecated get_temporary_buffer, which clang reports at our call. For
    # clang, unlike g++, changes of sign are conversions too.
    target_compile_options(joulecast_warnings INTERFACE -Wno-deprecated-declarations -Wno-sign-conversion)
endif()
if(JOULECAST_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "libFuzzer comes with clang: configure with the preset asan, or CMAKE_CXX_COMPILER=clang++-19")
    endif()
    # Coverage for all code; the fuzzer's main only for the targets in tests/fuzz.
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(JOULECAST_SANITIZE)
    add_compile_options(-fsanitize=${JOULECAST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${JOULECAST_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        # Hundreds of test programs, each with the sanitizers' runtime: ld takes three times as long.
        add_link_options(-fuse-ld=lld)
    endif()
endif()
