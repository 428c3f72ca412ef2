#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git python3
#
# What the view is made of: the options that add to it and take from it, the
# files it has of its own, worktrees, and the command's own package.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
mkdir other project project/sub
other=$work/other
cd project || bail 'no directory'
echo old >file
echo old >"$other/file"

# Files of its own.
me=$(id -un)
prints 'the user has a name' "$me" run id -un
is 'only the user, root and nobody have a name' \
	"$(run cut -d: -f1 /etc/passwd | sort -u)" \
	"$(printf '%s\n' nobody root "$me" | sort -u)"
prints 'the home directory in passwd is the one' "$HOME" \
	run sh -c 'getent passwd "$(id -u)" | cut -d: -f6'
prints 'groups as well' "$(id -gn)" run id -gn
check_fails 'no other group' run grep -qw -e adm -e sudo -e wheel /etc/group
check 'localhost has an address' run getent hosts localhost
check_fails 'hosts are not those of the host' \
	run grep -qv -e '^127.0.0.1 localhost' -e '^::1 localhost' /etc/hosts
prints 'without a network no name server' '# no network' \
	run cat /etc/resolv.conf
is 'with one, the host'"'"'s' \
	"$(run --net host cat /etc/resolv.conf 2>/dev/null)" \
	"$(grep -E '^(nameserver|search|domain|options|sortlist)[[:blank:]]' \
		/etc/resolv.conf || true)"
unlike 'the machine has no id to tell it by' \
	"$(run cat /etc/machine-id 2>/dev/null || true)" \
	"$(cat /etc/machine-id 2>/dev/null || echo none)"
check_fails 'they cannot be written' run sh -c 'echo x >>/etc/passwd'

# A loopback that works.
check 'a program can talk to itself' run python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(s.getsockname())
a = s.accept()[0]
c.send(b"x")
assert a.recv(1) == b"x"'

# $AGENT_WORK_DIR
prints 'the work directory is empty, private and writable' "700 0" \
	run sh -c 'echo $(stat -c %a "$AGENT_WORK_DIR") $(ls -A "$AGENT_WORK_DIR" |
		wc -l) && echo x >"$AGENT_WORK_DIR/x"'
check "the work directory is not the host's" test ! -e /tmp/agent-work/x
check 'where /tmp is given it is somewhere else' run -q --ro /tmp sh -c \
	'echo x >"$AGENT_WORK_DIR/x" && ! touch /tmp/x 2>/dev/null'
check 'the work directory is not made in a /tmp that may be written' run -q --rw /tmp sh -c \
	'echo x >"$AGENT_WORK_DIR/x"'
check 'nothing of that is on the host' test ! -e /tmp/agent-work

# --cow, --at, --export, --hide, --socket
prints '--cow holds back another directory' "new" \
	run --cow "$other" sh -c 'echo new >"$1/file" && cat "$1/file"' sh "$other"
is 'the real one stays' "$(cat "$other/file")" old
prints '--cow DIR:INSIDE puts it elsewhere' old \
	run --cow ../other:/vault cat /vault/file
check_fails '--cow DIR:INSIDE shows the directory at INSIDE only' run --cow ../other:/vault cat "$other/file"
says '--cow inside of the workspace' 125 \
	"holdback: \[2\] option '--cow': 'sub' and another directory that is held back overlap" \
	run --cow sub true
says '--cow of nothing' 125 "holdback: \[2\] option '--cow': cannot find 'no'*" \
	run --cow no true
says '--cow of a file' 125 "holdback: \[2\] option '--cow': cannot find 'file'*" \
	run --cow file true
says '--cow of /' 125 "holdback: \[2\] option '--cow': '/' cannot be held back" \
	run --cow / true

mkdir .git
prints '--at puts the workspace elsewhere' "/workspace/sub old" \
	sh -c 'cd sub && "$1" run --ephemeral --at /workspace sh -c \
		"echo \$(pwd) \$(cat ../file)"' sh "$HB_BIN"
rmdir .git
check_fails '--at shows the workspace at that path only' run --at /workspace --chdir / cat "$work/project/file"
printf '#!/bin/sh\necho ran $0\n' >script
chmod +x script
prints 'a command of the workspace is found there' 'ran ./script' \
	run --at /workspace ./script
