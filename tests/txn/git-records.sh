#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# The records of values that a session's references are based on: they go with
# a commit that came to nothing, and outlive the undo data of one that is in effect.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/git.sh"

records() {
	find "$state" -name 'refs-*-*' | wc -l
}

new_repository
one=$(git_in rev-parse master)
in_box "echo more >>f; git $id commit -qam two"
check 'commits from inside' hb commit -y @s
is 'have a record' "$(records)" 1
check 'undo data goes' hb gc --older-than 0s
is 'the record of a commit goes with its undo data' "$(records)" 0
in_box "git $id commit -q --allow-empty -m three"
git_in reset -q --hard "$one"
out=$(hb commit -y @s 2>&1)
is 'a commit on one that the user took back' "$?" 0
is 'does not bring that back' "$(git_in rev-parse master)" "$one"
like 'a commit beside a moved branch goes to a branch' "$out" '*holdback/s*'

new_repository
in_box "echo more >>f; git $id commit -qam two; echo x >other"
two=$(in_box 'git rev-parse master')
: >"$project/.git/index.lock"
check_exit 'a commit meets a git at work' 8 hb commit -y @s
rm "$project/.git/index.lock"
check 'another commit, of the same number' hb commit -y --git=files --only other @s
check 'a commit after that takes the rest' hb commit -y @s
is 'the commits arrive' "$(git_in rev-parse master)" "$two"
check 'the repository is whole' git_in fsck --strict
finish
