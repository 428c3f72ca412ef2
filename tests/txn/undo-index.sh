#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# `git status` on the host writes a repository's index anew, with the entries
# that it had: that stands in the way of no undo and no redo.
. "$HB_TESTS/lib/txn.sh"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null

host() {
	git -C "$project" "$@"
}

# refresh: the host's git sees that files have other times, and writes that down.
refresh() {
	before=$(stat -c %i "$project/.git/index")
	touch -d "$1" "$project/f"
	host status >/dev/null
	check "the index is another file ($1)" [ "$(stat -c %i "$project/.git/index")" != "$before" ]
}

tracked() {
	host ls-files | tr '\n' ' '
}

for strategy in overlay copy_on_write; do
	HB_STRATEGY=$strategy
	new_session 'git init -q . && echo f >f && echo g >g && git add f'
	in_box 'git add g; echo n >n; git add n'
	check "commit ($strategy)" hb commit -y @s
	is 'the index has arrived' "$(tracked)" 'f g n '
	refresh 2020-01-01
	check 'undo' hb undo @s
	is 'the old one is back' "$(tracked)" 'f '
	is 'undo leaves the new index pending' "$(names)" 'M .git/,A n,'
	refresh 2020-01-02
	check 'redo' hb redo @s
	is 'it has arrived again' "$(tracked)" 'f g n '
	refresh 2020-01-03
	check 'undo once more' hb undo @s
	is 'the old one is back again' "$(tracked)" 'f '

	# What somebody has added is his.
	check 'redo' hb redo @s
	echo his >"$project/his"
	host add his
	check_exit 'undo over entries of somebody else' 5 hb undo @s
	is 'they are still there' "$(tracked)" 'f g his n '
	host rm -q --cached his
	check 'when they are gone it is the same index' hb undo @s
	is 'undo replaces an index with the same entries' "$(tracked)" 'f '
	host add g
	check_exit 'the same for redo' 5 hb redo @s
	is 'they are there' "$(tracked)" 'f g '
	echo junk >"$project/.git/index"
	check_exit 'redo does not go over a file that is no index' 5 hb redo @s
	is 'it is left alone' "$(cat "$project/.git/index")" junk
done
finish
