#!/usr/bin/env bash
# check.sh [STAGE…]: what a change must pass, each stage with its time; a stage that fails does not
# keep the later ones from running. Without arguments all of them:
#   tests   scripts/test.sh           format  clang-format       layers  scripts/check_layers.py
#   asan    all tests under AddressSanitizer and UBSan (shared library)
#   tsan    the tests with threads under ThreadSanitizer
#   tidy    clang-tidy on what changed
# With CHECK_MINUTES a stage ends when the whole has taken so long; that is said, and is no failure.
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
  declare -F "stage_$stage" >/dev/null || { echo "check.sh: no stage '$stage'" >&2; exit 2; }
  echo "== $stage"
  start=$SECONDS
  if [ -n "${CHECK_MINUTES:-}" ]; then
    seconds=$((CHECK_MINUTES * 60 - start))
    limit=(timeout --kill-after 10 "$((seconds > 0 ? seconds : 1))")
  fi
  # A shell of its own: a failing command inside must not end the script, nor be overlooked.
  status=0
  "${limit[@]}" "$BASH" -euo pipefail -c "$(declare -f "stage_$stage"); stage_$stage" </dev/null ||
    status=$?
  case $status in
    0) result=passed ;;
    124) result='ended: no time is left' unfinished+=("$stage") ;;
    *) result=FAILED failed+=("$stage") ;;
  esac
  echo "== $stage $result after $((SECONDS - start)) s"
done
[ ${#unfinished[@]} -eq 0 ] || echo "not finished in $CHECK_MINUTES minutes: ${unfinished[*]}"
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "no stage failed in $SECONDS s"