prints 'also by its own path' 'ran /workspace/script' \
	run --at /workspace "$work/project/script"
says '--at a relative path' 125 \
	"holdback: \[2\] option '--at': 'x' is not absolute" run --at x true
for place in / /proc /tmp "$HOME"; do
	says "--at $place" 125 "holdback: \[2\] option '--at': the view has its own*" \
		run --at "$place" true
done

mkdir logs
says '--export is said' 0 \
	"holdback: weakened: writes in '$work/project/logs' are real" \
	run -q --export logs sh -c 'echo x >logs/out; echo x >not'
is 'what is written there is real' "$(cat logs/out)" x
check '--export lets only its directory through' test ! -e not
check '--export with --at' \
	run --at /w --export logs sh -c 'echo y >/w/logs/at'
is 'writes there too' "$(cat logs/at)" y
ln -s "$other" link
for bad in .. "$other" link ../project /; do
	says "--export $bad" 125 \
		"holdback: \[2\] option '--export': '$bad' is no directory below the workspace" \
		run --export "$bad" touch "$bad/x"
done
says '--export of what is not there makes nothing' 125 \
	"holdback: \[2\] option '--export': cannot find 'none'*" \
	run --export none true
check 'really' test ! -e none
rm link

mkdir secret && echo x >secret/x
check_fails '--hide of a directory' run --hide secret cat secret/x
check_fails '--hide of a file' run --hide file cat file
check_fails '--hide in the system' run --hide /usr/share ls /usr/share/doc
check_fails '--hide wins over --ro' \
	run --ro "$other" --hide "$other" cat "$other/file"
prints '--hide of what is not there' old run --hide none cat file
mkdir "$other/kept" && echo key >"$other/kept/key"
ln -s kept "$other/link"
prints '--hide of a link hides what it leads to' '' run -q --ro "$other" \
	--hide "$other/link" sh -c 'cat "$1/link/key" "$1/kept/key" 2>/dev/null
		:' sh "$other"
prints '--hide behind a link likewise' '' run -q --ro "$other" \
	--hide "$other/link/key" sh -c 'cat "$1/link/key" "$1/kept/key" 2>/dev/null
		:' sh "$other"
mkdir "$HOME/dot" && echo key >"$HOME/dot/id" && ln -s dot "$HOME/.ssh"
like 'keys that a link leads to are hidden with the home directory shown' \
	"$(run -q --ro "$HOME" sh -c 'cat ~/.ssh/id ~/dot/id || echo none' 2>&1)" \
	'*denied*denied*none'
like 'also where the workspace is what the link leads to' \
	"$(cd "$HOME/dot" && mkdir ssh && echo key >ssh/id && rm ../.ssh &&
		ln -s dot/ssh ../.ssh && run -q sh -c 'cat ssh/id || echo none' 2>&1)" \
	'*denied*none'
rm -r "$HOME/dot" "$HOME/.ssh" "$other/link" "$other/kept"

mkdir "$HOME/.ssh" "$HOME/plain"
echo key >"$HOME/.ssh/id" && echo plain >"$HOME/plain/x"
check_fails 'keys are hidden where the home directory is shown' \
	run --ro "$HOME" cat "$HOME/.ssh/id"
is 'the rest is not' "$(run --ro "$HOME" cat "$HOME/plain/x" 2>/dev/null)" plain
check 'a key that is asked for by name is there' \
	run --ro "$HOME/.ssh/id" cat "$HOME/.ssh/id"
rm -r "$HOME/.ssh" "$HOME/plain"

python3 -c '
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind("sock")
s.listen()
print("up", flush=True)
s.accept()[0].send(b"hello")' >up 2>&1 &
server=$!
mv up ../up
wait_until grep -q up ../up
mkdir "$HOME/s" && ln "$work/project/sock" "$HOME/s/docker.sock"
talk='import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print(s.recv(9).decode())'
check_fails 'a socket of the host cannot be reached' \
	run python3 -c "$talk" "$HOME/s/docker.sock"
is '--socket lets it' "$(run --socket "$HOME/s/docker.sock" \
	python3 -c "$talk" "$HOME/s/docker.sock" 2>&1)" \
	"holdback: weakened: the command can talk to '$HOME/s/docker.sock', which is as good as root${nl}hello"
