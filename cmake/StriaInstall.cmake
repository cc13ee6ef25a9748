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
# Texts for whoever has the package alone, in folders as in the tree, so that links between them hold.
set(texts share/doc/stria)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${texts})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${texts})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/guide DESTINATION ${texts}/sdk)
install(FILES ${PROJECT_SOURCE_DIR}/sdk/README.md DESTINATION ${texts}/sdk)
install(FILES ${PROJECT_SOURCE_DIR}/core/stripe/README.md DESTINATION ${texts}/core/stripe)

# Everything that is installed, and nothing else: `cmake --install` works when it is built.
add_custom_target(stria_package DEPENDS stria stria_plugins stria_shared stria_probe)
if(TARGET stria_reader_file)
  add_dependencies(stria_package stria_reader_file)
endif()
