# SPDX-License-Identifier: Apache-2.0
# find_package(stria): targets stria::stria (what applications link), stria::sdk (headers for
# plugins) and stria::reader (what reads device Stripe for them, an archive), and the function
# stria_add_plugin.
include(${CMAKE_CURRENT_LIST_DIR}/striaTargets.cmake)
if(NOT TARGET stria::reader)
  add_library(stria::reader STATIC IMPORTED)
  set_target_properties(stria::reader PROPERTIES
    IMPORTED_LOCATION ${CMAKE_CURRENT_LIST_DIR}/../../libstria_reader.a
    INTERFACE_LINK_LIBRARIES "stria::sdk;@reader_libraries@")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/StriaPlugin.cmake)
