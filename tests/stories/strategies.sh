#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# One sandbox object with four operations, whatever its strategy: create, commit,
# rollback, cleanup.  (system 2)
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

export XDG_STATE_HOME="$work/state" HOME="$work/home"
mkdir home

# tree DIRECTORY: its names, kinds, modes and contents.
tree() {
	(cd "$1" && find . | LC_ALL=C sort | while read -r name; do
		stat -c '%n %A' "$name"
		[ ! -f "$name" ] || cat "$name"
	done)
}
make_project() {
	rm -rf "$1"
	mkdir -p "$1/old/deep" "$1/kept"
	echo one >"$1/f"
	echo two >"$1/old/deep/g"
	ln -s f "$1/link"
}
work_inside='echo changed >f; rm -r old; mkdir -p new/deep; echo n >new/deep/n
	chmod 700 kept; rm link; ln -s new link; mv new/deep/n new/moved'

committed=
for strategy in overlay copy_on_write; do
	p=$work/$strategy
	make_project "$p"
	before=$(tree "$p")
	check "$strategy: create" "$HB_BIN" create s --strategy $strategy --cow "$p"
	effective=$("$HB_BIN" status --json @s | python3 -c '
import json, sys
print(json.load(sys.stdin)["session"]["resources"][0]["strategy"])')
	like "$strategy: the strategy in force is told" "$effective" '*o*'
	check "$strategy: work" "$HB_BIN" exec @s -- sh -c "$work_inside"
	is "$strategy: the original is as before" "$(tree "$p")" "$before"
	check "$strategy: rollback" "$HB_BIN" rollback -y @s
	is "$strategy: the view is pristine again" \
		"$("$HB_BIN" exec @s -- cat f old/deep/g)" 'one
two'
	check "$strategy: work again" "$HB_BIN" exec @s -- sh -c "$work_inside"
	check "$strategy: a dry run changes nothing" "$HB_BIN" commit -n @s
	is "$strategy: after the dry run the original is as before" "$(tree "$p")" "$before"
	check "$strategy: commit" "$HB_BIN" commit -y @s
	now=$(tree "$p")
	[ -n "$committed" ] || committed=$now
	is "$strategy: the committed tree is that of every strategy" "$now" "$committed"
	check "$strategy: undo" "$HB_BIN" undo @s
	is "$strategy: undo brings the original back" "$(tree "$p")" "$before"
	# Both sides change a file: refused whole.
	check "$strategy: redo" "$HB_BIN" redo @s
	"$HB_BIN" exec @s -- sh -c 'echo theirs >f; echo x >x'
	echo mine >"$p/f"
	check_exit "$strategy: a conflict refuses the whole commit" 5 "$HB_BIN" commit -y @s
	is "$strategy: after the conflict nothing of it arrived" "$(cat "$p/f"; ls "$p/x" 2>/dev/null)" mine
	check "$strategy: cleanup" "$HB_BIN" cleanup -y @s
	is "$strategy: after cleanup there is no session" "$("$HB_BIN" ls)" ''
done
check_exit 'a strategy that does not exist is refused' 2 \
	"$HB_BIN" create s --strategy snapshot --cow "$p"
cd "$p" || bail 'no project'
like 'without holding back, that is said' "$("$HB_BIN" run --direct sh -c 'echo d >direct' 2>&1)" \
	'*nothing is held back*'
is 'such a write is real at once' "$(cat direct)" d
done_testing
