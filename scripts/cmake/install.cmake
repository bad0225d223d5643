# Header, libraries, command, CMake package and pkg-config file.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/keyferry)

install(FILES common/keyferry.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS keyferry-static keyferry-shared EXPORT keyferry)
if(TARGET keyferry)
    install(TARGETS keyferry)
endif()
install(EXPORT keyferry NAMESPACE keyferry:: FILE keyferryTargets.cmake DESTINATION ${package_dir})

# An installed ufbx is a dependency of the package; our own is inside the library.
set(find_ufbx "")
set(pc_ufbx "")
if(NOT ufbx_type STREQUAL "OBJECT_LIBRARY")
    set(pc_ufbx " -lufbx")
    set(find_ufbx "list(APPEND CMAKE_MODULE_PATH \${CMAKE_CURRENT_LIST_DIR})\nfind_dependency(ufbx)")
    install(FILES ufbx/Findufbx.cmake DESTINATION ${package_dir})
endif()
configure_package_config_file(scripts/cmake/keyferryConfig.cmake.in keyferryConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(keyferryConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/keyferryConfig.cmake ${PROJECT_BINARY_DIR}/keyferryConfigVersion.cmake
    DESTINATION ${package_dir})

# Relative to the file itself, so that the installed tree may be moved.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(scripts/cmake/keyferry.pc.in keyferry.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/keyferry.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
