#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --lock-file --sync-fd --block-fd --userns-block-fd --info-fd --json-status-fd.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

mkfifo go

# can_lock FILE: whether somebody else could write-lock it.
can_lock() {
	python3 -c '
import fcntl, sys
with open(sys.argv[1], "r+") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)' "$1" 2>/dev/null
}
cannot_lock() {
	! can_lock "$1"
}

# is_open FD: whether there is still a writer on the other side of a pipe.
is_open() {
	python3 -c '
import os, sys
os.set_blocking(int(sys.argv[1]), False)
try:
    sys.exit(os.read(int(sys.argv[1]), 1) == b"")
except BlockingIOError:
    sys.exit(0)' "$1"
}
is_closed() {
	! is_open "$1"
}

for arguments in '' '--unshare-pid'; do
	: >lock
	: >lock2
	# shellcheck disable=SC2086 # words, or none
	box $arguments --lock-file "$work/lock" --lock-file "$work/lock2" \
		sh -c 'read -r _ <go' &
	pid=$!
	check "--lock-file $arguments holds a lock" wait_until cannot_lock lock
	check "--lock-file $arguments may be repeated" \
		wait_until cannot_lock lock2
	echo >go
	wait "$pid"
	check "--lock-file $arguments lets go at the end" \
		wait_until can_lock lock
done
check_fails '--lock-file of nothing fails' \
	"$HB_BWRAP" --ro-bind / / --lock-file /no/such true
refuses '--lock-file and --as-pid-1' \
	'Specifying --as-pid-1 and --lock-file is not permitted' \
	--unshare-pid --as-pid-1 --lock-file "$work/lock" true

# Process 1 alone holds the descriptor: as long as the command runs, and in a pid
# namespace also as long as something that it left behind does.
for arguments in '' '--unshare-pid'; do
	mkfifo sync
	exec 4<>sync
	exec 5>sync
	exec 6<sync
	exec 4>&-
	# shellcheck disable=SC2086 # words, or none
	is "--sync-fd $arguments is closed in the command" "$(
		box $arguments --sync-fd 5 \
			sh -c 'test -e /proc/self/fd/5 && echo there || echo gone' 2>&1
	)" gone
	rest='read -r _ <go'
	[ -z "$arguments" ] || rest='(read -r _ <go) &'
	: >json
	# shellcheck disable=SC2086 # words, or none
	box $arguments --sync-fd 5 --json-status-fd 7 sh -c "$rest" 7>json &
	pid=$!
	exec 5>&-
	# From here on it has been started; in the second case it has ended.
	wait_until grep -q child-pid json
	[ -z "$arguments" ] || wait "$pid"
	check "--sync-fd $arguments is open as long as the sandbox lives" \
		is_open 6
	echo >go
	check "--sync-fd $arguments is closed at the end" \
		wait_until is_closed 6
	wait "$pid"
	exec 6<&-
	rm sync
done

# The byte that --block-fd waits for is the first one of the pipe.
is '--block-fd reads one byte' "$(
	printf ab | {
		exec 5<&0
		box --block-fd 5 cat
	} 2>&1
)" b
is '--block-fd is closed in the command' "$(
	printf ab | {
		exec 5<&0
		box --block-fd 5 sh -c 'test -e /proc/self/fd/5 || echo gone'
	} 2>&1
)" gone
mkfifo block
exec 5<>block
box --block-fd 5 --info-fd 7 sh -c 'cat value' 7>info >out 5<&5 &
pid=$!
echo early >value
wait_until test -s info
is '--block-fd: the command has not run' "$(cat out)" ''
echo late >value.new
mv value.new value
printf x >&5
wait "$pid"
is '--block-fd: the command runs when the byte is there' "$(cat out)" late
exec 5<&-
rm block

# --info-fd
box --unshare-all --info-fd 7 sh -c '
	for ns in cgroup ipc mnt net pid uts; do
		stat -L -c %i /proc/self/ns/$ns
	done
	test -e /proc/self/fd/7 && echo open || echo closed' >inside 7>info
