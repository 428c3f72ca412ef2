#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# commit PATH takes that path with everything in it, of that directory alone,
# and leaves the rest pending.
. "$HB_TESTS/lib/txn.sh"

two_directories() {
	remove_all
	mkdir -p "$project" "$work/other"
	(cd "$project" && mkdir sub && echo f >f && echo a >sub/a && echo b >sub/b)
	echo f >"$work/other/f"
	hb create s --cow "$project" --cow "$work/other" >/dev/null
	in_box "echo new >f; echo new >sub/a; rm sub/b"
	hb exec @s -- sh -c 'echo new >"$1"' sh "$work/other/f"
}

two_directories
like 'commit with a path says so' "$(hb commit -y @s f)" 'committed session s: 1 file*'
is 'the path is in place' "$(cat "$project/f")" new
is 'a path of the same name in another directory is not' "$(cat "$work/other/f")" f
is 'everything else is still pending' "$(names)" "M $project/sub/a,D $project/sub/b,M $work/other/f,"
check 'a directory stands for everything in it' hb commit -y @s sub
is 'a changed file of it is in place' "$(cat "$project/sub/a")" new
check_fails 'a deleted file of it is gone' test -e "$project/sub/b"
check 'an absolute path names the other directory' hb commit -y @s "$work/other/f"
is 'it is in place too' "$(cat "$work/other/f")" new
is 'nothing is pending' "$(names)" ''
check 'undo takes the last of the three back' hb undo @s
is 'undo takes nothing else back' "$(cat "$work/other/f" "$project/f")" "$(printf 'f\nnew')"

two_directories
check 'two paths of two directories are one commit' hb commit -y @s f "$work/other/f"
is 'both are in place' "$(cat "$project/f" "$work/other/f")" "$(printf 'new\nnew')"
check 'one undo takes both back' hb undo @s
is 'both are as before' "$(cat "$project/f" "$work/other/f")" "$(printf 'f\nf')"

two_directories
before=$(digest "$work")
check_exit 'a path outside of the session is refused' 2 hb commit -y @s /etc/passwd
check_exit 'a name that has no change is refused' 2 hb commit -y @s no-such-name
is 'nothing has changed' "$(digest "$work")" "$before"
check 'a pattern narrows a path further' hb commit -y --only 'a' @s sub
is 'only what both take is committed' "$(names)" "M $project/f,D $project/sub/b,M $work/other/f,"

new_session 'git init -q . && echo a >a && git add a &&
	git -c user.name=n -c user.email=e commit -qm one'
in_box 'echo b >b; git add b; git -c user.name=n -c user.email=e commit -qm two; echo c >c'
like 'a repository waits for a file of its commits that is left out' "$(hb commit -y @s .git/index)" \
	"*b: left out, but in the session's commits, so references and index stay pending"
is 'its branch is as before' "$(git -C "$project" log --format=%s | tr '\n' ' ')" 'one '
is 'all of it is pending' "$(names)" 'M .git/,A b,A c,'
check 'a path inside of .git takes the repository whole' hb commit -y @s .git/index b
is 'the commit is there' "$(git -C "$project" log --format=%s | tr '\n' ' ')" 'two one '
is 'the file that it does not have is pending' "$(names)" 'A c,'

new_session 'echo a >a'
in_box 'mkdir d; echo x >d/x; echo y >d/y; echo z >z'
check 'a path in a new directory brings the directory' hb commit -y @s d/x
is 'without its other files' "$(cd "$project" && echo d/* z*)" 'd/x z*'
finish
