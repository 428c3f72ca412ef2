#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
#
# A session of several directories works on when one of them is gone, and what is
# pending in that one is there when it is back.
. "$HB_TESTS/lib/txn.sh"

other=$work/o

# two: a session on the project and on another directory, with changes in both.
two() {
	remove_all
	mkdir -p "$project" "$other"
	echo f >"$project/f"
	echo g >"$other/g"
	hb create s --cow "$project" --cow "$other" >/dev/null
	in_box "echo more >>f; echo n >n; echo more >>$other/g; echo n >$other/n; mkdir $other/d"
}

away() { mv "$other" "$work/away"; }
back() { mv "$work/away" "$other"; }

# refuses NAME STATUS PATTERN COMMAND...: it ends with that status and says that.
refuses() {
	refuses_name=$1
	refuses_status=$2
	refuses_pattern=$3
	shift 3
	check_exit "$refuses_name: the status" "$refuses_status" "$@"
	like "$refuses_name: the words" "$("$@" 2>&1)" "$refuses_pattern"
}

# said COMMAND...: what it says on standard error.
said() {
	{ "$@" >/dev/null; } 2>&1
}

pending_there="A $other/d/,M $other/g,A $other/n,"
all="M $project/f,A $project/n,$pending_there"

for HB_STRATEGY in overlay copy_on_write; do
	export HB_STRATEGY
	for way in moved removed replaced linked; do
		two
		case $way in
		moved) away ;;
		removed) rm -r "$other" ;;
		replaced) away && mkdir "$other" && echo g >"$other/g" ;;
		linked) away && ln -s away "$other" ;;
		esac
		say="$way ($HB_STRATEGY)"
		like "status says which directory is $say" "$(hb status @s)" "*
gone: $other
*"
		is "status --json says which directory is $say" \
			"$(hb status --json @s | python3 -c 'import json, sys
print([r["gone"] for r in json.load(sys.stdin)["session"]["resources"]])')" '[False, True]'
		check "ls works with a directory that is $say" hb ls
		is "diff shows the rest with a directory $say" "$(names)" "M $project/f,A $project/n,"
		like "exec says that a directory is $say" "$(said hb exec @s -- true)" "*'$other' is gone: it is not shown*"
		is "exec works on the rest with a directory $say" \
			"$(in_box 'cat f; echo x >x; cat n' 2>/dev/null | tr '\n' ' ')" 'f more n '
		like "commit says what stays with a directory $say" "$(said hb commit -y @s)" \
			"*2 changes of $other stay pending: the directory is gone*"
		is "commit works on the rest with a directory $say" "$(cat "$project/f" "$project/x" | tr '\n' ' ')" 'f more x '
		refuses "a commit of nothing else with a directory $say" 10 "*'$other' is gone*fix: *" hb commit -y @s
		check "undo works on the rest with a directory $say" hb undo @s
		is "undo has undone with a directory $say" "$(cat "$project"/*)" f
		check "redo works on the rest with a directory $say" hb redo @s
		check "undo works again with a directory $say" hb undo @s
		check "rollback works on the rest with a directory $say" hb rollback -y @s
		is "nothing else is pending with a directory $say" "$(names)" ''
		case $way in
		removed) ;;
		replaced) is "what is in the way of a directory $say is as it was" "$(ls "$other")" g ;;
		esac
		case $way in
		replaced) rm -r "$other" ;;
		linked) rm "$other" ;;
		esac
		if [ "$way" = removed ]; then
			check "cleanup works with a directory $say" hb cleanup -y @s
			continue
		fi
		back
		is "all is pending when it is back ($say)" "$(names)" "$pending_there"
		unlike "no directory is gone any more ($say)" "$(hb status @s)" '*gone:*'
		check "undo of what was done meanwhile ($say)" hb undo @s
		is "both are pending then ($say)" "$(names)" \
			"M $project/f,A $project/n,A $project/x,$pending_there"
		is "the view has both ($say)" "$(in_box "cat n $other/n")" 'n
