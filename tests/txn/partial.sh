#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# A directory of which something is left out stays: it is not deleted, not
# listed as deleted, and not counted.
. "$HB_TESTS/lib/txn.sh"

fill='mkdir docs docs/in gone; echo a >docs/a; echo b >docs/in/b; echo c >gone/c; echo f >f'

new_session "$fill"
in_box 'rm -r docs gone; echo g >f'
is 'all of it is listed' "$(names)" 'D docs/,D docs/a,D docs/in/,D docs/in/b,M f,D gone/,D gone/c,'
is 'without what stays, nor what it is in' "$(names --except 'docs/**')" 'M f,D gone/,D gone/c,'
is 'with a part of it' "$(names --except docs/in/b)" 'D docs/a,M f,D gone/,D gone/c,'
like 'status counts the same' "$(hb status --except docs/in/b @s)" \
	'*3 files: 1 changed, 2 deleted · 1 directory*'
like 'a dry run counts a part as status does' "$(hb commit -n --except 'docs/**' @s)" \
	'would commit 2 files: 1 changed, 1 deleted · 1 directory*'
like 'a commit counts a part as status does' "$(hb commit -y --except 'docs/**' @s)" \
	'committed session s: 2 files: 1 changed, 1 deleted · 1 directory*'
is 'it is there' "$(cat "$project/docs/a" "$project/docs/in/b")" "$(printf 'a\nb')"
is 'nothing of it is to be committed so' "$(hb commit -y --except 'docs/**' @s)" 'nothing to commit'
is 'a directory that was left out is pending' "$(names)" 'D docs/,D docs/a,D docs/in/,D docs/in/b,'
check 'the rest goes' hb commit -y @s
check_fails 'with the directory' test -e "$project/docs"

# A file in its place waits as well.
new_session "$fill"
in_box 'rm -r docs; echo file >docs; echo g >f'
is 'what would take its place' "$(names --except 'docs/**')" 'M f,'
like 'is not counted' "$(hb commit -y --except 'docs/**' @s)" 'committed session s: 1 file: 1 changed*'
is 'a file that would take the place of the rest is not put there' "$(cat "$project/docs/a")" a
like 'before it can be' "$(hb commit -y @s)" 'committed session s: *'
is 'a file takes the place of a directory once that is committed' "$(cat "$project/docs")" file

# The same where git's ignoring it is why something stays.
new_session "git init -q .; echo '*.o' >.gitignore; $fill; echo o >docs/x.o"
in_box 'rm -r docs gone'
is 'a directory with something ignored' "$(names)" 'D docs/a,D docs/in/,D docs/in/b,D gone/,D gone/c,'
like 'is not counted either' "$(hb commit -y @s)" \
	'committed session s: 3 files: 3 deleted · 2 directories · 1 ignored*'
is 'a directory with something ignored stays' "$(find "$project/docs" -type f -printf '%P ')" 'x.o '
like 'a directory with something ignored is nothing to commit' "$(hb commit -y @s)" 'nothing to commit*'
check 'unless that goes too' hb commit -y --ignored @s
check_fails 'then it is gone' test -e "$project/docs"
finish
