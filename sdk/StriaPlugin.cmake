# SPDX-License-Identifier: Apache-2.0
# For plugins, inside stria's tree and outside it: find_package(stria) brings this function.

# stria_add_plugin(NAME SOURCES file… [READER] [FOLDER folder] [DATA folder] [NO_INSTALL])
# Target stria_plugin_NAME: builds the directory <build>/lib/stria/plugins/NAME that the loader looks
# for, with libstria_NAME.so (which exports the one symbol), and copies of plugin.json, hw/*.json,
# passes/*.json and README.md from the current source folder, or from DATA; copied_from.txt names
# that folder, so that messages do. Installs the same directory, without copied_from.txt, under
# <prefix>/lib/stria/plugins. READER links stria::reader (stria/reader.h). Link what else the plugin
# needs to the target, hidden and static where possible. FOLDER is another place under the build
# folder.
function(stria_add_plugin name)
  cmake_parse_arguments(PLUGIN "NO_INSTALL;READER" "FOLDER;DATA" "SOURCES" ${ARGN})
  if(NOT PLUGIN_SOURCES OR PLUGIN_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "stria_add_plugin(${name} SOURCES file…): got '${ARGN}'")
  endif()
  if(NOT PLUGIN_DATA)
    set(PLUGIN_DATA ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  if(NOT EXISTS ${PLUGIN_DATA}/plugin.json)
    message(FATAL_ERROR "plugin ${name}: there is no ${PLUGIN_DATA}/plugin.json")
  endif()
  set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map)
  set(target stria_plugin_${name})
  if(NOT PLUGIN_FOLDER)
    set(PLUGIN_FOLDER lib/stria/plugins)
  endif()
  set(out ${CMAKE_BINARY_DIR}/${PLUGIN_FOLDER}/${name})
  set(installed lib/stria/plugins/${name})
  add_library(${target} MODULE ${PLUGIN_SOURCES})
  set_target_properties(${target} PROPERTIES
    PREFIX lib OUTPUT_NAME stria_${name} LIBRARY_OUTPUT_DIRECTORY ${out}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${target} PRIVATE stria::sdk)
  if(PLUGIN_READER)
    target_link_libraries(${target} PRIVATE stria::reader)
  endif()
  # A unique symbol pins a shared object in memory for ever: a plugin must be able to leave.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  # The C++ helper throws, and catches at the boundary: it works within projects that have no
  # exceptions. A plugin that calls stria/plugin.h alone may turn them off for its target.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fexceptions>)
  # The places of errors without the folder of who built it.
  target_compile_options(${target} PRIVATE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
  target_link_options(${target} PRIVATE -Wl,--version-script,${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  # Nothing may be left to chance at load time, except the sanitizers' own symbols.
  if(NOT STRIA_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()

  file(GLOB data RELATIVE ${PLUGIN_DATA} CONFIGURE_DEPENDS ${PLUGIN_DATA}/plugin.json
    ${PLUGIN_DATA}/hw/*.json ${PLUGIN_DATA}/passes/*.json ${PLUGIN_DATA}/README.md)
  foreach(file IN LISTS data)
    configure_file(${PLUGIN_DATA}/${file} ${out}/${file} COPYONLY
      FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endforeach()
  # Messages about these files name the sources, which are what a person edits.
  file(GENERATE OUTPUT ${out}/copied_from.txt CONTENT "${PLUGIN_DATA}\n"
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  # The loader trusts only what nobody else may write, whatever the umask.
  add_custom_command(TARGET ${target} POST_BUILD COMMAND chmod -R go-w ${out} VERBATIM)
  if(NOT PLUGIN_NO_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION ${installed})
    foreach(file IN LISTS data)
      get_filename_component(folder ${file} DIRECTORY)
      install(FILES ${PLUGIN_DATA}/${file} DESTINATION ${installed}/${folder})
    endforeach()
    install(CODE "execute_process(COMMAND chmod -R go-w
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${installed}\" COMMAND_ERROR_IS_FATAL ANY)")
  endif()
endfunction()