wait "$server"
says '--socket of a file' 125 \
	"holdback: \[2\] option '--socket': 'file' is not a socket" \
	run --socket file true
rm -r "$HOME/s" sock ../up

# Caches.
mkdir -p "$HOME/.npm" && echo cached >"$HOME/.npm/x"
prints 'a cache can be read and written' "cached new" \
	run sh -c 'echo new >"$HOME/.npm/y"; echo $(cat "$HOME/.npm/x" "$HOME/.npm/y")'
is 'a cache of the host is not changed' "$(ls "$HOME/.npm")" x
rm -r "$HOME/.npm"

mkdir -p "$HOME/.npm/_logs" "$HOME/.local/share/uv/credentials/a" \
	"$HOME/.local/share/uv/tools"
echo SECRET >"$HOME/.npm/_logs/debug.log"
echo SECRET >"$HOME/.local/share/uv/credentials/a/b"
echo tool >"$HOME/.local/share/uv/tools/x"
prints 'logs of npm and the credentials of uv are hidden, its tools are not' tool \
	run sh -c 'grep -rs SECRET "$HOME"; cat ~/.local/share/uv/tools/x'
rm -r "$HOME/.npm" "$HOME/.local"

mkdir -p "$HOME/.npm/below"
check 'a cache that cannot be one stops nothing' \
	"$HB_BWRAP" --dev-bind / / --bind "$work" "$work" \
	--tmpfs "$HOME/.npm/below" --chdir "$work/project" \
	"$HB_BIN" run --ephemeral sh -c 'echo x >"$HOME/x"'
rm -r "$HOME/.npm"

# The store.
"$HB_BIN" create one --cow "$other" >/dev/null
state=$HOME/.local/state/holdback
check_fails 'the store cannot be seen' \
	run --rw "$HOME" ls "$state/sessions"
check_fails 'the store cannot be written' run --rw "$HOME/.local" \
	sh -c 'echo x >"$1/x"' sh "$state"
says 'the store cannot be asked for' 125 "holdback: \[2\] option '--ro': '$state/sessions' is where sessions live" \
	run --ro "$state/sessions" true
check 'it is as it was' "$HB_BIN" cleanup -y @one
rm -r "${HOME:?}/.local"

# The home directory as a workspace.
says 'the home directory is not asked about without a terminal' 125 \
	"holdback: \[2\] the home directory cannot be a workspace*" \
	sh -c 'cd && "$1" run --ephemeral true' sh "$HB_BIN"
mkdir "$HOME/.ssh" && echo key >"$HOME/.ssh/id" && echo x >"$HOME/x"
# answers WORD: what a run in the home directory gives after that answer.
answers() {
	(cd && printf '%s\n' "$1" | script -qec \
		"'$HB_BIN' run --ephemeral sh -c 'echo \$(cat x; cat .ssh/id; ls .)'" \
		/dev/null 2>&1)
}
like 'on a terminal it is' "$(answers n)" \
	'*home directory would be the workspace*\[y/N\]*cannot be a workspace*'
like 'yes is yes, and keys are hidden' "$(answers y)" '*\[y/N\]*Permission denied*x x*'
rm -r "$HOME/.ssh" "$HOME/x"

# Worktrees.
cd "$work" || bail 'no directory'
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a \
	GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
git init -q main
git -C main commit -q --allow-empty -m first
git -C main worktree add -q ../tree -b topic
cd tree || bail 'no worktree'
check 'git works in a worktree' run git status
prints 'also committing' 2 run sh -c '
	echo x >x && git add x && git -c user.name=a -c user.email=a commit -qm x &&
	git rev-list --count HEAD'
is 'a commit in a worktree is not seen by the real repository' "$(git rev-list --count HEAD)" 1
cd .. || bail
git -C main -c protocol.file.allow=always submodule --quiet add \
	"$work/main" sub
cd main/sub || bail 'no submodule'
before=$(git rev-parse HEAD)
prints 'git works in a submodule' 2 run -q sh -c 'echo x >x && git add x &&
	git -c user.name=n -c user.email=e commit -qm x &&
	git rev-list --count HEAD'
