#!/usr/bin/env bash
# check.sh [STAGE…]: what a change must pass, each stage with its time; a stage that fails does not
# keep the later ones from running. Without arguments all of them:
#   tests   scripts/test.sh           format  clang-format       layers  scripts/check_layers.py
#   tidy    clang-tidy on what changed
#   asan    all tests under AddressSanitizer and UBSan (shared library)
#   tsan    the tests with threads under ThreadSanitizer
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

stage_tests() { scripts/test.sh; }
stage_format() { scripts/format.sh --check; }
stage_layers() { python3 scripts/check_layers.py; }
stage_tidy() { scripts/tidy.sh; }
stage_asan() { scripts/build.sh asan && ctest --preset asan --progress; }
stage_tsan() { scripts/build.sh tsan && ctest --preset tsan --progress; }

[ $# -gt 0 ] || set -- tests format layers tidy asan tsan
scripts/install_packages.sh build checks
failed=()
for stage in "$@"; do
  declare -F "stage_$stage" >/dev/null || { echo "check.sh: no stage '$stage'" >&2; exit 2; }
  echo "== $stage"
  start=$SECONDS
  result=passed
  # A subshell of its own: a failing command inside must not end the script, nor be overlooked.
  "$BASH" -euo pipefail -c "$(declare -f "stage_$stage"); stage_$stage" </dev/null ||
    { result=FAILED; failed+=("$stage"); }
  echo "== $stage $result after $((SECONDS - start)) s"
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "all stages passed in $SECONDS s"
