#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What cannot be: a message with cause and fix, the documented exit code, and
# base and session as before.
. "$HB_TESTS/lib/txn.sh"

# refuses NAME STATUS WORDS COMMAND...: exits so, says the words, no more than
# one line and a fix.
refuses() {
	refuse_name=$1
	refuse_status=$2
	refuse_words=$3
	shift 3
	refuse_got=0
	refuse_out=$("$@" 2>&1 >/dev/null) || refuse_got=$?
	if [ "$refuse_got" -ne "$refuse_status" ]; then
		fail "$refuse_name" "exit $refuse_got, not $refuse_status: $refuse_out"
		return
	fi
	like "$refuse_name" "$refuse_out" "holdback: $refuse_words"
}

refuses 'no session at all' 9 '*no session*fix: *' hb status
refuses 'no such session' 9 '*there is no session*' hb status @nothing
refuses 'no such session for exec' 125 '\[9\]*' hb exec @nothing -- true

(cd "$project" && echo f >f)
n=0
for name in a/b . .. .x -x '@x' '' 'a
b' "$(printf '\033')" ' a'; do
	n=$((n + 1))
	refuses "a name that cannot be, number $n" 2 '*' hb create --cow "$project" -- "$name"
done
is 'none of these left anything' "$(ls -A "$state/sessions")" ''

refuses 'no resource' 2 '*fix: --cow*' hb create s
refuses 'a resource that is missing' 2 '*there is no*fix: *' hb create s --cow nothing
refuses 'a file' 2 '*not a directory*' hb create s --cow f
refuses 'the root' 2 '*' hb create s --cow /
refuses '/proc' 2 '*' hb create s --cow /proc/self
mkdir -p "$project/sub"
refuses 'overlapping resources' 2 '*overlap*fix: *' hb create s --cow . --cow sub
refuses 'the same twice' 2 '*overlap*' hb create s --cow . --cow .
refuses 'overlapping inside' 2 '*overlap*' \
	hb create s --cow sub:/tmp/a --cow "$TMPDIR:/tmp/a/b"
refuses 'nothing to put it on' 2 '*no directory*' \
	hb create s --cow sub:/usr/there/is/no/such
refuses 'nothing to put it on where the view is the host' 2 '*no directory*' \
	hb create s --view host --cow sub:/there/is/no/such
refuses 'a read-only path that is missing' 2 '*' hb create s --cow . --ro nothing
refuses 'the state directory itself' 2 '*' hb create s --cow "$state/sessions"
refuses 'an unknown option' 2 '*' hb create s --cow . --nonsense
refuses 'a strategy that does not exist' 2 "*'snapshot' is not one of its values*fix: say one of 'overlay', 'copy_on_write', 'git_worktree', 'none'" \
	hb create s --cow . --strategy snapshot
refuses 'two names' 2 '*' hb create s t --cow .
is 'none of these left anything' "$(ls -A "$state/sessions")" ''

hb create s --cow . >/dev/null
hb create st --cow sub >/dev/null
refuses 'a name that is taken' 10 '*already*fix: *' hb create s --cow .
check 'a whole name wins over a prefix' hb status @s
hb create su --cow sub >/dev/null
hb cleanup -y @s >/dev/null
refuses 'an ambiguous prefix' 9 '*beginning of both*' hb status @s
check 'a unique one' hb status @st
hb cleanup -y @st >/dev/null
refuses 'a word without @' 2 '*fix: @su*' hb status su
refuses 'a pattern that is none' 2 '*\[*fix: *' hb status --only '[' @su
refuses 'a hash that is none' 2 '*' hb commit -y --expect xyz @su
refuses 'commit without a terminal' 2 '*fix: -y*' hb commit @su
refuses 'exec without a command' 125 '\[2\]*' hb exec @su
refuses 'undo of nothing' 10 '*' hb undo @su
refuses 'redo of nothing' 10 '*' hb redo @su
hb cleanup -y @su >/dev/null

new_session 'echo f >f'
in_box 'echo more >>f'
file=$state/sessions/s/session
cp -p "$file" "$TMPDIR/kept"

# damaged NAME STATUS WORDS: every command refuses, and nothing changes.
damaged() {
	for command in status 'commit -y' undo 'rollback -y' recover; do
		# shellcheck disable=SC2086 # words
		refuses "$1: $command" "$2" "$3" hb $command @s
	done
	refuses "$1: exec" 125 '\[10\]*' hb exec @s -- true
	cp -p "$TMPDIR/kept" "$file"
	is "$1: the session is as before" "$(names)" 'M f,'
}
head -c 100 "$TMPDIR/kept" >"$file"
damaged 'a session file that is cut' 10 '*cut*fix: *'
: >"$file"
damaged 'an empty session file' 10 '*fix: *'
sed 's/durable = no/durable = ye/' "$TMPDIR/kept" >"$file"
damaged 'a flipped one' 10 '*changed*fix: *'
sed 's/version = 1/version = 9/' "$TMPDIR/kept" >"$file"
damaged 'one from a newer version' 10 '*version 9*fix: *'
rm "$file"
damaged 'none' 10 '*fix: *'
like 'ls shows it' "$(mv "$file" "$file.away"; hb ls; mv "$file.away" "$file")" \
	's *unreadable*'

