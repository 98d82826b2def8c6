#!/usr/bin/env bash
# check.sh [STAGE…] [--report STAGE…]: what a change must pass, each stage with its time; a stage that
# fails does not keep the later ones from running. Stages behind --report run for at most 15 minutes
# each, none past the 50th minute of the whole, and only report: their failure does not fail the
# whole. Without arguments all must pass:
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
reported=()
limit=()
report=
for stage in "$@"; do
  if [ "$stage" = --report ]; then report=yes; continue; fi
  declare -F "stage_$stage" >/dev/null || { echo "check.sh: no stage '$stage'" >&2; exit 2; }
  echo "== $stage"
  start=$SECONDS
  if [ -n "$report" ]; then
    seconds=$((3000 - start < 900 ? 3000 - start : 900))
    if [ "$seconds" -le 0 ]; then
      echo "== $stage not run: no time is left"
      reported+=("$stage")
      continue
    fi
    limit=(timeout "$seconds")
  fi
  result=passed
  # A subshell of its own: a failing command inside must not end the script, nor be overlooked.
  "${limit[@]}" "$BASH" -euo pipefail -c "$(declare -f "stage_$stage"); stage_$stage" </dev/null || {
    result=FAILED
    if [ ${#limit[@]} -gt 0 ]; then reported+=("$stage"); else failed+=("$stage"); fi
  }
  echo "== $stage $result after $((SECONDS - start)) s"
done
[ ${#reported[@]} -eq 0 ] || echo "reported only: ${reported[*]} did not pass"
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "all required stages passed in $SECONDS s"
