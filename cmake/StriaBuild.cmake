# SPDX-License-Identifier: Apache-2.0
# How every target of the project is built: language, warnings, sanitizers, linker, and the three
# functions that make a room of core, a plugin and a test.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")

# Where there is one, and $CCACHE_DISABLE does not forbid it.
if(NOT DEFINED ENV{CCACHE_DISABLE})
  find_program(STRIA_CCACHE ccache)
endif()
if(STRIA_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${STRIA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${STRIA_CCACHE})
endif()

# Files of one target are compiled several at once: most of a small file's time is what its headers
# instantiate. Half the time of a cold build; with -DSTRIA_UNITY=OFF each file stands alone.
option(STRIA_UNITY "Compile the files of a target in groups" ON)
set(CMAKE_UNITY_BUILD ${STRIA_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 6)
# stria_alone(file…): compiled alone, since names of their own (anonymous namespaces) are also those of a
# neighbour, or since a type has members of such (-Wsubobject-linkage takes the file for a header).
function(stria_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Headers of libraries are parsed once for all tests (StriaPrecompile.cmake), and for the conformance suite. Not
# beside ccache, for which an object would then be one build folder's alone; builds with ccache see what a
# file forgot to include.
set(stria_precompile_default OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT STRIA_CCACHE AND NOT STRIA_SANITIZE)
  set(stria_precompile_default ON)
endif()
option(STRIA_PRECOMPILE "Parse headers of libraries once" ${stria_precompile_default})
include(${CMAKE_CURRENT_LIST_DIR}/StriaPrecompile.cmake)

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)  # headers; core/base/fmt_library.cc is its compiled half

add_library(stria_flags INTERFACE)
target_compile_options(stria_flags INTERFACE
  -Wall -Wextra -Werror -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers)
# GCC 12 warns wrongly about std::string assignments it has inlined (GCC bug 105651).
target_compile_options(stria_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Clang reports std::stable_sort of GCC 12's library, which uses a function that C++17 deprecates.
target_compile_options(stria_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
# GCC inlines less in a unit of more than 10,000 instructions, which a group of files soon is: passes took
# 2 to 4 % longer than those of files compiled alone.
if(STRIA_UNITY AND NOT STRIA_SANITIZE)
  target_compile_options(stria_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=large-unit-insns=200000>)
endif()
# A unique symbol pins a shared object in memory for ever: a plugin must be able to leave.
target_compile_options(stria_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  # The IR verifier runs after every pass in debug builds.
  target_compile_definitions(stria_flags INTERFACE STRIA_VERIFY_EACH=1)
endif()
if(STRIA_SANITIZE)
  target_compile_options(stria_flags INTERFACE -fsanitize=${STRIA_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(stria_flags INTERFACE -fsanitize=${STRIA_SANITIZE})
  # GCC's own checks hide initialisations from this warning: it is wrong in std::regex, for one.
  target_compile_options(stria_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# stria_room(NAME SOURCES … DEPS room… PRIVATE target…)
# One static library stria_NAME per room of core. Headers are included as "stria/NAME/file.h"; that
# path exists only for targets that link the room, so an include that CMake does not know fails.
function(stria_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPS;PRIVATE" ${ARGN})
  set(view ${CMAKE_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${view}/stria)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/stria/${name} SYMBOLIC)
  if(ROOM_SOURCES)
    add_library(stria_${name} STATIC ${ROOM_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(stria_${name} PRIVATE stria_flags ${ROOM_PRIVATE})
  else()
    add_library(stria_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(stria_${name} ${scope} ${view})
  foreach(dep IN LISTS ROOM_DEPS)
    target_link_libraries(stria_${name} ${scope} stria_${dep})
  endforeach()
endfunction()

# stria_plugin(NAME SOURCES … ROOMS room… PRIVATE target… [FOLDER folder])
# A plugin of this tree: what stria_add_plugin makes, with rooms of core linked in, hidden. With a
# FOLDER of its own it is one of the tests' and is not installed.
include(${CMAKE_CURRENT_LIST_DIR}/../sdk/StriaPlugin.cmake)
function(stria_plugin name)
  cmake_parse_arguments(PLUGIN "" "FOLDER" "SOURCES;ROOMS;PRIVATE" ${ARGN})
  set(place)
  if(PLUGIN_FOLDER)
    set(place FOLDER ${PLUGIN_FOLDER} NO_INSTALL)
  else()
    set_property(GLOBAL APPEND PROPERTY STRIA_PLUGINS \"${name}\")
  endif()
  stria_add_plugin(${name} SOURCES ${PLUGIN_SOURCES} ${place})
  target_link_libraries(stria_plugin_${name} PRIVATE stria_flags ${PLUGIN_PRIVATE})
  foreach(room IN LISTS PLUGIN_ROOMS)
    target_link_libraries(stria_plugin_${name} PRIVATE stria_${room})
  endforeach()
endfunction()

# stria_test(NAME SOURCES … ROOMS room… PRIVATE target… [LABELS …] [TIMEOUT s] [SANITIZER option=value…])
# A GoogleTest binary, run as one ctest entry. SANITIZER: options of the sanitizers' run time, each with
# its reason where it is given.
function(stria_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "SOURCES;ROOMS;PRIVATE;LABELS;ARGS;SANITIZER" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE stria_flags GTest::gtest_main GTest::gmock ${TEST_PRIVATE})
  foreach(room IN LISTS TEST_ROOMS)
    target_link_libraries(${name} PRIVATE stria_${room})
  endforeach()
  # Only files that use these names get them: others compile the same in every checkout (ccache).
  # STRIA_PLUGINS lists the names of all plugins as C strings.
  get_property(plugins GLOBAL PROPERTY STRIA_PLUGINS)
  list(JOIN plugins ", " plugins)
  set(headers_use)
  file(GLOB headers ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  foreach(header IN LISTS headers)
    file(STRINGS ${header} uses REGEX "STRIA_(SOURCE|BINARY)_DIR")
    list(APPEND headers_use ${uses})
  endforeach()
  foreach(source IN LISTS TEST_SOURCES)
    file(STRINGS ${source} uses REGEX "STRIA_(SOURCE|BINARY)_DIR")
    if(uses OR headers_use)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
        STRIA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" STRIA_BINARY_DIR="${PROJECT_BINARY_DIR}")
    endif()
    file(STRINGS ${source} uses REGEX "STRIA_PLUGINS")
    if(uses)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS "STRIA_PLUGINS=${plugins}")
    endif()
  endforeach()
  add_test(NAME ${name} COMMAND ${name} ${TEST_ARGS})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  # A limit is for what hangs: sanitizers and a busy machine may be ten times slower.
  if(STRIA_SANITIZE)
    math(EXPR TEST_TIMEOUT "4 * ${TEST_TIMEOUT}")
  endif()
  if(NOT TEST_LABELS)
    set(TEST_LABELS quick)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "${TEST_LABELS}")
  stria_test_environment(${name} ${TEST_SANITIZER})
endfunction()

# Which Vulkan drivers the tests have: by default lavapipe alone, which runs on the processor, so that no
# test takes a GPU by accident. Or ICD files, with `:` between them; or `machine`: those of the machine, of
# which VK_DRIVER_FILES and STRIA_TEST_DEVICES may choose when the tests run.
set(STRIA_TEST_VULKAN_DRIVERS "lavapipe" CACHE STRING "Vulkan drivers of the tests: lavapipe, machine, or ICD files")
set(stria_vulkan_environment VK_LOADER_LAYERS_DISABLE=~implicit~
  MESA_SHADER_CACHE_DIR=${PROJECT_BINARY_DIR}/mesa_cache)
if(STRIA_TEST_VULKAN_DRIVERS STREQUAL "lavapipe")
  file(GLOB stria_lavapipe /usr/share/vulkan/icd.d/lvp_icd*.json /usr/local/share/vulkan/icd.d/lvp_icd*.json)
  # Where it is not installed, its name finds no driver.
  list(APPEND stria_lavapipe /usr/share/vulkan/icd.d/lvp_icd.${CMAKE_SYSTEM_PROCESSOR}.json)
  list(GET stria_lavapipe 0 stria_vulkan_drivers)
elseif(NOT STRIA_TEST_VULKAN_DRIVERS STREQUAL "machine")
  set(stria_vulkan_drivers ${STRIA_TEST_VULKAN_DRIVERS})
endif()
if(stria_vulkan_drivers)
  # Loaders know one or both of the names.
  list(APPEND stria_vulkan_environment VK_DRIVER_FILES=${stria_vulkan_drivers} VK_ICD_FILENAMES=${stria_vulkan_drivers})
endif()

# stria_test_environment(TEST [option=value…]): how a test runs, under the sanitizers with these options too.
function(stria_test_environment test)
  # What a driver compiles for the tests stays in the build folder, and serves the next run.
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT
    POCL_CACHE_DIR=${PROJECT_BINARY_DIR}/pocl_cache ${stria_vulkan_environment})
  # What stria keeps or reads of a user, such as verdicts and calibrations, is not the developer's.
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT
    XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/test_cache XDG_CONFIG_HOME=${PROJECT_BINARY_DIR}/test_config)
  # Every module that a test emits is validated in the end (tests/CMakeLists.txt).
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT STRIA_KEEP_SPIRV=${PROJECT_BINARY_DIR}/spirv)
  if(STRIA_SANITIZE)
    # Tests ask for more memory than there is; that must fail as it does without a sanitizer.
    list(JOIN ARGN ":" options)
    set(options allocator_may_return_null=1:${options})
    # PoCL's compiler gives threads signal stacks of its own; the address sanitizer would unmap those as its.
    # PoCL unloads kernels whose thread-local storage the leak checker (use_tls) would still read.
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT
      "ASAN_OPTIONS=use_sigaltstack=0:${options}" "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/thread_suppressions.txt:${options}"
      LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/leak_suppressions.txt:print_suppressions=0:use_tls=0)
  endif()
endfunction()

# stria_full_test(NAME TEST test ENVIRONMENT … TIMEOUT s)
# The binary of stria_test(test) once more, made long by its environment variables. It belongs to the
# full sweep: no run of ctest has it but `ctest -C full -L full`.
function(stria_full_test name)
  cmake_parse_arguments(FULL "" "TEST;TIMEOUT" "ENVIRONMENT" ${ARGN})
  add_test(NAME ${name} CONFIGURATIONS full COMMAND ${FULL_TEST})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${FULL_TIMEOUT} LABELS full
    ENVIRONMENT "${FULL_ENVIRONMENT}")
  stria_test_environment(${name})
endfunction()

# stria_lesser_processor_tests(test [ALWAYS VAR=value…] [SAMPLE VAR=value…])
# The binary of stria_test(test) with llvm_cpu's code made for AVX2 and for SSE2 alone, under these
# variables; those of SAMPLE shorten it for all runs but the full sweep.
function(stria_lesser_processor_tests test)
  cmake_parse_arguments(LESSER "" "" "ALWAYS;SAMPLE" ${ARGN})
  foreach(pair "avx2=haswell" "sse2=x86-64")
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 name)
    list(GET pair 1 processor)
    set(environment STRIA_LLVM_CPU_PROCESSOR=${processor} ${LESSER_ALWAYS})
    add_test(NAME ${test}_${name} COMMAND ${test})
    set_tests_properties(${test}_${name} PROPERTIES TIMEOUT 300 LABELS end_to_end
      ENVIRONMENT "${environment};${LESSER_SAMPLE}")
    stria_test_environment(${test}_${name})
    stria_full_test(${test}_${name}_full TEST ${test} ENVIRONMENT ${environment} TIMEOUT 1800)
  endforeach()
endfunction()
