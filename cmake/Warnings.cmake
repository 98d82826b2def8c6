# Our warnings, on our own targets only: never exported to a user of the package.
option(THREADSTORE_WERROR "Treat warnings as errors" OFF)

function(threadstore_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -Wnull-dereference -Wswitch-enum -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
    $<$<BOOL:${THREADSTORE_WERROR}>:-Werror>)
endfunction()
