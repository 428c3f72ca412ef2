#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Which session a command means that names none: the one that was used last, to
# the nanosecond, and its end is a use of it.  With two that have changes here,
# what would do harm to the wrong one asks for a name.
. "$HB_TESTS/lib/txn.sh"

new_session 'echo one >f'
hb cleanup -y @s >/dev/null
mkfifo "$work/go" "$work/up"
hb create long --cow "$project" >/dev/null
hb create short --cow "$project" --ro "$work" >/dev/null
hb exec @long -- sh -c 'echo up; read -r x; echo long >l' <"$work/go" >"$work/up" &
box=$!
exec 3>"$work/go"
read -r _ <"$work/up"
hb exec @short -- sh -c 'echo short >s'
echo go >&3
exec 3>&-
wait "$box"
is 'the one that ended last is the last one used' \
	"$(hb diff --name-status 2>/dev/null | tr '\t' ' ')" 'A l'
like 'the session that was taken is named if there are others' "$(hb diff --name-status 2>&1 >/dev/null)" \
	'*this is session long,*2*'
for command in 'commit -y' 'commit -y @' 'rollback -y' 'cleanup -y' 'sync --auto'; do
	# shellcheck disable=SC2086
	check_exit "$command without a name is refused" 2 hb $command
	# shellcheck disable=SC2086
	like "$command names them" "$(hb $command 2>&1)" '*2 sessions*@long, @short*fix: *@long'
done
is 'nothing happened' "$(ls "$project"; hb ls | wc -l)" "$(printf 'f\n2')"
like 'commit says which session it was' "$(hb commit -y @short)" 'committed session short: 1 file*'
check 'with one of them left no name is needed' hb commit -y
check 'a name that is not needed does no harm' hb commit -y @long
is 'changes of both sessions were committed' "$(cat "$project/l" "$project/s")" "$(printf 'long\nshort')"
hb cleanup -y @long >/dev/null
hb cleanup -y @short >/dev/null

# Within one second.
wrong=0
for i in 1 2 3 4 5 6; do
	for name in b a; do
		hb create "$name$i" --cow "$project" >/dev/null
	done
	hb exec "@a$i" -- true
	hb exec "@b$i" -- true
	hb exec "@a$i" -- true
	[ "$(hb status --json 2>/dev/null | python3 -c \
		'import json, sys; print(json.load(sys.stdin)["session"]["name"])')" = "a$i" ] ||
		wrong=$((wrong + 1))
	hb cleanup -y "@a$i" >/dev/null
	hb cleanup -y "@b$i" >/dev/null
done
is 'of two used in one second it is the later one' "$wrong" 0
finish
