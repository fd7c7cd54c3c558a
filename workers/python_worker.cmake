# add_python_worker(onnxruntime) in workers/onnxruntime: the worker joulecast-onnxruntime of the package
# joulecast_onnxruntime, started by joulecast-onnxruntime.in beside the other programs. Nothing is compiled and nothing
# fetched; a Python that lacks the engine's package says the line that installs it when the worker is started.
function(add_python_worker engine)
    string(TOUPPER ${engine} upper)
    set(JOULECAST_${upper}_PYTHON "python3" CACHE STRING "Python that joulecast-${engine} runs with")
    configure_file(joulecast-${engine}.in ${PROJECT_BINARY_DIR}/bin/joulecast-${engine} @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/joulecast-${engine} DESTINATION ${CMAKE_INSTALL_BINDIR})
    add_python_part(joulecast_${engine})
endfunction()

# Found at ../share/joulecast/workers of the program, in the build tree as after an installation.
function(add_python_part package)
    set(folder ${PROJECT_BINARY_DIR}/share/joulecast/workers)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${package} ${folder}/${package} SYMBOLIC)
    install(DIRECTORY ${package} DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast/workers FILES_MATCHING PATTERN "*.py"
            PATTERN "__pycache__" EXCLUDE)
endfunction()
