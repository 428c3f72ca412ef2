#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# --allow-degraded where there are no user namespaces: landlock and the filter
# are all that holds the command.  Seen from inside.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
export XDG_STATE_HOME="$work/state"
export HOME="$work/home"
mkdir -p home/.ssh home/.cargo/bin home/.claude p/sub tools
echo key >home/.ssh/id
echo tool >home/.cargo/bin/tool
mkdir -p home/.local/share/uv/credentials
printf '[a]\n\tb = 1\n\ttoken = hunter2\n' >home/.gitconfig
echo key >home/.local/share/uv/credentials/id
echo token >home/.claude/settings.json
echo one >p/f
cp "$HB_PROBE" tools/probe
chmod 700 p
cd p || bail 'no workspace'
no_userns='clone:0&0x10000000'

# bare OPTIONS... -- COMMAND...
bare() {
	"$HB_PROBE" deny "$no_userns" EPERM -- "$HB_BIN" run --allow-degraded "$@"
}
# inside COMMAND...: without the words about it.
inside() {
	bare -q --ro "$work/tools" -- "$@" 2>/dev/null
}

if [ "$HB_MODE" = root ]; then
	says 'root is held by nothing there' 125 \
		'holdback: [[]6] a run as root needs user namespaces*fix: *' \
		bare -- echo ran
	done_testing
fi

says 'not without being told' 125 \
	'*[[]6]*user namespaces*fix: *; or weaker, *: --allow-degraded' \
	"$HB_PROBE" deny "$no_userns" EPERM -- "$HB_BIN" run echo ran
says 'not with --require' 125 '*[[]6]*' bare --require -- echo ran
like 'it says what landlock cannot refuse' "$(bare -- true 2>&1)" \
	'holdback: weakened: there are no namespaces: * copy at another path, * modes and times * command lines'
is 'nothing is left if nothing changed' "$("$HB_BIN" ls)" ''

# What works.
like 'a command works on a copy at its own path' \
	"$(bare -s s -- sh -c 'pwd; cat f; echo two >f; mv sub other
		: >new; cat f' 2>/dev/null)" \
	"$work/state/holdback/sessions/s/r0/copy${nl}one${nl}two"
is 'the real files stay' "$(cat f; ls)" "one${nl}f${nl}sub"
is 'its changes are what they are' "$("$HB_BIN" diff @s --name-status)" \
	"M	f${nl}A	new${nl}A	other/${nl}D	sub/"
like 'exec goes on, and says so' "$("$HB_PROBE" deny "$no_userns" EPERM -- \
	"$HB_BIN" exec @s -- cat f 2>&1)" "*weakened: *${nl}two"
check 'it is committed' "$HB_BIN" commit -y @s
is 'a commit without namespaces changes the real files' "$(cat f; ls)" "two${nl}f${nl}new${nl}other"
check 'a commit without namespaces can be undone' "$HB_BIN" undo @s
is 'as if nothing had been' "$(cat f; ls)" "one${nl}f${nl}sub"
"$HB_BIN" cleanup -y @s >/dev/null 2>&1
prints 'a command in a directory below starts there' sub \
	sh -c 'git init -q . && cd sub && "$HB_PROBE" deny "clone:0&0x10000000" EPERM -- \
		"$HB_BIN" run --allow-degraded -q -- sh -c "basename \$PWD" \
		2>/dev/null'
prints 'toolchains are found at home' tool inside sh -c \
	'cat ~/.cargo/bin/tool'
prints 'there is a place for temporary files' fine inside sh -c \
	'f=$(mktemp) && echo fine >$f && cat $f && rm $f'
is 'git has the configuration of its user, without what logs in' \
	"$(inside sh -c 'git config a.b; git config a.token; cat ~/.gitconfig' |
		grep -e '^1' -e hunter)" 1
prints 'git works' 'new file:   g' inside sh -c '
	git init -q . && echo x >g && git add g && git status | grep -o "new file:.*"'
prints 'compilers and pipes work' 3 inside sh -c 'seq 3 | wc -l'
like 'an agent without namespaces is not started with another network than asked for' \
	"$(bare -q -s a --profile claude -- touch ran 2>&1; ls)" \
	'*a network by name needs namespaces, and this host has none*fix: --net none, or --net host*'
unlike 'an agent that is not started leaves no session' "$("$HB_BIN" ls 2>&1)" '*touch*'
like 'an agent has its state, held back' "$(bare -q -s a --net host --profile claude -- sh -c '
	cat ~/.claude/settings.json; echo changed >~/.claude/settings.json' \
	2>/dev/null)" token
