#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What changed outside although everything was held back.  (C4)
. "$HB_TESTS/lib/txn.sh"

# found: the paths that verify names, on one line.
found() {
	hb verify @s | sed 's/: .*//' | LC_ALL=C sort | tr '\n' ' '
}

new_session 'echo one >f; mkdir -p d/e; echo x >d/x; echo y >d/e/y; echo z >z; ln -s f l'
in_box 'echo two >f; rm z; mkdir n; echo n >n/n; mv d/e d/e2; chmod 600 d/x'
check 'nothing has got out of a box' hb verify @s
is 'verify says that nothing changed outside' "$(hb verify @s)" 'nothing of 8 changed outside'
check 'commit' hb commit -y @s
check 'what was committed is explained' hb verify @s
check 'undo' hb undo @s
check 'verify explains what was undone' hb verify @s
check 'redo' hb redo @s
check 'verify explains what was redone' hb verify @s
in_box 'echo three >f; echo k >k; echo 2 >n/n2'
check 'commit in part' hb commit -y --only f @s
check 'is explained as well' hb verify @s

echo mine >>"$project/f"
check_exit 'a file that was written to' 1 hb verify @s
is 'is named' "$(found)" 'f '
rm "$project/d/x"
is 'a name that went is told by its directory' "$(found)" 'd/ f '
chmod 700 "$project/d/e2"
ln -sfn z "$project/l"
echo new >"$project/n/new"
is 'verify tells modes, links and new files' "$(found)" './ d/ d/e2/ f l n/ n/new '
like 'with words' "$(hb verify @s | grep '^n/new')" 'n/new: made since; *'
is 'verify tells the same in JSON' "$(hb verify --json @s | python3 -c \
	'import json, sys; d = json.load(sys.stdin); print(len(d["found"]), d["looked"], d["unread"])')" \
	'7 9 0'

# The commits of another session on the same directory are ours as well.
new_session 'echo one >f; echo g >g'
hb create t --cow "$project" >/dev/null
hb exec @t -- sh -c 'echo two >f; echo n >n'
check 'another session commits' hb commit -y @t
check 'verify explains the commit of another session' hb verify @s
echo 3 >"$project/n"
check_exit 'until somebody else writes there' 1 hb verify @s
is 'it is named' "$(found)" 'n '

# What cannot be looked into is told.
if [ "$HB_MODE" = root ]; then
	new_session 'mkdir shut; echo 1 >shut/in; chmod 000 shut'
	echo 2 >"$project/shut/in"
	check_exit 'root looks into a directory of mode 000' 1 hb verify @s
	is 'root finds the change in a directory of mode 000' "$(found)" 'shut/in '
else
	new_session 'mkdir shut; echo 1 >shut/in; chmod 000 shut'
	like 'a directory that may not be read' "$(hb verify @s 2>&1)" \
		'*1 directory could not be looked into*'
	chmod 755 "$project/shut"
fi

# Names in the session's own directory that no command leaves together.
new_session 'echo one >f'
in_box 'echo two >f'
check 'commit before a name is planted' hb commit -y @s
session=$state/sessions/s
check 'verify passes a session whose names fit' hb verify @s
mkdir -p "$session/undone"
cp "$session/done/1" "$session/undone/1"
check_exit 'verify fails on a journal that is done and undone' 10 hb verify @s
like 'verify names both journals' "$(hb verify @s 2>&1)" \
	'*no command leaves these together: done/1, undone/1*docs/transaction.md*'
mv "$session/undone/1" "$session/journal"
touch "$session/journal.new"
check_exit 'recover fails on a journal beside the plan of another' 10 hb recover @s
like 'recover names what it found' "$(hb recover @s 2>&1)" '*journal, journal.new, done/1*'
is 'recover has left the planted names' "$(cd "$session" && ls journal journal.new)" \
	'journal
journal.new'
rm "$session/journal" "$session/journal.new"
check 'verify passes without the planted names' hb verify @s
finish
