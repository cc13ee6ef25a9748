# SPDX-License-Identifier: Apache-2.0
# The installed package: `cmake --install build/release --prefix P`. Each folder installs what is its
# own; here is what makes it a package that find_package(stria) finds. All paths are relative to the
# prefix, which may be moved.
include(CMakePackageConfigHelpers)

install(EXPORT stria NAMESPACE stria:: FILE striaTargets.cmake DESTINATION lib/cmake/stria)
set(version_file ${PROJECT_BINARY_DIR}/striaConfigVersion.cmake)
write_basic_package_version_file(${version_file} COMPATIBILITY SameMinorVersion)
get_property(reader_libraries GLOBAL PROPERTY STRIA_READER_LIBRARIES)
configure_file(${PROJECT_SOURCE_DIR}/cmake/striaConfig.cmake ${PROJECT_BINARY_DIR}/striaConfig.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/striaConfig.cmake ${version_file}
  DESTINATION lib/cmake/stria)

# Models to start from, beside what a plugin has of its own.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/hwmodels DESTINATION share/stria)
