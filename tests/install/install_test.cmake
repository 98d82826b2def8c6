# Runs as a test, with BUILD (the library's build tree), README, USER (a project's sources), WORK (an
# empty place), COMPILER, SANITIZE and COVERAGE.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGV}: ${code}\n${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

# What the README shows is what is compiled here.
file(READ "${USER}/main.cpp" program)
file(READ "${README}" readme)
string(FIND "${readme}" "${program}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md does not show tests/install/user/main.cpp as it is")
endif()

set(flags "")
if(SANITIZE)
  string(APPEND flags " -fsanitize=${SANITIZE}")
endif()
if(COVERAGE)
  string(APPEND flags " --coverage")
endif()

file(REMOVE_RECURSE "${WORK}")
run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/prefix")
run(${CMAKE_COMMAND} -G Ninja -S "${USER}" -B "${WORK}/build"
    -D "CMAKE_PREFIX_PATH=${WORK}/prefix" -D "CMAKE_CXX_COMPILER=${COMPILER}"
    -D "CMAKE_CXX_FLAGS=${flags}")
run(${CMAKE_COMMAND} --build "${WORK}/build")
run("${WORK}/build/diary" "${WORK}/store/state.db")
if(NOT said STREQUAL "user: Hello\nassistant: Good morning\n")
  message(FATAL_ERROR "the installed library's user printed:\n${said}")
endif()
