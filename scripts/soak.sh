#!/usr/bin/env bash
# soak.sh [MINUTES]: the long forms of the tests of docs/guarantees.md, one after the other, for about
# so long in all (default: 60). The tests themselves run short forms of them. Ends at the first
# failure, with what replays it. Run it as root to include mounts and power cuts of a loop device.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
minutes=${1:-60}
[[ $minutes =~ ^[1-9][0-9]*$ ]] || { echo "soak.sh: '$minutes' is not a number of minutes" >&2; exit 2; }

"$root/scripts/install_packages.sh" build
"$root/scripts/build.sh" release
tests=$root/build/release/tests
end=$(($(date +%s) + minutes * 60))

run() {  # run WHAT PROGRAM FILTER [VARIABLE=VALUE…]
  local what=$1 program=$2 filter=$3 start=$SECONDS
  shift 3
  echo "== $what"
  env "$@" "$tests/$program" --gtest_brief=1 --gtest_filter="$filter" ||
    { echo "soak.sh: failed: $* $tests/$program --gtest_filter='$filter'"; exit 1; }
  echo "== passed after $((SECONDS - start)) s"
}

round=1
while [ "$(date +%s)" -lt "$end" ]; do
  echo "== round $round"
  run 'the log stays short: 4 writers, 3 readers, 60 s' state/db/db_gate_tests \
    '*StaysBelowSixtyFour*' THREADSTORE_SOAK_SECONDS=60
  run 'swarms, kills and growth at the length of the promises' process/process_test \
    'KillTest.*:SwarmTest.*:BoundedGrowthTest.*:BackupSwarmTest.*' THREADSTORE_LONG_TESTS=1
  run 'power cuts of a loop device' process/process_test 'RealCutTest.*' THREADSTORE_CUTS=20
  run 'crash model, a new script' crash/crash_test 'CrashTest.*:IndexCrashTest.*' \
    THREADSTORE_CRASH_SEED=$round$RANDOM THREADSTORE_CRASH_SEEDS=1
  run 'fault sweep, every call' crash/crash_test '*FaultTest*' THREADSTORE_FAULT_SWEEP=1
  run 'damaged databases' state/maintenance/maintenance_tests '*MutatedDatabases*:DamagedProgram*' \
    THREADSTORE_SEED=$((round * 1000)) THREADSTORE_MUTATIONS=500
  run 'salvage without each single page' state/maintenance/maintenance_tests 'SalvagePages*' \
    THREADSTORE_EVERY_PAGE=1
  round=$((round + 1))
done
