#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Where layers live, what the view shows of them, and several resources.
# needs: strace
. "$HB_TESTS/lib/txn.sh"

# Two directories, one of them elsewhere inside.
mkdir -p "$work/a" "$work/b"
echo a >"$work/a/f"
echo b >"$work/b/f"
hb create two --cow "$work/a" --cow "$work/b:/tmp/b" >/dev/null
check 'both can be changed' hb exec @two -- sh -c \
	"echo more >>$work/a/f; echo more >>/tmp/b/f; echo n >/tmp/b/n"
check_fails 'the second one is read-only at its own path' \
	hb exec @two -- sh -c "test -e $work/b/f && echo x >$work/b/f"
is 'paths are told apart' "$(hb diff --name-status @two | tr '\t' ' ')" \
	"M $work/a/f
M $work/b/f
A $work/b/n"
check 'they are committed together' hb commit -y @two
is 'both' "$(cat "$work/a/f" "$work/b/f" "$work/b/n")" \
	"$(printf 'a\nmore\nb\nmore\nn')"
check 'undo' hb undo @two
is 'takes both back' "$(cat "$work/a/f" "$work/b/f"; ls "$work/b")" \
	"$(printf 'a\nb\nf')"
hb cleanup -y @two >/dev/null

# What the host has, and what it does not.
new_session 'echo f >f'
mkdir -p "$HOME/secret"
echo secret >"$HOME/secret/file"
is 'the home directory has only files for shells' "$(in_box 'echo $(ls -A "$HOME")')" '.bashrc .config .zshrc'
is '/tmp and /run have nothing of the host' \
	"$(in_box 'ls -A /run; ls -A /tmp')" agent-work
check_fails 'the host is read-only' in_box ': >/usr/file || : >/etc/file'
check_fails 'the store is not there' in_box "test -e '$state/sessions'"
is 'there is no network' "$(in_box 'ls /sys/class/net >/dev/null; cat /proc/net/dev' |
	grep -c eth)" 0
is 'the working directory is the resource' "$(in_box pwd)" "$project"
mkdir -p "$project/sub"
is "the working directory is the caller's if a resource holds it" "$(cd "$project/sub" &&
	"$HB_BIN" exec --state-dir "$state" -- pwd)" "$project/sub"
is 'the working directory is the first resource otherwise' "$(cd / && "$HB_BIN" exec --state-dir "$state" @s -- pwd)" \
	"$project"
hb create ro --cow "$project/sub" --ro "$HOME/secret" >/dev/null
is 'a path that was asked for is there' \
	"$(hb exec @ro -- cat "$HOME/secret/file")" secret
check_fails 'read-only' hb exec @ro -- sh -c ": >>'$HOME/secret/file'"
hb cleanup -y @ro >/dev/null
rm -r "$HOME/secret"

# Exit statuses.
check_exit 'the status is the command'"'"'s' 7 in_box 'exit 7'
check_exit 'a command that is not there' 127 hb exec @s -- no-such-command
check_exit 'one that cannot be executed' 126 hb exec @s -- ./f
check_exit 'one that is killed' 137 in_box 'kill -9 $$'

# The store inside the resource itself.
hb cleanup -y @s >/dev/null
state=$project/.state
hb create s --cow "$project" >/dev/null
check_fails 'the store is not in the view' in_box 'ls .state/sessions'
in_box 'echo more >>f'
is 'the store is not among the changes' "$(names)" 'M f,'
check 'commit' hb commit -y @s
is 'did it' "$(cat "$project/f")" "$(printf 'f\nmore')"
hb cleanup -y @s >/dev/null
rm -rf "$project/.state"
state=$TMPDIR/state

# The store on another file system: above the resource, where that is the user's.
shm=$(mktemp -d /dev/shm/holdback.XXXXXX) || shm=
if [ -z "$shm" ] || [ "$(stat -c %d "$shm")" = "$(stat -c %d "$TMPDIR")" ]; then
	skip 'a resource on another file system' 'there is none'
