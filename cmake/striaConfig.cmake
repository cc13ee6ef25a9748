# SPDX-License-Identifier: Apache-2.0
# find_package(stria): targets stria::stria (what applications link) and stria::sdk (headers for
# plugins), and the function stria_add_plugin.
include(${CMAKE_CURRENT_LIST_DIR}/striaTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/StriaPlugin.cmake)
