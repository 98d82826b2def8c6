#!/usr/bin/env bash
# check.sh [STAGE…] [--in-time STAGE…]: what a change must pass, each stage with its time; a stage that
# fails does not keep the later ones from running. What stands behind --in-time runs until minute 50 of
# the whole: what it finds counts, what it did not reach by then is only said. Without arguments all:
#   tests   scripts/test.sh           format  clang-format       layers  scripts/check_layers.py
#   asan    all tests under AddressSanitizer and UBSan (shared library)
#   tsan    the tests with threads under ThreadSanitizer
#   tidy    clang-tidy on what changed
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

stage_tests() { scripts/test.sh; }
stage_format() { scripts/format.sh --check; }
stage_layers() { python3 scripts/check_layers.py; }
stage_asan() { scripts/build.sh asan && ctest --preset asan --progress; }
stage_tsan() { scripts/build.sh tsan && ctest --preset tsan --progress; }
stage_tidy() { scripts/tidy.sh; }

[ $# -gt 0 ] || set -- tests format layers asan tsan tidy
scripts/install_packages.sh build checks
failed=()
unfinished=()
limit=()
for stage in "$@"; do
  if [ "$stage" = --in-time ]; then
    limit=(timeout --kill-after 10)
    continue
  fi
  declare -F "stage_$stage" >/dev/null || { echo "check.sh: no stage '$stage'" >&2; exit 2; }
  echo "== $stage"
  start=$SECONDS
  left=$((start < 3000 ? 3000 - start : 1))
  status=0
  # A shell of its own: a failing command inside must not end the script, nor be overlooked.
  ${limit[@]:+"${limit[@]}" "$left"} "$BASH" -euo pipefail \
    -c "$(declare -f "stage_$stage"); stage_$stage" </dev/null || status=$?
  if [ "$status" -eq 0 ]; then
    result=passed
  elif [ ${#limit[@]} -gt 0 ] && { [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; }; then
    result='not finished in time' unfinished+=("$stage")
  else
    result=FAILED failed+=("$stage")
  fi
  echo "== $stage $result after $((SECONDS - start)) s"
done
[ ${#unfinished[@]} -eq 0 ] || echo "not finished in time: ${unfinished[*]}"
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "nothing failed in $SECONDS s"