is 'the repository of a submodule is not changed' "$(git rev-parse HEAD)" "$before"
cd "$work" || bail 'no directory'
mkdir other-sub && echo "gitdir: $work/main/.git/modules/sub" >other-sub/.git
check_fails 'a directory that the repository does not name gets none of it' \
	sh -c 'cd other-sub && "$HB_BIN" run --ephemeral -q -- \
		ls "$1/main/.git/modules/sub"' sh "$work"
rm -r other-sub
mkdir fake && echo "gitdir: $work/main/.git/worktrees/tree" >fake/.git
check_fails 'a repository that does not point back is not shown' \
	sh -c 'cd fake && "$1" run --ephemeral ls "$2"' sh "$HB_BIN" "$work/main/.git"
mkdir -p evil/g "$HOME/private" && echo "$work/evil/.git" >evil/g/gitdir &&
	echo "$HOME/private" >evil/g/commondir && echo "gitdir: g" >evil/.git
echo secret >"$HOME/private/x"
check_fails 'a directory that a planted repository names is not shown' \
	sh -c 'cd evil && "$1" run --ephemeral cat "$2"' sh "$HB_BIN" \
	"$HOME/private/x"
rm -r "$HOME/private"

# The command's package.
mkdir -p "$HOME/app/bin" "$HOME/app/lib" "$HOME/bin"
printf '#!/bin/sh\ncat "${0%%/*}/../lib/data"\n' >"$HOME/app/bin/tool"
chmod +x "$HOME/app/bin/tool"
echo data >"$HOME/app/lib/data"
ln -s ../app/bin/tool "$HOME/bin/tool"
cd "$work/project" || bail
prints 'a command brings its package along' data run "$HOME/app/bin/tool"
printf '#!%s/app/bin/interp\n' "$HOME" >scripted
printf '#!/usr/bin/env interp\n' >by_env
chmod +x scripted by_env
cp "$HB_PROBE" "$HOME/app/bin/interp"
like 'an interpreter brings its package along' "$(run ./scripted 2>&1)" '*probe*'
like 'also by way of env' "$(PATH=$HOME/app/bin:$PATH run ./by_env 2>&1)" '*probe*'
ln -s "$HOME/app/bin/interp" led_to
like 'the target of a link brings its package along' "$(run ./led_to 2>&1)" '*probe*'
mkdir "$HOME/app/.git"
check_exit 'a command does not bring another project along' 127 run "$HOME/app/bin/tool"
prints 'another project is shown if it is asked for' data run --ro "$HOME/app" "$HOME/app/bin/tool"
for name in scripted led_to; do
	check_exit "nothing in the workspace names another project: $name" 127 \
		run "./$name"
done
rm -r "$HOME/app/.git" led_to
rm -r "$HOME/app/lib"
says 'what is no package is not shown' 127 \
	"holdback: '$HOME/app/bin/tool' is not in the view*${nl}fix: --ro $HOME/app/bin" \
	run "$HOME/app/bin/tool"
says 'an interpreter in no package is not shown' 127 \
	"holdback: the interpreter of './scripted' is not in the view*${nl}fix: --ro $HOME/app/bin" \
	run ./scripted
# A prefix that holds more than a package, and one with a key in it by a link.
for place in .config/bin .local/sbin; do
	mkdir -p "$HOME/$place" "$HOME/${place%/*}/lib" "$HOME/.config/gh" \
		"$HOME/.local/share/keyrings"
	echo SECRET >"$HOME/.config/gh/hosts.yml"
	echo SECRET >"$HOME/.local/share/keyrings/k"
	printf '#!/bin/sh\ngrep -rs SEC[R]ET "$HOME"\n:\n' >"$HOME/$place/tool"
	chmod +x "$HOME/$place/tool"
	says "what holds keys is no package: $place" 127 \
		"holdback: *is not in the view*${nl}fix: --ro $HOME/$place" \
		run "$HOME/$place/tool"
	prints "a command runs where only its own directory is shown: $place" \
		'' run --ro "$HOME/$place" "$HOME/$place/tool"
	rm -r "$HOME/.config" "$HOME/.local"
