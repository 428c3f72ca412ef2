#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 setpriv
#
# A directory that may not be read is never replaced by the empty one that stands
# for it in a copy: a commit refuses to move it, and the real one stays whole.
# Root reads it like any other, and there it moves with all it holds.
HB_STRATEGY=copy_on_write
. "$HB_TESTS/lib/txn.sh"

# shown: every name below the project with its type, mode and text.
shown() {
	python3 - "$project" <<'PY'
import os, sys
def show(path):
    s = os.lstat(path)
    mode = s.st_mode & 0o7777
    line = f"{os.path.relpath(path, sys.argv[1])} {mode:o}"
    if os.path.isdir(path):
        if os.getuid() == s.st_uid:
            os.chmod(path, mode | 0o700)
        names = sorted(os.listdir(path))
        yield line + "/"
        for name in names:
            yield from show(os.path.join(path, name))
        if os.getuid() == s.st_uid:
            os.chmod(path, mode)
    else:
        with open(path) as f:
            yield f"{line}={f.read().strip()}"
print(",".join(list(show(sys.argv[1]))[1:]))
PY
}

# take_all: a commit that takes the session's version of everything.
take_all() {
	hb commit -y --theirs '**' @s
}

exchange='exchange() {
	python3 -c "
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.renameat2(-100, os.fsencode(sys.argv[1]), -100, os.fsencode(sys.argv[2]), 2):
    sys.exit(os.strerror(ctypes.get_errno()))" "$1" "$2"
}'

# can_read: whether a mode keeps this user out at all.
mkdir -p "$TMPDIR/closed/in"
chmod 000 "$TMPDIR/closed"
can_read=$([ -d "$TMPDIR/closed/in" ] && echo yes)
chmod 700 "$TMPDIR/closed"
rm -rf "$TMPDIR/closed"

# start: the session, and in `before` what its project holds.  The look opens
# directories, so it is taken before the session is made.
start() {
	new_session "$tree"
	before=$(shown)
	new_session "$tree"
}

# in_boxes SCRIPT...: each in a command of its own.
in_boxes() {
	for script; do
		in_box "$exchange; $script"
	done
}

# moved NAME WANT SCRIPT...: the commit of a moved directory takes all that it
# holds to WANT, a pattern, or it is refused, also with --theirs, and nothing
# has changed.
moved() {
	name="$mode: $1"
	want=$2
	shift 2
	start
	in_boxes "$@"
	if [ "$can_read" ]; then
		check "$name: a directory that can be read is committed" hb commit -y @s
		check "$name: the commit is undone" hb undo @s
		is "$name: undo puts all back" "$(shown)" "$before"
		start
		in_boxes "$@"
		hb commit -y @s >/dev/null
		like "$name: the directory is there with all it holds" "$(shown)" "$want"
		return
	fi
	check_exit "$name: the commit is refused" 5 hb commit -y @s
	like "$name: the refusal names both places" "$tap_output" \
		'*conflict: *[ego]/sub/: the real file may not be read*conflict: d/sub/: *'
	check_exit "$name: the commit is refused with --theirs too" 5 take_all
	is "$name: the refused commit changes nothing" "$(shown)" "$before"
	start
	in_boxes "$@"
	check "$name: --ours settles it" hb commit -y --ours '**/sub' @s
	like "$name: the real directory stays with all it holds" "$(shown)" "$(at d)"
	is "$name: no empty directory stands for it" "$(shown | tr , '\n' | grep -c '/sub ')" 1
}

umask 022
for mode in 0 311; do
	tree="mkdir -p d/sub/in o; echo precious >d/sub/in/x; echo f >d/f; echo o >o/o; chmod $mode d/sub"
	# at DIR: a pattern for all of it in that directory.
	at() {
		echo "*$1/sub $mode/,$1/sub/in 755/,$1/sub/in/x 644=precious*"
	}
	moved 'a parent is moved' "$(at e)" 'mv d e'
	moved 'a parent is exchanged' "$(at o)" 'exchange d o'
	# The owner alone cannot take a directory to another one that he may not
	# write to; then it stays in the first.
	moved 'moved in three commands' "$(at g)" 'mv d e' 'mkdir h; mv e/sub h/sub 2>/dev/null || :' \
		'! test -d h/sub || mv h/sub e/sub; rmdir h; mv e g'

	start
	in_box 'mv d e'
	hb mark @s m >/dev/null
	in_box 'mv e d'
	is "$mode: a parent that is moved there and back is no change" "$(names)" ''
	check "$mode: nothing is committed" hb commit -y @s
	is "$mode: moved there and back all is as it was" "$(shown)" "$before"

	start
	in_box 'mv d e'
	check "$mode: a fork" hb fork @s t
	hb commit -y --theirs '**' @t >/dev/null 2>&1
	like "$mode: of the fork: the directory is whole" "$(shown)" "$(at '[de]')"

	new_session "$tree; ln d/f d/g; ln d/f l"
	in_box 'ln d/g o/new; mv d/f o/f'
	check "$mode: hard links beside it are committed" hb commit -y @s
	is "$mode: hard links beside it have their text" \
		"$(cd "$project" && cat o/f o/new d/g l | tr '\n' ,)" f,f,f,f,
	like "$mode: the directory beside hard links is whole" "$(shown)" "$(at d)"

	[ "$can_read" ] && continue
	for script in 'mv d/sub d/s2' 'exchange d/sub o' 'rmdir d/sub; mkdir d/sub' \
		'rm -rf d/sub; mkdir d/sub; echo n >d/sub/n' 'chmod 755 d/sub'; do
		start
		in_boxes "$script" >/dev/null 2>&1
		is "$mode: $script: is no change of a session" "$(names)" ''
		check "$mode: $script: nothing is committed" take_all
		is "$mode: $script: the project is as it was" "$(shown)" "$before"
	done
