#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: strace
#
# A session that is said to be there is on disk: everything that leads to it, is
# it and is needed to open it is synced before the line.  A run waits for no disk
# before its command, and has its session on disk before the summary.
. "$HB_TESTS/lib/txn.sh"

trace=$TMPDIR/trace
strace -f -o "$trace" true 2>/dev/null || skip_all 'nothing can be traced here'

# traced COMMAND...: its syncs, renames, executions and lines, with paths.
traced() {
	(cd "${where:-$project}" && XDG_STATE_HOME=$state exec strace -f -y -qq -e signal=none \
		-e trace=fsync,fdatasync,syncfs,renameat2,execve,write -o "$trace" "$@") \
		>/dev/null 2>&1
}

# before WORDS: what came before the first line of the trace with these words.
before() {
	awk -v words="$1" 'index($0, words) { exit } { print }' "$trace"
}

# behind WORDS: what came after the first line with these words.
behind() {
	awk -v words="$1" 'found { print } index($0, words) { found = 1 }'
}

# synced PATH: whether the calls on stdin have it synced.
synced() {
	grep -q "sync([0-9]*<$1>) *= 0"
}

# The name it has while it is made is another.
new='[.]new-[0-9a-f]*'
remove_all
mkdir -p "$project"
traced "$HB_BIN" create s --cow "$project" --state-dir "$state/a/b"
for path in "$new" "$new/session" "$new/r0" "$new/r0/upper" "$new/r0/top"; do
	check "create syncs '$path' before it says so" \
		eval 'before "created session" | synced "$state/a/b/sessions/$path"'
done
for path in "$state/a/b/sessions" "$state/a/b" "$state/a" "$state" "$TMPDIR"; do
	check "create syncs '${path#"$TMPDIR"}' of the directories that lead there" \
		eval 'before "created session" | synced "$path"'
done
check 'its name after it has it' eval \
	'before "created session" | behind "RENAME_NOREPLACE" | synced "$state/a/b/sessions"'

in_fork() {
	traced "$HB_BIN" fork --state-dir "$state/a/b" @s t
}
check 'a fork is made' in_fork
check 'a fork syncs its name' eval \
	'before "write(1<" | behind "RENAME_NOREPLACE" | synced "$state/a/b/sessions"'

# start: what came before the second program: the command, whose words cannot
# be read by all who trace.
start() {
	awk 'index($0, "execve(") && ++n == 2 { exit } { print }' "$trace"
}

# The second one is in another directory: an earlier session of its own one is
# looked into first, by a program more.
where=$TMPDIR/elsewhere
mkdir "$where"
for time in first second; do
	traced "$HB_BIN" sh -c "echo $time >$time"
	is "the $time run makes a session in three programs" \
		"$(grep -c 'execve(' "$trace")" 3
	is "the $time run waits for no disk before its command" \
		"$(start | grep -c 'sync(\|syncfs(')" 0
	where=$project
done
sessions=$state/holdback/sessions
for path in "$sessions/sh-2" "$sessions/sh-2/r0" "$sessions/sh-2/r0/upper" "$sessions"; do
	check "the $time run has '${path#"$state"}' on disk before its summary" \
		eval 'before "is kept: " | synced "$path"'
done
check 'the record after it has its name' eval 'before "is kept: " |
	behind "sessions/sh-2/session.new>) " | synced "$sessions/sh-2"'
traced "$HB_BIN" -q sh -c 'echo third >third'
is 'a quiet run beside a pending session is three programs' "$(grep -c 'execve(' "$trace")" 3

# Git's files of T0 are kept beside the box.  Each is held up, so that a command
# that does not wait for them comes first.  A command that may make no namespaces
# waits for the supervisor in any case, to be refused one.  An index of this very
# moment is not kept: it may be newer than T0.
cd "$TMPDIR/elsewhere" && mkdir git && cd git && mkdir -p .git/refs/heads .git/objects
echo 'ref: refs/heads/main' >.git/HEAD
echo index >.git/index
until touch "$TMPDIR/tick" &&
	[ "$(stat -c %.9Z .git/index)" != "$(stat -c %.9Z "$TMPDIR/tick")" ]; do :; done
XDG_STATE_HOME=$state strace -f -qq -e signal=none -e trace=renameat,execve \
	-e inject=renameat:delay_enter=300000 -o "$trace" "$HB_BIN" run -q --allow-nested -- true \
	2>/dev/null
is "a run has git's index and references before its command" \
	"$(start | grep -c 'renameat(.*"\(index\|refs\)-[0-9a-f]*[.]new"')" 2
cd "$TMPDIR" || exit 1
rm -rf "$trace" "$TMPDIR/elsewhere" "$TMPDIR/tick"
finish
