#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# A script around bubblewrap: one command or one code file in memory, nothing is
# left, and that is looked at afterwards.  (system 1)
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"
. "$HB_TESTS/lib/processes.sh"

export XDG_STATE_HOME="$work/state" HOME="$work/home"
mkdir -p home/.ssh project/out
echo secret >home/.ssh/id
echo text >project/f
echo 'import os; print(os.getcwd()); open("/tmp/x", "w").close()' >code.py
cd project || bail 'no project'

says 'a run in memory ends with nothing changed outside' 0 '*nothing of * changed outside' \
	run --verify sh -c 'echo new >f; rm -r out; mkdir made; touch /tmp/left'
is 'the file that was made inside does not exist outside' "$(ls; ls /tmp/left 2>/dev/null)" 'f
out'
is 'the project is at a fixed path on request' "$(run -q --at /workspace pwd)" /workspace
is 'output that has to survive is really written' \
	"$(run -q --export out sh -c 'echo log >out/log' 2>/dev/null; cat out/log)" log
check 'one code file runs' "$HB_BIN" run -q --code ../code.py
check_fails 'the code file cannot be given a network' \
	"$HB_BIN" run -q --net host --code ../code.py
is 'the code file cannot change itself' \
	"$(echo 'open(__file__, "a")' >../bad.py; "$HB_BIN" run -q --code ../bad.py 2>&1 |
		grep -c 'Read-only\|Permission denied\|PermissionError')" 1
like 'no capability is left' "$(run -q grep '^CapEff' /proc/self/status)" '*0000000000000000'
is 'there is a filter' "$(run -q awk '/^Seccomp:/ { print $2 }' /proc/self/status)" 2
check_fails 'there is no network' run -q python3 -c '
import socket; socket.create_connection(("127.0.0.1", 9), 1)'
check_fails 'keys cannot be read' run -q cat "$HOME/.ssh/id"
check_fails 'nothing can be mounted' run -q mount -t tmpfs none /tmp
says 'memory that is full is told with its limit' 1 '*at most 4M (--size)*' \
	run --size 4M sh -c 'head -c 100M /dev/zero >big'
"$HB_BIN" run -q --ephemeral --rw "$work/project/out" sh -c ': >out/here; exec sleep 600' \
	2>/dev/null &
parent=$!
wait_until test -e out/here || bail 'no start'
all=$(below $parent)
kill -9 $parent
wait $parent 2>/dev/null
# shellcheck disable=SC2086 # one word for each process
check 'killing the parent kills everything inside' wait_until are_gone $all
is 'no session and no work directory is left' "$("$HB_BIN" ls)" ''
done_testing
