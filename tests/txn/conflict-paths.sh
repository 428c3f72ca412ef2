#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
#
# Every path that a conflict is printed with can be given to --ours, --theirs and --except.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/txn.sh"

start='mkdir -p d g/h; echo 1 >d/a; echo 2 >d/b; echo f >f; echo 5 >g/h/i'

# answered OPTION: the answer OPTION for each conflict of a commit, one a line.
answered() {
	hb commit -y @s 2>&1 | sed -n 's/^conflict: \([^:]*\):.*/\1/p' | while read -r path; do
		echo "$1=$path"
	done
}

# scene INSIDE OUTSIDE: each answer settles all conflicts, and does what it says.
scene() {
	for option in --ours --except --theirs; do
		new_session "$start"
		in_box "$1"
		(cd "$project" && eval "$2")
		before=$(digest "$project")
		inside=$(in_box 'find . | sort; find . -type f -exec cat {} +')
		# shellcheck disable=SC2046 # words
		hb commit -y $(answered "$option") @s >/dev/null 2>"$TMPDIR/why"
		rc=$?
		is "$option takes the paths that are printed: $1, $2" "$rc: $(head -n 1 "$TMPDIR/why")" '0: '
		rm "$TMPDIR/why"
		if [ "$option" = --theirs ]; then
			is "the session's version arrives: $1, $2" "$(cd "$project" && find . | sort; cd "$project" && find . -type f -exec cat {} +)" "$inside"
		else
			is "with $option the real files stay: $1, $2" "$(digest "$project")" "$before"
			is "with $option the session keeps its own: $1, $2" "$(in_box 'find . | sort; find . -type f -exec cat {} +')" "$inside"
		fi
	done
}

scene 'rm f; mkdir f; echo in >f/in; mkdir f/d; echo x >f/d/x' 'echo u >f'
scene 'mkdir n; echo n >n/a' 'echo u >n'
scene 'echo x >>d/a' 'rm -r d; echo d >d'
scene 'chmod 700 d' 'chmod 750 d'

new_session "$start"
in_box 'mkdir n; echo n >n/a; echo x >m'
echo u >"$project/n"
check 'what is beside a directory that waits is committed' hb commit -y --ours n/ @s
is 'the file beside it arrives' "$(cat "$project/m")" x
is 'the real file in the place of the directory stays' "$(cat "$project/n")" u
is 'the directory is still pending' "$(names)" 'T n/,A n/a,'
check 'undo of it' hb undo @s
check 'the directory is taken later' hb commit -y --theirs n @s
is 'the file in it arrives' "$(cat "$project/n/a")" n
finish
