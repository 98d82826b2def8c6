#!/usr/bin/env bash
# fuzz.sh TARGET SECONDS: fuzzes one of index, json, item, cursor, thread_ref, database, starting
# with its corpus in tests/fuzz/corpus. New inputs stay in build/fuzz/corpus; an input that ends the
# program is kept in build/fuzz/crashes: mend it, then add the file to the corpus, which the tests
# replay. Without arguments: prints the targets.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

if [ $# -ne 2 ]; then
  echo "usage: scripts/fuzz.sh TARGET SECONDS; targets:" $(ls tests/fuzz/corpus)
  [ $# -eq 0 ] && exit 0 || exit 2
fi
target=$1 seconds=$2
[ -d "tests/fuzz/corpus/$target" ] || { echo "fuzz.sh: no target '$target'" >&2; exit 2; }

scripts/install_packages.sh build checks
scripts/build.sh fuzz "fuzz_$target"
found=build/fuzz/corpus/$target crashes=build/fuzz/crashes/$target
mkdir -p "$found" "$crashes"
exec "build/fuzz/tests/fuzz/fuzz_$target" "$found" "tests/fuzz/corpus/$target" \
  -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="$crashes/"
