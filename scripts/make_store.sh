#!/usr/bin/env bash
# make_store.sh --threads N --messages M [--depth D] [--bytes B] FILE: makes a store to measure on.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
"$root/scripts/install_packages.sh" build
"$root/scripts/build.sh" release make_store
exec "$root/build/release/tests/bench/make_store" "$@"
