#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exit status, signals, descriptors, what is left running, and itself inside.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

for arguments in '' '--unshare-pid' '--unshare-pid --as-pid-1' \
	'--unshare-all --die-with-parent --new-session'; do
	for status in 0 1 7 125 255; do
		# shellcheck disable=SC2086 # words, or none
		check_exit "exit status $status: $arguments" "$status" \
			box $arguments sh -c "exit $status"
	done
	# Process 1 gets no signal that it does not handle.
	[ "${arguments%--as-pid-1}" = "$arguments" ] || continue
	for signal in 9 15 11; do
		# shellcheck disable=SC2086 # words, or none
		check_exit "killed by $signal: $arguments" "$((128 + signal))" \
			box $arguments sh -c "ulimit -c 0; kill -$signal \$\$"
	done
done

mkfifo go answer

# A line in `go` lets what is inside go on; `answer` tells what it does.  Not
# box(), where the background would be a shell that stands in between.
"$HB_BWRAP" --ro-bind / / --unshare-pid \
	sh -c 'echo up; read -r _ <go; echo still here' >answer &
pid=$!
exec 6<answer
read -r word <&6
is 'it runs' "$word" up
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
is 'a signal ends the front end' "$status" 143
echo >go
read -r word <&6
is 'a signal to the front end does not end the command' "$word" 'still here'
exec 6<&-

box --unshare-pid sh -c '(read -r _ <go; echo still here >answer) &'
echo >go
read -r word <answer
is 'what the command left behind runs on' "$word" 'still here'

# The pipe ends when the last one is dead.
(
	exec 6<answer
	read -r word <&6
	echo "$word" >word
	exec timeout 20 cat <&6
) &
pid=$!
exec 5>answer
box --unshare-pid --die-with-parent sh -c '(read -r _ <go) & echo up' >&5
exec 5>&-
status=0
wait "$pid" || status=$?
is 'with --die-with-parent it ran' "$(cat word)" up
is '--die-with-parent ends what the command left behind' "$status" 0

echo content >file
sees 'descriptors are inherited' content sh -c 'cat <&9' 9<file
sees 'in a pid namespace too' content --unshare-pid sh -c 'cat <&9' 9<file

# Neither the front end nor process 1 keeps one: the pipe ends when the command
# closes it.
"$HB_BWRAP" --ro-bind / / --unshare-pid \
	sh -c 'exec 9>&-; read -r _ <go' 9>answer >out 2>&1 &
pid=$!
check 'they are not kept by others' timeout 20 cat answer
echo >go
wait "$pid"

state='test -e /proc/self/fd/$0 && echo open || echo closed'
is 'stdin closed: it stays so' "$(box sh -c "$state" 0 <&- 2>&1)" closed
check_exit 'stdin closed: exit status' 7 box sh -c 'exit 7' <&-
box --bind "$work" "$work" sh -c '(eval "$1") >out' 1 "$state" 1>&-
is 'stdout closed: it runs' "$(cat out)" open
box --bind "$work" "$work" sh -c '
	for fd in 0 1 2; do
		test -e /proc/$$/fd/$fd && echo open || echo closed
	done >"$0"; exit 9' "$work/out" <&- >&- 2>&-
is 'all three closed: exit status' "$?" 9
sees 'a bad command says why on stderr' '' true
"$HB_BWRAP" --ro-bind / / /no/such <&- >&- 2>err
is 'stdin and stdout closed: errors still go to stderr' \
	"$?:$(cat err)" '1:bwrap: execvp /no/such: No such file or directory'
"$HB_BWRAP" --ro-bind / / /no/such <&- >&- 2>&-
is 'all three closed: a failure is one' "$?" 1

(
	mkdir gone
	cd gone || exit 1
	rmdir ../gone
	HOME=/usr "$HB_BWRAP" --ro-bind / / sh -c 'pwd -P' >../out 2>&1
)
is 'a deleted directory: $HOME' "$(cat out)" /usr

# Root's /proc has read-only places, and the kernel gives no whole one to those
# who see only such.
inner='--ro-bind / / --unshare-all --dev /dev'
[ "$HB_MODE" = root ] || inner="$inner --proc /proc"
# shellcheck disable=SC2086 # words
sees 'itself inside' nested --unshare-all --proc /proc \
	"$HB_BWRAP" $inner printf nested
done_testing
