#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A store that the version before has made: every session is opened, listed,
# committed and undone, and one that `create` made keeps its view of the host.
. "$HB_TESTS/lib/txn.sh"

mkdir -p "$work"
python3 "$HB_TESTS/lib/store_before.py" "$work"
base=$work/base
state=$work/state/holdback
project=$base

# record SESSION KEY: its values, on one line.
record() {
	sed -n "s/^$2 = //p" "$state/sessions/$1/session" | tr '\n' ','
}

# files DIR: names and contents, on one line.
files() {
	(cd "$1" && find . -type f | LC_ALL=C sort | while read -r f; do
		printf '%s:%s,' "${f#./}" "$(tr '\n' ';' <"$f")"
	done)
}

is 'ls lists the four sessions of the version before' \
	"$(hb ls | awk '{ print $1, $2 }' | tr '\n' ',')" \
	'conflict idle,ran idle,two idle,undone idle,'
like 'ls tells the room that undo takes' "$(hb ls)" '*undone * · undo 8 B*'
is 'the session of run has the view of run' \
	"$(hb status --json @ran | sed -n 's/.*"view": *"\([a-z]*\)".*/\1/p')" run
is 'a session of create has the whole host' \
	"$(hb status --json @two | sed -n 's/.*"view": *"\([a-z]*\)".*/\1/p')" host
is 'a look at a session of create writes nothing' "$(record two policy)" ''

# The session of run.
is 'the changes of the session of run are there' \
	"$(hb diff --name-status @ran | tr '\t' ' ' | tr '\n' ',')" 'M a,D b,A e/,A e/f,A n,'
is 'a command in the session of run says nothing of the view' "$(hb exec @ran -- cat n 2>&1)" new
check 'the session of run is committed' hb commit -y @ran
is 'the changes of the session of run are in the project' "$(files "$base/run")" 'a:one;more;,d/c:three;,e/f:in;,n:new;,'
check 'the commit of the session of run is undone' hb undo @ran
is 'the project of the session of run is as before' "$(files "$base/run")" 'a:one;,b:two;,d/c:three;,'

# The session of create, with two directories and a mark.
out=$(hb exec @two -- sh -c 'ls -d /var/lib; pwd; cat m l /tmp/y/n; cat '"$base/shown/s" 2>"$TMPDIR/err")
is 'a command in the session of create sees the host, its layers and what was shown' \
	"$(printf %s "$out" | tr '\n' ',')" "/var/lib,$base/two/x,marked,later,y,shown"
is 'that command tells the view in one line' "$(cat "$TMPDIR/err")" \
	"holdback: session 'two', of an earlier version: view: the whole host, read-only"
is 'the record has the view after the first command' "$(record two policy)" \
	"profile=generic,view=host,ro=$base/shown,"
is 'the record says that the session is of an earlier version' "$(record two earlier)" yes,
is 'the next command tells the view again' "$(hb exec @two -- true 2>&1)" "$(cat "$TMPDIR/err")"
rm -f "$TMPDIR/err"
like 'status tells the view of the earlier session' "$(hb status @two)" '*view: the whole host, read-only*'
is 'the mark of the version before is there' \
	"$(hb diff --name-status --since first @two | tr '\t' ' ' | tr '\n' ',')" \
	"A $base/two/x/l,D $base/two/y/b,"
check 'a fork of the earlier session is made' hb fork @two other
like 'the fork of the earlier session has its view' "$(hb exec @other -- true 2>&1)" '*the whole host, read-only'
hb cleanup -y @other >/dev/null
check 'the session with two directories is committed' hb commit -y @two
is 'the changes are in the first of two projects' "$(files "$base/two/x")" 'a:one;,b:two;,l:later;,m:marked;,'
is 'the changes are in the second of two projects' "$(files "$base/two/y")" 'a:one;,d/c:three;,n:y;,'
check 'the commit of both is undone' hb undo @two
is 'the first of two projects is as before' "$(files "$base/two/x")" 'a:one;,b:two;,d/c:three;,'
is 'the second of two projects is as before' "$(files "$base/two/y")" 'a:one;,b:two;,d/c:three;,'

# The one that was committed and undone.
is 'what the version before has undone is pending' \
	"$(hb diff --name-status @undone | tr '\t' ' ' | tr '\n' ',')" 'M a,D b,D d/c,A d/z,A n,'
check 'what was undone is committed again' hb commit -y @undone
is 'what was undone is in the project again' "$(files "$base/undone")" 'a:one;more;,d/z:fresh;,n:c;,'
check 'what was undone is undone again' hb undo @undone
is 'the project is as before the second commit' "$(files "$base/undone")" 'a:one;,b:two;,d/c:three;,'

# The one with a conflict.
echo theirs >"$base/conflict/a"
status=0
hb commit -y @conflict >"$TMPDIR/out" 2>&1 || status=$?
is 'the conflict of the version before is found' "$status" 5
like 'the conflict of the version before is named' "$(cat "$TMPDIR/out")" 'conflict: a: *'
rm -f "$TMPDIR/out"
check 'the conflict is committed with an answer' hb commit -y --theirs a @conflict
is 'the version of the session is in the project' "$(files "$base/conflict")" \
	'a:mine;,b:two;,d/c:three;,n:n;,'
check 'the commit with an answer is undone' hb undo @conflict
is 'the edit of the real file is back' "$(files "$base/conflict")" 'a:theirs;,b:two;,d/c:three;,'

for name in conflict ran two undone; do
	check "$name is removed" hb cleanup -y "@$name"
done
is 'nothing is left of the four sessions' "$(ls -A "$state/sessions")$(ls -A "$state/layers")" ''
remove_all
done_testing
