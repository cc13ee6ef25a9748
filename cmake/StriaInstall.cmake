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
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${texts})
# Of the README what is for whoever has the sources stands between two marks, and so does, in a comment, what is for
# whoever has the package.
file(READ ${PROJECT_SOURCE_DIR}/README.md page)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/README.md)
set(package_page "")
while(TRUE)
  string(FIND "${page}" "<!-- only in the tree -->\n" begin)
  if(begin EQUAL -1)
    break()
  endif()
  string(SUBSTRING "${page}" 0 ${begin} before)
  string(SUBSTRING "${page}" ${begin} -1 page)
  string(FIND "${page}" "<!-- end -->\n" end)
  if(end EQUAL -1)
    message(FATAL_ERROR "README.md: a part that is only in the tree has no end")
  endif()
  math(EXPR end "${end} + 13")
  string(SUBSTRING "${page}" ${end} -1 page)
  string(APPEND package_page "${before}")
endwhile()
string(APPEND package_page "${page}")
string(REPLACE "<!-- only in the package\n" "" package_page "${package_page}")
string(REPLACE "end -->\n" "" package_page "${package_page}")
file(WRITE ${PROJECT_BINARY_DIR}/package/README.md "${package_page}")
install(FILES ${PROJECT_BINARY_DIR}/package/README.md DESTINATION ${texts})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${texts})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/guide DESTINATION ${texts}/sdk)
install(FILES ${PROJECT_SOURCE_DIR}/sdk/README.md DESTINATION ${texts}/sdk)
# What those pages name, and what that names: tools/embed_test.sh follows every link.
foreach(file core/calibrate/README.md core/cost/README.md core/cost/block/README.md core/cost/core/README.md core/cost/kernel/README.md core/cost/models/README.md core/cost/program/README.md core/cost/search/README.md
    core/cost/staged/README.md core/cost/workgroup/README.md core/edsl/README.md core/hwmodel/README.md
    core/runtime/pick/README.md core/runtime/stria.h core/stripe/README.md core/stripe/text/README.md core/stripe/verify/README.md
    core/template/README.md hwmodels/README.md hwmodels/schema/hwmodel.schema.json
    plugins/reference/README.md sdk/conformance/README.md sdk/include/stria/plugin.h tests/layers.txt)
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${texts}/${folder})
endforeach()

# Everything that is installed, and nothing else: `cmake --install` works when it is built.
add_custom_target(stria_package DEPENDS stria stria_plugins stria_shared stria_probe stria_isolated)
if(TARGET stria_reader_file)
  add_dependencies(stria_package stria_reader_file)
endif()
