#!/usr/bin/env bash
# format.sh [--check]: formats the C++ sources in place, or only says which are not formatted.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
mode=(-i)
[ "${1:-}" != --check ] || mode=(--dry-run --Werror)
git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.h' |
  xargs -0 -r -P "$(nproc)" -n 20 clang-format "${mode[@]}"