chmod 755 "$state/sessions/s"
refuses 'a session that others can read' 10 '*others have rights*fix: *' \
	hb status @s
chmod 700 "$state/sessions/s"
cp -rp "$state/sessions/s" "$state/sessions/copy"
refuses 'a copy of a session' 10 '*is a copy of the original*' hb status @copy
rm -rf "$state/sessions/copy"

mv "$project" "$project.away"
mkdir "$project"
refuses 'another directory in the place of the resource' 10 '*not the directory*fix: *' \
	hb commit -y @s
like 'status says that the directory is gone when another is in its place' "$(hb status @s 2>&1)" \
	"*gone: $project*"
rmdir "$project"
ln -s "$project.away" "$project"
refuses 'a link to it' 10 '*gone*' hb commit -y @s
rm "$project"
refuses_from_elsewhere() {
	(cd "$work" && "$HB_BIN" commit --state-dir "$state" -y @s)
}
refuses 'no resource any more' 10 '*gone*fix: *' refuses_from_elsewhere
mv "$project.away" "$project"
is 'after all of that the session is as before' "$(names)" 'M f,'
is 'the base is as before all bad input' "$(cat "$project/f")" 'f'

# An immutable file in the way, and a base that is read-only, need root.
if [ "$HB_MODE" != root ]; then
	skip 'an immutable file in the way' 'only root can make one'
	skip 'a read-only base' 'only root can mount one'
elif ! chattr +i "$project/f" 2>/dev/null; then
	skip 'an immutable file in the way' 'the file system has none'
else
	# The mark itself changed the file: a conflict that is answered.
	refuses 'an immutable file in the way' 10 '*' hb commit -y --theirs f @s
	chattr -i "$project/f"
	is 'it is as before' "$(cat "$project/f")" 'f'
	refuses 'a read-only base' 10 '*' unshare --mount sh -c '
		mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" &&
			cd "$0" && exec "$1" commit --state-dir "$2" -y --theirs f @s
	' "$project" "$HB_BIN" "$state"
	is 'the base is as before the bad call' "$(cat "$project/f")" 'f'
fi
check 'after which it can be committed' hb commit -y --theirs f @s

# A journal that says a commit is under way, and is not what was written.
new_session 'echo f >f; echo g >g'
in_box 'echo more >>f'
hb commit -y @s >/dev/null
before=$(digest "$project")
session=$state/sessions/s
cp "$session/done/1" "$TMPDIR/kept"

# journal_refused NAME STATUS: by every command, and nothing changes.
journal_refused() {
	like "$1: status says it" "$(hb status @s)" '*
commit interrupted, and its journal is damaged: *'
	check_exit "$1: diff shows nothing" 10 hb diff @s
	for command in 'commit -y' undo redo 'rollback -y' recover \
		'recover --back'; do
		# shellcheck disable=SC2086 # words
		refuses "$1: $command" "$2" '*fix: *' hb $command @s
	done
	refuses "$1: exec" 125 "\\[$2\\]*fix: *" hb exec @s -- true
	is "$1: the base is as before" "$(digest "$project")" "$before"
	rm "$session/journal"
	check "$1: without it the session is as before" hb recover @s
}
head -c 100 "$TMPDIR/kept" >"$session/journal"
journal_refused 'a journal that is cut' 10
: >"$session/journal"
journal_refused 'an empty journal' 10
python3 - "$TMPDIR/kept" "$session/journal" 60 <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[len(data) * int(sys.argv[3]) // 100] ^= 1
open(sys.argv[2], "wb").write(data)
END
journal_refused 'a flipped journal' 10
python3 - "$TMPDIR/kept" "$session/journal" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[8] += 1
open(sys.argv[2], "wb").write(data)
END
journal_refused 'a journal from a newer version' 6
if [ "$HB_MODE" = root ]; then
	cp "$TMPDIR/kept" "$session/journal"
	chown 54321 "$session/journal"
	journal_refused "somebody else's journal" 10
	chown 54321 "$session/session"
	refuses "somebody else's session file" 10 '*fix: *' hb status @s
	chown 0 "$session/session"
	chown 54321 "$session"
	refuses "somebody else's session" 10 '*fix: *' hb status @s
	chown 0 "$session"
fi
check 'after all of that it can be undone' hb undo @s
rm -f "$TMPDIR/kept"
finish
