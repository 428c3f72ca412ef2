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
is 'and it says so' "$(hb verify @s)" 'nothing of 8 changed outside'
check 'commit' hb commit -y @s
check 'what was committed is explained' hb verify @s
check 'undo' hb undo @s
check 'and what was undone' hb verify @s
check 'redo' hb redo @s
check 'or redone' hb verify @s
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
is 'so are modes, links and what is new' "$(found)" './ d/ d/e2/ f l n/ n/new '
like 'with words' "$(hb verify @s | grep '^n/new')" 'n/new: made since; *'
is 'and in JSON' "$(hb verify --json @s | python3 -c \
	'import json, sys; d = json.load(sys.stdin); print(len(d["found"]), d["looked"], d["unread"])')" \
	'7 9 0'

# The commits of another session on the same directory are ours as well.
new_session 'echo one >f; echo g >g'
hb create t --cow "$project" >/dev/null
hb exec @t -- sh -c 'echo two >f; echo n >n'
check 'another session commits' hb commit -y @t
check 'which explains it' hb verify @s
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
finish