is 'the real state of an agent stays as it was' "$(cat "$HOME/.claude/settings.json")" token
like 'the state of an agent is carried to its next run' \
	"$(bare -q -s b --net host --profile claude -- sh -c 'cat ~/.claude/settings.json' 2>/dev/null)" changed
like 'the state of an agent is listed' "$("$HB_BIN" state claude)" '*settings.json*'
is 'the real state of an agent stays as it was after two runs' \
	"$(cat "$HOME/.claude/settings.json")" token
"$HB_BIN" cleanup -y @b >/dev/null 2>&1
mv "$HOME/.claude" "$HOME/dot.claude" && ln -s dot.claude "$HOME/.claude"
is 'an agent has its state, held back, if that is behind a link' "$(bare -q -s b --net host --profile claude -- sh -c '
	cat ~/.claude/settings.json; echo changed >~/.claude/settings.json' 2>/dev/null
	cat "$HOME/.claude/settings.json")" "token${nl}token"
rm "$HOME/.claude" && mv "$HOME/dot.claude" "$HOME/.claude"
"$HB_BIN" cleanup -y @b >/dev/null 2>&1
"$HB_BIN" rollback -y @a >/dev/null 2>&1
"$HB_BIN" cleanup -y @a >/dev/null 2>&1

# What does not.
try() {
	inside "$work/tools/probe" "$@"
}
is 'I9 the real workspace cannot be read' "$(try open r "$work/p/f")" EACCES
is 'I9 the real workspace cannot be written' "$(try open w "$work/p/f")" EACCES
is 'no file can be made in the real workspace' "$(try open create "$work/p/planted")" EACCES
is 'no file can be removed from the real workspace' "$(try unlink "$work/p/f")" EACCES
is 'V23 keys cannot be read' "$(try open r "$work/home/.ssh/id")" EACCES
is 'keys in a toolchain cannot be read' \
	"$(try open r "$work/home/.local/share/uv/credentials/id")" EACCES
is 'the home directory cannot be listed' "$(try open r "$work/home")" EACCES
is 'tools of the home directory cannot be written' "$(try open w "$work/home/.cargo/bin/tool")" EACCES
is 'V5 the store cannot be read' "$(try open r "$work/state/holdback")" EACCES
is 'a link that leads out cannot be followed' "$(inside sh -c 'ln -s "$1" out && cat out 2>&1' \
	sh "$work/p/f" | grep -c 'Permission denied')" 1
is 'no hard link to an outside file can be made' "$(inside sh -c 'ln "$1" out 2>/dev/null ||
	echo refused' sh "$work/p/f")" refused
is 'a file is not emptied by its name' "$(inside python3 -c '
import os, sys
try:
    os.truncate(sys.argv[1], 0)
except OSError as e:
    print(e.errno)' "$work/p/f")" 13
is 'V12 no user namespace' "$(inside sh -c 'unshare -U true 2>/dev/null ||
	echo refused')" refused
is 'V21 no network' "$(try socket 2 1 0)" EACCES
is 'an IPv6 socket is refused' "$(try socket 10 1 0)" EACCES
is 'V9 sockets by path are refused' "$(try socket 1 1 0)" EACCES
is 'V15 shared memory is refused' "$(try shm 4711)" EPERM
is 'attributes that mark layers cannot be set' "$(inside python3 -c '
import os
try:
    os.setxattr("f", "user.overlay.opaque", b"y")
except OSError as e:
    print(e.errno)')" 1
is 'V8 with the network of the host abstract sockets are closed' "$(
	python3 -c '
import os, socket, subprocess, sys
s = socket.socket(socket.AF_UNIX)
s.bind("\0hb-bare-" + str(os.getpid()))
s.listen()
subprocess.run(sys.argv[1:] + ["@hb-bare-" + str(os.getpid())])' \
		"$HB_PROBE" deny "$no_userns" EPERM -- "$HB_BIN" run -q \
		--allow-degraded --net host --ro "$work/tools" -- \
		"$work/tools/probe" connect 2>/dev/null
)" EPERM
sleep 600 &
other=$!
is 'V7 signals stay inside' "$(try kill $other 15)" EPERM
is 'V6 other processes cannot be traced' "$(try ptrace $other)" EPERM
is 'V5 the environment of other processes cannot be read' "$(try open r "/proc/$other/environ")" EACCES
# What ends or cripples a process without a signal.
cat >"$work/tools/press.py" <<'PYTHON'
import ctypes, os, resource, sys
pid = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
limit = resource.prlimit(pid, resource.RLIMIT_NOFILE)
def call(name, *words):
    if getattr(libc, name)(*words) < 0:
        raise OSError(ctypes.get_errno(), "")
