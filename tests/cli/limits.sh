#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 script prlimit
#
# V40: what a box may use, and that the host stays usable when it wants more.
# Nothing here can hurt the host if a limit fails: what is tried is bounded.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"
. "$HB_TESTS/lib/processes.sh"

export XDG_STATE_HOME="$work/state"
export HOME="$work/home"
mkdir home p
cd p || bail 'no workspace'

# How many processes there can be beside this one; at most 200 are tried.
cat >count.py <<'PY'
import os, signal, sys
pids = []
why = ""
try:
    while len(pids) < 200:
        pid = os.fork()
        if pid == 0:
            signal.pause()
        pids.append(pid)
except OSError as e:
    why = e.strerror
print(len(pids), why)
sys.stdout.flush()
if len(sys.argv) > 1:
    open(sys.argv[1], "w").close()
    signal.pause()
for pid in pids:
    os.kill(pid, signal.SIGKILL)
    os.wait()
PY
cat >bomb.py <<'PY'
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
PY

# keep SESSION: held open in the background; $all are its processes.
keep() {
	"$HB_BIN" keep "@$1" </dev/null >/dev/null 2>&1 &
	kept=$!
	wait_until sh -c '"$HB_BIN" status "@$1" | grep -q "kept open"' sh "$1" ||
		bail "$1 is not live"
	all=$(below "$kept")
}
# is_full SESSION: as many processes are in it as may be, and pid 1.
is_full() {
	all="$(below "$kept") $(below "$bomb")"
	[ "$("$HB_BIN" exec "@$1" -- ls /proc | grep -c '^[0-9]')" -ge 21 ]
}

# Time.
says 'a command is ended when its time is up' 124 \
	'holdback: time is up: the command was ended' \
	run --timeout 1 sleep 600
says 'also one that does not listen' 124 'holdback: time is up: *' \
	run --timeout 1s sh -c 'trap "" TERM; while :; do sleep 600 & wait; done'
prints 'one that is in time is not' fine run --timeout 10m echo fine
says 'a time that is none' 125 \
	"holdback: [[]2] option '--timeout': 'soon' is not a number*fix: *30s" \
	run --timeout soon true

# Memory that is files.
for place in /tmp /run /dev/shm '$HOME' .; do
	like "100 GB do not fit into $place" \
		"$(run -q --size 4M sh -c "cd \"$place\" &&
			{ head -c 100G /dev/zero >big; wc -c <big; }" 2>&1)" \
		'*No space left on device*[0-9]*'
done
is 'they are as large as was said' "$(run -q --size 4M sh -c '
	head -c 100G /dev/zero >/tmp/big; wc -c </tmp/big' 2>/dev/null)" \
	4194304

for place in /tmp .; do
	like "F6 the end names the limit of $place that was full" \
		"$(run --size 4M sh -c "cd $place && head -c 100G /dev/zero >big" 2>&1)" \
		'*no space was left in memory: each place there has at most 4M (--size)*'
done
unlike 'a run that filled nothing says nothing of space' \
	"$(run --size 4M sh -c 'head -c 1M /dev/zero >big; exit 1' 2>&1)" '*no space*'

# Processes.  Root is bound by a control group only.
if run -q --pids 20 true 2>.why; then
	can_pids=yes
else
	can_pids=no
	like 'no limit for root without a control group' "$(cat .why)" \
		'*[[]6]*control group*fix: systemd-run *'
	[ "$HB_MODE" = root ] || fail 'processes can be limited' "$(cat .why)"
