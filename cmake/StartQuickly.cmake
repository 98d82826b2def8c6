# Our processes live for milliseconds, and the dynamic loader's look-ups are a good part of that: what
# is linked in needs none. SQLite stays shared, so that the system's updates reach it.
set(THREADSTORE_START_QUICKLY OFF)
if(NOT BUILD_SHARED_LIBS AND NOT THREADSTORE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(THREADSTORE_START_QUICKLY ON)
endif()

# The archives of these libraries, in that order; nothing when one is missing or they are not wanted.
function(threadstore_archives result)
  set(archives "")
  foreach(name IN LISTS ARGN)
    find_library(THREADSTORE_${name}_ARCHIVE "lib${name}.a")
    mark_as_advanced(THREADSTORE_${name}_ARCHIVE)
    if(NOT THREADSTORE_START_QUICKLY OR NOT THREADSTORE_${name}_ARCHIVE)
      set(${result} "" PARENT_SCOPE)
      return()
    endif()
    list(APPEND archives "${THREADSTORE_${name}_ARCHIVE}")
  endforeach()
  set(${result} "${archives}" PARENT_SCOPE)
endfunction()

function(threadstore_start_quickly program)
  if(THREADSTORE_START_QUICKLY)
    target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
