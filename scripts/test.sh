#!/usr/bin/env bash
# Installs what is missing, builds everything, and runs all tests. Arguments go to ctest: -R Messages.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
"$root/scripts/install_packages.sh" build
"$root/scripts/build.sh" release
cd "$root"
exec ctest --preset release --progress "$@"
