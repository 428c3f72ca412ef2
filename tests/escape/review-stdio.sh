#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# 0, 1 and 2 come from the caller and lie in the host's mounts: they are what
# the caller opened, and not a way to more.
# shellcheck disable=SC2154 # set in lib/box.sh
. "$HB_TESTS/lib/box.sh"

elsewhere=$(mktemp -d)
echo original >"$elsewhere/file"

for option in --no-ptrace --allow-nested; do
	for fd in 0 1 2; do
		status=0
		python3 -c 'import os, sys
os.dup2(os.open(sys.argv[2], os.O_RDONLY), int(sys.argv[1]))
os.execv(sys.argv[3], sys.argv[3:])' $fd "$elsewhere" "$HB_BIN" run --ephemeral \
			-q $option -- sh -c "cp /proc/self/fd/$fd/file '$work' &&
				echo changed >/proc/self/fd/$fd/file" \
			>out 2>&1 || status=$?
		is "V4 $option: no directory as descriptor $fd" "$status" 125
	done
done
is 'V4 nothing was written in it' "$(cat "$elsewhere/file")" original

if [ "$(landlock_version)" -ge 2 ]; then
	inside sh -c 'echo changed >/proc/self/fd/0' <"$elsewhere/file" 2>/dev/null
	is 'V4 what is open for reading cannot be written' \
		"$(cat "$elsewhere/file")" original
	inside ./probe open r /proc/self/fd/1 >"$elsewhere/told"
	is 'V4 what is open for writing cannot be read' \
		"$(cat "$elsewhere/told")" EACCES
	says 'V4 what is not open at all cannot be opened' EACCES python3 -c '
import os, sys
os.dup2(os.open(sys.argv[1], os.O_PATH), 0)
os.execv(sys.argv[2], sys.argv[2:])' "$elsewhere/file" "$HB_BIN" run \
		--ephemeral -q -- ./probe open r /proc/self/fd/0
else
	skip 'V4 what is open for reading cannot be written' 'no landlock'
fi
says 'control: standard input can be opened again' original \
	inside cat /dev/stdin <"$elsewhere/file"
inside sh -c 'echo told >/dev/stdout' >"$elsewhere/out"
is 'control: so can standard output' "$(cat "$elsewhere/out")" told
rm -r "$elsewhere"
done_testing
