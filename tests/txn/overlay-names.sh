#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# Attributes that an overlay would take for its own marks, set in a box: they
# stay in the session.  On a real file they would hide it, or make it
# unreadable, in every later box.
. "$HB_TESTS/lib/txn.sh"

# marks DIR: every such attribute below it, by its path.
marks() {
	(cd "$1" && python3 -c 'import os
for dir, dirs, files in os.walk("."):
    for path in [dir] + [os.path.join(dir, f) for f in files]:
        for name in os.listxattr(path):
            if ".overlay." in name:
                print(path, name)') | LC_ALL=C sort
}

# set PATH NAME VALUE: inside, as a line of a script.
set_mark() {
	printf 'python3 -c "import os; os.setxattr(\\"%s\\", \\"%s\\", b\\"%s\\")"\n' "$@"
}

new_session 'mkdir d e; echo x >d/x; echo f >f; echo h >h; echo k >k
	python3 -c "import os
os.setxattr(\"e\", \"user.was\", b\"here\")"'
before=$(digest "$project")
in_box "$(
	set_mark d user.overlay.opaque y
	set_mark f user.overlay.metacopy ''
	set_mark h user.overlay.overlay.redirect /x
	set_mark . user.overlay.opaque y
)"
is 'a difference in such attributes alone is no change' "$(names)" ''
is 'the next command finds them' "$(in_box 'python3 -c "import os
print(os.listxattr(\"f\"), os.listxattr(\"h\"))"')" \
	"['user.overlay.metacopy'] ['user.overlay.overlay.redirect']"
hb commit -y @s >/dev/null 2>&1
is 'no commit writes them' "$(digest "$project")" "$before"

in_box "
echo more >>f
echo new >w
mkdir n
echo y >n/y
$(
	set_mark w user.overlay.whiteout y
	set_mark n user.overlay.opaque y
	set_mark n/y user.overlay.overlay.overlay.deep y
	set_mark e user.overlay.opaque y
	set_mark e user.is now
	set_mark k user.plain value
)"
is 'what differs otherwise is a change' "$(names)" 'P e/,M f,P k,A n/,A n/y,A w,'
check 'it is committed' hb commit -y @s
is 'without such attributes' "$(marks "$project")" ''
is 'with its content' "$(cat "$project/f" "$project/w" "$project/n/y")" \
	"$(printf 'f\nmore\nnew\ny')"
is 'a commit without marks of overlays keeps all other attributes' "$(python3 -c 'import os, sys
os.chdir(sys.argv[1])
print(sorted(os.listxattr("e")), os.getxattr("k", "user.plain"))' "$project")" \
	"['user.is', 'user.was'] b'value'"
is 'nothing of it is pending' "$(names)" ''
after=$(digest "$project")
check 'undo' hb undo @s
is 'is exact' "$(digest "$project")" "$before"
is 'undo leaves everything pending beside marks of overlays' "$(names)" 'P e/,M f,P k,A n/,A n/y,A w,'
check 'redo' hb redo @s
is 'is exact as well' "$(digest "$project")" "$after"
hb cleanup -y @s >/dev/null
hb create s --cow "$project" >/dev/null
is 'another session sees every file' "$(in_box 'cat d/x f h k n/y w')" \
	"$(printf 'x\nf\nmore\nh\nk\ny\nnew')"

# Those of others, as a tool for containers leaves them, stay where they are.
new_session 'mkdir d
	python3 -c "import os
os.setxattr(\"d\", \"user.overlay.impure\", b\"y\")"'
before=$(digest "$project")
is 'attributes that were there are no change' "$(names)" ''
in_box "$(set_mark d user.is now)"
is 'a directory that has one can be given others' "$(names)" 'P d/,'
check 'it is committed' hb commit -y @s
is 'a directory keeps the mark of an overlay that it had' "$(marks "$project")" './d user.overlay.impure'
check 'undo' hb undo @s
is 'leaves it there' "$(digest "$project")" "$before"

finish