done
mkdir -p "$HOME/app/bin" "$HOME/app/lib" "$HOME/app/state"
printf '#!/bin/sh\ngrep -rs SEC[R]ET "$HOME"\n:\n' >"$HOME/app/bin/tool"
chmod +x "$HOME/app/bin/tool"
says 'a directory that holds the store is no package' 127 "holdback: *is not in the view*" \
	env XDG_STATE_HOME="$HOME/app/state" "$HB_BIN" run --ephemeral \
	"$HOME/app/bin/tool"
mkdir "$HOME/app/lib/keys" && echo SECRET >"$HOME/app/lib/keys/id"
prints 'control: a package is shown whole' \
	"$HOME/app/lib/keys/id:SECRET" run "$HOME/app/bin/tool"
ln -s app/lib/keys "$HOME/.ssh"
says 'a directory that a link of the keys leads into is no package' 127 \
	"holdback: *is not in the view*" run "$HOME/app/bin/tool"
rm -r "$HOME/.ssh" "$HOME/app/lib"
# What was shown and lies in a place that is hidden.
says 'a command that is hidden is not in the view' 127 \
	"holdback: 'tool' is not in the view*" env PATH="$HOME/app/bin:$PATH" \
	"$HB_BIN" run --ephemeral --ro "$HOME/app" --hide "$HOME/app/bin" tool
package=$HOME/n/lib/node_modules/@x/agent
mkdir -p "$package" "$HOME/n/lib/node_modules/other"
printf '#!/bin/sh\nls "${0%%/@x/*}"\n' >"$package/cli.js"
chmod +x "$package/cli.js"
prints 'of a tree of packages only the one' @x run "$package/cli.js"
rm -r "${HOME:?}/app" "${HOME:?}/bin" "${HOME:?}/n"

# Files of the host that are replaced all the time, as /etc/passwd may be.
mkdir "$other/busy"
set --
while [ $# -lt 100 ]; do
	echo x >"$other/busy/$#"
	set -- "$@" --hide "$other/busy/$#"
done
python3 -c '
import os, sys
os.chdir(sys.argv[1])
names = os.listdir()
while os.path.exists("0"):
    for name in names:
        with open("new", "w"):
            pass
        os.rename("new", name)' "$other/busy" 2>/dev/null &
server=$!
many() {
	many_n=0
	while [ "$many_n" -lt 20 ]; do
		run --rw "$other" "$@" true || return 1
		many_n=$((many_n + 1))
	done
}
check 'files that are replaced meanwhile are no failure' many "$@"
kill "$server" && wait "$server" 2>/dev/null
rm -r "$other/busy"

# What is hidden, or the view's own, stays so when the host replaces the file.
mkdir sync "$other/deep"
echo secret >"$other/deep/key"
run -q --ro "$other" --hide "$other/deep/key" --export sync sh -c '
	: >sync/ready
	until [ -e sync/go ]; do sleep 0.02; done
	cat "$1"' sh "$other/deep/key" >sync/out 2>&1 &
server=$!
wait_until test -e sync/ready
echo secret >"$other/deep/new" && mv "$other/deep/new" "$other/deep/key"
: >sync/go
wait "$server"
unlike 'a hidden file that is replaced stays hidden' "$(cat sync/out)" '*secret*'
rm -r sync "$other/deep"

# Where the kernel cannot put a layer on top, as with a mount below.
mkdir "$other/below" "$other/closed"
echo secret >"$other/closed/key"
# below COMMAND...: with something mounted in the directory that is shown.
below() {
	"$HB_BWRAP" --dev-bind / / --bind "$work" "$work" \
		--tmpfs "$other/below" --chdir "$work/project" \
		"$HB_BIN" run --ephemeral --ro "$other" --hide "$other/file" \
		--hide "$other/closed" "$@"
}
check 'a directory with a mount in it can be shown' below ls "$other/below"
check_fails 'a hidden file in a directory with a mount stays hidden' below cat "$other/file"
check_fails 'directories, too' below cat "$other/closed/key"
rm -r "$other/below" "$other/closed"

# Nothing is made on the host.
before=$(cd "$work" && find . "$HOME" | sort)
run --ro "$other" --at /x/y/z --cow "$other:/a/b" true >/dev/null 2>&1
run --hide none --show /no/where --env A=b true
is 'a run makes nothing' "$(cd "$work" && find . "$HOME" | sort)" "$before"
done_testing
