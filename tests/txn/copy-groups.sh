#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# modes: root
# needs: setpriv
#
# On a copy, too, files of the user's other groups can be changed inside, and a
# commit leaves every group as it was.  The user has numbers and no name.
. "$HB_TESTS/lib/txn.sh"

uid=64321
gid=64321
other=64322
chmod 755 "$TMPDIR"

# hb COMMAND ARGUMENT...: as an ordinary user with a supplementary group.
hb() {
	hb_command=$1
	shift
	(cd "$project" && exec setpriv --reuid "$uid" --regid "$gid" \
		--groups "$gid,$other" --no-new-privs env HOME="$work" \
		"$HB_BIN" "$hb_command" --state-dir "$state" "$@")
}

mkdir -p "$project/d" "$state"
echo f >"$project/f"
echo x >"$project/d/x"
chown -R "$uid:$other" "$project"
chown "$uid:$gid" "$work" "$state"
chmod 2775 "$project" "$project/d"
is 'create says nothing of groups' \
	"$(hb create s --cow "$project" --strategy copy_on_write 2>&1)" \
	'created session s'
check 'inside it can be written, renamed, changed and filled' in_box '
	set -e
	echo more >>f; mv d/x d/y; chmod 600 d/y; echo new >d/new; mkdir e; echo in >e/in'
is 'these are the changes, and no others' "$(names)" \
	'A d/new,R d/x d/y,A e/,A e/in,M f,'
check 'commit' hb commit -y @s
is 'every group is that of its directory' \
	"$(cd "$project" && stat -c '%n=%g:%a' f d d/y d/new e e/in | tr '\n' ' ')" \
	"f=$other:644 d=$other:2775 d/y=$other:600 d/new=$other:644 e=$other:2755 e/in=$other:644 "
is 'nothing is left' "$(names)" ''
check 'undo' hb undo @s
is 'the changes are pending again' "$(names)" 'A d/new,R d/x d/y,A e/,A e/in,M f,'
finish
