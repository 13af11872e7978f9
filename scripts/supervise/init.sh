#!/usr/bin/env bash
# The first process of a supervised run's process namespace (scripts/supervise.mjs): runs a program, passes SIGINT and SIGTERM on to
# it, and collects orphans. What the program leaves running the kernel ends with this process. Unless the program was told to stop, that
# is listed, and the exit code is 1 when the program's own is 0.
#
#   init.sh PROGRAM ARGS…

# Processes that are ending may need so long, tenths of a second.
readonly grace=30

# The program gets a process group of its own: without one, a program in the background ignores SIGINT.
set -m
"$@" <&0 &
program=$! is_told=
tell() {
  is_told=1
  kill -"$1" "$program" 2>/dev/null
}
trap 'tell INT' INT
trap 'tell TERM' TERM

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

[ -z "$is_told" ] || exit "$code"
left=$(list_left)
for ((waited = 0; waited < grace; waited++)); do
  [ -n "$left" ] || exit "$code"
  sleep 0.1
  left=$(list_left)
done
[ -n "$left" ] || exit "$code"
printf 'left running, and ended now:\n%.2000s\n' "$left" >&2
exit $((code == 0 ? 1 : code))
