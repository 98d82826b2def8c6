# Our warnings, on our own targets only: never exported to a user of the package.
option(THREADSTORE_WERROR "Treat warnings as errors" OFF)

function(threadstore_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -Wnull-dereference -Wswitch-enum -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
    $<$<BOOL:${THREADSTORE_WERROR}>:-Werror>
    # Guesses of the optimiser: GCC 12 makes them inside the standard library that it inlined, too.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-error=null-dereference>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-error=array-bounds>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-error=stringop-overflow>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-error=restrict>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>)
endfunction()
