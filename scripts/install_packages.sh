#!/usr/bin/env bash
# install_packages.sh [build|checks]…: installs the Debian packages of those groups that are missing.
# Says nothing and starts no apt when all are there. On other systems it only says what is needed.
set -euo pipefail

build=(g++ cmake ninja-build pkgconf python3 libsqlitecpp-dev libsqlite3-dev nlohmann-json3-dev
  libspdlog-dev libboost-dev libcli11-dev libedit-dev libmd-dev libzstd-dev libmd4c-dev libgtest-dev libgmock-dev libbenchmark-dev)
checks=(clang clang-format clang-tidy libclang-rt-14-dev)

wanted=()
for group in "${@:-build}"; do
  case $group in
    build) wanted+=("${build[@]}") ;;
    checks) wanted+=("${checks[@]}") ;;
    *) echo "install_packages.sh: no group '$group'; there are build and checks" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  command -v cmake >/dev/null && exit 0  # another system that has its own way
  echo "threadstore builds with these Debian packages, or what matches them here: ${wanted[*]}" >&2
  exit 1
fi

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
  sed -n 's/^installed //p' || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qxF -e "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "threadstore needs packages; as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$log" 2>&1 </dev/null && return
  cat "$log" >&2
  echo "apt-get $* failed" >&2
  exit 1
}
echo "installing ${missing[*]}" >&2
apt update
apt install -y --no-install-recommends "${missing[@]}"
