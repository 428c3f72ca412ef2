#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# A session on a copy: what is particular about it.  That it gives the same
# changes as an overlay is in strategies.py, and what all sessions promise in
# the other copy-*.sh.
HB_STRATEGY=copy_on_write
. "$HB_TESTS/lib/txn.sh"

# strategy: what was asked for and what it is.
strategy() {
	hb status --json @s | python3 -c 'import json, sys
r = json.load(sys.stdin)["session"]["resources"][0]
print(r["requested"], r["strategy"])'
}

new_session 'echo one >f; echo two >g; mkdir -p d/e; echo x >d/e/x'
is 'status has the strategy' "$(strategy)" 'copy_on_write copy_on_write'
is 'there is no overlay inside' \
	"$(in_box 'stat -f -c %T .' | grep -c overlay)" 0

# Found by the change time, which nobody inside can set.
before=$(digest "$project")
in_box 'touch -r f /tmp/t; printf "eno\n" >f; touch -r /tmp/t f'
is 'an edit that keeps size and time is found' "$(names)" 'M f,'
is 'an edit on a copy has not reached the real file' "$(digest "$project")" "$before"
check 'rollback' hb rollback -y @s
is 'the copy goes back with it' "$(in_box 'cat f')" one
check 'undo of the rollback' hb undo @s
is 'undo of a rollback brings the copy back' "$(in_box 'cat f')" eno
hb rollback -y @s >/dev/null

# The host's changes arrive with the next command.
echo host >>"$project/g"
rm -r "$project/d"
echo new >"$project/n"
is 'changes of the host are seen by the next command' \
	"$(in_box 'cat g n; ls -d d 2>/dev/null')" "$(printf 'two\nhost\nnew')"
is 'changes of the host are no changes of a session on a copy' "$(names)" ''
in_box 'echo mine >>g'
echo later >>"$project/g"
check_exit 'both changed it: a conflict' 5 hb commit -y @s
is 'the host keeps its own version in a conflict on a copy' "$(tail -n 1 "$project/g")" later

new_session 'echo f >f; echo g >g'
before=$(digest "$project")
in_box 'rm f; mknod f c 0 0; mknod n c 0 0; mkfifo p; rm p'
is 'a device that would be a whiteout deletes nothing' "$(names)" 'T f,A n,'
check_exit 'it is said and not committed' 4 hb commit -y @s
is 'the real file is there' "$(digest "$project")" "$before"
is 'it is the same after the next command' "$(in_box true; names)" 'T f,A n,'
in_box 'rm n; mv g h; python3 -c "
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.exit(libc.renameat2(-100, b\"h\", -100, b\"g\", 4))"'
is 'one that a move leaves is as good' "$(names)" 'T f,A h,'
in_box 'rm f h; echo f >f'
is 'it goes when it is removed' "$(names)" ''

# What a copy has to take along.
new_session 'truncate -s 8M hole; echo end >>hole; echo a >a; ln a b
	python3 -c "import os; os.setxattr(\"a\", \"user.test\", b\"value\")"; touch -d 2001-02-03 a; chmod 2750 .
	mkfifo p; ln -s a l; chmod 640 hole; mkdir -m 555 locked'
is 'holes stay holes' "$(in_box 'test $(stat -c %b hole) -lt 1000 && echo yes')" yes
is 'links stay links' "$(in_box 'stat -c %h a')" 2
is 'times, modes, types' "$(in_box 'stat -c "%n %F %a %Y" a hole p l locked')" \
	"$(cd "$project" && stat -c '%n %F %a %Y' a hole p l locked)"
is 'extended attributes' "$(in_box 'python3 -c "import os
print(os.getxattr(\"a\", \"user.test\").decode())"')" value
is 'the copy shares no inode with the project' "$(
	find "$project" -type f -printf '%i\n' | sort >"$work/one"
	find "$state/sessions/s/r0/copy" -type f -printf '%i\n' | sort |
		comm -12 - "$work/one")" ''
in_box 'echo more >>a'
is 'both names have changed' "$(names)" 'M a,M b,'
check 'commit' hb commit -y @s
is 'two names of a file on a copy are one file after the commit' "$(stat -c %h "$project/a") $(cat "$project/b")" \
	"2 a
more"

# Directories that were closed, and emptied before.
new_session 'mkdir -p c/d; echo 1 >c/d/1; echo 2 >c/d/2; echo 3 >c/3'
in_box 'rm c/d/1; echo n >c/d/n; chmod 000 c/d; chmod 000 c'
is 'what happened in closed directories is found' "$(names)" \
	'P c/,P c/d/,D c/d/1,A c/d/n,'
[ "$HB_MODE" = root ] ||
	check_fails 'they are closed to the next command' in_box 'ls c'
check 'rollback' hb rollback -y @s
is 'opens them' "$(in_box 'ls -R c | tr "\n" ,')" 'c:,3,d,,c/d:,1,2,'
in_box 'rm -r c; mkdir c; echo 3 >c/3; echo 4 >c/4'
in_box 'rm -r c'
in_box 'mkdir -p c/d; echo 2 >c/d/2'
is 'over several commands as in one' "$(names -v)" 'D c/3,D c/d/1,t c/d/2,'
hb rollback -y @s >/dev/null

# The store may lie in the resource itself.
remove_all
mkdir -p "$project/sub"
echo f >"$project/f"
state=$project/sub/state
hb create s --cow "$project" >/dev/null
is 'the store is not a part of the copy' "$(in_box 'cat f; ls -A sub/state 2>&1 |
	grep -c sessions')" "$(printf 'f\n0')"
in_box 'echo g >g'
is 'the store is not among the changes of a copy' "$(names)" 'A g,'
hb cleanup -y @s >/dev/null
state=$TMPDIR/state

# What may not be read is shown as it is, and cannot be changed.
if [ "$HB_MODE" != root ]; then
	new_session 'echo open >f; echo secret >s; chmod 000 s; mkdir -m 000 z'
	is 'the rest can be used' "$(in_box 'cat f')" open
	check_fails 'it cannot be read' in_box 'cat s'
	check_fails 'an unreadable file on a copy cannot be opened up' in_box 'chmod 600 s'
	check_fails 'an unreadable file on a copy cannot be replaced' in_box 'rm -f s'
	check_fails 'an unreadable directory on a copy cannot be removed' in_box 'rmdir z'
	in_box 'echo more >>f'
	is 'what is changed beside it is listed' "$(names)" 'M f,'
	check 'a change beside an unreadable file is committed' hb commit -y @s
	chmod 600 "$project/s"
	is 'the secret is what it was' "$(cat "$project/s")" secret
	is 'what can be read now is copied by the next command' \
		"$(in_box 'cat s')" secret
fi

# Deeper than a path may be long; removed by us, because not everybody can.
new_session 'python3 -c "
import os
for i in range(1200):
    os.mkdir(\"deep\")
    os.chdir(\"deep\")
open(\"f\", \"w\").close()
"'
in_box 'python3 -c "
import os
for i in range(1200):
    os.chdir(\"deep\")
os.unlink(\"f\")
os.mkdir(\"g\")
"'
is 'at the bottom of a deep tree' "$(hb status @s | tail -n 1)" \
	'1 file: 1 deleted · 1 directory'
hb cleanup -y @s >/dev/null
finish
