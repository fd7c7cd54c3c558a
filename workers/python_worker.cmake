# add_python_worker(torch-compile torch) in workers/torch_compile: the worker joulecast-torch-compile of the package
# joulecast_torch_compile beside the other programs, run by a Python with torch. Nothing is compiled and nothing
# fetched; where the Python lacks the engine, the worker says the line that installs it when it is started.
function(add_python_worker engine needed)
    string(REPLACE - _ package ${engine})
    string(TOUPPER ${package} upper)
    set(JOULECAST_${upper}_PYTHON "python3" CACHE STRING "Python that joulecast-${engine} runs with")
    set(JOULECAST_PYTHON_OF_ENGINE "${JOULECAST_${upper}_PYTHON}")
    configure_file(${PROJECT_SOURCE_DIR}/workers/python_worker.in ${PROJECT_BINARY_DIR}/bin/joulecast-${engine} @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/joulecast-${engine} DESTINATION ${CMAKE_INSTALL_BINDIR})
    add_python_part(joulecast_${package})
endfunction()

# Found at ../share/joulecast/workers of the program, in the build tree as after an installation.
function(add_python_part package)
    set(folder ${PROJECT_BINARY_DIR}/share/joulecast/workers)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${package} ${folder}/${package} SYMBOLIC)
    install(DIRECTORY ${package} DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast/workers FILES_MATCHING PATTERN "*.py"
            PATTERN "__pycache__" EXCLUDE)
endfunction()
