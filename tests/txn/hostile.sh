#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# timeout: 900
#
# Trees that were made to confuse: each is written in a session and goes through
# status, diff, commit, undo and cleanup.  What commit takes arrives as it was
# seen inside, what it refuses leaves everything as it was, and nothing outside
# of the project is touched.
. "$HB_TESTS/lib/txn.sh"

outside=$TMPDIR/outside
mkdir "$outside"
echo precious >"$outside/file"
outside_before=$(digest "$outside")

# passes NAME BASE SCRIPT [OPTION...]: the session's tree becomes the project's.
passes() {
	name=$1
	new_session "$2"
	before=$(digest "$project")
	in_box "$3" >/dev/null
	shift 3
	check "$name: status" hb status @s
	check_exit "$name: diff" 1 hb diff --name-status --exit-code @s
	is "$name: so far the project is as it was" "$(digest "$project")" \
		"$before"
	inside=$(in_box 'find . -mindepth 1 -printf "%P %y %m %s %l\n" 2>/dev/null |
		sed "s/^\(.* d [0-7]*\) [0-9]*/\1/" | sort | sha256sum')
	like "$name: commit" "$(hb commit -y "$@" @s 2>&1)" 'committed *'
	is "$name: what was seen is there" "$(cd "$project" &&
		find . -mindepth 1 -printf "%P %y %m %s %l\n" 2>/dev/null |
		sed "s/^\(.* d [0-7]*\) [0-9]*/\1/" | sort | sha256sum)" "$inside"
	is "$name: no mark of the overlay came along" "$(marks)" ''
	check "$name: undo" hb undo @s
	is "$name: every attribute is as it was" "$(digest "$project")" "$before"
	check "$name: cleanup" hb cleanup -y @s
	is "$name: nothing is left of the session" "$(hb ls)" ''
	is "$name: nothing outside was touched" "$(digest "$outside")" \
		"$outside_before"
}

# refused NAME BASE SCRIPT: nothing is committed, nothing is lost.
refused() {
	name=$1
	new_session "$2"
	before=$(digest "$project")
	in_box "$3" >/dev/null
	list=$(names)
	check "$name: status" hb status @s
	check_fails "$name: commit refuses" hb commit -y @s
	is "$name: the project is as it was" "$(digest "$project")" "$before"
	is "$name: the changes are still pending" "$(names)" "$list"
	check "$name: cleanup" hb cleanup -y @s
}

# Raw overlay attributes below the project.
marks() {
	python3 - "$project" <<-'END'
		import os, sys
		for top, dirs, files in os.walk(sys.argv[1]):
		    for name in dirs + files:
		        path = os.path.join(top, name)
		        for attribute in os.listxattr(path, follow_symlinks=False):
		            if attribute.startswith("user.overlay."):
		                print(path, attribute)
	END
}

passes 'links to elsewhere' "ln -s $outside there; mkdir d; echo x >d/file" "
	ln -s /etc/passwd passwd; ln -s ../../outside up; ln -s loop loop
	rm -r d; ln -s $outside d
	rm there; mkdir there; echo mine >there/file"
passes 'names' 'echo x >F' '
	nl="
"
	echo x >"a${nl}b"; echo x >"$(printf "\033]0;x\007")"
	echo x >"$(printf "\377\376")"; echo x >"$(printf "\342\200\256gpj")"
	echo x >-rf; echo x >..x; echo x >" "; echo x >"a\\b"; mv F f
	echo x >"$(printf "%0255d" 0)"'
passes 'types' 'for t in f d l; do for u in f d l; do case $t in
		f) echo x >$t$u ;; d) mkdir $t$u; echo x >$t$u/in ;;
		l) ln -s x $t$u ;; esac; done; done' '
	for t in f d l; do for u in f d l; do rm -r $t$u; case $u in
		f) echo new >$t$u ;; d) mkdir $t$u; echo y >$t$u/out ;;
		l) ln -s new $t$u ;; esac; done; done'
passes 'depth and long names' ':' '
	name=$(printf "%0255d" 0)
	i=0; while [ $i -lt 12 ]; do mkdir $name; cd $name; i=$((i + 1)); done
	echo x >f'
passes 'holes' ':' 'truncate -s 4T sparse; echo x >>sparse'
passes 'links of one file' 'echo x >a' 'ln a b; ln a c; echo y >>a; ln -s a d'
passes 'escaped attributes' 'mkdir d; echo x >d/f' '
	python3 -c "
import os
for name in (\"opaque\", \"whiteout\", \"redirect\", \"metacopy\"):
    try: os.setxattr(\"d\", \"user.overlay.\" + name, b\"y\")
    except OSError: pass
os.setxattr(\"d/f\", \"user.mine\", b\"1\")
for name in os.listxattr(\"d\"): os.removexattr(\"d\", name)"'
refused 'a fifo' 'echo x >f' 'mkfifo p; echo y >f'

# Python with words for a tree that is deeper than a path can say.
deeply='
import os, sys
name = "d" * 200
def dig(levels):
    for i in range(levels):
        os.mkdir(name)
        os.chdir(name)
def descend():
    levels = 0
    while os.path.isdir(name):
        os.chdir(name)
        levels += 1
    return levels
def put(path, text):
    with open(path, "w") as file:
        file.write(text)
def show(path):
    with open(path) as file:
        return file.read()
os.chdir(sys.argv[1])
exec(sys.argv[2])'
new_session 'python3 -c "$deeply" . \
	"dig(100); put(\"f\", \"old\"); put(\"g\", \"old\")"'
hb exec @s -- python3 -c "$deeply" . \
	'descend(); put("f", "new"); os.unlink("g"); dig(100); put("h", "new")'
check 'deeper than a path: status' hb status @s
is 'deeper than a path: every change' "$(hb diff --name-status @s |
	sed 's,[^	]*/,,' | cut -f 1 | sort | uniq -c | tr -s ' \n' ' ')" \
	' 101 A 1 D 1 M '
like 'deeper than a path: commit' "$(hb commit -y @s 2>&1)" 'committed *'
is 'deeper than a path: all is there' "$(python3 -c "$deeply" "$project" \
	'print(descend(), show("h")); [os.chdir("..") for i in range(100)]
print(show("f"), os.path.exists("g"))' | tr '\n' ' ')" '200 new new False '
check 'deeper than a path: undo' hb undo @s
is 'deeper than a path: all is back' "$(python3 -c "$deeply" "$project" \
	'print(descend(), show("f"), show("g"))')" '100 old old'
check 'deeper than a path: cleanup' hb cleanup -y @s

# What is written into the store itself: the kernel would not let it happen.
forge() {
	python3 - "$state" "$1" "$2" <<-'END'
		import os, sys
		for top, dirs, files in os.walk(sys.argv[1]):
		    if os.path.basename(top) == "upper":
		        os.setxattr(os.path.join(top, "d"),
		                    "user.overlay." + sys.argv[2],
		                    sys.argv[3].encode())
	END
}
for mark in opaque:x opaque:n opaque:yy redirect:/etc metacopy: verity:x; do
	new_session 'mkdir d; echo x >d/f'
	before=$(digest "$project")
	in_box 'echo y >d/f' >/dev/null
	forge "${mark%%:*}" "${mark#*:}"
	check_fails "$mark: status refuses" hb status @s
	check_fails "$mark: commit refuses" hb commit -y @s
	is "$mark: the project is as it was" "$(digest "$project")" "$before"
	like "$mark: the message names the place" \
		"$(hb status @s 2>&1)" "*${mark%%:*}*"
	check "$mark: cleanup" hb cleanup -y @s
done
rm -r "$outside"
finish