fi
if [ $can_pids = yes ]; then
	prints 'there are as many processes as was said' \
		'19 Resource temporarily unavailable' \
		run -q --pids 20 python3 count.py
	# Per box, and not per user: another one is full meanwhile.
	"$HB_BIN" run -q --pids 20 --rw "$work/p" --direct \
		python3 count.py "$work/p/full" >/dev/null 2>&1 &
	other=$!
	wait_until test -e full
	prints 'each box has its own number' \
		'19 Resource temporarily unavailable' \
		run -q --pids 20 python3 count.py
	prints 'a box with a limit leaves the host all of its processes' 42 \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do true & done; wait; echo 42'
	kill -TERM $other
	wait $other
	# If the limit fails prlimit is what stops the bomb.
	says 'a fork bomb ends when its time is up' 124 '*time is up*' \
		prlimit --nproc=3000 "$HB_BIN" run --ephemeral --pids 30 \
		--timeout 2 python3 bomb.py
	says 'the end says that the limit of processes was reached' 124 \
		'*limit of processes was reached: there are at most 30 at a time*' \
		prlimit --nproc=3000 "$HB_BIN" run --ephemeral --pids 30 \
		--timeout 2 python3 bomb.py
	unlike 'the end says nothing of a limit that was not reached' \
		"$("$HB_BIN" run --ephemeral --pids 30 sleep 1.2 2>&1)" \
		'*limit of processes*'
	check 'the session has it' "$HB_BIN" run -q -s few --pids 20 true
	prints 'also for what comes later' \
		'19 Resource temporarily unavailable' \
		"$HB_BIN" exec @few -- python3 count.py
	# Those who join are held to the same, and count with the others.
	keep few
	prints 'who joins has the same number' \
		'19 Resource temporarily unavailable' \
		"$HB_BIN" exec @few -- python3 count.py
	# If the limit fails prlimit is what stops the bomb.
	prlimit --nproc=3000 "$HB_BIN" exec @few -- python3 bomb.py 2>/dev/null &
	bomb=$!
	check 'a fork bomb of one who joins comes to an end' wait_until is_full few
	prints 'the host has all of its processes' 42 \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do true & done; wait; echo 42'
	prints 'another one can come in, and start nothing' \
		'0 Resource temporarily unavailable' \
		"$HB_BIN" exec @few -- python3 count.py
	prints 'stop ends it all' stopped "$HB_BIN" stop @few
	wait $bomb
	wait $kept
	# shellcheck disable=SC2086 # a list
	check 'nothing of it is left' wait_until are_gone $all
	check 'a session with a time' \
		"$HB_BIN" run -q -s both --pids 20 --timeout 3 true
	keep both
	# Who comes too late has a box and a time of its own.
	status=0
	out=$(prlimit --nproc=3000 "$HB_BIN" exec @both -- python3 bomb.py 2>&1) || status=$?
	like 'a fork bomb of one who joins ends when the time of the box is up' \
		"$status:$out" '1[23][479]:holdback: *'
	wait $kept
	is 'keep ends with 124 when the time of the box is up' "$?" 124
	# shellcheck disable=SC2086 # a list
	check 'nothing of that is left' wait_until are_gone $all
	prints 'threads count' "can't start new thread" \
		run -q --pids 20 python3 -c '
import threading
e = threading.Event()
try:
    for i in range(200):
        threading.Thread(target=e.wait, daemon=True).start()
except RuntimeError as x:
    print(str(x).rstrip("."))'
fi
check 'time is kept in the session' "$HB_BIN" run -q -s short --timeout 1 true
says 'the time of a session ends a later command' 124 'holdback: time is up: *' \
	"$HB_BIN" exec @short -- sleep 600

# Memory and processors.
if run -q --memory 64M --cpus 0.5 true 2>.why; then
	says 'a runaway allocation ends, and not the host' 137 '*' \
		run -q --memory 64M python3 -c 'b = []
for i in range(100): b.append(b"x" * 16000000)'
	prints 'what is in memory counts' short sh -c '"$HB_BIN" run \
		--ephemeral -q --memory 64M sh -c "
			head -c 1G /dev/zero >/tmp/big; echo short" |
		tail -n 1'
	check 'the session has it' "$HB_BIN" run -q -s small --memory 64M true
	keep small
	mkfifo go
	"$HB_BIN" exec @small -- cat <go &
	exec 9>go
	wait_until sh -c '"$HB_BIN" status @small | grep -q "1 command$"'
	pid=$("$HB_BIN" status -v @small | sed -n 's/^  joined \([0-9]*\) .*/\1/p')
	like 'who joins is in the group of the box' \
		"$(grep '^0:' "/proc/$pid/cgroup")" '0::*/holdback-box-*/box'
	exec 9>&-
	says 'a runaway allocation of who joins ends' 137 '*' \
		"$HB_BIN" exec @small -- python3 -c 'b = []
