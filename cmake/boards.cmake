# What `joulecast pack-worker` puts into a worker's wheel: joulecast-meter for each processor that a compiler is found
# for, linked statically, so that it runs with any C library. In a build folder of its own, since the compiler is
# another. `cmake --build BUILD --target joulecast_boards`; of no other build, since it takes minutes.
set(JOULECAST_BOARDS aarch64 x86_64 CACHE STRING "Processors of boards; left out where g++ for them is missing")
add_custom_target(joulecast_boards)

# The header of nlohmann alone: beside it lie headers of this machine's processor.
get_target_property(json_folder nlohmann_json::nlohmann_json INTERFACE_INCLUDE_DIRECTORIES)
find_path(JOULECAST_JSON_FOLDER nlohmann/json.hpp HINTS ${json_folder})
set(boards_folder ${PROJECT_BINARY_DIR}/boards)
file(MAKE_DIRECTORY ${boards_folder}/include)
file(CREATE_LINK ${JOULECAST_JSON_FOLDER}/nlohmann ${boards_folder}/include/nlohmann SYMBOLIC)

# -w: of warnings the ordinary build tells, file by file.
foreach(board IN LISTS JOULECAST_BOARDS)
    find_program(JOULECAST_CXX_${board} ${board}-linux-gnu-g++ DOC "g++ for boards of ${board}")
    if(NOT JOULECAST_CXX_${board})
        message(STATUS "No ${board}-linux-gnu-g++: joulecast pack-worker --target ${board} will say so")
        continue()
    endif()
    set(packed ${PROJECT_BINARY_DIR}/share/joulecast/boards/${board}/joulecast-meter)
    add_custom_target(joulecast_board_${board}
        COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${boards_folder}/${board} -G ${CMAKE_GENERATOR}
                -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=${board}
                -DCMAKE_CXX_COMPILER=${JOULECAST_CXX_${board}} -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
                -DCMAKE_BUILD_TYPE=MinSizeRel -DJOULECAST_MEASURING_ONLY=ON -DJOULECAST_TESTS=OFF -DJOULECAST_UNITY=ON
                -DJOULECAST_STATIC_METER=ON -DCMAKE_CXX_FLAGS=-w -DJOULECAST_JSON_INCLUDE=${boards_folder}/include
                --log-level=WARNING
        COMMAND ${CMAKE_COMMAND} --build ${boards_folder}/${board} --target joulecast_meter
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share/joulecast/boards/${board}
        COMMAND ${CMAKE_COMMAND} -E copy_if_different ${boards_folder}/${board}/bin/joulecast-meter ${packed}
        BYPRODUCTS ${packed} COMMENT "joulecast-meter for boards of ${board}" VERBATIM)
    add_dependencies(joulecast_boards joulecast_board_${board})
    install(PROGRAMS ${packed} DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast/boards/${board} OPTIONAL)
endforeach()