tries = {
    "limit": lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, limit),
    "core": lambda: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)),
    "affinity": lambda: os.sched_setaffinity(pid, os.sched_getaffinity(0)),
    "scheduler": lambda: os.sched_setscheduler(
        pid, os.SCHED_OTHER, os.sched_param(0)),
    "param": lambda: os.sched_setparam(pid, os.sched_param(0)),
    "attr": lambda: call("syscall", 314, pid, 0, 0),
    "nice": lambda: os.setpriority(os.PRIO_PROCESS, pid, 1),
    "nice-group": lambda: os.setpriority(os.PRIO_PGRP, 0, 1),
    "nice-all": lambda: os.setpriority(os.PRIO_USER, 0, 1),
    "io": lambda: call("syscall", 251, 1, pid, 0x4007),
    "io-all": lambda: call("syscall", 251, 3, 0, 0x4007),
}
allowed = []
for name, act in tries.items():
    try:
        act()
        allowed.append(name)
    except OSError as e:
        if e.errno != 1:
            allowed.append(f"{name}={e.errno}")
print("others:", *allowed)
resource.prlimit(0, resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))
resource.prlimit(pid, resource.RLIMIT_NOFILE)
os.sched_setaffinity(0, os.sched_getaffinity(0))
os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))
call("syscall", 251, 1, 0, 0x4007)
print("own: fine")
PYTHON
is 'V7 limits and priorities of others are out of reach, its own are not' \
	"$(inside python3 "$work/tools/press.py" $other)" "others:${nl}own: fine"
kill $other
wait $other 2>/dev/null

# The end.
rm -rf .git
bare -s long --ro "$work/tools" -- "$work/tools/probe" linger 3 deaf \
	>/dev/null 2>"$work/.end"
like 'what it leaves behind is ended' "$(cat "$work/.end")" \
	'*ended 3 processes that the command left behind*'
says 'time is up there as well' 124 '*time is up*' bare --timeout 1 -- \
	sh -c 'trap "" TERM; while :; do sleep 600 & wait; done'
mark=600.$$
bare -q -s "k$$" -- sh -c ": >started; exec sleep $mark" \
	>/dev/null 2>&1 &
top=$!
wait_until pgrep -f "^sleep $mark\$" ||
	fail 'the command has started' "$(ps -ef)"
# The filter's process is ours; the supervisor is its child, or itself.
for pid in $(pgrep -f "holdback run.*-s k$$") $(pgrep -P $top) $top; do
	kill -KILL "$pid" 2>/dev/null
done
wait $top 2>/dev/null
gone() {
	! pgrep -f "^sleep $mark\$"
}
check 'L7 what was started ends with the supervisor' wait_until gone

# What takes namespaces is refused by name.
for option in --ephemeral --direct '--at /work' --allow-nested \
	"--hide $work/p/sub" "--socket $work/x" "--ro $work/state" \
	"--rw $work/state" "--show $work/state"; do
	# shellcheck disable=SC2086 # two words
	like "$option is refused" "$(bare $option -- echo ran 2>&1)" \
		'*holdback: [[][26]]*'
done
# version N COMMAND...: landlock of that version.
version() {
	version=$1
	shift
	"$HB_PROBE" deny "$no_userns" EPERM landlock_create_ruleset:2=1 \
		"=$version" -- "$HB_BIN" run --allow-degraded "$@"
}
says 'not without landlock' 125 '*[[]6] stage landlock: *fix: *' \
	"$HB_PROBE" deny "$no_userns" EPERM landlock_create_ruleset ENOSYS -- \
	"$HB_BIN" run -q --allow-degraded -- echo ran
says 'not with one that lets files be emptied' 125 \
	'*[[]6] stage landlock: *fix: use Linux 6.2*' version 2 -q -- echo ran
like 'one without scopes: signals are named' "$(version 5 -q -- echo ran 2>&1)" \
	'*weakened: *weakened: and it can send signals to your processes*ran'
"$HB_BIN" cleanup -y @long >/dev/null 2>&1
"$HB_BIN" cleanup -y "@k$mark" >/dev/null 2>&1
done_testing
