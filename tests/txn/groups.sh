#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# modes: root
# needs: setpriv
#
# Files of the user's other groups can be changed inside, and a commit leaves
# every group as it was.  The user has numbers and no name: nothing is added to
# the host's tables.
. "$HB_TESTS/lib/txn.sh"

uid=64321
gid=64321
other=64322
foreign=64323
chmod 755 "$TMPDIR"

# as_user COMMAND...: an ordinary user with a supplementary group.
as_user() {
	setpriv --reuid "$uid" --regid "$gid" --groups "$gid,$other" --no-new-privs \
		env HOME="$work" "$@"
}

hb() {
	hb_command=$1
	shift
	(cd "$project" && as_user "$HB_BIN" "$hb_command" --state-dir "$state" "$@")
}

# prepare SCRIPT [OPTION...]: a project of the user's, and the session `s`.
prepare() {
	remove_all
	mkdir -p "$project" "$state"
	chown "$uid:$gid" "$work" "$project" "$state"
	(cd "$project" && as_user sh -c "$1") || bail 'cannot make the project'
	shift
	created=$(hb create s --cow "$project" "$@" 2>&1)
}

# owners PATH...: of each the group and the mode, on one line.
owners() {
	(cd "$project" && stat -c '%n=%g:%a' "$@" | tr '\n' ' ')
}

upper=$state/sessions/s/r0/upper

prepare "chgrp $other .; chmod 2775 .
	mkdir -p a/b plain; echo f >f; echo deep >a/b/deep; ln -s f link
	echo mine >plain/mine; chgrp $gid plain plain/mine; chmod 755 plain
	echo shared >plain/shared; chgrp $other plain/shared; echo ro >ro; chmod 444 ro
	echo gone >gone; mkdir gonedir; echo x >gonedir/x
	mkdir again; echo x >again/x; mkdir old; echo o >old/o"
like 'create names the group' "$created" "*group $other is unknown inside: *copied*"
before=$(digest "$project")

check 'nothing is done' hb exec @s -- true
is 'then there are no changes' "$(names)" ''
is 'untouched files of other groups leave nothing in the layer' "$(find "$upper" -mindepth 1)" ''
check_fails 'untouched files of other groups leave no note' test -e "$state/sessions/s/r0/groups"
is 'the tree is as it was' "$(digest "$project")" "$before"

check 'inside it can be read, written, renamed, changed and filled' in_box '
	set -e
	cat a/b/deep ro plain/shared link >/dev/null
	echo more >>f; chmod 700 a/b/deep; mv ro ro2; mv link link2
	echo new >a/b/new; mkdir a/newdir; echo in >a/newdir/in; echo top >top
	echo more >>plain/shared; rm gone; rm -r gonedir again; mkdir again; mv old moved
	chmod 2750 a; touch -d "2001-01-01" a/b'
is 'these are the changes, and no others' "$(names)" \
	"P a/,P a/b/deep,A a/b/new,A a/newdir/,A a/newdir/in,D again/x,M f,D gone,D gonedir/,\
D gonedir/x,D link,A link2,A moved/,R old/o moved/o,D old/,M plain/shared,R ro ro2,A top,"
changes=$(names)
check 'the next command sees them' in_box '
	test "$(stat -c %a a)" = 2750 && test ! -e gone && test ! -e gonedir/x &&
	test ! -e again/x'
is 'the next command adds no changes' "$(names)" "$changes"
check 'commit' hb commit -y @s
is 'what was replaced has its group' \
	"$(owners f a a/b/deep plain/shared plain/mine)" \
	"f=$other:644 a=$other:2750 a/b/deep=$other:700 plain/shared=$other:644 plain/mine=$gid:644 "
is 'what is new has that of its directory' \
	"$(owners top a/b/new a/newdir a/newdir/in moved/o ro2)" \
	"top=$other:644 a/b/new=$other:644 a/newdir=$other:2755 a/newdir/in=$other:644 moved/o=$other:644 ro2=$other:444 "
