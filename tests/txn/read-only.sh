#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A store that cannot be written can be looked at: because of its modes, or
# because it is mounted so.
. "$HB_TESTS/lib/txn.sh"

# shown WHERE: what the commands that only look have to say.
shown() {
	for command in 'ls' 'status @s' 'status --json @s' 'diff @s' 'diff --stat @s' \
		'diff --name-status @s' 'gate @s'; do
		# shellcheck disable=SC2086 # words
		check "$1: $command" hb $command
	done
	is "$1: what is pending" "$(names)" 'A d/new,M f,D g,'
	for command in 'commit -y @s' 'rollback -y @s' 'undo @s' 'mark @s m' \
		'cleanup -y @s'; do
		# shellcheck disable=SC2086 # words
		check_fails "$1: ${command%% *} is refused" hb $command
		like "$1: it says why and what to do" "$tap_output" '*holdback: *
fix: *'
	done
	is "$1: still pending" "$(names)" 'A d/new,M f,D g,'
}

prepare() {
	new_session 'echo f >f; echo g >g; mkdir d'
	in_box 'echo more >>f; rm g; echo new >d/new'
}

if [ "${1:-}" = --mounted ]; then
	prepare
	mount --bind "$state" "$state" && mount -o remount,bind,ro "$state" ||
		skip_all 'nothing can be mounted read-only here'
	shown 'a store that is mounted read-only'
	done_testing
fi

# Root needs no permission, so modes show nothing to it.
if [ "$(id -u)" -ne 0 ] || [ "$HB_MODE" = userns ]; then
	prepare
	find "$state" -not -path "$state/*/upper/*" -not -path "$state/*/work/*" -exec chmod a-w {} +
	if ! touch "$state/writable" 2>/dev/null; then
		shown 'a store without write permission'
	fi
	rm -f "$state/writable"
fi
remove_all

out=$(unshare --mount --map-root-user sh "$0" --mounted 2>&1)
count=$(printf '%s\n' "$out" | grep -c '^ok')
case $out in
*'# SKIP'*) skip 'a store that is mounted read-only' 'nothing can be mounted so' ;;
*'not ok'*) fail 'a store that is mounted read-only can be looked at' "$out" ;;
*) is 'a store that is mounted read-only can be looked at' "$count" 19 ;;
esac
finish
