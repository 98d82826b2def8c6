#!/usr/bin/env bash
# build.sh PRESET [TARGET…]: configures when that is needed, then builds. Says nothing on stdout; on
# failure all that the tools said goes to stderr. Calls for one preset wait for each other, so that
# two terminals may start the program at once.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
preset=${1:?which preset?}
shift
tree=$root/build/$preset

mkdir -p "$tree"
exec 9>"$tree/.build.lock"
flock 9

log=$tree/.build.log
run() {
  (cd "$root" && "$@") >"$log" 2>&1 9>&- </dev/null && return
  cat "$log" >&2
  exit 1
}

if [ ! -f "$tree/build.ninja" ] || [ "$root/CMakePresets.json" -nt "$tree/build.ninja" ]; then
  echo "building in build/$preset; the first time takes some minutes" >&2
  run cmake --preset "$preset"
  touch "$tree/build.ninja"
fi
run cmake --build --preset "$preset" -j "$(nproc)" ${1:+--target "$@"}
