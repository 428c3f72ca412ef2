#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# modes: user userns
#
# A file that may not be read is never replaced by the empty one that stands for
# it in a copy: the real one is moved, or the commit refuses and says why.
HB_STRATEGY=copy_on_write
. "$HB_TESTS/lib/txn.sh"

# real PATH: what the file has, which its mode hides; the mode stays.
real() {
	python3 -c '
import os, sys
p = sys.argv[1]
m = os.stat(p).st_mode & 0o7777
os.chmod(p, m | 0o400)
print(oct(m), open(p).read().strip())
os.chmod(p, m)' "$project/$1"
}

# In a box the real file is shown there, so that only what is above it moves.
tree='mkdir -p d/sub; echo precious >d/sub/secret; chmod 000 d/sub/secret; echo f >d/f'
new_session "$tree"
in_box 'mv d e'
check 'a directory above an unreadable file is moved' hb commit -y @s
is 'the old place is gone' "$(ls "$project")" e
check 'undo' hb undo @s
is 'brings it back' "$(ls "$project")" d
check 'redo' hb redo @s
is 'moves it again' "$(ls "$project")" e
check 'undo once more' hb undo @s
is 'with what it has' "$(real d/sub/secret)" '0o0 precious'

new_session "$tree"
in_box 'mv d e'
in_box 'mv e g; echo more >>g/f'
hb mark @s m >/dev/null
in_box 'mkdir h; mv g/sub h/sub'
check 'moved in three commands and over a mark' hb commit -y @s
is 'it is where it went' "$(real h/sub/secret)" '0o0 precious'
is 'a moved unreadable file is nowhere else' "$(find "$project" -name secret | wc -l)" 1

new_session "$tree"
in_box 'mv d e'
in_box 'mv e d'
is 'moved there and back it is no change' "$(names)" ''
hb rollback -y @s >/dev/null
in_box 'mv d e'
check 'a fork' hb fork @s t
check 'commits the same' hb commit -y @t
is 'of the fork: the file is there' "$(real e/sub/secret)" '0o0 precious'

new_session "$tree"
in_box 'mv d e'
rm -f "$project/d/sub/secret"
check_exit 'a real file that is gone meanwhile cannot be moved' 5 hb commit -y @s
like 'the reason is named' "$(hb commit -y @s 2>&1)" '*e/sub/secret*may not be read*'

# Without namespaces nothing lies over it, and a command can do anything to it.
remove_all
export XDG_STATE_HOME="$TMPDIR/xdg"
export HOME="$TMPDIR/home"
mkdir -p "$HOME" "$XDG_STATE_HOME"
state=$XDG_STATE_HOME/holdback
no_userns='clone:0&0x10000000'
bare() {
	(cd "$project" && "$HB_PROBE" deny "$no_userns" EPERM -- "$HB_BIN" run \
		--allow-degraded -s s -q -- sh -c "$1" 2>/dev/null)
}
# bare_session SCRIPT: a project with a secret, and the script in a session.
bare_session() {
	remove_all
	mkdir -p "$project"
	chmod 700 "$project"
	(cd "$project" && echo precious >secret && chmod 000 secret && echo f >f && mkdir d)
	bare "$1"
}
if [ "$HB_MODE" = user ]; then
	bare_session 'mv secret d/s2'
	check 'without namespaces: a file that may not be read is moved' hb commit -y @s
	is 'a moved unreadable file keeps its content without namespaces' "$(real d/s2)" '0o0 precious'
	is 'under one name' "$(ls "$project" | tr '\n' ,)" d,f,

	bare_session 'ln secret d/s2'
	check 'it gets another name' hb commit -y @s
	is 'of the same file' "$(real secret) $(stat -c %i "$project/secret")" \
		"0o0 precious $(stat -c %i "$project/d/s2")"

	bare_session 'mv secret t; mv f secret; mv t f'
	check_exit 'exchanged with another: the user is asked' 5 hb commit -y @s
	check '--theirs takes an exchange with an unreadable file' hb commit -y --theirs secret @s
	is 'both are there' "$(real f),$(cat "$project/secret")" '0o0 precious,f'

	bare_session 'chmod 600 secret; echo mine >>secret'
	check_exit 'a write to it is a conflict, not nothing' 5 hb commit -y @s
	like 'a conflict of an unreadable file has a reason' "$(hb commit -y @s 2>&1)" '*secret*may not be read*--theirs*'
	check 'the user can take it' hb commit -y --theirs secret @s
	is 'then it is what was written' "$(cat "$project/secret")" mine
	check 'a write to an unreadable file is undone' hb undo @s
	is 'has the real one' "$(real secret)" '0o0 precious'

	for script in 'chmod 600 secret' 'chmod 600 secret; : >secret' \
		'rm -f secret; : >secret' 'chmod 600 secret; mv secret d/s2' \
		'chmod 600 secret; cp secret d/n; mv -f d/n secret'; do
		bare_session "$script"
		check_exit "$script: is refused" 5 hb commit -y @s
		check_exit "$script: also with --theirs" 5 hb commit -y --theirs '**' @s
		is "$script: the real file stays" "$(real secret)" '0o0 precious'
	done
	bare_session 'chmod 600 secret'
	bare 'mv secret d/s2'
	check_exit 'touched in one command, moved in another: is refused' 5 hb commit -y --theirs '**' @s

	bare_session 'rm -f secret; echo more >>f'
	check 'its deletion is one' hb commit -y @s
	is 'undo takes the deletion of an unreadable file back' "$(hb undo @s >/dev/null; real secret)" '0o0 precious'
fi
remove_all
rm -rf "$HOME" "$XDG_STATE_HOME"
finish
