#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 120
#
# The index after a commit: git need not read the new files again, and sees each edit of the user.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/txn.sh"

export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
id='-c user.name=n -c user.email=e'
start='git init -q -b main . && mkdir d && for i in 1 2 3; do echo $i >f$i; done && git add . && git commit -qm one'
git_in() {
	(cd "$project" && git "$@")
}
# differing: files that git would read, for their stat data is not that of the index.
differing() {
	git_in diff-files --name-only | tr '\n' ' '
}

new_session "$start"
in_box "echo new >f1; echo n >d/n; chmod +x f2; ln -s f1 link; git add .; git $id commit -qm two"
check 'a session with a commit is committed' hb commit -y @s
is 'git need not read the files that the commit placed' "$(differing)" 'link '
is 'the files are clean for git' "$(git_in status --porcelain)" ''
check 'undo of it' hb undo @s
is 'after undo the files are clean for git' "$(git_in status --porcelain)" ''
check 'redo of it' hb redo @s
is 'after redo the files are clean for git' "$(git_in status --porcelain)" ''
check 'the repository is whole' git_in fsck --strict

for i in 1 2 3 4 5; do
	new_session "$start"
	in_box "echo new >f1; git $id commit -qam two"
	hb commit -y @s >/dev/null && echo old >"$project/f1"
	is "an edit of the same size right after the commit is seen by git, $i" "$(git_in status --porcelain)" ' M f1'
done

new_session "$start"
in_box "echo new >f1; git add f1; git $id commit -qm two; echo old >f1; echo loose >f2"
check 'a session with an edit on top is committed' hb commit -y @s
is 'an edit of the session on top of its commit is seen by git' "$(git_in status --porcelain)" ' M f1
 M f2'

new_session "$start"
in_box 'echo other >f1; git add f1; echo evils >f1; touch -d @1000000000 f1
	git update-index --cacheinfo "100644,$(echo other | git hash-object -w --stdin),f1"
	python3 - <<-END
		import os, struct, hashlib
		data = bytearray(open(".git/index", "rb").read())
		st, at = os.stat("f1"), 12
		while b"f1" not in data[at + 62 : at + 64]:
		    at += (62 + len(data[at + 62 :].split(b"\0")[0]) + 8) // 8 * 8
		data[at : at + 24] = struct.pack(">6I", int(st.st_ctime), 0, int(st.st_mtime), 0, st.st_dev & 0xffffffff, st.st_ino & 0xffffffff)
		data[at + 28 : at + 40] = struct.pack(">3I", st.st_uid, st.st_gid, st.st_size)
		data[-20:] = hashlib.sha1(data[:-20]).digest()
		open(".git/index", "wb").write(data)
	END'
check 'a session whose index lies is committed' hb commit -y @s
is 'a file that only the index of the session calls clean is not clean' "$(git_in status --porcelain)" 'MM f1'

new_session "$start && chmod 444 .git/index"
in_box "echo new >f1; git $id commit -qam two"
check 'a session is committed over an index that is read-only' hb commit -y @s
is 'the files are clean for git, with an index that was read-only' "$(git_in status --porcelain)" ''

new_session "$start"
in_box "printf 'a\\r\\n' >crlf; git add crlf; git -c core.autocrlf=true add f1; git $id commit -qm crlf; git update-index --chmod=+x f3"
check 'a session with a mode in its index alone is committed' hb commit -y @s
is 'a mode in the index alone is seen by git' "$(git_in status --porcelain)" 'MM f3'

# An edit that is as old as the index, to the second: only its content tells it from what is staged.
new_session "$start"
in_box 'echo n >n; git add n'
python3 -c 'import time; time.sleep(1.05 - time.time() % 1)'
(cd "$project" && echo bbb >f1 && sleep 0.02 && git add f1 && sleep 0.02 && echo ccc >f1)
wait_until sh -c '[ "$(date +%s)" -gt "$(stat -c %Y "$1")" ]' sh "$project/.git/index"
is 'the edit is seen by git before the commit' "$(git_in --no-optional-locks status --porcelain -- f1)" 'MM f1'
check 'a session is committed beside an edit of the second in which the index was written' hb commit -y @s
is 'such an edit is seen by git after the commit' "$(git_in --no-optional-locks status --porcelain -- f1)" 'MM f1'

# The user is on another branch than at T0, and the session goes on there.
new_session "$start && git branch old && echo new >f1 && git commit -qam new"
git_in checkout -q old
in_box "echo new >f1; git $id commit -qam again"
check 'a session on a branch that the user switched to is committed' hb commit -y --theirs f1 @s
is 'its entries are those of its commit' "$(git_in status --porcelain)" ''
is 'its file is the one of its commit' "$(cat "$project/f1")" new
finish
