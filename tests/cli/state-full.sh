#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: unshare
#
# The disk of an agent's state is full when a run ends, and when one begins:
# nothing is lost, the host's login is the old one or the new one, and after
# room was made the state goes on.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
if [ -z "$STATE_ALONE" ]; then
	# Its mounts go with the namespace.
	[ "$(id -u)" = 0 ] || as_root=--map-root-user
	STATE_ALONE=1 exec unshare --mount ${as_root:+"$as_root"} -- "$0"
fi
. "$HB_TESTS/lib/cli.sh"

mkdir disk
mount -t tmpfs -o size=4m,nr_inodes=400 tmpfs disk || bail 'no small disk'
trap 'cd / && umount "$work/disk"; rm -rf "$work"' EXIT
home=$work/disk/home
mkdir -p "$home/.claude" "$home/.local/bin" "$home/.local/share/claude" disk/p
HOME=$home
PATH=$home/.local/bin:$PATH
export HOME PATH
unset XDG_STATE_HOME
printf '#!/bin/sh\neval "$1"\n' >"$home/.local/share/claude/claude"
chmod +x "$home/.local/share/claude/claude"
ln -s ../share/claude/claude "$home/.local/bin/claude"
cd disk/p || bail 'no directory'
file=$home/.claude/.credentials.json

agent() {
	"$HB_BIN" claude "$1" 2>"$work/.stderr" </dev/null
}
login() {
	printf '{"claudeAiOauth":{"accessToken":"%s","expiresAt":%s}}' "$1" "$2"
}
flat() {
	tr -d ' \n' <"$1"
}
due=1700000000000
far=4100000000000

agent 'echo first >~/.claude/answer'
is 'state is carried while there is room' "$(agent 'cat ~/.claude/answer')" first

for kind in bytes names; do
	login old $due >"$file"
	head -c 1M /dev/zero >"$work/disk/ballast"
	mkdir "$work/disk/names"
	for n in 0 1 2 3 4 5 6 7 8 9; do
		for m in 0 1 2 3 4 5 6 7 8 9; do
			true >"$work/disk/names/$n$m"
		done
	done
	case $kind in
	bytes) fill='head -c 8M /dev/zero >filler' ;;
	names) fill='n=0; while true >filler$n; do n=$((n + 1)); done' ;;
	esac
	agent "echo $kind >~/.claude/answer; printf '%s' '$(login "new-$kind" $far)' >~/.claude/t
		mv ~/.claude/t ~/.claude/.credentials.json; $fill" 2>/dev/null
	# The end of a box gives names back, and they may be enough for a login.
	case $kind:$(flat "$file") in
	names:"$(login new-names $far)") ;;
	*)
		like "a full disk is said when a run ends without $kind" "$(cat "$work/.stderr")" \
			"*the disk is full: the login and the agent's state stay in the session; make room*"
		is "the host's login is whole on a disk without $kind" \
			"$(flat "$file")" "$(login old $due)"
		;;
	esac
	rm -rf "$work/disk/ballast" "$work/disk/names"
	"$HB_BIN" ls >/dev/null 2>&1
	is "after room was made the login is published, without $kind" \
		"$(flat "$file")" "$(login "new-$kind" $far)"
	is "after room was made the state is carried, without $kind" \
		"$("$HB_BIN" state claude "$home/.claude/answer")" $kind
	"$HB_BIN" cleanup -y --all >/dev/null 2>&1
	# What the session wrote is forgotten with it.
	agent 'echo first >~/.claude/answer'
done

# A run that begins.
head -c 8M /dev/zero >"$work/disk/ballast" 2>/dev/null
agent 'cat ~/.claude/answer'
like 'a run on a full disk is refused, or goes on without loss' \
	"$?:$(cat "$work/.stderr")" '*[17]*:*space*'
rm "$work/disk/ballast"
is 'a run on a full disk took nothing away' "$(agent 'cat ~/.claude/answer')" first
is 'no temporary file is left on the host' "$(find "$home" -name '.holdback*')" ''
cd "$work" || bail 'no directory'
done_testing
