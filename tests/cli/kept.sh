#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# holdback run with a session: what is kept, what is left when nothing changed,
# what is said, and what the modes without one do.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
hb() {
	"$HB_BIN" "$@"
}


# The store, with nothing in it: all that a run may leave.
sessions=$HOME/.local/state/holdback/sessions
left() {
	ls -A "$sessions" 2>/dev/null | tr '\n' ' '
}

mkdir p && cd p || bail 'no directory'
printf 'one\ntwo\n' >file

prints 'a run that changes nothing says nothing' '' hb true
is 'a run that changes nothing leaves no session' "$(left)" ''
# Nothing else is started to find that out: that would be most of its time.
mkdir ../alone && cp "$HB_BIN" ../alone || bail 'no copy'
prints 'without another executable' '' ../alone/holdback true
prints 'a run that writes the same again leaves no session' '' \
	hb sh -c 'cat file >/tmp/x; touch -r file /tmp/t; cat /tmp/x >file
		touch -r /tmp/t file'
is 'no session of that either' "$(left)" ''
# Until nothing runs in the box, nothing is known of its changes.
like 'a process that writes as it is ended has its change kept' \
	"$(hb sh -c '(trap "echo late >late; exit" TERM; echo >/tmp/ready
		while :; do sleep 0.02; done) &
		while ! [ -e /tmp/ready ]; do sleep 0.02; done' 2>&1)" \
	'*session sh-1 is kept: 1 file: 1 added*'
prints 'the change of that process is there' late hb exec @sh-1 -- cat late
hb cleanup -y @sh-1 >/dev/null 2>&1
prints 'a command that reads is not in the way' "one${nl}two" hb cat file

says 'changes are kept in a session, with the status' 3 \
	"holdback: session sh-1 is kept: 2 files: 1 changed, 1 added${nl}Go on: holdback -c *" \
	hb sh -c 'echo three >>file; echo new >added; exit 3'
is 'changes of a kept run do not reach the real files' "$(cat file) $(ls)" "one${nl}two file"
prints 'exec goes on in it' "one${nl}two${nl}three" hb exec @sh-1 -- cat file
says 'a second run has its own' 0 "holdback: session sh-1 has changes here; *${nl}holdback: session sh-2 is kept: 1 file: 1 added${nl}Go on: *" \
	hb sh -c 'test ! -e added && echo >other'
says '-s goes on' 0 "holdback: session sh-1 is kept: 3 files: 1 changed, 2 added${nl}Go on: *" \
	hb -s sh-1 sh -c 'cat added >more'
says '-s names a new one' 0 "holdback: session mine is kept: 1 file: 1 added${nl}Go on: *" \
	hb run --session mine -- sh -c 'echo >x'
says '-s of no name' 125 "holdback: \[2\] *" hb run -s a/b true
prints '-q says nothing' '' hb run -q -s mine sh -c 'echo >y'
prints 'commit, as after create' 'committed*' sh -c \
	'"$1" commit -y @sh-1 | sed "s/^committed.*/committed*/" | head -n 1' sh "$HB_BIN"
is 'now it is real' "$(cat added)" new
check 'undo' hb undo @sh-1
is 'now it is not' "$(ls)" file
check 'a session that was committed from stays' \
	hb -q -s sh-1 true
like 'a session that was committed from is listed' "$(hb ls)" '*sh-1 *'

# Of the top itself the view has a copy; what it is worth is not its length.
if python3 -c 'import os; os.setxattr(".", "user.hb", b"old")' 2>/dev/null; then
	says 'a value of the top is a change' 0 '*holdback: session python3-1 is kept: *' \
		hb python3 -c 'import os; os.setxattr(".", "user.hb", b"new")'
	check 'that can be committed' hb commit -y @python3-1
	is 'an attribute of the top is committed' "$(python3 -c 'import os; print(os.getxattr(".", "user.hb").decode())')" new
	python3 -c 'import os; os.removexattr(".", "user.hb")'
	check 'the session of an attribute can be removed' hb cleanup -y @python3-1
fi

# What a session is told stays with it.
says 'the settings of the first run' 0 'holdback: session kept-net*' \
	hb run -s kept-net --env SEEN=1 --hide "$work/p/file" sh -c 'echo >z'
is 'hold for exec' \
	"$(hb exec @kept-net -- sh -c 'echo $SEEN; cat file' 2>/dev/null)" 1
