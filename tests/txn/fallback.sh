#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 unshare
#
# Where there is no overlay to be had a session works on a copy, and says so.
. "$HB_TESTS/lib/txn.sh"

# strategy: what was asked for and what it is.
strategy() {
	hb status --json @s | python3 -c 'import json, sys
r = json.load(sys.stdin)["session"]["resources"][0]
print(r["requested"], r["strategy"])'
}

# What is asked for is what is there, and the trial has left nothing.
new_session 'echo f >f; mkdir d; echo x >d/x'
before=$(digest "$project")
is 'an overlay where there is one' "$(strategy)" 'overlay overlay'
check_fails 'nothing is left of the trial' test -e "$state/sessions/s/r0/trial"
is 'the trial of an overlay leaves the directory as it was' "$(digest "$project")" "$before"
hb cleanup -y @s >/dev/null

# A host without: the kernel's word is the reason.
without() {
	(cd "$project" && exec "$HB_PROBE" deny fsopen:0~overlay ENODEV \
		-- "$HB_BIN" create --state-dir "$state" s \
		--cow "$project" "$@") 2>&1
}
out=$(without)
is 'create works without overlays' "$?" 0
like 'create on a copy says why in one line' "$out" \
	"holdback: no overlay for '$project', a copy instead: *overlay*
created session s"
is 'status has both' "$(strategy)" 'overlay copy_on_write'
like 'also for people' "$(hb status @s)" \
	"session s: idle, on $project (copy_on_write instead of overlay)*"
in_box 'echo more >>f; rm -r d; mkdir d; echo y >d/y'
is 'the changes are those of an overlay' "$(names)" 'D d/x,A d/y,M f,'
like 'commit' "$(hb commit -y @s)" 'committed session s: *'
is 'they arrive' "$(cat "$project/f" "$project/d/y")" "$(printf 'f\nmore\ny')"
hb cleanup -y @s >/dev/null
out=$(without --no-fallback)
is '--no-fallback answers [6]' "$?" 6
like 'with the reason and a fix' "$out" '*no overlay for*fix: *'
is 'create --no-fallback leaves nothing' "$(hb ls; ls -A "$state/sessions")" ''

# A session on a copy asks for none.
out=$(without --strategy copy_on_write --no-fallback)
is 'a copy can be had' "$?" 0
is 'as it was asked for' "$(strategy)" 'copy_on_write copy_on_write'
hb cleanup -y @s >/dev/null

# Mounts of our own need a namespace of our own; as root there would be one.
# in_mounts SCRIPT: with a tmpfs at m/ below the project, which `sh -e` runs in.
in_mounts() {
	unshare -Urm sh -e -c "cd '$project'
		hb() { c=\$1; shift; '$HB_BIN' \"\$c\" --state-dir '$state' \"\$@\"; }
		$1" 2>&1
}
if unshare -Urm true 2>/dev/null; then
	remove_all
	mkdir -p "$project/d/m"
	echo f >"$project/d/f"
	out=$(in_mounts 'mount -t tmpfs none d/m; echo below >d/m/b
		hb create s --cow .
		hb exec @s -- cat d/m/b
		hb exec @s -- sh -c "! echo more >>d/m/b" 2>/dev/null
		hb exec @s -- sh -c "! rmdir d/m" 2>/dev/null
		hb exec @s -- sh -c "echo g >>d/f; echo n >d/n"
		hb diff --name-status @s
		hb commit -y @s
		cat d/m/b d/f
		hb cleanup -y @s')
	like 'with a mount below: a copy, and the mount is named' "$out" \
		"holdback: no overlay for '$project', a copy instead: something is mounted at '$project/d/m'
created session s
below
M	d/f
A	d/n
committed *
below
f
g*"
	out=$(in_mounts 'mount -t tmpfs none d/m; hb create s --cow . --no-fallback')
	is 'a mount below without a fallback answers [6]' "$?" 6
	like 'with the mount in the fix' "$out" '*mounted at*fix: unmount*'

	remove_all
	mkdir -p "$project" "$work/u" "$work/w" "$work/o"
	echo f >"$project/f"
	out=$(in_mounts "mount -t overlay -o lowerdir=.,upperdir=$work/u,workdir=$work/w,userxattr \
			none '$work/o'
		cd '$work/o'
		hb create s --cow .
		hb exec @s -- sh -c 'echo g >>f; mkdir d; echo n >d/n'
		hb exec @s -- sh -c 'rm f; rm -r d; mkdir d; echo o >d/o'
		hb diff --name-status @s
		hb commit -y @s
		cat d/o
		test ! -e f
		hb undo @s
		cat f
		hb cleanup -y @s")
	like 'on an overlay: a copy, with the same changes' "$out" \
		"holdback: no overlay for *, a copy instead: *
created session s
A	d/
A	d/o
D	f
committed *
o
undid *
f
*"

	# No attributes, so no directory that is made again over an old one.
	remove_all
	mkdir -p "$project"
	out=$(in_mounts "mount -t ramfs none '$project'
		cd '$project'
		mkdir p p/d; echo f >p/f; echo x >p/d/x
		cd p
		'$HB_BIN' create --state-dir ../state s --cow .
		'$HB_BIN' exec --state-dir ../state @s -- \
			sh -c 'rm f; rm -r d; mkdir d; echo y >d/y'
		'$HB_BIN' diff --state-dir ../state --name-status @s
		'$HB_BIN' commit --state-dir ../state -y @s
		find . | sort
		'$HB_BIN' undo --state-dir ../state @s
		cat f d/x")
	like 'on a file system without attributes: a copy, and back' "$out" \
		"holdback: no overlay for *, a copy instead: *
created session s
D	d/x
A	d/y
D	f
committed *
.
./d
./d/y
undid *
f
x"
else
	skip 'mounts below, overlays below' 'no namespace for mounts of our own'
fi
remove_all
done_testing
