#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git python3
# timeout: 600
#
# The table of `holdback strategies`, cell by cell: each pair of type and strategy
# that it has works, and each other pair is refused with the list of the type.
. "$HB_TESTS/lib/txn.sh"

# The store of run, which has no --state-dir.
export XDG_STATE_HOME="$TMPDIR"
state=$TMPDIR/holdback

# table FORMAT: one line for each cell, a python format of it.
table() {
	"$HB_BIN" strategies --json | python3 -c '
import json, sys
for cell in json.load(sys.stdin)["strategies"]:
    print(sys.argv[1].format(**cell))' "$1"
}

names=$(table '{strategy}' | sort -u)
types=$(table '{type}' | uniq)

# make_TYPE: the resource of that type at $project.
make_fs_directory() { :; }
make_git_checkout() {
	git -C "$project" init -q
	git -C "$project" -c user.name=n -c user.email=e -c commit.gpgsign=false add f
	git -C "$project" -c user.name=n -c user.email=e commit -qm first
}
make_fs_mount() { mount -t tmpfs none "$project" && echo old >"$project/f"; }

# make TYPE: a fresh one; fails where this process cannot make such a one.
make() {
	unmount
	remove_all
	mkdir -p "$project"
	echo old >"$project/f"
	"make_$(echo "$1" | tr - _)"
}
unmount() { [ "${type:-}" != fs-mount ] || umount "$project" 2>/dev/null || :; }

# member NAME: of the first resource, as status has it.
member() {
	hb status --json @s | python3 -c '
import json, sys
print(json.load(sys.stdin)["session"]["resources"][0][sys.argv[1]])' "$1"
}

works() {
	check "$1 by $2: a session is made" hb create s --cow "$project" --strategy "$2" --no-fallback
	is "$1 by $2: the type is found" "$(member type)" "$1"
	is "$1 by $2: the strategy is recorded" "$(member requested)" "$2"
	check "$1 by $2: a command runs" in_box 'echo new >f && echo n >n'
	is "$1 by $2: the real file waits" "$(cat "$project/f")" old
	is "$1 by $2: the changes are told" "$(names)" 'M f,A n,'
	check "$1 by $2: rollback" hb rollback -y @s
	is "$1 by $2: nothing is pending" "$(names)" ''
	check "$1 by $2: undo of the rollback" hb undo @s
	check "$1 by $2: commit" hb commit -y @s
	is "$1 by $2: the real file is new" "$(cat "$project/f")" new
	check "$1 by $2: undo" hb undo @s
	is "$1 by $2: the real file is old" "$(cat "$project/f")" old
	check "$1 by $2: cleanup" hb cleanup -y @s
}

# Writes are real, and there is nothing to be brought back.
works_direct() {
	check "$1 by $2: a session is made" hb create s --cow "$project" --strategy "$2" --no-fallback
	is "$1 by $2: the type is found" "$(member type)" "$1"
	is "$1 by $2: the strategy is recorded" "$(member strategy)" "$2"
	like "$1 by $2: status says so" "$(hb status @s)" '*(not held back)*'
	like "$1 by $2: a command says so" "$(in_box 'echo new >f; mkdir d; mv f d/f; mv d/f f' 2>&1)" \
		'*nothing is held back: writes in the workspace are real*'
	is "$1 by $2: the real file is new" "$(cat "$project/f")" new
	is "$1 by $2: nothing is pending" "$(names)" ''
	check_exit "$1 by $2: rollback is an error" 10 hb rollback -y @s
	like "$1 by $2: rollback says why" "$(hb rollback -y @s 2>&1)" '*nothing of session*is held back*'
	check_exit "$1 by $2: it is one before any question" 10 hb rollback @s </dev/null
	like "$1 by $2: rollback to a mark says the same" "$(hb rollback --to m @s 2>&1 </dev/null)" \
		'*nothing of session*is held back*'
	check_exit "$1 by $2: verify has nothing to look at" 0 hb verify @s
	like "$1 by $2: verify says so" "$(hb verify @s 2>&1)" "*'$project' is not held back*"
	check "$1 by $2: a fork is made" hb fork @s two
	like "$1 by $2: a fork is the same" "$(hb status @two)" '*(not held back)*'
	check "$1 by $2: cleanup of the fork" hb cleanup -y @two
	check "$1 by $2: cleanup" hb cleanup -y @s
	is "$1 by $2: the file stays" "$(cat "$project/f")" new
}

# refuses TYPE STRATEGY
refuses() {
	check_exit "$1 by $2 is refused" 2 hb create s --cow "$project" --strategy "$2"
	words=$(hb create s --cow "$project" --strategy "$2" 2>&1)
	for name in $(table '{type} {strategy}' | sed -n "s/^$1 //p"); do
		like "$1 by $2: the refusal offers $name" "$words" "*$name*"
	done
	is "$1 by $2: no session is left" "$(hb ls --json | grep -c '"name"')" 0
}

is 'the table has the types of directories' \
	"$(echo "$types" | grep -cx 'fs-directory\|fs-mount\|git-checkout')" 3
