# THREADSTORE_SANITIZE: a list for -fsanitize=, such as "address,undefined" or "thread".
set(THREADSTORE_SANITIZE "" CACHE STRING "Sanitizers for every target of this build")

if(THREADSTORE_SANITIZE)
  add_compile_options(-fsanitize=${THREADSTORE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${THREADSTORE_SANITIZE})
endif()

option(THREADSTORE_COVERAGE "Instrument for coverage" OFF)
if(THREADSTORE_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

if(THREADSTORE_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
