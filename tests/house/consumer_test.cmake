# Run as a script: cmake -DBUILD=<build tree> -DSOURCE=<consumer> -DEXAMPLE=<examples/predict> -DWORK=<folder>
# -P consumer_test.cmake
# Installs into a fresh folder, moves it (nothing may remember where it was built), builds the consumer and the example
# against it, and lets the installed program, and the example, find what was shipped with it.
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
function(build_consumer source folder)
    run(${CMAKE_COMMAND} -S ${source} -B ${folder} -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/installed
        -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
    run(${CMAKE_COMMAND} --build ${folder})
endfunction()
build_consumer(${SOURCE} ${WORK}/build)
build_consumer(${EXAMPLE} ${WORK}/example)

run(${WORK}/build/consumer)
if(NOT out STREQUAL "op,tensors\naten::relu,1\n")
    message(FATAL_ERROR "the consumer printed:\n${out}")
endif()

run(${WORK}/installed/bin/joulecast extract resnet18 --format json)
if(NOT out MATCHES "joulecast.extract/1")
    message(FATAL_ERROR "the installed program printed:\n${out}")
endif()

run(${CMAKE_COMMAND} -E env --unset=JOULECAST_HOME ${WORK}/example/predict resnet18 a30 a30@900)
# Two modes at the device's own clock, and two at 900 MHz.
set(number "[-+.e0-9]+")
set(one "resnet18 on NVIDIA A30: ${number} s \\(90 %: ${number} to ${number} s\\), ${number} J\n")
if(NOT out MATCHES "^${one}${one}${one}${one}$")
    message(FATAL_ERROR "the example printed:\n${out}")
endif()
