# Finds an installed ufbx, with or without a CMake package of its own: the target ufbx::ufbx.
find_package(ufbx CONFIG QUIET)
find_path(ufbx_INCLUDE_DIR ufbx.h)
find_library(ufbx_LIBRARY ufbx)
mark_as_advanced(ufbx_INCLUDE_DIR ufbx_LIBRARY)

if(TARGET ufbx::ufbx AND NOT ufbx_INCLUDE_DIR)
    get_target_property(ufbx_INCLUDE_DIR ufbx::ufbx INTERFACE_INCLUDE_DIRECTORIES)
endif()
if(EXISTS "${ufbx_INCLUDE_DIR}/ufbx.h")
    file(STRINGS "${ufbx_INCLUDE_DIR}/ufbx.h" ufbx_VERSION REGEX "^#define UFBX_HEADER_VERSION ufbx_pack_version")
    string(REGEX REPLACE ".*\\(([0-9]+), *([0-9]+), *([0-9]+)\\).*" "\\1.\\2.\\3" ufbx_VERSION "${ufbx_VERSION}")
endif()

if(NOT TARGET ufbx::ufbx AND ufbx_INCLUDE_DIR AND ufbx_LIBRARY)
    add_library(ufbx::ufbx UNKNOWN IMPORTED)
    set_target_properties(ufbx::ufbx PROPERTIES
        IMPORTED_LOCATION "${ufbx_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${ufbx_INCLUDE_DIR}")
endif()
if(TARGET ufbx::ufbx)
    set(ufbx_TARGET ufbx::ufbx)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ufbx REQUIRED_VARS ufbx_TARGET ufbx_INCLUDE_DIR VERSION_VAR ufbx_VERSION)