is 'the settings of the first run hold for -s' "$(hb -q -s kept-net sh -c 'echo $SEEN; cat file' 2>/dev/null)" 1
is 'an option of the call comes on top' \
	"$(hb -q -s kept-net --env SEEN=2 sh -c 'echo $SEEN')" 2
is 'the view is that of run' "$(hb exec @kept-net -- ls -A /)" \
	"$(hb run --ephemeral ls -A /)"
mkdir ../beside
is 'from elsewhere exec starts in the workspace' \
	"$(cd ../beside && hb exec @kept-net -- pwd)" "$work/p"
for name in sh-1 sh-2 mine kept-net; do
	hb cleanup -y "@$name" >/dev/null
done
is 'all cleaned up' "$(left)" ''

# What is said on a terminal.
says_there=$(on_terminal "sh -c 'echo 3 >>file; echo new >added'")
like 'the line at the start' "$says_there" \
	"holdback: session sh-1 · *p is copy-on-write · network: none · home hidden${nl}*"
like 'the status, the changes, what is next' "$says_there" \
	"*${nl}holdback: sh exited 0 after *${nl}  A  added  +1${nl}  M  file   +1${nl}2 files: 1 changed, 1 added · +2 -0${nl}Next: holdback diff @sh-1 · holdback commit @sh-1 ·${nl}      holdback rollback @sh-1${nl}Go on: holdback -c sh -c 'echo 3 >>file; echo new >added'"
hb cleanup -y @sh-1 >/dev/null
is '-q silences both' "$(on_terminal "-q sh -c 'echo 3 >>file'")" ''
hb cleanup -y @sh-1 >/dev/null
says_there=$(on_terminal "sh -c 'i=0; while [ \$i -lt 30 ]; do i=\$((i+1)); echo >n\$i; done'")
like 'of many changes some are shown' "$says_there" '*… and 10 more*30 files: 30 added*'
hb cleanup -y @sh-1 >/dev/null
is 'the bytes of the program are its own' \
	"$(hb sh -c 'printf "a\0b\rc\033[1m"; printf x >&2' 2>&1 | od -An -c | tr -s ' ')" \
	' a \0 b \r c 033 [ 1 m x'

like 'the mode of the workspace itself is a change' \
	"$(hb chmod 700 . 2>&1; hb diff --name-status)" "*session chmod-1 is kept*"
check 'in its session' hb cleanup -y @chmod-1
is 'the real mode of the workspace is as it was' "$(left)" ''

# Nothing to discard is no question.
hb run -q -s empty sh -c 'echo 3 >>file' >/dev/null
says 'a rollback of changes asks, and without a terminal fails' 2 '*-y*' hb rollback @empty
hb rollback -y @empty >/dev/null
prints 'a rollback with nothing pending says so and asks nothing' 'session empty has nothing to discard' \
	hb rollback @empty
is 'a rollback with nothing pending has a document' "$(hb rollback --json @empty | grep -c '"name": *"empty"')" 1
hb cleanup -y @empty >/dev/null

# What fails leaves nothing.
check_exit '127' 127 hb no-such-program
check_exit '126' 126 hb ./file
check_exit '125' 125 hb run --chdir /no/where true
check_exit '128 + n' 137 hb sh -c 'kill -9 $$'
printf '#!/no/such/interpreter\n' >script
chmod +x script
check_exit 'no interpreter' 127 hb ./script
is 'a missing interpreter leaves no session' "$(left)" ''
says 'without a command' 125 "holdback: \[2\] there is no command to run${nl}fix: *" \
	hb run
says 'modes that exclude each other' 125 \
	'holdback: \[2\] --ephemeral and --session exclude each other' \
	hb run --ephemeral -s x true

# --direct.
mkdir -p .git/hooks .vscode && echo '{}' >.vscode/tasks.json
says '--direct writes through, and says so' 0 \
	'holdback: weakened: nothing is held back: writes in the workspace are real' \
	hb run -q --direct sh -c 'echo real >file; test ! -e "$HOME/.x"'
is 'it is real' "$(cat file)" real
check 'no whiteout is made, which would hide a name later' hb run -q --direct sh -c '
	if mknod w c 0 0 2>/dev/null; then rm w; exit 1; fi
	mkfifo p && rm p'
check 'what runs programs is read-only' hb run -q --direct sh -c '
	! echo x >.git/hooks/pre-commit && ! echo x >.vscode/tasks.json'
is 'direct: files that run programs are as they were' "$(ls .git/hooks)$(cat .vscode/tasks.json)" '{}'
says 'direct: a file that runs programs and appears is told of' 0 \
	"*${nl}holdback: weakened: '$work/p/.mcp.json' was made by the command*" \
	hb run --direct sh -c 'echo >.mcp.json'
is 'no session' "$(left)" ''
# What holds it cannot be put aside, and what leads to it is told of.
git init -q . && mkdir .claude && echo '{}' >.claude/settings.json
: >.git/info/attributes
cp -r .git .claude ..
check 'direct: the directory of a protected file cannot be replaced' hb run -q --direct sh -c '
	for dir in .git .git/info .claude; do
		mv $dir away 2>/dev/null && exit 1
		rmdir $dir 2>/dev/null && exit 1
	done
	echo x >.git/x && rm .git/x && git -c user.name=n -c user.email=e commit \
		-q --allow-empty -m x &&
		git gc -q'
is 'all of it is as before' "$(diff -r .git/hooks ../.git/hooks &&
	diff .git/config ../.git/config && diff -r .claude ../.claude)" ''