done

# Without namespaces nothing lies over it, and a command can do anything to it.
remove_all
export XDG_STATE_HOME="$TMPDIR/xdg"
export HOME="$TMPDIR/home"
mkdir -p "$HOME" "$XDG_STATE_HOME"
state=$XDG_STATE_HOME/holdback
bare() {
	(cd "$project" && "$HB_PROBE" deny 'clone:0&0x10000000' EPERM -- "$HB_BIN" run \
		--allow-degraded -s s -q -- sh -c "$exchange; $1" 2>/dev/null)
}
# bare_start SCRIPT...: as start, and each script in a command of its own.
bare_start() {
	remove_all
	mkdir -p "$project"
	(cd "$project" && eval "$tree")
	before=$(shown)
	chmod 755 "$project"
	for script; do
		bare "$script"
	done
}
if [ "$HB_MODE" = user ]; then
	for mode in 0 311; do
		tree="mkdir -p d/sub/in o; echo precious >d/sub/in/x; echo f >d/f; echo o >o/o; chmod $mode d/sub"
		for script in 'mv d e' 'mv d/sub d/s2' 'exchange d o' 'exchange d/sub o' \
			'mv d/sub s2; echo n >s2/n' 'mv d/sub s2; mkdir d/sub' 'mv d/sub s2; rm -rf d'; do
			name="without namespaces, $mode: $script"
			bare_start "$script"
			check_exit "$name: is refused" 5 hb commit -y @s
			check_exit "$name: is refused with --theirs too" 5 take_all
			is "$name: the project is as it was" "$(shown)" "$before"
		done
		name="without namespaces, $mode: a directory moved twice"
		bare_start 'mv d/sub o/s' 'mv o/s o/t; mv o q'
		check_exit "$name: is refused with --theirs too" 5 take_all
		like "$name: the refusal names the last place" "$tap_output" '*conflict: q/t/: *may not be read*'
		is "$name: the project is as it was" "$(shown)" "$before"

		name="without namespaces, $mode: removed and made again"
		bare_start 'rmdir d/sub; mkdir d/sub; echo n >d/sub/n'
		check "$name: the new file can be taken" take_all
		check "$name: the commit is undone" hb undo @s
		is "$name: undo puts all back" "$(shown)" "$before"
		bare_start 'rmdir d/sub; mkdir d/sub; echo n >d/sub/n'
		take_all >/dev/null 2>&1
		like "$name: the real directory keeps all it holds" "$(shown)" \
			'*d/sub/in 755/,d/sub/in/x 644=precious,d/sub/n 644=n*'

		name="without namespaces, $mode: removed"
		bare_start 'rmdir d/sub'
		check_exit "$name: the commit is refused" 5 hb commit -y @s
		like "$name: the refusal names the directory" "$tap_output" '*conflict: d/sub/: the base cannot be read here*'
		take_all >/dev/null 2>&1 && hb undo @s >/dev/null
		is "$name: nothing of the real directory is lost" "$(shown)" "$before"

		name="without namespaces, $mode: a hard link beside it"
		bare_start 'ln d/f o/f2; mv d/f o/f'
		check "$name: is committed" hb commit -y @s
		is "$name: has its text" "$(cat "$project/o/f" "$project/o/f2" | tr '\n' ,)" f,f,
		like "$name: the directory is whole" "$(shown)" "$(at d)"
	done
fi
remove_all
rm -rf "$HOME" "$XDG_STATE_HOME"

# A file that belongs to root, in the project of another user: the kernel may
# refuse him a second name for it (fs.protected_hardlinks).
as_nobody() {
	(cd "$project" && setpriv --reuid 65534 --regid 65534 --clear-groups "$HB_BIN" "$@")
}
if [ "$HB_MODE" = root ]; then
	unset XDG_STATE_HOME
	work=$(mktemp -d /var/tmp/unreadable.XXXXXX)
	state=$work/state
	project=$work/p
	export HOME="$work"
	mkdir -p "$project/d/sub"
	echo precious >"$project/d/sub/secret"
	echo f >"$project/d/f"
	chown -R 65534:65534 "$work"
	chown 0:0 "$project/d/sub/secret"
	chmod 600 "$project/d/sub/secret"
	check 'a session over a file of another owner' \
		as_nobody create --state-dir "$state" s --cow "$project" --strategy=copy_on_write
	check 'a directory above a file of another owner is moved in the session' \
		as_nobody exec --state-dir "$state" @s -- mv d e
	status=0
	said=$(as_nobody commit --state-dir "$state" -y @s 2>&1) || status=$?
	if [ "$status" -eq 0 ]; then
		is 'a file of another owner is moved' "$(cat "$project/e/sub/secret"),$(stat -c '%u %a' "$project/e/sub/secret")" 'precious,0 600'
	else
		like 'a file of another owner is refused with both paths' "$said" '*d/sub/secret*e/sub/secret*'
		is 'a refused file of another owner is as it was' "$(cat "$project/d/sub/secret"),$(stat -c '%u %a' "$project/d/sub/secret")" 'precious,0 600'
		is 'beside a refused file all is as it was' "$(cd "$project" && find . | sort | tr '\n' ,)" '.,./d,./d/f,./d/sub,./d/sub/secret,'
	fi
	is 'a file of another owner is there once' "$(find "$project" -name secret -size +0 | wc -l)" 1
	rm -rf "$work"
fi
done_testing