is 'a commit with other groups leaves no changes' "$(names)" ''
after=$(digest "$project")
check 'undo' hb undo @s
is 'brings every group back' "$(digest "$project")" "$before"
check 'what came back can be changed inside' in_box 'echo x >>f && echo y >>a/newdir/in'
check 'rollback' hb rollback -y @s
check 'after a rollback, too' in_box 'echo z >>f && echo y >y'
check 'commit of that' hb commit -y @s
is 'with its groups' "$(owners f y)" "f=$other:644 y=$other:644 "
unlike 'it was another tree' "$(digest "$project")" "$after"

# What the user changes meanwhile is seen, and is no change of the session's.
hb exec @s -- true
(cd "$project" && as_user sh -c 'echo outside >>a/b/deep; chmod 640 plain/shared')
is 'a change outside is none inside' "$(names)" ''
like 'the command sees a change outside' "$(in_box 'cat a/b/deep')" '*outside'
is 'a change outside leaves no change in the session' "$(names)" ''

# The command is killed: what was made for it goes all the same.
mkfifo "$work/go"
chown "$uid:$gid" "$work/go"
(cd "$project" && exec setpriv --reuid "$uid" --regid "$gid" --groups "$gid,$other" \
	env HOME="$work" "$HB_BIN" exec --state-dir "$state" @s -- \
	sh -c 'echo k >>f; : >started; read -r line') <"$work/go" >/dev/null 2>&1 &
box=$!
exec 9>"$work/go"
wait_until test -e "$upper/started"
check 'while it runs the copies are there' test -e "$upper/a/b/deep"
kill -KILL "$box"
wait "$box" 2>/dev/null
exec 9>&-
wait_until sh -c "! '$HB_BIN' ls --state-dir '$state' 2>/dev/null | grep -q live" ||
	true
hb status @s >/dev/null 2>&1
wait_until test ! -e "$upper/a/b/deep"
is 'then only what it changed is left' "$(names)" 'M f,A started,'
rm -f "$work/go"

# A file here and there: only if asked for.
script="mkdir d; echo 1 >d/one; echo 2 >two; chgrp $other d/one"
prepare "$script"
like 'without being asked it says so' "$created" \
	"*files of group $other are read-only inside; use --scan-groups*"
check_fails 'a file of another group cannot be changed without --scan-groups' in_box 'echo x >>d/one'
prepare "$script" --scan-groups
check 'with --scan-groups it can' in_box 'echo x >>d/one'
is 'a file of another group is a change with --scan-groups' "$(names)" 'M d/one,'
check 'commit' hb commit -y @s
is 'a commit with --scan-groups keeps the group' "$(owners d d/one two)" \
	"d=$gid:755 d/one=$other:644 two=$gid:644 "

# What was changed before a mark is what the next command sees.
prepare "chgrp $other .; chmod 2775 .; mkdir d; echo 1 >d/one; echo 2 >d/two; echo 3 >three"
in_box 'echo a >>d/one; rm three; chmod 2770 d'
hb mark @s m >/dev/null
is 'a mark is not covered by copies' "$(in_box 'cat d/one; stat -c %a d; ls')" \
	"$(printf '1\na\n2770\nd')"
check 'a file that the mark did not touch can be changed' in_box 'echo b >>d/two; echo b >>d/one'
is 'these are the changes' "$(names)" 'P d/,M d/one,M d/two,D three,'
check 'commit' hb commit -y @s
is 'a commit over a mark keeps the groups' "$(owners d d/one d/two)" \
	"d=$other:2770 d/one=$other:644 d/two=$other:644 "

# A group that the user is not in could not be given back.
prepare 'echo 1 >one; echo 2 >two'
chgrp "$foreign" "$project/one"
created=$(hb create t --cow "$project" --scan-groups 2>&1)
like 'a group one is not in is told' "$created" \
	"*not in group $foreign: its files are read-only*"
# run WORDS...: a run in the project, with its own store.
run() {
	(cd "$project" && as_user "$HB_BIN" "$@" 2>&1)
}
like 'a run names it as well' "$(run true)" "*not in group $foreign: *"
is 'a run with -q does not name the group' "$(run -q true)" ''
check_fails 'a file of a group that the user is not in cannot be changed' hb exec @t -- sh -c 'echo x >>one'
finish
