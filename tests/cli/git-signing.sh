#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# Signed commits: inside there is no key, and git commits all the same.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

export GIT_CONFIG_NOSYSTEM=1
git config --global user.name Ann
git config --global user.email ann@example.org
mkdir project
git init -q project
cd project || bail 'no directory'
git commit -q --allow-empty -m first

note='git: commits inside are not signed; to sign them: holdback commit --sign'
# said: what a run on a terminal says at its start.
said() {
	on_terminal "run --ephemeral true" 2>&1
}
unlike 'nothing is said where no commit is signed' "$(said)" "*$note*"

# tries NAME: a commit and a tag, both with messages, inside.
tries() {
	check "$1: git commit works" run -q git commit -q --allow-empty -m inside
	is "$1: the commit has no signature" "$(run -q sh -c '
		git commit -q --allow-empty -m x && git cat-file commit HEAD' 2>&1 |
		grep -o -e ^gpgsig -e ^committer)" committer
	check "$1: git tag works" run -q git tag -a -m tagged tagged
	like "$1: a line says so" "$(said)" "*$note*"
}

git config --global commit.gpgSign true
git config --global tag.gpgSign true
git config --global user.signingKey 0123456789ABCDEF
tries 'in the configuration of the user'
git config --global --unset commit.gpgSign
git config --global --unset tag.gpgSign
git config commit.gpgSign yes
git config tag.forceSignAnnotated 1
tries 'in the configuration of the repository'
git config commit.gpgSign off
git config tag.forceSignAnnotated false
unlike 'a key that says no is no such key' "$(said)" "*$note*"
rm -f "$HOME/.gitconfig"
done_testing
