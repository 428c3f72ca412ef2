#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Errors with status 10 or 70 that a user can meet: each has a fix, and the fix,
# typed, works.
. "$HB_TESTS/lib/txn.sh"

# meets NAME STATUS ARGUMENT...: the command ends with that status and a fix,
# which is left in $fix.
meets() {
	meets_name=$1 meets_status=$2
	shift 2
	meets_got=0
	hb "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null || meets_got=$?
	fix=$(sed -n 's/^fix: //p' "$TMPDIR/err")
	like "$meets_name: the command says how to mend it" \
		"$meets_got:$fix" "$meets_status:?*"
	[ -n "$fix" ] || note "$(cat "$TMPDIR/err")"
	rm -f "$TMPDIR/out" "$TMPDIR/err"
}

# fix_works NAME COMMAND [OPTION]: the fix names this command of holdback, which
# succeeds; the option answers the question that a terminal would be asked.
fix_works() {
	like "$1: the fix names '$2'" "$fix" "*$2*"
	# shellcheck disable=SC2086 # a line of words
	set -- "$1" $2 ${3-}
	name=$1
	shift 2
	check "$name: the fix, typed, works" hb "$@"
}

pending='echo changed >f'
record=$state/sessions/s/session

new_session 'echo one >f'
in_box "$pending"
meets 'a name that is taken' 10 create s --cow "$project"
fix_works 'a name that is taken' 'holdback cleanup @s' -y
check 'a name that was freed can be used' hb create s --cow "$project"

meets 'nothing to undo' 10 undo @s
fix_works 'nothing to undo' 'holdback status'
meets 'nothing to redo' 10 redo @s
in_box "$pending"
hb mark @s one >/dev/null
meets 'a mark that exists' 10 mark @s one
fix_works 'a mark that exists' 'holdback mark @s'
meets 'a path that was changed before a mark' 10 rollback -y @s f
fix_works 'a path that was changed before a mark' 'holdback rollback @s' -y

for damage in 'echo x >"$1"' ': >"$1"' 'rm "$1"' \
	'sed -i "s/^version = .*/version = 99999/; s/^format = .*/format = 99999/" "$1"'; do
	new_session 'echo one >f'
	in_box "$pending"
	sh -c "$damage" sh "$record"
	meets "a record after '$damage'" 10 status @s
	case $fix in
	*'holdback cleanup'*)
		fix_works "a record after '$damage'" 'holdback cleanup -y @s'
		check "the name is free after '$damage'" \
			hb create s --cow "$project"
		;;
	*) like "a record after '$damage': a newer version is named" "$fix" \
		'use the holdback that made it*' ;;
	esac
done

new_session 'echo one >f'
in_box "$pending"
mv "$project" "$project.old"
mkdir "$project"
meets 'a directory that was replaced' 10 commit -y @s
rmdir "$project"
(cd "$work" && "$HB_BIN" commit --state-dir "$state" -y @s) >"$TMPDIR/err" 2>&1
like 'a directory that is gone: the fix names the session' \
	"$(sed -n 's/^fix: //p' "$TMPDIR/err")" "put '$project' back*@s*"
mv "$project.old" "$project"
check 'a directory that was put back: the session works' hb status @s
mv "$project" "$project.old"
mkdir "$project"
meets 'a directory that was replaced again' 10 commit -y @s
fix_works 'a directory that was replaced again' 'holdback cleanup -y @s'
rm -r "$project.old"
rm -f "$TMPDIR/err"

new_session 'echo one >f'
chmod 770 "$state"
meets 'a store that others may enter' 10 ls
like 'a store that others may enter: the fix is a chmod' "$fix" "chmod go-rwx $state*"
sh -c "$fix"
check 'a store that others may enter: the fix, typed, works' hb ls

new_session 'echo one >f'
in_box "$pending"
hb commit -y @s >/dev/null
for journal in "$state"/sessions/s/done/*; do
	printf 'damage' | dd of="$journal" bs=1 seek=70 conv=notrunc 2>/dev/null
done
meets 'a damaged journal' 10 undo @s
fix_works 'a damaged journal' 'holdback cleanup -y @s'
finish