n'
		check "commit of both ($say)" hb commit -y @s
		is "both are committed ($say)" "$(cat "$project/n" "$other/n" "$other/g" | tr '\n' ' ')" 'n n g more '
	done

	# An edit of the user's while it was away is still a conflict.
	two
	away
	echo mine >>"$work/away/g"
	check "commit of the rest ($HB_STRATEGY)" hb commit -y @s
	check "rollback of nothing ($HB_STRATEGY)" hb rollback -y @s
	back
	refuses "a conflict stays one ($HB_STRATEGY)" 5 "*$other/g*" hb commit -y @s
	is "the edit is there ($HB_STRATEGY)" "$(tail -n 1 "$other/g")" mine

	# What touches it waits.
	two
	check "commit of both ($HB_STRATEGY)" hb commit -y @s
	away
	was=$(digest "$project"; digest "$work/away")
	refuses "undo of what touches it ($HB_STRATEGY)" 10 "*'$other' is gone*fix: *" hb undo @s
	is "nothing has changed ($HB_STRATEGY)" "$(digest "$project"; digest "$work/away")" "$was"
	back
	check "undo when it is back ($HB_STRATEGY)" hb undo @s
	is "all is pending ($HB_STRATEGY)" "$(names)" "$all"
	away
	refuses "redo of what touches it ($HB_STRATEGY)" 10 "*'$other' is gone*fix: *" hb redo @s
	is "nothing was done again ($HB_STRATEGY)" "$(cat "$project"/*)" f
	refuses "rollback of a path in it ($HB_STRATEGY)" 10 "*'$other' is gone*" hb rollback -y @s "$other/n"
	check "rollback of a path in the rest ($HB_STRATEGY)" hb rollback -y @s n
	back
	is "the rest of it is pending ($HB_STRATEGY)" "$(names)" "M $project/f,$pending_there"

	# Marks are of all directories.
	two
	away
	refuses "a mark of what is pending in it ($HB_STRATEGY)" 10 "*'$other' is gone*marked*fix: *" hb mark @s m
	refuses "a fork ($HB_STRATEGY)" 10 "*'$other' is gone*fix: *" hb fork @s t
	back
	check "a mark when it is back ($HB_STRATEGY)" hb mark @s m
	in_box "echo 2 >>n; echo 2 >>$other/n"
	away
	refuses "commit of what is marked in it ($HB_STRATEGY)" 10 "*'$other' is gone*fix: *" hb commit -y @s
	refuses "rollback of what is marked in it ($HB_STRATEGY)" 10 "*'$other' is gone*fix: *" hb rollback -y @s
	is "diff since the mark ($HB_STRATEGY)" "$(names --since m)" "M $project/n,"
	check "rollback to the mark ($HB_STRATEGY)" hb rollback -y --to m @s
	back
	is "what is above the mark is there ($HB_STRATEGY)" "$(in_box "cat n $other/n" | tr '\n' ' ')" 'n n 2 '
	check "commit of marks when it is back ($HB_STRATEGY)" hb commit -y @s
	is "it has all ($HB_STRATEGY)" "$(cat "$other/n" "$project/n" | tr '\n' ' ')" 'n 2 n '

	# Nothing is pending in it.
	two
	check "rollback of both ($HB_STRATEGY)" hb rollback -y @s
	in_box 'echo 1 >n'
	check "a first mark ($HB_STRATEGY)" hb mark @s a
	away
	in_box 'echo 2 >>n' 2>/dev/null
	check "a mark without it ($HB_STRATEGY)" hb mark @s b
	in_box 'echo 3 >>n' 2>/dev/null
	check "rollback to it ($HB_STRATEGY)" hb rollback -y --to b @s
	check "commit of marks without it ($HB_STRATEGY)" hb commit -y @s
	is "the rest has all ($HB_STRATEGY)" "$(tr '\n' ' ' <"$project/n")" '1 2 '
	is "commit of nothing ($HB_STRATEGY)" "$(hb commit -y @s)" 'nothing to commit'
	back
	is "nothing is pending in it ($HB_STRATEGY)" "$(names)" ''
	check "undo over its return ($HB_STRATEGY)" hb undo @s
	is "the marks are pending again ($HB_STRATEGY)" "$(names)" "A $project/n,"
	is "the view is of both ($HB_STRATEGY)" "$(in_box "cat n $other/g" | tr '\n' ' ')" '1 2 g '

	# The other way round: the first one is gone.
	two
	mv "$project" "$work/away"
	cd "$work" || exit 1
	is "exec without the first ($HB_STRATEGY)" \
		"$("$HB_BIN" exec --state-dir "$state" @s -- sh -c "pwd; cat n" 2>/dev/null | tr '\n' ' ')" "$other n "
	check "commit without the first ($HB_STRATEGY)" "$HB_BIN" commit --state-dir "$state" -y @s
	is "it is there ($HB_STRATEGY)" "$(cat "$other/n")" n
	mv "$work/away" "$project"
	is "the first one is pending ($HB_STRATEGY)" "$(names)" "M $project/f,A $project/n,"

	# All of them: nothing can be done but to look.
	two
	mv "$project" "$work/p2"
	away
	like "status without any ($HB_STRATEGY)" "$("$HB_BIN" status --state-dir "$state" @s)" "*
gone: $project
gone: $other
*"
	refuses "commit without any ($HB_STRATEGY)" 10 '*is gone*fix: *' "$HB_BIN" commit --state-dir "$state" -y @s
	refuses "exec without any ($HB_STRATEGY)" 125 '*\[10\]*is gone*fix: *' "$HB_BIN" exec --state-dir "$state" @s -- true
done

