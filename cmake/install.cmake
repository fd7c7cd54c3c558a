# The shared library with its headers and CMake package, the program, and what is shipped with it.
if(JOULECAST_MEASURING_ONLY)
    return()
endif()
include(CMakePackageConfigHelpers)
include(cmake/headers.cmake)

target_sources(joulecast PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${joulecast_headers})

# The installed tree may be moved: the program finds its library, zoo and predictors relative to itself.
file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set(programs joulecast_cli)
if(JOULECAST_LAB)
    list(APPEND programs joulecast_lab_cli)
endif()
if(NOT SKBUILD) # in a wheel they lie otherwise: python/CMakeLists.txt
    set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
endif()

option(JOULECAST_PORTABLE "Install for tools/make_portable.sh: libraries that lie beside ours are found before the system's")
if(JOULECAST_PORTABLE)
    # RPATH instead of RUNPATH: it holds for the libraries of libraries too, and those were not built by us.
    target_link_options(joulecast PRIVATE -Wl,--disable-new-dtags)
    foreach(program IN LISTS programs)
        target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
    endforeach()
    set_target_properties(joulecast PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()

install(TARGETS joulecast EXPORT joulecast-targets FILE_SET HEADERS)
install(TARGETS ${programs} joulecast_clockd)
# For an administrator to copy: docs/clocks.md.
configure_file(clockd/joulecast-clockd.service.in ${PROJECT_BINARY_DIR}/joulecast-clockd.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/joulecast-clockd.service clockd/joulecast-clockd.sysusers
              clockd/joulecast-clockd.tmpfiles DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast/systemd)
install(DIRECTORY zoo DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast FILES_MATCHING PATTERN "*.pt2")
install(DIRECTORY predictors DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast OPTIONAL FILES_MATCHING PATTERN "*.jcp")
install(DIRECTORY plans DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast OPTIONAL FILES_MATCHING PATTERN "*.plan")
install(FILES python/joulecast/export_hf.py DESTINATION ${CMAKE_INSTALL_DATADIR}/joulecast/scripts)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The man page is what the program prints of its guides.
set(man_page ${PROJECT_BINARY_DIR}/man/joulecast.1)
add_custom_command(
    OUTPUT ${man_page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
    COMMAND $<TARGET_FILE:joulecast_cli> help --man > ${man_page}
    DEPENDS joulecast_cli VERBATIM)
add_custom_target(joulecast_man ALL DEPENDS ${man_page})
install(FILES ${man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)

# joulecast's dependencies are private, so its package config has to find none.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/joulecast)
install(EXPORT joulecast-targets FILE joulecast-config.cmake NAMESPACE joulecast:: DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/joulecast-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/joulecast-config-version.cmake DESTINATION ${package_folder})
