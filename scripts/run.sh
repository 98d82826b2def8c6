#!/usr/bin/env bash
# Installs what is missing, builds, and becomes the program. Without arguments: chat.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
"$root/scripts/install_packages.sh" build
"$root/scripts/build.sh" release threadstore_program
[ $# -gt 0 ] || set -- chat
exec "$root/build/release/cli/threadstore" "$@"
