#!/usr/bin/env bash
# Installs what the tests and the private labs need beside Go, on Debian and
# Ubuntu. Run it as often as you like: what is there is left alone, and no
# service is started.
#
#   scripts/install-lab.sh           install what is missing (as root)
#   scripts/install-lab.sh --check   only say what is missing; status 1 if anything is
set -euo pipefail

# command:package, a line each. A command of several names is there when one is.
needs="
chromium|chromium-browser|google-chrome:chromium
memcached:memcached
ab:apache2-utils
ss:iproute2
unshare:util-linux
git:git
gcc:gcc
make:make
"
# make vets and tests, gcc is for the race detector, git for the clean-tree check.

check=false
case "${1:-}" in
"") ;;
--check) check=true ;;
*)
	echo "usage: $0 [--check]" >&2
	exit 2
	;;
esac

# present NAME|NAME…: whether one of the commands is on the PATH or where
# Debian puts those of root.
present() {
	local name
	for name in ${1//|/ }; do
		PATH="$PATH:/usr/sbin:/sbin" command -v "$name" >/dev/null 2>&1 && return 0
	done
	return 1
}

missing=()
for need in $needs; do
	if present "${need%%:*}"; then
		echo "there:   ${need%%:*}"
	else
		echo "missing: ${need%%:*} (package ${need##*:})"
		missing+=("${need##*:}")
	fi
done

if [ "${#missing[@]}" -eq 0 ]; then
	echo "Everything is there."
	exit 0
fi
if $check; then
	exit 1
fi

if ! command -v apt-get >/dev/null 2>&1; then
	echo "This is not Debian or Ubuntu: install ${missing[*]} (or what this system calls them) with its package manager, then run $0 --check." >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "Installing packages needs root: run 'sudo $0', or install them yourself: ${missing[*]}" >&2
	exit 1
fi

# Debian starts a service when its package is installed unless policy-rc.d
# forbids it. What stood there before is put back whatever happens.
policy=/usr/sbin/policy-rc.d
saved=""
restore() {
	if [ -n "$saved" ]; then
		mv -f "$saved" "$policy"
	else
		rm -f "$policy"
	fi
}
if [ -e "$policy" ] || [ -L "$policy" ]; then
	saved="$(mktemp -u "$policy.abacus.XXXXXX")"
	mv "$policy" "$saved"
fi
trap restore EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
printf '#!/bin/sh\nexit 101\n' >"$policy"
chmod 0755 "$policy"

export DEBIAN_FRONTEND=noninteractive
apt-get update
available=()
for package in "${missing[@]}"; do
	if apt-cache show "$package" >/dev/null 2>&1; then
		available+=("$package")
	fi
done
if [ "${#available[@]}" -gt 0 ]; then
	apt-get install -y --no-install-recommends "${available[@]}"
fi

status=0
for need in $needs; do
	if ! present "${need%%:*}"; then
		echo "Still missing: ${need%%:*}. The package ${need##*:} did not bring it (Ubuntu has Chromium as a snap: snap install chromium)." >&2
		status=1
	fi
done
[ "$status" -ne 0 ] || echo "Installed: ${missing[*]}"
exit "$status"
