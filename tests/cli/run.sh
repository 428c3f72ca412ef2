#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# holdback run: what becomes of the files, the status, and what each option
# does, seen from inside.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
echo old >file
mkdir sub
echo inner >sub/inner

# The workspace.
prints 'changes are seen inside' "new${nl}added" \
	run sh -c 'echo new >file; echo added >sub/more; rm sub/inner
		cat file; cat sub/*'
is 'changes are not seen outside' "$(cat file) $(ls sub)" 'old inner'
prints 'a directory can be deleted and made again' '' \
	run sh -c 'rm -r sub && mkdir sub && ls sub'
prints 'nothing is kept from run to run' 'old inner' \
	run sh -c 'echo $(cat file) $(ls sub)'
chmod 750 .
prints 'the workspace has its mode' 750 run stat -c %a .
prints 'the workspace has its path' "$work" run pwd

# The rest of the view.
prints 'the home directory has files of ours for shells and no other' '.bashrc .config .config/fish .config/fish/config.fish .zshrc' \
	run sh -c 'cd && echo $(find . -mindepth 1 | cut -c 3- | LC_ALL=C sort)'
check 'the home directory can be written' run sh -c 'echo x >"$HOME/x"'
is 'a write to the home directory does not reach the real one' "$(ls -A "$HOME")" ''
# The work and home directories lie below /var/tmp or /tmp: the way to them is
# all there is.
prints '/tmp, /var/tmp, /run and /dev/shm are empty' '/tmp/agent-work' \
	run --chdir / sh -c 'find /tmp /var/tmp /run /dev/shm -mindepth 1 |
		sed -e "\\|^$1/|d" -e "\\|^$HOME/|d" | while read -r name; do
			case $1/:$HOME/ in
			"$name"/* | *:"$name"/*) ;;
			*) echo "$name" ;;
			esac
		done' sh "$work"
check_fails 'system directories are read-only' \
	run sh -c 'echo x >/usr/x || echo x >/etc/x || mkdir /x'
check_fails 'what is secret in /etc is not there' \
	run sh -c 'cat /etc/shadow || cat /etc/gshadow || ls /etc/ssh/*key*'
check_fails 'what is not in the list is not there' \
	run ls "$HB_TESTS"
prints 'links of a merged system are links' \
	"$(readlink /bin || echo none)" run sh -c 'readlink /bin || echo none'
prints 'no capability is left' 'CapEff: 0000000000000000' \
	run sh -c 'grep CapEff /proc/self/status | tr "\t" " "'
prints 'only a loopback' lo run sh -c 'ls /proc/sys/net/ipv4/conf |
	grep -v -e all -e default'

# The environment.
prints 'the environment is an allow-list' \
	"AGENT_WORK_DIR HOLDBACK HOLDBACK_PROJECT HOME PATH PWD SHELL TERM TMPDIR USER" \
	env SECRET=1 SSH_AUTH_SOCK=/x "$HB_BIN" --ephemeral -- sh -c \
	'echo $(env | sed "s/=.*//" | grep -v -e ^GIT_ -e ^LC_ -e ^LOGNAME$ \
		-e ^_$ | sort)'
prints '--env passes a variable on' 1 \
	env SECRET=1 "$HB_BIN" run --ephemeral --env SECRET \
	sh -c 'echo $SECRET'
prints '--env sets one, the last wins' 'c=d' \
	run --env A=b --env A=c=d sh -c 'echo $A'
prints '--env of what is not set does nothing' unset \
	run --env NOT_SET_AT_ALL sh -c 'echo ${NOT_SET_AT_ALL-unset}'

# The status.
check_exit 'the status is the command'"'"'s' 7 run sh -c 'exit 7'
check_exit '128 + n for a signal' 143 run sh -c 'kill -TERM $$'
check_exit '125 of the command is passed on as it is' 125 run sh -c 'exit 125'
says 'who is left behind is ended, with a line' 3 \
	'holdback: ended 2 processes that the command left behind' \
	run sh -c 'sleep 1000 & sleep 1000 & exit 3'
