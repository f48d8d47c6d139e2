#!/usr/bin/env bash
# Runs what takes longer than CI allows. Tests that are part of it look at
# ABACUS_LONG=1 and skip without it, saying so; they bring their own servers
# on loopback and need nothing that scripts/install-lab.sh does not install.
#
#   scripts/long.sh                all of it
#   scripts/long.sh memory         5,000,000 requests by the native engine in a
#                                  worker: its memory stays under 64 MiB
#   scripts/long.sh kill           ten rounds of kill -9 in the middle of a
#                                  campaign: nothing is left, --resume completes
#   scripts/long.sh campaigns [N]  the default campaign N times (10), each
#                                  within 150 s and with its page
#   scripts/long.sh fuzz [TIME]    every fuzz target for TIME (1m)
#
# ABACUS_LONG_OUT (default: a new temporary folder) keeps what the campaigns
# leave behind.
set -euo pipefail
cd "$(dirname "$0")/.."

part="${1:-all}"
out="${ABACUS_LONG_OUT:-$(mktemp -d)}"
mkdir -p "$out"

say() { printf '\n== %s\n' "$*"; }

# long_tests NAME PATTERN: runs the long tests whose names match. A pattern
# that matches no test is an error, not a success.
long_tests() {
	say "$1"
	local found
	found="$(go test -list "$2" ./... | grep -c '^Test' || true)"
	if [ "$found" -eq 0 ]; then
		echo "no test matches $2" >&2
		return 1
	fi
	ABACUS_LONG=1 ABACUS_REQUIRE_LAB=1 go test -count=1 -timeout 60m -run "$2" -v ./... |
		{ grep -E '^(=== RUN|--- |ok|FAIL|PASS|panic|\s+\S+\.go:)' || true; }
}

memory() { long_tests "memory of 5,000,000 requests" '^TestLongMemory'; }
kill_rounds() { long_tests "ten rounds of kill -9" '^TestLongKill'; }

campaigns() {
	local n="${1:-10}" i started
	say "the default campaign, $n times"
	go build -o "$out/abacus" .
	for ((i = 1; i <= n; i++)); do
		mkdir -p "$out/$i"
		started=$SECONDS
		(cd "$out/$i" && "$out/abacus" run --results results >table.txt 2>messages.txt) || {
			echo "campaign $i: status $?; see $out/$i" >&2
			return 1
		}
		echo "campaign $i: $((SECONDS - started)) s"
		if ((SECONDS - started >= 150)); then
			echo "campaign $i took 150 s or longer" >&2
			return 1
		fi
		if ! find "$out/$i/results" -name report.html -size +0 | grep -q .; then
			echo "campaign $i left no page below $out/$i/results" >&2
			return 1
		fi
	done
}

fuzz() {
	local time="${1:-1m}" pkg target
	say "every fuzz target for $time"
	for pkg in $(go list ./...); do
		for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
			echo "$pkg $target"
			go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$pkg"
		done
	done
}

case "$part" in
memory) memory ;;
kill) kill_rounds ;;
campaigns) campaigns "${2:-}" ;;
fuzz) fuzz "${2:-}" ;;
all)
	memory
	kill_rounds
	campaigns
	fuzz
	;;
*)
	sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
	exit 2
	;;
esac
say "done; what the campaigns left is in $out"
