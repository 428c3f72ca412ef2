#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# A command that touches a file and leaves its content as it was copies it to the
# layer.  Such a copy hides no later edit of the user and is no conflict.
. "$HB_TESTS/lib/txn.sh"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null

# upper: the names in the session's layer.
upper() {
	(cd "$state/sessions/s/r0/upper" && find . -mindepth 1 | sort | tr '\n' ' ')
}

# edit FILE TEXT: as the user does, outside.
edit() {
	echo "$2" >"$project/$1"
}

for HB_STRATEGY in overlay copy_on_write; do
	# What touches and changes nothing: then the user's edit wins.
	for touches in 'touch -d 2001-02-03 d/f' 'sed -i s/nothing/else/ d/f' 'cat d/f >t; cat t >d/f; rm t'; do
		new_session 'mkdir d; echo old >d/f; echo g >g'
		in_box "$touches"
		edit d/f edited
		is "the command sees the edit ($HB_STRATEGY, $touches)" "$(in_box 'cat d/f')" edited
		is 'nothing is pending' "$(names)" ''
		in_box 'echo more >g'
		check 'a commit of another file is no conflict' hb commit -y @s
		is 'a commit of another file leaves the edit' "$(cat "$project/d/f") $(cat "$project/g")" 'edited more'
	done

	# Without a command in between.
	new_session 'echo old >f; echo g >g'
	in_box 'touch f; echo more >g'
	edit f edited
	is "status does not list it ($HB_STRATEGY)" "$(names)" 'M g,'
	edit f 'edited again'
	check 'commit' hb commit -y @s
	is 'both are there' "$(cat "$project/f" "$project/g" | tr '\n' ' ')" 'edited again more '
	check 'undo' hb undo @s
	is 'undo leaves an edit of the user alone' "$(cat "$project/f" "$project/g" | tr '\n' ' ')" 'edited again g '
	is 'the command sees an edit of the user' "$(in_box 'cat f g' | tr '\n' ' ')" 'edited again more '

	# As long as the user does nothing the times are those that the command set.
	new_session 'echo old >f'
	in_box 'touch -d 2001-02-03T00:00Z f'
	is "times stay ($HB_STRATEGY)" "$(in_box 'stat -c %Y f')" 981158400
	is 'over another command' "$(in_box 'stat -c %Y f')" 981158400
	check 'times are committed' hb commit -y @s
	is 'to the file' "$(stat -c %Y "$project/f")" 981158400

	# Equal in everything: it is gone at once.
	new_session 'mkdir d; echo old >d/f; chmod 640 d/f; ln d/f other'
	in_box 'chmod 640 d/f'
	is "chmod to the same mode leaves nothing ($HB_STRATEGY)" "$(upper)" ''
	in_box 'cp -p d/f t; cat t >d/f; touch -r t d/f; rm t; chmod 600 other; chmod 640 other'
	is 'a file that came back to its old state leaves nothing' "$(upper)" ''
	in_box 'ln d/f d/second'
	edit d/f edited
	like 'what has a second name is a change' "$(names)" '*A d/second,'

	# What is changed is not dropped.
	new_session 'echo old >f; echo old >g'
	in_box 'chmod 700 f; echo new >g'
	edit f edited
	edit g edited
	is "mode and content stay ($HB_STRATEGY)" "$(in_box 'cat f g' | tr '\n' ' ')" 'old new '
	check_exit 'mode and content that both sides changed are conflicts' 5 hb commit -y @s

	# Edited while the command runs: nobody can tell who has seen it.
	new_session 'echo old >f'
	mkfifo "$TMPDIR/go" "$TMPDIR/ready"
	in_box 'touch f; echo ready; read line' <"$TMPDIR/go" >"$TMPDIR/ready" &
	exec 7>"$TMPDIR/go"
	read -r _ <"$TMPDIR/ready"
	edit f edited
	exec 7>&-
	wait
	rm "$TMPDIR/go" "$TMPDIR/ready"
	is "an edit while the command runs is hidden ($HB_STRATEGY)" "$(in_box 'cat f')" old
	check_exit 'an edit while the command runs is a conflict' 5 hb commit -y @s

	# Below a mark.
	new_session 'echo old >f; echo old >g'
	in_box 'echo new >f; chmod 600 g'
	check "mark ($HB_STRATEGY)" hb mark @s m
	in_box 'echo old >f; chmod 700 g; chmod 600 g'
	is 'a revert to what the base has stays' "$(in_box 'cat f')" old
	is 'a revert leaves nothing of the mark in the upper' "$(upper)" './f '
	edit f edited
	is 'also after an edit' "$(in_box 'cat f')" old

	# The user takes the directory away.
	new_session 'mkdir -p d/e; echo old >d/e/f; echo g >g'
	in_box 'touch d/e/f; sed -i s/nothing/else/ d/e/f; echo more >g'
	rm -r "$project/d"
	is "a directory that the user removed is gone ($HB_STRATEGY)" "$(in_box 'ls')" g
	check 'a directory that the user removed is no conflict' hb commit -y @s
	is 'a directory that the user removed is not made again' "$(ls "$project")" g

	# git looks at its files and writes an index; then the user commits.
	new_session 'git init -q -b main .; git config user.name u; git config user.email u@h; echo f >f; git add f; git commit -qm one'
	in_box 'git status >/dev/null; touch f; git status >/dev/null'
	is "git status is no change ($HB_STRATEGY)" "$(names)" ''
	edit f edited
	git -C "$project" commit -qam two
	is 'the command sees the commit' "$(in_box 'git log -1 --format=%s; git status --short; cat f' | tr '\n' ' ')" 'two edited '
	is 'a git commit outside leaves nothing pending' "$(names)" ''
	in_box 'echo inside >n; git status >/dev/null'
	check 'a commit of the session is no conflict' hb commit -y @s
	is 'both commits are there' "$(git -C "$project" log --format=%s | tr '\n' ' ')" 'two one '
	is 'the new file is there after both commits' "$(git -C "$project" status --short)" '?? n'