says '-q silences that' 3 '' run -q sh -c 'sleep 1000 & exit 3'
prints 'without a terminal there is no line at the start' '' run true

like 'on a terminal a line says what will happen' \
	"$(on_terminal '--ephemeral --size 3M true')" \
	"holdback: ephemeral: changes in '$work' are kept in memory (at most 3 MiB) and gone at the end · network: none · home hidden*"
is '-q silences it' "$(on_terminal '--ephemeral -q true')" ''

# Options.
mkdir tree
echo data >tree/data
mkdir elsewhere && cd elsewhere || bail 'no directory'
check_fails 'what is beside the workspace is not there' run cat "$work/tree/data"
prints '--ro shows it' data run --ro "$work/tree" cat "$work/tree/data"
check_fails '--ro is read-only' \
	run --ro "$work/tree" sh -c 'echo x >"$1/new"' sh "$work/tree"
prints '--ro of a file' data run --ro ../tree/data cat "$work/tree/data"
ln -s tree "$work/alias"
prints '--ro of a link has both names' "data${nl}data" \
	run --ro "$work/alias" cat "$work/tree/data" "$work/alias/data"
says '--rw is a weakening' 0 \
	"holdback: weakened: writes in '$work/tree' are real" \
	run -q --rw "$work/tree" sh -c 'echo x >"$1/new"' sh "$work/tree"
is 'a write below --rw is real' "$(cat "$work/tree/new")" x
says '--ro of the home directory is a weakening' 0 \
	'holdback: weakened: the home directory can be read' \
	run --ro "$HOME" true
for place in /run /run/lock; do
	says "--ro $place is a weakening: sockets" 0 \
		"holdback: weakened: the command can talk to the services in '$place'" \
		run -q --ro $place true
done
says '--net host is a weakening' 0 \
	"holdback: weakened: the network is the host's*" run -q --net host true
is '--net host shares the namespace' \
	"$(run -q --net host readlink /proc/self/ns/net 2>/dev/null)" \
	"$(readlink /proc/self/ns/net)"
unlike '--net none does not' "$(run --net none readlink /proc/self/ns/net)" \
	"$(readlink /proc/self/ns/net)"
prints '--chdir' /usr/bin run --chdir /usr/bin pwd
prints '--chdir is where a command is looked for' 0 \
	run --chdir /usr/bin sh -c 'true; echo $?'
prints '--chdir with a command that is relative' "$work/elsewhere/in" sh -c '
	mkdir in && printf "#!/bin/sh\npwd\n" >in/here && chmod +x in/here &&
	"$1" run --ephemeral --chdir in ./here' sh "$HB_BIN"
like '--size is a limit' \
	"$(run --size 64K sh -c 'head -c 1000000 /dev/zero >big' 2>&1)" \
	'*No space left on device*'
check 'in the home directory, too' \
	run --size 64K sh -c '! head -c 1000000 /dev/zero >"$HOME/big"'
check 'without it there is room' \
	run sh -c 'head -c 1000000 /dev/zero >big'
cp "$HB_PROBE" probe
unlike 'ptrace works' "$(run ./probe ptrace-child)" '*EPERM*'
like '--no-ptrace' "$(run --no-ptrace ./probe ptrace-child)" '*EPERM*'
check_fails 'no namespaces inside' run unshare -U true
says '--allow-nested is a weakening' 0 \
	'holdback: weakened: the command may make namespaces; landlock has no rules for files' \
	run -q --allow-nested unshare -U true

prints 'options end at the command' '-q' run echo -q
prints 'options end at --' '-q' "$HB_BIN" --ephemeral -- echo -q
prints 'a script knows its name' ./script sh -c '
	printf "#!/bin/sh\necho \$0\n" >script && chmod +x script &&
	"$1" --ephemeral ./script' sh "$HB_BIN"
exec 9<"$work/file"
check_fails 'descriptors above 2 stay outside' run sh -c 'cat <&9'
done_testing
