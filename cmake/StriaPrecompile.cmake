# SPDX-License-Identifier: Apache-2.0
# Precompiled headers of tests: much of the time of a test's file is the text of the standard library, fmt and
# GoogleTest. Rooms and plugins have none: of two groups of their files one took 14% less with them, the
# other as long as before.

# stria_precompile_tests(folder): the targets of the folder, and of those below it, that link stria_flags and
# are of C++20 share three precompiled headers: of libraries, of programs, which are compiled with other
# options, and of programs with GoogleTest.
function(stria_precompile_tests folder)
  if(NOT STRIA_PRECOMPILE)
    return()
  endif()
  set(headers <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <set> <string> <string_view>
    <unordered_map> <variant> <vector> <fmt/format.h>)
  set(empty ${PROJECT_BINARY_DIR}/precompiled.cc)
  file(CONFIGURE OUTPUT ${empty} CONTENT "int main() {}\n")
  add_library(stria_precompiled_library OBJECT EXCLUDE_FROM_ALL ${empty})
  add_executable(stria_precompiled_program EXCLUDE_FROM_ALL ${empty})
  add_executable(stria_precompiled_test EXCLUDE_FROM_ALL ${empty})
  foreach(kind library program test)
    set(base stria_precompiled_${kind})
    set_target_properties(${base} PROPERTIES UNITY_BUILD OFF)
    target_link_libraries(${base} PRIVATE stria_flags)
    target_precompile_headers(${base} PRIVATE ${headers})
  endforeach()
  target_link_libraries(stria_precompiled_test PRIVATE GTest::gtest_main GTest::gmock)
  target_precompile_headers(stria_precompiled_test PRIVATE <gtest/gtest.h> <gmock/gmock.h>)
  stria_precompile_below(${folder})
endfunction()

# stria_without_wrong_warnings(target): GCC 12 takes inline functions of precompiled headers for the project's
# own, and warns wrongly about those of std::string.
function(stria_without_wrong_warnings target)
  target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endfunction()

function(stria_precompile_below folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(linked ${target} LINK_LIBRARIES)
    get_target_property(standard ${target} CXX_STANDARD)
    if(NOT "stria_flags" IN_LIST linked OR NOT standard EQUAL 20 OR target MATCHES "^stria_precompiled_")
      continue()
    endif()
    set(kind library)
    if(type STREQUAL "EXECUTABLE" AND "GTest::gtest_main" IN_LIST linked)
      set(kind test)
    elseif(type STREQUAL "EXECUTABLE")
      set(kind program)
    elseif(type STREQUAL "INTERFACE_LIBRARY")
      continue()
    endif()
    target_precompile_headers(${target} REUSE_FROM stria_precompiled_${kind})
    stria_without_wrong_warnings(${target})
  endforeach()
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS below)
    stria_precompile_below(${each})
  endforeach()
endfunction()