for i in range(100): b.append(b"x" * 16000000)'
	check 'stop' "$HB_BIN" stop @small
	wait
	rm go
else
	like 'no memory limit without a control group' "$(cat .why)" \
		'holdback: [[]6]*control group (version 2)*fix: systemd-run *--scope *holdback ...'
	says 'no limit of processors without a control group' 125 \
		'*[[]6]*control group (version 2)*fix: systemd-run *' \
		run --cpus 1.5 true
	says 'nothing runs then' 125 '*[[]6]*' \
		run --memory 64M sh -c 'echo ran'
	skip 'a runaway allocation ends, and not the host' \
		'no control group with memory that is ours to divide'
	skip 'who joins is in the group of the box' \
		'no control group with memory that is ours to divide'
fi
says 'a number of processors that is none' 125 "*'many' is not a number*" \
	run --cpus many true

# Without a word: a fork bomb is bounded, but for root, whom only a group binds.
usual=$(cat /proc/sys/kernel/pid_max)
usual=$((usual / 4 < 4096 ? usual / 4 : 4096))
hard=$(bash -c 'ulimit -Hu')
inside=$((usual + 1))
[ "$hard" = unlimited ] || [ "$hard" -gt "$inside" ] || inside=$hard
prints 'a box has a usual number of processes, and its first one' $inside \
	run -q bash -c 'ulimit -Hu'
"$HB_BIN" create usual --cow . >/dev/null
prints 'a session that was made has the usual number of processes' $inside \
	"$HB_BIN" exec @usual -- bash -c 'ulimit -Hu'
keep usual
prints 'a command that joins has the usual number of processes' $inside \
	"$HB_BIN" exec @usual -- bash -c 'ulimit -Hu'
"$HB_BIN" stop @usual >/dev/null
wait $kept
prints '--pids 0 leaves the number of processes as it is' "$hard" \
	run -q --pids 0 bash -c 'ulimit -Hu'
unlike 'the start does not say the usual number of processes' \
	"$(run true 2>&1)" '*at most*processes*'
# Threads count as processes do and cost less; 5000 are tried.
cat >usual.py <<'PY'
import os, sys, threading
threading.stack_size(65536)
e = threading.Event()
try:
    while threading.active_count() < 5000:
        threading.Thread(target=e.wait, daemon=True).start()
except RuntimeError:
    pass
print(threading.active_count())
try:
    if os.fork() == 0:
        os._exit(0)
    print("forked")
except OSError as error:
    print(error.strerror)
sys.stdout.flush()
open("full", "w").close()
sys.stdin.read()
os._exit(0)
PY
# The kernel holds root to no such number.
if [ "$HB_MODE" != root ] && [ $inside != "$hard" ]; then
	rm -f full
	mkfifo go
	"$HB_BIN" run -q --rw "$work/p" --direct \
		python3 usual.py <go >"$work/found" 2>/dev/null &
	bomb=$!
	exec 9>go
	check 'a box that starts 5000 threads comes to an end of them' \
		wait_until test -e full
	prints 'the host starts processes while a box has all of its own' 42 \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9; do true & done; wait; echo 42'
	prints 'another box starts processes meanwhile' 42 \
		run -q sh -c 'for i in 1 2 3 4 5 6 7 8 9; do true & done; wait; echo 42'
	exec 9>&-
	wait $bomb
	is 'a box with all of its processes ends' "$?" 0
	is 'a box without options that starts 5000 threads is stopped at the usual number' \
		"$(cat "$work/found")" "$usual
Resource temporarily unavailable"
	rm go
fi
rm usual.py