for type in $types; do
	if ! make "$type" 2>/dev/null; then
		note "no $type can be made here"
		continue
	fi
	is "$type has one default" "$(table '{type} {default}' | grep -c "^$type True")" 1
	for name in $names; do
		make "$type"
		if [ "$name" = none ]; then
			works_direct "$type" "$name"
		elif table '{type} {strategy}' | grep -qx "$type $name"; then
			works "$type" "$name"
		else
			refuses "$type" "$name"
		fi
	done
	unmount
done

# As an option of run, a key and a variable.
new_session 'echo old >f'
hb cleanup -y @s >/dev/null
run() { (cd "$project" && exec "$HB_BIN" run -q "$@"); }
check 'run takes a strategy' run --strategy copy_on_write -s one -- sh -c 'echo new >f'
is 'run: the strategy is in force' \
	"$(hb status --json @one | grep -o '"strategy":"[a-z_]*"' | head -1)" '"strategy":"copy_on_write"'
check_exit 'run: a session keeps its strategy' 125 run --strategy overlay -s one -- true
like 'run: the refusal names both' "$(run --strategy overlay -s one -- true 2>&1)" '*copy_on_write*'
check_exit 'run: git_worktree is for a checkout' 125 run --strategy git_worktree -s two -- true
check_exit 'run: --direct has no strategy' 125 run --strategy overlay --direct -- true
like 'run: none is --direct' "$(run --strategy none -- sh -c 'echo direct >f' 2>&1)" \
	'*nothing is held back: writes in the workspace are real*'
is 'run: none writes through' "$(cat "$project/f")" direct
check_exit 'run: none and --ephemeral exclude each other' 125 run --strategy none --ephemeral -- true

# Only the workspace of such a run is real: --cow and state are held back, as by --direct.
export HOME="$work/home"
mkdir -p "$work/d" "$HOME/.agent"
for option in --direct --strategy=none HOLDBACK_STRATEGY; do
	set -- "$option"
	if [ "$option" = HOLDBACK_STRATEGY ]; then
		set --
		export HOLDBACK_STRATEGY=none
	fi
	check "$option: a command runs" run "$@" -s beside --cow "$work/d" --state "$HOME/.agent" -- \
		sh -c "echo v >$work/d/f; echo s >~/.agent/f; echo real >f"
	unset HOLDBACK_STRATEGY
	is "$option: the workspace is real" "$(cat "$project/f")" real
	is "$option: the rest waits" "$(find "$work/d" "$HOME/.agent" -name f)" ''
	is "$option: and is pending" "$(hb diff --name-status @beside | cut -c1)" A
	check "$option: a commit takes it" hb commit -y @beside
	is "$option: nothing is lost" "$(cat "$work/d/f")" v
	hb cleanup -y @beside >/dev/null
	rm -f "$work/d/f" "$HOME/.agent/f"
	echo old >"$project/f"
done

# Of a session that is made so, only the directories that were named are real.
mkdir -p "$HOME/.config/holdback" "$work/more"
printf 'state = ~/.agent\ncow = %s\n' "$work/more" >"$HOME/.config/holdback/config"
check 'create: none with state' hb create own --cow "$project" --cow "$work/d" --strategy none
hb exec @own -- sh -c "echo new >$project/f; echo new >$work/d/f; echo s >~/.agent/f; echo m >$work/more/f"
is 'create: none: the named ones are real' "$(cat "$project/f" "$work/d/f")" "new
new"
is 'create: none: no other is' "$(find "$HOME/.agent" "$work/more" -name f)" ''
is 'create: none: a second command finds the others' \
	"$(hb exec @own -- cat "$HOME/.agent/f" "$work/more/f")" "s
m"
check 'create: none: a commit takes the others' hb commit -y @own
is 'create: none: nothing is lost' "$(cat "$work/more/f")" m
hb cleanup -y @own >/dev/null
rm "$HOME/.config/holdback/config"
echo old >"$project/f"

# A directory of --rw is a resource that is not held back.
mkdir "$work/real"
check 'a session with a real directory' run --rw "$work/real" -s mixed -- \
	sh -c "echo held >f; echo real >$work/real/f"
is 'status --json has it as none' "$(hb status --json @mixed |
	python3 -c 'import json, sys
print([(r["source"], r["strategy"]) for r in json.load(sys.stdin)["session"]["resources"]][-1])')" \
	"('$work/real', 'none')"
like 'status says that it is not held back' "$(hb status @mixed)" "*not held back: $work/real*"
like 'rollback says that it stays' "$(hb rollback -y @mixed 2>&1)" \
	"*'$work/real' is not held back: writes of commands there stay*"
is 'rollback leaves it' "$(cat "$work/real/f")" real
is 'rollback takes the rest' "$(hb diff --name-status @mixed)" ''
export HOLDBACK_STRATEGY=copy_on_write
check 'the key is a variable' run -s three -- sh -c 'echo new >f'
unset HOLDBACK_STRATEGY
is 'the variable counts' \
	"$(hb status --json @three | grep -o '"strategy":"[a-z_]*"' | head -1)" '"strategy":"copy_on_write"'

finish
