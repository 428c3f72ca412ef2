#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Forks: several sessions go on from where one is, and one wins.
. "$HB_TESTS/lib/txn.sh"

# box SESSION SCRIPT
box() {
	hb exec "@$1" -- sh -c "$2"
}

# names_of SESSION
names_of() {
	session=@$1
	shift
	hb diff --name-status "$@" "$session" | tr '\t' ' ' | tr '\n' ','
}

new_session 'echo one >f; echo two >g; mkdir d; echo x >d/x; echo c >common; echo gone >gone'
before=$(digest "$project")
in_box 'echo start >start; mkdir new; echo a >new/a; echo pre >common; rm gone; echo b >new/b'
inode=$(stat -c %i "$state/sessions/s/r0/upper/start")
is 'fork says its name' "$(hb fork @s one)" 'made session one of s'
is 'nothing was copied' "$(find "$state/layers" -name start -printf %i)" "$inode"
is 'it has what was pending' "$(names_of one)" "$(names)"
is 'as its view has' "$(box one 'cat start common new/a')" "$(printf 'start\npre\na')"
box one 'echo own >own; echo 1 >start'
in_box 'echo theirs >theirs'
is 'what comes after is its own' "$(names_of one | tr ',' '\n' | grep -c 'own\|theirs')" 1
is 'a write in a fork does not reach its origin' "$(in_box 'cat start')" start
check_exit 'a name is given once' 10 hb fork @s one
check_exit 'fork needs a name' 2 hb fork @s
check_exit 'from a mark that is not there' 2 hb fork --from x @s two
is 'then there is no session' "$(hb ls | awk '{print $1}' | tr '\n' ' ')" 'one s '

hb mark @s a >/dev/null
in_box 'echo after >after'
check 'from a mark' hb fork --from a @s two
is 'it has what was pending then' "$(names_of two)" \
	'M common,D gone,A new/,A new/a,A new/b,A start,A theirs,'
is 'a fork from a mark has the mark' "$(hb status @two | sed -n 2p)" 'marks: a'
check 'a fork of a fork' hb fork @two three
hb cleanup -y @three >/dev/null
hb cleanup -y @two >/dev/null
is 'one that goes takes nothing of the others' "$(in_box 'cat start after')" \
	"$(printf 'start\nafter')"
hb cleanup -y @s >/dev/null
is 'removing the first session takes nothing from a fork' "$(box one 'cat start own common')" \
	"$(printf '1\nown\npre')"
is 'the real tree has not noticed' "$(digest "$project")" "$before"
inode=$(find "$state/layers" -name b -printf %i)
check 'commit of the last one' hb commit -y @one
is 'is all of it' "$(cd "$project" && cat start own common new/b)" \
	"$(printf '1\nown\npre\nb')"
is 'a copy, not the layer itself' \
	"$([ "$(stat -c %i "$project/new/b")" = "$inode" ] || echo copy)" copy
hb cleanup -y @one >/dev/null
is 'no layer is left' "$(ls -A "$state/layers")" ''

# Ten agents try at once, and one wins.
new_session 'for i in 0 1 2 3 4 5 6 7 8 9; do echo $i >f$i; done; mkdir d; echo x >d/x; echo both >both; echo gone >gone; mkdir away; echo 1 >away/1'
in_box 'echo shared >shared; echo base >d/x; mkdir n; echo n >n/n; echo m >n/m; rm gone; rm -r away; chmod 700 d'
for i in 0 1 2 3 4 5 6 7 8 9; do
	hb fork @s t$i >/dev/null || bail "fork $i"
	box t$i "echo mine >f$i; echo $i >own$i; echo $i >n/own$i" || bail "box $i"
done
box t4 'echo 4 >both; echo 4 >n/n; rm d/x'
box t5 'echo 5 >both; echo 5 >n/m; echo 5 >shared; rm -r d'
box t6 'echo 6 >n/n; rm shared; rm -r n; echo back >gone'
box t7 'echo 7 >own4'
check 'one of ten is committed' hb commit -y @t4
for i in 0 1 2 3 8 9; do
	is "fork $i has its own changes" "$(names_of t$i)" "M f$i,A n/own$i,A own$i,"
	unlike "fork $i has no conflict" "$(hb status @t$i)" '*conflict*'
	check "fork $i can be committed" hb commit -y @t$i
done
is 'a real conflict is told' "$(hb status @t5 | grep -B1 'conflict:' | grep -o '[A-Z] [a-z0-9/]*$')" \
	"$(printf 'M both')"
is 'also for what was added twice' "$(hb status @t7 | grep -B1 'conflict:' | grep -o '[A-Z] [a-z0-9/]*$')" \
	"$(printf 'M own4')"
is 'a file of another fork in a directory that goes is a conflict' \
	"$(hb status @t6 | grep -B1 'conflict:' | grep -o '[A-Z] [a-z0-9/]*$' | sort | tr '\n' ' ')" \
	'D n/n D n/own0 D n/own1 D n/own2 D n/own3 D n/own4 D n/own8 D n/own9 '
check_exit 'it is not committed' 5 hb commit -y @t5
check 'a fork is committed without its conflict' hb commit -y --except both @t5
is 'what it made of the common start is there' \
	"$(cd "$project" && cat n/m shared; ls d 2>/dev/null)" "$(printf '5\n5')"

# What a session has taken back is not committed, though it knows the base.
for i in 'rollback -y @s' 'commit -y --only b @s'; do
	new_session 'echo 1 >b; echo 2 >c; echo 3 >k'
	in_box 'echo new >b; echo new >c; echo n >n'
	hb mark @s m >/dev/null
	hb commit -y @s >/dev/null && hb undo @s >/dev/null || bail "$i"
	hb fork @s f >/dev/null || bail "$i"
	# shellcheck disable=SC2086 # words
	check "$i" hb $i
	is "hides nothing of a fork: $i" "$(names_of f --except b)" 'M c,A n,'
	check "a fork can be committed: $i" hb commit -y @f
	is "all of it: $i" "$(cat "$project/b" "$project/c" "$project/n")" "$(printf 'new\nnew\nn')"
done
new_session 'echo 1 >b; echo 2 >c'
in_box 'echo new >b'
hb commit -y @s >/dev/null
in_box 'echo newer >b; echo new >c'
hb fork @s f >/dev/null
check 'rollback of a fork' hb rollback -y @f
is 'takes nothing from its origin' "$(names_of s)" 'M b,M c,'
is 'a commit of another file takes nothing from a fork' "$(hb fork @s g >/dev/null && box g 'echo g >g' &&
	hb commit -y --only g @g >/dev/null && names_of s)" 'M b,M c,'
like 'undo of what was before a fork is refused by that name' "$(hb undo @s 2>&1)" \
	'*a fork was made after*'
finish