child=$(sed -n 's/^    "child-pid": \([0-9]*\),$/\1/p' info)
# shellcheck disable=SC2046 # words
set -- $(cat inside)
is '--info-fd: the namespaces' "$(cat info)" "{
    \"child-pid\": $child,
    \"cgroup-namespace\": $1,
    \"ipc-namespace\": $2,
    \"mnt-namespace\": $3,
    \"net-namespace\": $4,
    \"pid-namespace\": $5,
    \"uts-namespace\": $6
}"
is '--info-fd is closed in the command' "$7" closed
box --info-fd 7 stat -L -c %i /proc/self/ns/mnt >inside 7>info
is '--info-fd: only what is new' \
	"$(sed 's/"child-pid": [0-9]*/"child-pid": N/' info)" "{
    \"child-pid\": N,
    \"mnt-namespace\": $(cat inside)
}"
: >info
box --unshare-pid --info-fd 7 sh -c 'read -r _ <go' 7>info &
pid=$!
wait_until grep -q '^}' info
child=$(sed -n 's/^    "child-pid": \([0-9]*\),$/\1/p' info)
is '--info-fd: child-pid is process 1 of the sandbox' \
	"$(sed -n 's/^NSpid:.*\t//p' "/proc/$child/status")" 1
echo >go
wait "$pid"

# --json-status-fd
status=0
box --unshare-ipc --json-status-fd 7 sh -c '
	stat -L -c %i /proc/self/ns/ipc /proc/self/ns/mnt
	test -e /proc/self/fd/7 && echo open || echo closed
	exit 7' >inside 7>json || status=$?
# shellcheck disable=SC2046 # words
set -- $(cat inside)
is '--json-status-fd' "$(sed 's/"child-pid": [0-9]*/"child-pid": N/' json)" \
	"{ \"child-pid\": N, \"ipc-namespace\": $1, \"mnt-namespace\": $2 }
{ \"exit-code\": 7 }"
is '--json-status-fd is closed in the command' "$3" closed
is '--json-status-fd: the exit status is the same' "$status" 7
box --unshare-pid --json-status-fd 7 sh -c 'kill -9 $$' 7>json
is '--json-status-fd of one that was killed' "$(tail -n 1 json)" \
	'{ "exit-code": 137 }'
check 'both are JSON' python3 -c '
import json
with open("info") as file:
    assert json.load(file)["child-pid"] > 1
with open("json") as file:
    first, last = map(json.loads, file)
assert first["child-pid"] > 1 and last["exit-code"] == 137'
"$HB_BWRAP" --ro-bind / / --json-status-fd 7 /no/such 7>json 2>err
is '--json-status-fd: no exit code if the command cannot be run' \
	"$(grep -c exit-code json)" 0
"$HB_BWRAP" --ro-bind / / --dir /no/such --json-status-fd 7 true 7>json 2>err
is '--json-status-fd: no exit code if set-up fails' \
	"$(grep -c exit-code json)" 0

# --userns-block-fd: we write the maps.
if [ "$HB_MODE" = root ]; then
	uid_map="0 0 3"
	gid_map="0 0 4"
else
	uid_map="4711 $(id -u) 1"
	gid_map="4712 $(id -g) 1"
fi
mkfifo block
exec 5<>block
: >info
box --unshare-user --info-fd 7 --userns-block-fd 5 \
	sh -c 'echo $(cat /proc/self/uid_map) $(cat /proc/self/gid_map)' \
	7>info >out 2>&1 &
pid=$!
wait_until grep -q '^}' info
child=$(sed -n 's/^    "child-pid": \([0-9]*\),$/\1/p' info)
is '--userns-block-fd: nobody has written the maps' \
	"$(cat "/proc/$child/uid_map")" ''
[ "$HB_MODE" = root ] || echo deny >"/proc/$child/setgroups"
echo "$uid_map" >"/proc/$child/uid_map"
echo "$gid_map" >"/proc/$child/gid_map"
printf x >&5
wait "$pid"
exec 5<&-
is '--userns-block-fd: the maps are ours' "$(cat out)" "$uid_map $gid_map"
refuses '--userns-block-fd needs --info-fd' \
	'--userns-block-fd requires --info-fd' \
	--unshare-user --userns-block-fd 5 true
done_testing