says 'another place for the repository is told of' 0 \
	"*$work/p/.git/commondir*" hb run -q --direct sh -c 'echo . >.git/commondir'
rm -rf .git/commondir ../.git ../.claude
mv .git repository && ln -s repository .git
says 'what is behind a link that was replaced is told of' 0 "*$work/p/.git/hooks*" \
	hb run -q --direct sh -c 'rm .git && mkdir -p .git/hooks'
rm -rf .git repository .claude
echo 'gitdir: /none' >.git
check_fails 'the file of a worktree cannot be written' \
	hb run -q --direct sh -c 'echo gitdir: evil >.git || rm .git || mv .git x'
rm .git
says 'a session has nothing direct' 125 'holdback: \[2\] *' \
	sh -c '"$1" -q -s d sh -c "echo >q" && "$1" run --direct -s d true' sh "$HB_BIN"
hb cleanup -y @d >/dev/null

# What git ignores is no change, but it is work.
git init -q . && echo '*.o' >.gitignore || bail 'no repository'
says 'what git ignores is kept as well' 0 \
	"holdback: session i is kept: no changes · 1 ignored (2 B)${nl}Go on: *" \
	hb -s i sh -c 'echo o >x.o'
prints 'what git ignores is there in the next command' 'o' hb exec @i -- cat x.o
hb cleanup -y @i >/dev/null
says 'also in a session that a run made by itself' 0 \
	"holdback: session mkdir-1 is kept: no changes · 1 ignored directory${nl}Go on: holdback -c mkdir d.o" \
	hb mkdir d.o
hb cleanup -y @mkdir-1 >/dev/null
rm -rf .git .gitignore

# --code.
mkdir ../code
cat >../code/x.sh <<'X'
echo "$0 $*"
ls /proc/sys/net/ipv4/conf | grep -c lo
echo x >>"$0" || echo read-only
X
is '--code runs a file that nothing else shows' \
	"$(hb run -q --net none --code ../code/x.sh -- a b 2>/dev/null)" \
	"../code/x.sh a b${nl}1${nl}read-only"
printf '#!/bin/sh\necho "ran $1"\n' >own
chmod +x own
is '--code of what has its own interpreter' "$(hb run --code ./own -- 1)" 'ran 1'
check_exit '--code of nothing' 125 hb run --code ../code/none.sh
printf '#!/bin/sh\necho mine\n' >"ls" && chmod 755 ls
is '--code of a name that is also in PATH' "$(hb run -q --code ls)" mine
mv ls ./-c.sh
is '--code of a name that looks like an option' "$(hb run -q --code -c.sh)" mine
rm ./-c.sh && mkfifo fifo.sh
says '--code with a network is a contradiction' 125 \
	"holdback: \[2\] option '--code' runs without network, and '--net host' asks for one*fix: *" \
	hb run --net host --code ../code/x.sh
says '--code of no file' 125 \
	"holdback: \[2\] option '--code': 'fifo.sh' is not a file" hb run --code fifo.sh
rm fifo.sh
says '--code by a variable' 125 "holdback: \[3\] variable 'HOLDBACK_CODE': *" \
	env HOLDBACK_CODE=x "$HB_BIN" run true
is 'the file is as it was' "$(tail -n 1 ../code/x.sh)" 'echo x >>"$0" || echo read-only'
is '--code leaves no session' "$(left)" ''
rm -rf "$HOME/.local"
done_testing
