#!/usr/bin/env bash
# mutants.sh [NAME…]: shows that the tests bite. In a copy of the tree (build/mutants) it takes one
# safeguard at a time out of the code, and the tests named beside it must then fail; before, on the
# unchanged copy, they must all pass. Without names all mutants run; --list prints them. Exit status
# 1 when one survives. The first run builds the copy, later ones only what a mutant changes.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
copy=$root/build/mutants

# name ~ file ~ perl substitution on the whole file ~ targets ~ test program ~ its filter
mutants=(
  'guard~state/db/wal_keeper.cpp~s/guard_\(guard != nullptr && run\(guard, "BEGIN IMMEDIATE"\) \? guard : nullptr\)/guard_(guard)/~db_gate_tests~state/db/db_gate_tests~WalResetRaceTest.*:WalKeeperTest.AForeignWriterIsNotDisturbed'
  'fsync-temp~base/files.cpp~s/    made->sync\(\);\n//~session_index_test index_actor~session_index/session_index_test~SessionIndexDurabilityTest.*'
  'fsync-dir~base/files.cpp~s/  sync_directory\(parent_of\(file\)\);\n\}/}/~session_index_test index_actor~session_index/session_index_test~SessionIndexDurabilityTest.*'
  'fsync-append~session_index/index_file.cpp~s/    opened_->sync_data\(\);\n//~session_index_test index_actor~session_index/session_index_test~SessionIndexDurabilityTest.*'
  'tail-repair~session_index/index_file.cpp~s/is_torn\(\*opened_, before.size\) \? "\\n" : ""/""/~session_index_test index_actor~session_index/session_index_test~SessionIndexDamageTest.*'
  'immediate~state/db/writer.cpp~s/BEGIN IMMEDIATE/BEGIN/~process_test process_actor~process/process_test~LockedTest.*'
  'gate~state/db/writer.cpp~s/if \(gate_\) \{\n      gate_->lock/if (gate_ && options_.deadline.count() < 0) {\n      gate_->lock/~process_test process_actor~process/process_test~BoundedGrowthTest.WritersGetEqualShares'
  'foreign-keys~state/db/connection.cpp~s/(ENABLE_FKEY, )1/${1}0/; s/pragma\("PRAGMA foreign_keys"\) != "1"/file_.empty()/~thread_tests records_test record_actor original_actor~state/threads/records_test~*'
  'expected-leaf~state/threads/message_append.cpp~s/if \(!call.options.expected_leaf \|\|/if (!call.thread.str().empty() ||/~state_messages_tests~state/threads/state_messages_tests~MessagesTest.*'
)

names() { printf '%s\n' "${mutants[@]}" | cut -d'~' -f1; }
if [ "${1:-}" = --list ]; then names; exit; fi
wanted=("$@")
[ $# -gt 0 ] || mapfile -t wanted < <(names)
for name in "${wanted[@]}"; do
  names | grep -qxF -- "$name" || { echo "mutants.sh: no mutant '$name'; --list names them" >&2; exit 2; }
done

"$root/scripts/install_packages.sh" build
mkdir -p "$copy/tree"
# Only what differs is copied, with the time of now: else a build would keep a mutant's object.
cd "$root"
git ls-files -z | while IFS= read -r -d '' file; do
  cmp -s "$file" "$copy/tree/$file" && continue
  mkdir -p "$copy/tree/$(dirname "$file")"
  cp "$file" "$copy/tree/$file"
done
(cd "$copy/tree" && cmake --preset release) >"$copy/log" 2>&1 || { cat "$copy/log" >&2; exit 1; }

build() { cmake --build "$copy/tree/build/release" -j "$(nproc)" --target $1 >"$copy/log" 2>&1; }
run_tests() { timeout 300 "$copy/tree/build/release/tests/$1" --gtest_brief=1 --gtest_filter="$2" >"$copy/log" 2>&1; }

# Also when it is interrupted; the new time of the file makes the next build see it.
mutated=
restore() {
  [ -z "$mutated" ] || cp "$copy/original" "$mutated"
  mutated=
}
trap restore EXIT

survivors=()
for mutant in "${mutants[@]}"; do
  IFS='~' read -r name file change targets program filter <<<"$mutant"
  printf '%s\n' "${wanted[@]}" | grep -qxF -- "$name" || continue
  source=$copy/tree/$file
  build "$targets" && run_tests "$program" "$filter" ||
    { echo "$name: its tests do not pass without a mutant"; tail -n 20 "$copy/log"; exit 1; }
  cp -p "$source" "$copy/original"
  mutated=$source
  perl -0pi -e "$change" "$source"
  if cmp -s "$source" "$copy/original"; then
    echo "$name: $file no longer contains what it takes out; mend scripts/mutants.sh"
    exit 1
  fi
  verdict=killed
  build "$targets" || { tail -n 20 "$copy/log"; verdict='not built'; }
  if [ "$verdict" = killed ] && run_tests "$program" "$filter"; then verdict=SURVIVED; fi
  failed=$(grep -o '^\[  FAILED  \] [A-Z][A-Za-z./0-9]*' "$copy/log" | sort -u | head -n 1 | cut -c14- || true)
  restore
  echo "$name: $verdict${failed:+ by $failed}"
  [ "$verdict" = killed ] || survivors+=("$name")
done
[ ${#survivors[@]} -eq 0 ] || { echo "not killed: ${survivors[*]}"; exit 1; }
