#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# Submodules that both sides move: the commits go to a branch of the submodule, and its files stay.
# shellcheck disable=SC2016,SC2154 # expanded inside; of git.sh
. "$HB_TESTS/lib/git.sh"

# The name of a submodule is its path.
new_with_module() {
	remove_all
	mkdir -p "$work/origin" "$project"
	(cd "$work/origin" && git init -q -b "$branch" . && echo m >m && git add m && git commit -qm one)
	(cd "$project" && git init -q -b "$branch" . && echo f >f && git add f &&
		git -c protocol.file.allow=always submodule --quiet add "$work/origin" "$1" && git commit -qm one)
	hb create s --cow "$project" >/dev/null
}

for path in lib libs/deep; do
	new_with_module "$path"
	in_box "cd $path; echo 2 >>m; echo n >n; git add n; git $id commit -qam inside"
	echo user >"$project/$path/u"
	git_in -C "$path" add u
	git_in -C "$path" commit -qm user
	out=$(hb commit -y @s 2>&1)
	is "$path: moved on both sides" "$?" 0
	like "$path: the branch is told" "$out" '*holdback/s*'
	is "$path: its files are the user's" "$(cat "$project/$path/m")" m
	check "$path: no file of the session is there" test ! -e "$project/$path/n"
	is "$path: nor a change of the user's" "$(git_in -C "$path" status --porcelain)" ''
	check "$path: the merge brings them" git_in -C "$path" merge -q --no-edit holdback/s
	is "$path: all of them" "$(cd "$project/$path" && echo *)" 'm n u'
	check "$path: the submodule is whole" git_in -C "$path" fsck --strict

	new_with_module "$path"
	in_box "cd $path; echo 2 >>m; git $id commit -qam inside"
	check "$path: moved inside alone" hb commit -y @s
	is "$path: arrives" "$(git_in -C "$path" log -1 --format=%s)" inside
	is "$path: with its files" "$(git_in -C "$path" status --porcelain)" ''
done
finish
