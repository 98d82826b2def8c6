#!/usr/bin/env bash
# bench.sh [--quick] [--dir DIRECTORY] [--benchmark_filter=REGEX]: builds the benchmarks, runs them
# beside a raw SQLite program, prints the table of docs/performance.md and writes it as JSON to
# build/release/bench.json. --quick ends within a minute once they are built. Run it on an idle
# machine; --dir chooses the disk (default: the build tree's).
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
"$root/scripts/install_packages.sh" build
"$root/scripts/build.sh" release threadstore_bench
tree=$root/build/release
"$tree/tests/bench/threadstore_bench" --dir "$tree" --json "$tree/bench.json" "$@"
echo "also in $tree/bench.json"
