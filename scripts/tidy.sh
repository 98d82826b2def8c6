#!/usr/bin/env bash
# tidy.sh [--all] [FILE…]: clang-tidy with the rules of .clang-tidy. Without arguments: what changed
# since the default branch or, on it, in the last commits. Ends after TIDY_MINUTES (default 12) with
# the files that were not reached, which is no failure.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

changed_since_base() {
  local base=
  for branch in origin/main main; do
    base=$(git merge-base HEAD "$branch" 2>/dev/null) && break
  done
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    # On the default branch itself: the last commits, or all of a young history.
    base=$(git rev-list --first-parent --max-count=15 HEAD | tail -n 1)
  fi
  git diff --name-only --diff-filter=d "$base" -- '*.cpp' '*.h'
}

# A header is checked through one source that includes it: the one of its own name when there is.
to_sources() {
  local file name
  while read -r file; do
    case $file in
      tests/install/*) ;;
      *.cpp) echo "$file" ;;
      *.h)
        name=${file#include/}
        { git ls-files -- "${file%.h}.cpp"
          git grep -lF "#include \"$name\"" -- '*.cpp'; } | head -n 1 ;;
    esac
  done | awk '!seen[$0]++'
}

if [ "${1:-}" = --all ]; then
  files=$(git ls-files -- '*.cpp' | to_sources)
elif [ $# -gt 0 ]; then
  files=$(printf '%s\n' "$@" | to_sources)
else
  files=$(changed_since_base | to_sources)
fi

cmake --preset tidy >build/tidy.log 2>&1 || { cat build/tidy.log >&2; exit 1; }

export TIDY_END=$(($(date +%s) + ${TIDY_MINUTES:-12} * 60))
check_one() {
  if [ "$(date +%s)" -ge "$TIDY_END" ]; then
    echo "not reached in time: $1"
  elif ! said=$(clang-tidy --quiet -p build/tidy "$1" 2>&1); then
    grep -v ' warnings\? generated\.$' <<<"$said"
    return 1
  fi
}
export -f check_one
# Only sources that this build compiles have a command.
grep -o '"file": "[^"]*"' build/tidy/compile_commands.json | cut -d'"' -f4 |
  sed "s|^$PWD/||" | sort -u >build/tidy/compiled.txt
grep -xFf build/tidy/compiled.txt <<<"$files" |
  xargs -r -P "$(nproc)" -I{} bash -c 'check_one {}'