done

# A database is one with its side files, whichever of them the command wrote.
for HB_STRATEGY in overlay copy_on_write; do
	new_session 'head -c 1024 /dev/zero >b; echo w >b-wal'
	in_box 'touch b; echo more >>b-wal'
	edit b edited
	is "a file beside what changed with it stays ($HB_STRATEGY)" "$(in_box 'wc -c <b')" 1024
	check_exit 'a file beside a changed one is a conflict' 5 hb commit -y @s
done

# A later command: what was noted is looked at anew if the command wrote to it, or
# to a side file, and stays noted if not.
for HB_STRATEGY in overlay copy_on_write; do
	new_session 'for f in a b c d; do echo old >$f; done; mkdir e; echo old >e/f; echo x >e/x'
	in_box 'touch a b d e/f; echo new >c'
	in_box 'true'
	in_box 'echo new >a; touch b; echo old >c; echo w >d-wal; echo more >>e/x'
	for f in a b c d e/f; do edit $f edited; done
	is "only what still holds the same shows the edit ($HB_STRATEGY)" \
		"$(in_box 'cat a b c d e/f' | tr '\n' ' ')" 'new edited edited old edited '
	is 'all else is pending' "$(names)" 'M a,M d,A d-wal,M e/x,'
	check_exit 'all else is a conflict' 5 hb commit -y @s
	check 'the rest is committed without the two files in conflict' hb commit -y --except a --except 'd*' @s
	is 'the edits are there' "$(cd "$project" && cat a b c d e/f e/x | tr '\n' ' ')" \
		'edited edited edited edited edited x more '
done

# An edit while a later command runs that does not touch the file.
for HB_STRATEGY in overlay copy_on_write; do
	new_session 'echo old >f; echo g >g'
	in_box 'touch f'
	mkfifo "$TMPDIR/go" "$TMPDIR/ready"
	in_box 'echo ready; read line; echo more >g' <"$TMPDIR/go" >"$TMPDIR/ready" &
	exec 7>"$TMPDIR/go"
	read -r _ <"$TMPDIR/ready"
	edit f edited
	exec 7>&-
	wait
	rm "$TMPDIR/go" "$TMPDIR/ready"
	is "what was noted before stays noted ($HB_STRATEGY)" "$(in_box 'cat f')" edited
	check 'an edit of a file that was noted before is no conflict' hb commit -y @s
done

# What hides all that lies below it is made by the session, whatever it holds.
HB_STRATEGY=overlay
new_session 'mkdir d; echo in >d/f'
in_box 'rm -r d; mkdir d; echo in >d/f'
edit d/f edited
is 'what is in a directory made anew stays' "$(in_box 'cat d/f')" in
check_exit 'a file in a directory made anew is a conflict' 5 hb commit -y @s
finish