else
	project=$shm/p
	mkdir "$project"
	echo f >"$project/f"
	is 'an overlay can be had there as well' "$(hb create s --cow "$project" 2>&1)" \
		'created session s'
	is 'the store is beside the resource' "$(ls -A "$shm")" "$(printf '.holdback\np')"
	is 'the store beside the resource is not in it' "$(ls -A "$project")" f
	mkdir "$shm/q" && echo q >"$shm/q/q"
	check 'two resources have one place' hb create u --cow "$project" --cow "$shm/q"
	hb exec @u -- sh -c "echo u >>$project/f; echo u >>$shm/q/q" 2>/dev/null &&
		is 'two resources in one place have their own changes' "$(hb diff --name-status @u | wc -l)" 2
	hb cleanup -y @u >/dev/null
	rm -r "$shm/q"
	if in_box 'echo more >>f; mkdir d; echo n >d/n' 2>"$TMPDIR/err"; then
		is 'it is not in the view' "$(in_box 'ls -A')" "$(printf 'd\nf')"
		is 'a store in the resource is not among the changes' "$(names)" 'A d/,A d/n,M f,'
		check 'commit' hb commit -y @s
		is 'did it' "$(cat "$project/f" "$project/d/n")" \
			"$(printf 'f\nmore\nn')"
		check 'undo' hb undo @s
		is 'too' "$(cat "$project/f")" f
		check 'a second session' hb create t --cow "$project"
		is 'does not see the first one' \
			"$(hb exec @t -- ls -A)" f
		is 'a second session does not see the directory beside the first' "$(hb exec @t -- sh -c \
			"ls -A '$shm/.holdback' 2>/dev/null")" ''
		is 'a box that is shown the place does not see the store' "$(cd "$work" && "$HB_BIN" run -q \
			--state-dir "$state" --ephemeral --ro "$shm" \
			ls -A "$shm/.holdback" 2>/dev/null)" ''
		hb cleanup -y @t >/dev/null
	else
		skip 'layers in memory' "$(cat "$TMPDIR/err")"
	fi
	check 'cleanup' hb cleanup -y @s
	is 'leaves nothing in it' "$(ls -A "$project")" f
	is 'cleanup leaves nothing beside the resource' "$(ls -A "$shm"; ls -A "$state/berths")" p
	# With a record that cannot be read: by what is known of it otherwise.
	hb create s --cow "$project" >/dev/null
	hb create t --cow "$project" >/dev/null
	first=$shm/.holdback/store/$(sed -n 's/^id = //p' "$state/sessions/s/session")-r0
	second=$shm/.holdback/store/$(sed -n 's/^id = //p' "$state/sessions/t/session")-r0
	check 'each session has a directory of its own' test -d "$first" -a -d "$second"
	echo damaged >"$state/sessions/s/session"
	check 'cleanup -y of a damaged session' hb cleanup -y @s
	check_fails 'removes its store' test -e "$first"
	check 'cleanup -y of a damaged session removes no other store' test -e "$second"
	echo damaged >"$state/sessions/t/session"
	echo 0123456789abcdef >"$second/in-base"
	check 'cleanup -y of one whose store is not its own' hb cleanup -y @t
	check 'leaves that' test -e "$second"
	chmod 700 "$shm/.holdback" "$shm/.holdback/store"
	rm -rf "$shm/.holdback"
	# A run that is killed while it makes a session there: by what is known.
	kills=0
	whole=$(ls -A "$project" "$shm")
	for call in mkdirat write fchmodat,chmod symlinkat; do
		for i in 1 2 3 4 5 6 7 8; do
			(cd "$project" && XDG_STATE_HOME=$work/killed exec \
				strace -qq -o /dev/null -e "trace=$call" \
				-e "inject=$call:signal=KILL:when=$i" \
				"$HB_BIN" run -q -- true) >/dev/null 2>&1
			[ $? -ne 137 ] || kills=$((kills + 1))
			"$HB_BIN" gc --dry-run --state-dir "$work/killed/holdback" \
				>/dev/null 2>&1
			case $i in
			[1357]) set -- cleanup --stale -y ;;
			*) set -- gc ;;
			esac
			"$HB_BIN" "$@" --state-dir "$work/killed/holdback" \
				>/dev/null 2>&1
			[ "$(ls -A "$project" "$shm")" = "$whole" ] ||
				echo "# left after $call $i"
		done
	done
	check 'a run is killed while it makes one' test "$kills" -gt 5
	is 'killed runs leave nothing of their stores' "$(ls -A "$project" "$shm")" "$whole"
	rm -rf "$work/killed"
	# A closed top: only root can put a store there, and without one on its
	# file system there is no undo, so there is no commit.
	chmod 555 "$project"
	before=$(digest "$project")
	hb create s --cow "$project" >/dev/null 2>"$TMPDIR/err"
	in_box 'echo more >>f'
	if [ ! -w "$project" ]; then
		like 'a closed top is told at once' "$(cat "$TMPDIR/err")" \
			"*nothing of '$project' can be committed*fix: *"
		check_exit 'its commit is refused' 10 hb commit -y @s
		is 'a refused commit to a closed top changes nothing' "$(digest "$project")" "$before"
		is 'a refused commit to a closed top loses nothing' "$(in_box 'cat f')" "$(printf 'f\nmore')"
	else
		is 'a closed top is nothing to root' "$(cat "$TMPDIR/err")" ''
		check 'commit' hb commit -y @s
		is 'did it' "$(cat "$project/f")" "$(printf 'f\nmore')"
	fi
	check 'cleanup over a closed top' hb cleanup -y @s
	is 'leaves it as it was' "$(stat -c %a "$project") $(ls -A "$project")" '555 f'
	chmod 755 "$project"
	rm -f "$TMPDIR/err"
	rm -rf "$shm"
	project=$work/p
fi

# What crashes left.
mkdir -p "$state/sessions/.new-0123" "$state/sessions/.gone-0123/r0/work"
chmod 700 "$state/sessions/.new-0123" "$state/sessions/.gone-0123"
chmod 000 "$state/sessions/.gone-0123/r0/work"
check_exit 'cleanup --stale asks' 2 hb cleanup --stale
check 'cleanup --stale -y' hb cleanup --stale -y
is 'removes it' "$(ls -A "$state/sessions")" ''
mkdir "$work/gone"
hb create orphan --cow "$work/gone" >/dev/null
hb create s --cow "$project" >/dev/null
rmdir "$work/gone"
check 'a session without its directory is stale' hb cleanup --stale -y
is 'others are not' "$(hb ls | awk '{print $1}')" s
finish
