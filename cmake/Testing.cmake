# threadstore_test(NAME SOURCES … [LIBRARIES …] [TIMEOUT SECONDS] [THREADED]): a GoogleTest program
# that may include the library's inside. THREADED: it also runs under ThreadSanitizer.
find_package(GTest REQUIRED)
include(GoogleTest)

add_custom_target(threaded_tests COMMENT "What runs under ThreadSanitizer")

# The code of tests is compiled as fast as can be: what it tests is optimised, it need not be.
function(threadstore_unoptimised target)
  target_compile_options(${target} PRIVATE -O0)
endfunction()

function(threadstore_test name)
  cmake_parse_arguments(arg "THREADED" "TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE threadstore::threadstore threadstore_test_support
                        GTest::gmock GTest::gtest_main ${arg_LIBRARIES})
  threadstore_warnings(${name})
  threadstore_unoptimised(${name})
  if(THREADSTORE_PCH)
    target_precompile_headers(${name} REUSE_FROM threadstore_test_support)
  endif()
  set(labels "")
  if(arg_THREADED)
    add_dependencies(threaded_tests ${name})
    set(labels LABELS threaded)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${arg_TIMEOUT} ${labels})
endfunction()