# What is nobody's memory, and what the user has on the whole machine.
cat >many.py <<'END'
import os, sys
n = 0
try:
    while n < 20000:
        os.close(os.open(f"{sys.argv[1]}/{n}", os.O_CREAT | os.O_WRONLY))
        n += 1
except OSError as error:
    print(n, error.strerror)
END
for place in /tmp /run /dev/shm "$PWD"; do
	like "empty files in $place are bounded" \
		"$("$HB_BIN" run -q --ephemeral --size 8M python3 many.py "$place" 2>&1)" \
		'[12]??? No space left on device'
done
is '--inodes is how many files there may be' \
	"$(run -q --size 8M --inodes 100 python3 many.py /tmp 2>&1 | sed 's/^9[0-9] /9x /')" \
	'9x No space left on device'
is '--inodes 0 leaves the number of files to the kernel' \
	"$(run -q --size 8M --inodes 0 python3 many.py /tmp 2>&1)" ''
check 'a session keeps --inodes' "$HB_BIN" run -q -s names --inodes 100 true
like 'a later command of the session has --inodes' \
	"$("$HB_BIN" exec @names -- python3 many.py /tmp 2>&1)" \
	'9? No space left on device'
cat >watch.py <<'END'
import ctypes
libc = ctypes.CDLL(None)
n = 0
while n < 100000 and libc.inotify_init() >= 0:
    n += 1
print(n)
END
all=$(cat /proc/sys/fs/inotify/max_user_instances)
if [ -w /proc/sys/user/max_inotify_instances ] || [ "$HB_MODE" = user ]; then
	n=$(prlimit --nofile=65536 "$HB_BIN" run -q --ephemeral python3 watch.py 2>/dev/null ||
		"$HB_BIN" run -q --ephemeral python3 watch.py)
	check 'a box gets some inotify instances' test "$n" -gt 0
	check "a box gets at most half of the user's inotify instances" test "$n" -le $((all / 2))
	is '--inotify is how many instances there may be' \
		"$(run -q --inotify 5 python3 watch.py)" 5
	more=$(prlimit --nofile=65536 "$HB_BIN" run -q --ephemeral --inotify 0 \
		python3 watch.py 2>/dev/null ||
		run -q --inotify 0 python3 watch.py)
	check '--inotify 0 leaves the number of instances to the host' \
		test "$more" -ge "$n"
fi
rm many.py watch.py

# What is in force is said.
like 'the start says what is in force' "$(
	on_terminal 'run --ephemeral --timeout 5m true'
)" '*home hidden* · at most 300 seconds*'
like 'the plan has it' "$("$HB_BIN" plan run --pids 9 --memory 1M \
	--cpus 1.5 --timeout 1h -- true)" \
	'*memory*1048576*cpus*1500*pids*9*timeout*3600*'
like 'the plan has the files in memory and inotify' \
	"$("$HB_BIN" plan run --inodes 70 --inotify 7 -- true)" '*inodes*70*inotify*7*'
like 'the start says --inodes and --inotify' \
	"$(on_terminal 'run --ephemeral --inodes 700 --inotify 7 true')" \
	'*at most 700 files in memory, 7 inotify instances*'
like 'a file in the workspace can lower the number of processes' "$(echo 'pids = 50' >.holdback.conf
	"$HB_BIN" config)" '*pids*50*.holdback.conf*'
says 'a file in the workspace sets no higher limit' 125 \
	'holdback: [[]3]*may only tighten*' \
	sh -c '"$HB_BIN" run --ephemeral --pids 20 true'
echo 'inodes = 300000' >.holdback.conf
says 'a file in the workspace allows no more files in memory' 125 \
	'holdback: [[]3]*may only tighten*' run true
echo 'inodes = 100' >.holdback.conf
check 'a file in the workspace allows fewer files in memory' run true
echo 'inotify = 100' >.holdback.conf
says 'a file in the workspace says nothing of inotify' 125 \
	'holdback: [[]3]*may only tighten*' run true
rm .holdback.conf .why count.py bomb.py full 2>/dev/null
done_testing
