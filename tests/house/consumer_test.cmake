# Run as a script: cmake -DBUILD=<build tree> -DSOURCE=<consumer> -DWORK=<folder> -P consumer_test.cmake
# Installs into a fresh folder, moves it (nothing may remember where it was built), builds the consumer against it,
# and lets the installed program find what was shipped with it.
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
    if(NOT status EQUAL 0)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}\nended with ${status}:\n${out}")
    endif()
    set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/before)
file(RENAME ${WORK}/before ${WORK}/installed)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/installed
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${WORK}/build)

run(${WORK}/build/consumer)
if(NOT out STREQUAL "op,tensors\naten::relu,1\n")
    message(FATAL_ERROR "the consumer printed:\n${out}")
endif()

run(${WORK}/installed/bin/joulecast extract resnet18 --format json)
if(NOT out MATCHES "joulecast.extract/1")
    message(FATAL_ERROR "the installed program printed:\n${out}")
endif()
