#!/usr/bin/env bash
# Rewrites the golden transcripts of tests/cli/golden as the program prints them now. Read the diff
# before you commit it. approve.sh [PRESET [TRANSCRIPT…]], default: dev, all.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
preset=${1:-dev}
shift || true
cmake --build --preset "$preset" --target threadstore_program cli_golden_test
filter='*'
[ $# -eq 0 ] || filter=$(printf '*/%s:' "$@")
THREADSTORE_APPROVE=1 "build/$preset/tests/cli/cli_golden_test" --gtest_brief=1 --gtest_filter="$filter"
git --no-pager diff --stat -- tests/cli/golden
