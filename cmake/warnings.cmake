# Warnings and sanitizers in one place; presets make warnings errors.
add_library(joulecast_warnings INTERFACE)
target_compile_options(joulecast_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                                    $<$<BOOL:${JOULECAST_WERROR}>:-Werror>)
if(JOULECAST_SANITIZE)
    add_compile_options(-fsanitize=${JOULECAST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${JOULECAST_SANITIZE})
endif()
