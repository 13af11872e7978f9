#!/usr/bin/env bash
# The first process of a supervised run's process namespace (scripts/supervise.mjs): runs a program, passes SIGINT and SIGTERM on to
# it, and collects orphans. When the program has ended, what it left running is listed, and the kernel ends that with this process.
# Exits with the program's code, or with 1 when the program succeeded and left something.
#
#   init.sh PROGRAM ARGS…

# Processes that are ending may need so long, tenths of a second.
readonly grace=30

# The program gets a process group of its own: without one, a program in the background ignores SIGINT.
set -m
"$@" <&0 &
program=$!
trap 'kill -INT "$program" 2>/dev/null' INT
trap 'kill -TERM "$program" 2>/dev/null' TERM

# A signal interrupts the wait.
wait "$program"
code=$?
while kill -0 "$program" 2>/dev/null; do
  wait "$program"
  code=$?
done

# Prints a line for each living process but this one.
list_left() {
  local stat rest words
  for stat in /proc/[0-9]*/stat; do
    { rest=$(<"$stat"); } 2>/dev/null || continue
    [ "${rest%% *}" = "$BASHPID" ] || [ "${rest%% *}" = 1 ] && continue
    # The name in parentheses may contain anything; the state follows it.
    [[ "${rest##*) }" == [ZX]* ]] && continue
    words=$(tr '\0' ' ' <"${stat%stat}cmdline" 2>/dev/null)
    echo "  ${rest%% *} ${words:-${rest#* }}"
  done
}

left=$(list_left)
for ((waited = 0; waited < grace; waited++)); do
  [ -n "$left" ] || exit "$code"
  sleep 0.1
  left=$(list_left)
done
[ -n "$left" ] || exit "$code"
printf 'left running, and ended now:\n%.2000s\n' "$left" >&2
exit $((code == 0 ? 1 : code))
