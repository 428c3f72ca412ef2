#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Directories that the command closes to their owner, in each other: they can be
# looked at, committed, undone and removed.
. "$HB_TESTS/lib/txn.sh"

# opened TREE: what the tree is, with closed directories; it stays so.
opened() {
	# shellcheck disable=SC2016 # python's
	python3 -c '
import os, subprocess, sys
os.chdir(sys.argv[1])
closed = []
def look(path):
    mode = os.lstat(path).st_mode & 0o7777
    if mode & 0o700 != 0o700:
        closed.append((path, mode)); os.chmod(path, mode | 0o700)
    for e in sorted(os.scandir(path), key=lambda e: e.name):
        if e.is_dir(follow_symlinks=False): look(e.path)
look(".")
for p, m in closed: print(p, oct(m))
for root, dirs, files in os.walk("."):
    for f in sorted(files):
        p = os.path.join(root, f)
        m = os.lstat(p).st_mode & 0o7777
        if not m & 0o400: os.chmod(p, m | 0o400)
        print(p, oct(m), open(p).read().strip())
        if not m & 0o400: os.chmod(p, m)
for p, m in reversed(closed): os.chmod(p, m)
' "$1" | sort
}

for strategy in overlay copy_on_write; do
	HB_STRATEGY=$strategy
	new_session 'mkdir -p old/er/est; echo o >old/er/est/o; echo f >f'
	before=$(opened "$project")
	in_box 'mkdir -p a/b/c; echo x >a/b/c/x; echo y >a/y; chmod 000 a/b/c/x a/b/c a/b a
		echo o2 >old/er/est/o; echo n >old/er/est/n; chmod 000 old/er/est old/er old
		mkdir -p w/x/y; : >w/x/y/z; chmod 500 w/x/y w/x w'
	like "$strategy: status of closed directories in each other" "$(hb status @s 2>&1)" '*a/b/c/x*'
	check "$strategy: commit of them" hb commit -y @s
	check "$strategy: undo" hb undo @s
	is "$strategy: takes them away" "$(opened "$project")" "$before"
	check "$strategy: redo" hb redo @s
	check "$strategy: undo once more" hb undo @s
	is "$strategy: takes them away again" "$(opened "$project")" "$before"
	check "$strategy: a part of them" hb commit -y --only 'a/b/c/**' --only a/b/c --only a/b --only a @s
	check "$strategy: which is undone" hb undo @s
	is "$strategy: and gone" "$(opened "$project")" "$before"
	check "$strategy: rollback of a part" hb rollback -y @s old/er/est/n
	check "$strategy: which is undone too" hb undo @s
	check "$strategy: rollback" hb rollback -y @s
	check "$strategy: undone as well" hb undo @s
	hb mark @s m >/dev/null
	check "$strategy: over a mark" hb commit -y @s
	check "$strategy: undo over a mark" hb undo @s
	is "$strategy: takes them away too" "$(opened "$project")" "$before"
	check "$strategy: redo over a mark" hb redo @s
	# Looked into, they are not what the commit left.
	is "$strategy: they arrive closed" "$(opened "$project")" './a 0o0
./a/b 0o0
./a/b/c 0o0
./a/b/c/x 0o0 x
./a/y 0o644 y
./f 0o644 f
./old 0o0
./old/er 0o0
./old/er/est 0o0
./old/er/est/n 0o644 n
./old/er/est/o 0o644 o2
./w 0o500
./w/x 0o500
./w/x/y 0o500
./w/x/y/z 0o644 '
	check "$strategy: cleanup" hb cleanup -y @s
done
finish
