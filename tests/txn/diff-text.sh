#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git readelf
#
# The text of changes: git's own words where git has some, and lines that begin
# with '#' for the rest.
. "$HB_TESTS/lib/txn.sh"

GIT_CONFIG_GLOBAL=/dev/null
GIT_CONFIG_SYSTEM=/dev/null
export GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
nl='
'

# text ARGUMENT...: the diff of the session.
text() {
	hb diff @s "$@"
}

# git_text FILL CHANGE: what git says of the same scripts.
git_text() {
	(
		mkdir "$work/git" && cd "$work/git" && git init -q . &&
			eval "$1" && git add -A &&
			git -c user.name=x -c user.email=x@x commit -q -m x &&
			eval "$2" && git add -A && git diff --cached -M100%
	)
}

# shellcheck disable=SC2016 # eval expands it
fill='seq 100 >numbers
printf "int f(void)\n{\n\tint a;\n\n\ta = 1;\n\ta = 2;\n\ta = 3;\n\treturn a;\n}\n" >f.c
echo gone >gone; mkdir d; seq 5 >d/moved; printf "no end" >"no end"
printf "\000\001" >binary; ln -s old link; echo typed >typed; echo run >run
printf "one\r\ntwo\r\n" >crlf; echo deep >d/deep; : >filled; echo e >emptied
chmod 644 run'
change='seq 2 50 >numbers; seq 52 101 >>numbers
sed -i s/3/4/ f.c; rm gone; mv d/moved moved; printf "no end yet" >"no end"
printf "\000\002" >binary; ln -sfn new link; rm typed; ln -s q typed
chmod 755 run; printf "one\r\n2\r\n" >crlf; mkdir n; echo new >n/new
: >empty; echo full >filled; : >emptied; printf "#!\n" >tool; chmod 755 tool'
new_session "$fill"
in_box "$change"
is 'git says the same' "$(text | grep -v '^#')" "$(git_text "$fill" "$change")"
is 'of some paths as well' "$(text numbers n | grep -c '^diff --git')" 2
is 'the size and the hash of what is not text' "$(text binary | tail -n 1)" \
	"# binary: 2 bytes, sha256 $(printf '\000\001' | sha256sum | cut -d ' ' -f 1) -> 2 bytes, sha256 $(printf '\000\002' | sha256sum | cut -d ' ' -f 1)"
is 'the lines of each change' "$(text --stat f.c moved numbers binary n)" \
	' binary  | Bin 2 -> 2 bytes
 f.c     | 2 +-
 moved   | 5 +++++
 n/new   | 1 +
 numbers | 3 +--
5 files: 3 changed, 2 added · +8 -3 · 1 directory'
counts=$(cd "$work/git" && git diff --cached -M100% --numstat |
	awk '{ plus += $1; minus += $2 } END { print plus, minus }')
is 'the summary has the words of status, and the counts of git' \
	"$(text --stat | tail -n 1)" \
	"15 files: 10 changed, 3 added, 1 deleted, 1 renamed · +${counts% *} -${counts#* } · 1 directory"
is 'a renamed one is one line' "$(text --stat | grep moved | tr -s ' ')" \
	' d/moved => moved | 0'
is 'the lines in JSON' "$(text --stat --json | python3 -c '
import json, sys
found = json.load(sys.stdin)
rows = {c["path"]: (c.get("lines_added"), c.get("lines_removed")) for c in found["changes"]}
print(rows["numbers"], rows["binary"], found["summary"]["lines_added"], found["summary"]["lines_removed"])')" \
	"(1, 2) (None, None) $counts"
check_exit 'changes, with --exit-code' 1 text --exit-code
check_exit 'none, with --exit-code' 0 text --exit-code d/none
is 'diff --exit-code prints nothing without changes' "$(text d/none)" ''
check_exit 'two forms at once' 2 text --stat --binary
check_exit 'two others' 2 text --stat --name-status
check_exit 'no JSON of text' 2 text --binary --json
check_exit 'JSON of names needs no word' 0 text --json
check_exit 'no such session' 9 hb diff @none
check_exit 'a colour that is none' 2 text --color=blue
like 'colours if they are asked for' "$(text --color numbers)" \
	"*$(printf '\033')[[]1mdiff --git*$(printf '\033')[[]36m@@ -1,4 +1,3 @@*$(printf '\033')[[]31m-1$(printf '\033')[[]m*"
unlike 'diff has no colours unless they are asked for' "$(text numbers)" "*$(printf '\033')*"

# What git cannot say.
hb cleanup -y @s >/dev/null
new_session 'echo a >a; echo b >b; mkdir was; mkdir full; echo x >full/x; mkfifo pipe; mkdir shut; echo s >shut/s'
in_box 'chmod 600 a; chmod 755 b; echo q >q; chmod 640 q; mkdir is; rmdir was
	rm -r full; rm pipe; mkfifo "$(printf "new\tpipe")"; chmod 700 shut; mkdir in; mkdir in/in'
is 'other modes, empty directories, fifos' "$(text | grep '^#')" \
	'# a: mode 0644 -> 0600