# What removes a session that holds nothing leaves it.
HB_STRATEGY=
two
away
check 'gc with a directory that is gone' hb gc --older-than 0s
check 'cleanup of what is stale' hb cleanup --stale -y
back
is 'all is pending after that' "$(names)" "$all"

cd / || exit 1
# A session that a run made: nothing is pending but in what is gone.
remove_all
mkdir -p "$project" "$other"
echo g >"$other/g"
export XDG_STATE_HOME="$state"
run() { (cd "$project" && exec "$HB_BIN" run "$@" </dev/null); }
state=$state/holdback
run -q --cow "$other" -- sh -c "echo n >$other/n" >/dev/null 2>&1
name=$(hb ls | awk '{ print $1; exit }')
away
like 'run -s says what is gone' "$(said run -s "$name" -- true)" "*'$other' is gone: it is not shown*"
check 'the session is kept for what is gone' hb status "@$name"
is 'run -s works on the rest' "$(run -q -s "$name" -- sh -c 'echo p >p; cat p' 2>/dev/null)" p
check 'exec in a session that a run made' hb exec "@$name" -- true
check 'commit in it' hb commit -y "@$name"
is 'commit has delivered the rest' "$(cat "$project/p")" p
back
like 'what is pending there is kept' "$(hb diff --name-status "@$name" | tr '\t' ' ')" "A $other/n"
mv "$project" "$work/away"
refuses 'exec without the project of a run' 125 "*\[10\] the directory '$project' is gone*fix: *" \
	"$HB_BIN" exec --state-dir "$state" "@$name" -- true
check 'commit without the project of a run' "$HB_BIN" commit --state-dir "$state" -y "@$name"
is 'a commit without the project delivers the other directory' "$(cat "$other/n")" n
mv "$work/away" "$project"
remove_all
state=$TMPDIR/state

# A directory that goes while a command runs.
for HB_STRATEGY in overlay copy_on_write; do
	two
	mkfifo "$TMPDIR/in"
	exec 9<>"$TMPDIR/in"
	in_box "echo k >k; echo k >$other/k; echo ready; read line" <&9 >"$TMPDIR/out" 2>/dev/null &
	holder=$!
	wait_until grep -q ready "$TMPDIR/out"
	away
	echo line >&9
	wait "$holder"
	exec 9>&-
	rm "$TMPDIR/in" "$TMPDIR/out"
	is "what it did to the rest is pending ($HB_STRATEGY)" "$(names)" "M $project/f,A $project/k,A $project/n,"
	back
	is "what it did to a directory that went is pending when it is back ($HB_STRATEGY)" "$(names)" \
		"M $project/f,A $project/k,A $project/n,A $other/d/,M $other/g,A $other/k,A $other/n,"
done
HB_STRATEGY=

# A command that is killed while it runs without a directory.
two
away
cd "$project" || exit 1
"$HB_BIN" exec --state-dir "$state" @s -- sh -c 'echo k >k; echo ready; exec sleep 60' >"$TMPDIR/out" 2>/dev/null &
holder=$!
wait_until grep -q ready "$TMPDIR/out"
like 'status of a live one' "$(hb status @s)" "*gone: $other*"
back
kill -9 "$holder"
wait "$holder" 2>/dev/null
rm "$TMPDIR/out"
is 'all is there after a kill, and when it is back' "$(names)" \
	"M $project/f,A $project/k,A $project/n,$pending_there"
check 'commit after that' hb commit -y @s
is 'a commit after the directory is back has everything' "$(cat "$project/k" "$other/n" | tr '\n' ' ')" 'k n '
cd / || exit 1

# Layers that lie in the directory that is gone, or beside it.
shm=$(mktemp -d /dev/shm/holdback.XXXXXX) || shm=
if [ -z "$shm" ] || [ "$(stat -c %d "$shm")" = "$(stat -c %d "$TMPDIR")" ]; then
	skip 'layers that are gone as well' 'there is one file system'
else
	for other in "$shm" "$shm/o"; do
		two 2>/dev/null
		there=$(names)
		mv "$other" "$shm.away"
		is "the rest is pending without layers (${other#"$shm"})" "$(names)" "M $project/f,A $project/n,"
		like "commit says that the rest stays (${other#"$shm"})" "$(said hb commit -y @s)" \
			"*changes of $other stay pending: the directory is gone*"
		refuses "a commit of nothing but that (${other#"$shm"})" 10 '*is gone*fix: *' hb commit -y @s
		check "undo without layers (${other#"$shm"})" hb undo @s
		mv "$shm.away" "$other"
		is "all is pending when the layers are back (${other#"$shm"})" "$(names)" "$there"
		check "commit when the layers are back (${other#"$shm"})" hb commit -y @s
		is "it has all when the layers are back (${other#"$shm"})" "$(cat "$other/n")" n
		hb cleanup -y @s >/dev/null
	done
	rm -rf "$shm"
fi
finish
