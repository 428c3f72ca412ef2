#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# --resource: one directory of a session or some of them, for everything that
# looks at changes and for what commits them.
. "$HB_TESTS/lib/txn.sh"

a=$work/a b=$work/b c=$work/c
project=$a

# three: a session on three directories, with something pending in each; what is
# in b asks.
three() {
	remove_all
	mkdir -p "$a" "$b" "$c"
	echo old >"$a/f"
	echo old >"$b/f"
	echo old >"$c/f"
	hb create s --cow "$a" --cow "$b:/run/inside" --cow "$c" >/dev/null
	in_box "echo new >f; echo new >/run/inside/f; echo x >/run/inside/.envrc; echo new >'$c/f'"
}

# real: what the three have.
real() {
	cat "$a/f" "$b/f" "$c/f" | tr '\n' ','
}

# pending: the directories that have something.
pending() {
	hb diff --name-status @s | sed "s,.*$work/\([abc]\)/.*,\1," | sort -u | tr '\n' ','
}

three
is 'all are pending' "$(pending)" 'a,b,c,'
is 'diff of one' "$(names --resource "$c")" "M $c/f,"
is 'by its name in the view' "$(names --resource /run/inside)" "A $b/.envrc,M $b/f,"
is 'diff of two resources lists both, one named by the working directory' "$(names --resource . --resource "$c/")" "M $a/f,M $c/f,"
like 'status of one' "$(hb status --resource "$c" @s)" '*1 file: 1 changed*'
check_exit 'the gate asks about another' 4 hb gate @s
check 'the gate does not ask about the chosen resource' hb gate --resource "$a" @s
check_exit 'all of it is refused' 4 hb sync --auto @s
check_exit 'sync --auto of the resource that asks is refused' 4 hb sync --auto --resource "$b" @s
is 'nothing has changed' "$(real)" 'old,old,old,'
check 'a dry run of one' hb sync --dry-run --resource "$a" @s
is 'changes nothing' "$(real)" 'old,old,old,'
like 'sync of one' "$(hb sync --auto --resource "$a" @s)" 'committed session s: 1 file: 1 changed*'
is 'is of that alone' "$(real)" 'new,old,old,'
is 'the others are pending' "$(pending)" 'b,c,'
check 'it is undone' hb undo @s
is 'as any commit' "$(real)" 'old,old,old,'
like 'commit of two' "$(hb commit -y --resource "$a" --resource "$c" @s)" \
	'committed session s: 2 files: 2 changed*'
is 'is of these two' "$(real)" 'new,old,new,'
like 'together with a pattern' "$(hb commit -y --resource "$b" --only f @s)" \
	'committed session s: 1 file: 1 changed*'
is 'of it' "$(real)" 'new,new,new,'
check_fails 'a commit of one resource and a pattern commits nothing else' test -e "$b/.envrc"

three
hb mark @s one >/dev/null
in_box "echo newer >f; echo more >'$c/g'"
check 'of a stack of layers' hb commit -y --resource "$c" @s
is 'one of them' "$(real)$(cat "$c/g")" 'old,old,new,more'
is 'a commit of one resource of a stack keeps the rest pending' "$(pending)" 'a,b,'
check 'for another time' hb commit -y --allow environment @s
is 'all of it' "$(real)" 'newer,new,new,'

three
echo mine >"$c/f"
check_exit 'a conflict in one' 5 hb sync --auto --allow environment @s
check 'is none of another' hb commit -y --resource "$a" @s
check_exit 'a directory that is none of them' 2 hb sync --auto --resource "$work" @s
mkdir "$b/d"
check_exit 'a part of a resource is no --resource' 2 hb sync --auto --resource "$b/d" @s
for words in "--resource $b" '--only f' '--except f'; do
	# shellcheck disable=SC2086 # words
	check_exit "--reset $words throws nothing away" 2 hb sync --reset -y $words @s
done
is 'it is all there' "$(pending)" 'b,c,'
finish