# in/in/: empty directory added
# is/: empty directory added
# "new\011pipe": nothing -> fifo
# pipe: fifo -> nothing
# q: mode 0640
# shut/: mode 0755 -> 0700
# was/: empty directory deleted'
is 'git says the rest' "$(text | grep -v '^#')" 'diff --git a/b b/b
old mode 100644
new mode 100755
diff --git a/full/x b/full/x
deleted file mode 100644
index 587be6b..0000000
--- a/full/x
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/q b/q
new file mode 100644
index 0000000..bca70f3
--- /dev/null
+++ b/q
@@ -0,0 +1 @@
+q'

# A layer that is closed to its owner, and names and contents that are not nice.
hb cleanup -y @s >/dev/null
new_session 'echo a >a; mkdir d; echo x >d/x; ln -s l d/l'
in_box 'echo b >>a; chmod 000 a; echo y >>d/x; mkdir d/e; echo z >d/e/z
	ln -sfn m d/l; chmod 000 d/x d/e/z d/e; chmod 000 d
	printf "x\033]0;title\007\033[2Jy\n" >"$(printf "evil\033[31m\nname")"'
is 'what the command closed is read all the same' \
	"$(text | grep '^[+-][^+-]')" "$(printf '%s\n' +b +z -l +m +y)
$(printf '+x\033]0;title\007\033[2Jy')"
upper=$state/sessions/s/r0/upper
closed=$(cd "$upper" && stat -c %a a d && chmod 700 d &&
	stat -c %a d/x d/e && chmod 700 d/e && stat -c %a d/e/z)
is 'a file that the command closed stays closed after diff' "$(echo "$closed" | tr '\n' ' ')" '0 0 0 0 0 '
like 'a name cannot speak' "$(text)" \
	"*diff --git \"a/evil\\\\033[[]31m\\\\012name\" \"b/evil\\\\033[[]31m\\\\012name\"$nl*"
chmod -R u+rwx "$state"

# What the user changed meanwhile is said.
hb cleanup -y @s >/dev/null
new_session 'echo a >a; echo b >b'
in_box 'echo more >>a'
echo other >>"$project/a"
like 'a conflict is told' "$(text)" '# a: conflict: *diff --git a/a b/a*'

# Contents come from whichever layer has them.
hb cleanup -y @s >/dev/null
new_session 'echo a >a; echo b >b; echo c >c'
in_box 'echo 1 >>a; mv b bb; echo 1 >>c'
hb mark @s one >/dev/null
in_box 'echo 2 >>c; echo new >d'
is 'over a mark' "$(text | grep '^[+-][^+-]\|^rename')" "$(printf '%s\n' +1 'rename from b' 'rename to bb' +1 +2 +new)"
check_fails 'a full disk is not overlooked' sh -c \
	"cd '$project' && '$HB_BIN' diff --state-dir '$state' @s >/dev/full"
check_fails 'a full disk is not overlooked by --stat' sh -c \
	"cd '$project' && '$HB_BIN' diff --state-dir '$state' --stat @s >/dev/full"

# A repository is one line; its hooks are files, and not for git apply.
hb cleanup -y @s >/dev/null
new_session 'git init -q . && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; rm -rf .git/hooks'
in_box 'git -c user.name=x -c user.email=x@x commit -q --allow-empty -m y
	mkdir .git/hooks; echo evil >.git/hooks/pre-commit; echo a >a'
is 'a repository is one line' "$(text | grep -c '^# .git/: git')" 1
like 'a hook is shown' "$(text)" '*+++ b/.git/hooks/pre-commit*+evil*'
is 'diff --binary leaves hooks out of the patch' "$(text --binary | grep hooks)" \
	'# .git/hooks/: nothing -> directory, not in this patch: git applies nothing in a .git
# .git/hooks/pre-commit: nothing -> file, not in this patch: git applies nothing in a .git'
mkdir "$work/copy"
check 'git applies a diff with a hook' sh -c \
	"cd '$project' && '$HB_BIN' diff --state-dir '$state' --binary @s | (cd '$work/copy' && git apply -)"
is 'as far as it goes' "$(ls -A "$work/copy")" a

# Two resources: names from the root.
hb cleanup -y @s >/dev/null
remove_all
mkdir -p "$project" "$work/q"
hb create s --cow "$project" --cow "$work/q" >/dev/null
hb exec @s -- sh -c "echo 1 >'$project/f'; echo 2 >'$work/q/f'"
is 'names of several resources' "$(text | grep '^+++')" \
	"+++ b$project/f$nl+++ b$work/q/f"
hb cleanup -y @s >/dev/null

# Who needs libgit2, and who does not.
for program in "$HB_BIN" "$HB_LIBEXEC/commands" "$HB_LIBEXEC/bwrap"; do
	unlike "${program##*/} does not load libgit2" \
		"$(readelf -d "$program" 2>/dev/null)" '*libgit2*'
done
like 'diff does' "$(readelf -d "$HB_LIBEXEC/diff")" '*libgit2*'
finish
