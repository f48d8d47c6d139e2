#!/usr/bin/env bash
# Runs what takes longer than CI allows, on loopback only. Linux.
#
#   scripts/long.sh                all of it
#   scripts/long.sh memory [N]     N requests (5,000,000) by the native engine in
#                                  a worker: exactly N, in less than 64 MiB
#   scripts/long.sh kill [N]       N rounds (10) of kill -9 in the middle of the
#                                  default campaign: within 3 s nothing of it is
#                                  left, what was measured is readable, and
#                                  --resume completes it
#   scripts/long.sh campaigns [N]  the default campaign N times (10), each
#                                  within 150 s and with its page
#   scripts/long.sh tests          the tests that look at ABACUS_LONG=1
#   scripts/long.sh fuzz [TIME]    every fuzz target for TIME (1m)
#
# ABACUS_LONG_OUT (default: a new temporary folder) keeps what is left behind.
# ABACUS_LONG_RUN holds further options of `abacus run`, such as --quick, to try
# this script itself.
set -euo pipefail
cd "$(dirname "$0")/.."

out="${ABACUS_LONG_OUT:-$(mktemp -d)}"
mkdir -p "$out"
abacus="$out/abacus"
read -r -a run_options <<<"${ABACUS_LONG_RUN:-}"

say() { printf '\n== %s\n' "$*"; }
fail() {
	echo "FAILED: $*" >&2
	exit 1
}

# number KEY: the number that stands after "KEY": in the JSON on stdin.
number() { sed -n "s/.*\"$1\":\([0-9][0-9]*\).*/\1/p" | tail -n 1; }

# until_true SECONDS COMMAND…: polls until the command succeeds.
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

build() { go build -o "$abacus" .; }

memory() {
	local n="${1:-5000000}" dir="$out/memory" lab url result made rss
	say "$n requests by the native engine in a worker"
	build
	mkdir -p "$dir"
	"$abacus" lab up demo --json >"$dir/lab.json" &
	lab=$!
	# The demo ends when the script does, however it ends.
	trap 'kill "$lab" 2>/dev/null || true' EXIT
	until_true 10 test -s "$dir/lab.json" || fail "the demo did not start"
	url="$(sed -n 's/.*"base_url":"\([^"]*\)".*/\1/p' "$dir/lab.json")"
	# The worker stops at the end of its input, so the pipe is held open.
	rm -f "$dir/job"
	mkfifo "$dir/job"
	exec 3<>"$dir/job"
	printf '{"version":1,"job":{"engine":"native","url":"%s/apcu","keepalive":true,"concurrency":50,"requests":%s,"timeout_ns":30000000000}}\n' \
		"$url" "$n" >&3
	"$abacus" worker <"$dir/job" 3>&- | tail -n 1 >"$dir/result.json"
	exec 3>&-
	kill "$lab" 2>/dev/null || true
	wait "$lab" || true
	trap - EXIT
	result="$(cat "$dir/result.json")"
	made="$(grep -o '"counts":{"complete":[0-9]*,"failed":0,' <<<"$result" | number complete || true)"
	rss="$(number max_rss_bytes <<<"$result")"
	echo "complete: ${made:-?}, most memory held: ${rss:-?} bytes; see $dir/result.json"
	[ "${made:-0}" -eq "$n" ] || fail "not exactly $n complete and none failed"
	[ "${rss:-0}" -gt 0 ] && [ "$rss" -lt $((64 << 20)) ] || fail "the worker held 64 MiB or more"
}

# ours lists the processes of a campaign of this script: what runs this build
# of abacus, and what was started from it (memcached) and so has the mark.
ours() {
	local p
	for p in /proc/[0-9]*; do
		if [ "$(readlink "$p/exe" 2>/dev/null)" = "$abacus" ] ||
			tr '\0' '\n' 2>/dev/null <"$p/environ" | grep -qxF "LONG_SH_MARK=$out"; then
			printf '%s:%s ' "${p#/proc/}" "$(cat "$p/comm" 2>/dev/null)"
		fi
	done 2>/dev/null
	return 0
}
none_left() { [ -z "$(ours)" ]; }

kill_rounds() {
	local n="${1:-10}" i dir pid wait record
	say "kill -9 in the middle of the default campaign, $n times"
	build
	campaigns 1
	local length="$campaign_took"
	for ((i = 1; i <= n; i++)); do
		dir="$out/kill-$i"
		mkdir -p "$dir"
		# Any moment of the campaign but its last two seconds.
		wait=$((RANDOM % (length > 3 ? length - 2 : 1)))
		(cd "$dir" && exec env LONG_SH_MARK="$out" "$abacus" run --results results "${run_options[@]}" >table.txt 2>messages.txt) &
		pid=$!
		sleep "$wait.$((RANDOM % 10))"
		kill -9 "$pid" 2>/dev/null || fail "round $i: the campaign was over after $wait s; see $dir"
		wait "$pid" 2>/dev/null || true
		until_true 3 none_left || fail "round $i: left after kill -9: $(ours)"
		record="$(find "$dir/results" -name campaign.yaml -exec dirname {} \; | head -n 1)"
		if [ -z "$record" ]; then
			echo "round $i: killed after $wait s, before there was a record"
			continue
		fi
		"$abacus" report "$record" --format json >"$dir/report.json" 2>"$dir/report.err" ||
			fail "round $i: the record is not readable; see $dir/report.err"
		"$abacus" run --resume "$record" >"$dir/resume.txt" 2>&1 || fail "round $i: --resume ended with $?; see $dir/resume.txt"
		echo "round $i: killed after $wait s, nothing left, $(find "$record/runs" -name '*.json' | wc -l) runs after --resume"
	done
}

campaigns() {
	local n="${1:-10}" i dir started
	say "the default campaign, $n times"
	build
	for ((i = 1; i <= n; i++)); do
		dir="$out/campaign-$i"
		mkdir -p "$dir"
		started=$SECONDS
		(cd "$dir" && "$abacus" run --results results "${run_options[@]}" >table.txt 2>messages.txt) || fail "campaign $i: status $?; see $dir"
		campaign_took=$((SECONDS - started))
		echo "campaign $i: $campaign_took s"
		[ "$campaign_took" -lt 150 ] || fail "campaign $i took 150 s or longer"
		find "$dir/results" -name report.html -size +0 | grep -q . || fail "campaign $i left no page below $dir/results"
	done
}

tests() {
	say "the tests that look at ABACUS_LONG"
	ABACUS_LONG=1 ABACUS_REQUIRE_LAB=1 go test -count=1 -timeout 120m ./...
}

fuzz() {
	local time="${1:-1m}" package target
	say "every fuzz target for $time"
	for package in $(go list ./...); do
		for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
			echo "$package $target"
			go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
		done
	done
}

case "${1:-all}" in
memory) memory "${2:-}" ;;
kill) kill_rounds "${2:-}" ;;
campaigns) campaigns "${2:-}" ;;
tests) tests ;;
fuzz) fuzz "${2:-}" ;;
all)
	memory
	kill_rounds
	campaigns
	tests
	fuzz
	;;
*)
	sed -n '/^#   scripts/,/^set /{/^#/s/^# \{0,3\}//p}' "$0" >&2
	exit 2
	;;
esac
say "done; what was left behind is in $out"
