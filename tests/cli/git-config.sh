#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# The user's git configuration in a view: everything but what logs in, with all
# files that it includes.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

export GIT_CONFIG_NOSYSTEM=1
mkdir -p project "$HOME/.config/git" "$HOME/inc" "$HOME/.ssh"
git init -q project
cd project || bail 'no directory'
# In two parts, so that this file has none.
token=glpat-Xk3vQ9ZtR
token=${token}7pLw2NcB5yD

# get KEY: every value that git inside has for it.
get() {
	run -q git config --get-all "$1" 2>/dev/null
}

cat >"$HOME/.gitconfig" <<END
# a comment with $token
[user]
	name = "Ann \\"A\\" \\\\ B" ; behind it
	email = a@example.org
[pull]
	rebase
[filter "lfs"]
	clean = git-lfs clean -- %f
	smudge = git-lfs smudge -- %f
	process = git-lfs filter-process
	required = true
[url "https://ann:hunter2@git.example.org/"]
	insteadOf = https://git.example.org/
[url "git@github.com:"]
	insteadOf = gh:
[url "ssh://git@example.org/"]
	insteadOf = ex:
[http]
	extraHeader = "AUTHORIZATION: basic aHVudGVyMg=="
	cookieFile = ~/.cookies
	proxy = ann:hunter2@proxy.example.org:8080
[http "https://git.example.org"]
	extraHeader = hunter2
	sslVerify = true
[credential]
	helper = "!echo password=hunter2"
[credential "https://x"]
	username = hunter2
[sendemail]
	smtpPass = hunter2
	smtpServer = mail.example.org
[github]
	oauth-Token = hunter2
[hub]
	Password = hunter2
[custom]
	note = $token
	broken = https://ann:hunt/er2@example.org/
[include]
	path = inc/work
	path = ~/.ssh/config-of-git
	path = loop
	path = inc/bad
	path = inc/none
[includeIf "gitdir:$PWD/"]
	path = ~/inc/here
[includeIf "gitdir:/nowhere/"]
	path = inc/elsewhere
END
printf '[url "https://x:%s@github.com/"]\n\tinsteadOf = https://github.com/\n[work]\n\ta = 1\n' \
	"$token" >"$HOME/inc/work"
printf '[key]\n\tin = ssh\n' >"$HOME/.ssh/config-of-git"
printf '[include]\n\tpath = .gitconfig\n\tpath = loop\n[loop]\n\ta = 1\n' >"$HOME/loop"
printf '[key\n\ta = hunter2\n' >"$HOME/inc/bad"
printf '[here]\n\ta = 1\n' >"$HOME/inc/here"
printf '[elsewhere]\n\tsecret = hunter2\n\ta = 1\n' >"$HOME/inc/elsewhere"
printf '[xdg]\n\ta = 1\n[a]\n\ttoken = hunter2\n' >"$HOME/.config/git/config"

seen=$(run -q sh -c 'cat ~/.gitconfig ~/.config/git/config ~/loop ~/inc/* ~/.ssh/*' 2>/dev/null)
for secret in hunt er2 aHVudGVyMg "$token" cookies; do
	unlike "H15 nothing that logs in is shown: $secret" "$seen" "*$secret*"
done
# git would stop at a file that includes itself: as outside, it is given none.
sed -i '/loop$/d' "$HOME/.gitconfig"
rm "$HOME/loop"
is 'values mean what they meant' "$(get user.name)" 'Ann "A" \ B'
is 'a key without a value is true' "$(run -q git config --type=bool pull.rebase \
	2>/dev/null)" true
is 'large files go on to be filtered' "$(get filter.lfs.clean);$(get filter.lfs.smudge);$(
	get filter.lfs.process);$(get filter.lfs.required)" \
	'git-lfs clean -- %f;git-lfs smudge -- %f;git-lfs filter-process;true'
is 'a user and a password are cut out of a URL' \
	"$(get url.https://git.example.org/.insteadof)" https://git.example.org/
is 'a token in a file that is included likewise' \
	"$(get url.https://github.com/.insteadof)" https://github.com/
is 'a user alone stays where that is how to log in' \
	"$(get url.git@github.com:.insteadof);$(get url.ssh://git@example.org/.insteadof)" \
	'gh:;ex:'
is 'a proxy stays, without them' "$(get http.proxy)" proxy.example.org:8080
is 'keys beside those that are left out stay' \
	"$(get http.https://git.example.org.sslverify);$(get sendemail.smtpserver)" \
	'true;mail.example.org'
is 'included files are there' "$(get work.a);$(get xdg.a)" '1;1'
is 'one with a condition counts where that holds' "$(get here.a)" 1
is 'an included file with a condition does not count elsewhere' "$(get elsewhere.a)" ''
check 'an included file whose condition fails is shown all the same' run -q grep -q elsewhere "$HOME/inc/elsewhere"
is 'what is hidden is not shown for an include' \
	"$(run -q sh -c 'ls -A ~/.ssh' 2>/dev/null)" ''
is 'a file that git would not read is not there' \
	"$(run -q sh -c 'ls ~/inc' 2>/dev/null | tr '\n' ' ')" 'elsewhere here work '
like 'one line says how many keys were left out, one how many files' \
	"$(script -qec "'$HB_BIN' run --ephemeral true" /dev/null 2>&1)" \
	'*git: 1[0-9] keys of your configuration have a login*git: 2 files of your configuration cannot be read*'

# Files of patterns, and a configuration that is a link of dot files.
mkdir -p "$HOME/dots/.git"
cat >"$HOME/dots/config" <<END
[core]
	excludesFile = ~/.gitignore_global
	attributesFile = ~/dots/attributes
[http]
	sslCAInfo = ~/ca.pem
END
mv "$HOME/.gitconfig" "$HOME/before"
ln -s dots/config "$HOME/.gitconfig"
echo '*.mine' >"$HOME/.gitignore_global"
echo '*.txt diff=mine' >"$HOME/dots/attributes"
echo SECRET >"$HOME/dots/notes"
: >a.mine
: >a.txt
is 'core.excludesFile works inside' "$(run -q git status --porcelain 2>/dev/null)" '?? a.txt'
is 'core.attributesFile works inside, also in dot files' \
	"$(run -q git check-attr diff a.txt 2>/dev/null)" 'a.txt: diff: mine'
is 'of the dot files nothing else is shown' \
	"$(run -q sh -c 'ls -A ~/dots' 2>/dev/null)" attributes
printf 'x\n%s\n' "$token" >"$HOME/.gitignore_global"
check_fails 'a file of patterns with a token in it is not shown' \
	run -q sh -c 'cat ~/.gitignore_global' 2>/dev/null
printf '[core]\n\texcludesFile = ~/.ssh/config-of-git\n' >"$HOME/dots/config"
is 'a hidden file is not shown as one of patterns' \
	"$(run -q sh -c 'cat ~/.ssh/config-of-git; :' 2>/dev/null)" ''
rm -r "$HOME/dots" "$HOME/.gitconfig" "$HOME/.gitignore_global" a.mine a.txt
mv "$HOME/before" "$HOME/.gitconfig"

# Hostile ones.
for kind in no-config nul huge fifo; do
	rm -f "$HOME/.gitconfig" "$HOME/.config/git/config"
	case $kind in
	no-config) printf '[user\nname = x\n' >"$HOME/.gitconfig" ;;
	nul) printf '[user]\nname = x\0y\n' >"$HOME/.gitconfig" ;;
	huge) (echo '[a]' && yes 'b = c' | head -n 100000) >"$HOME/.gitconfig" ;;
	fifo) mkfifo "$HOME/.gitconfig" ;;
	esac
	prints "$kind: the file is not there, and the command runs" '' \
		run -q sh -c 'ls -A ~/.gitconfig 2>/dev/null; :'
done
rm -f "$HOME/.gitconfig"
i=0
while [ $i -lt 40 ]; do
	printf '[include]\n\tpath = chain.%d\n[a]\n\tb%d = 1\n' $((i + 1)) $i \
		>"$HOME/$([ $i = 0 ] && echo .gitconfig || echo chain.$i)"
	i=$((i + 1))
done
is 'a chain of files ends' "$(run -q sh -c 'ls -A ~ | grep -c chain' 2>/dev/null)" 15
check 'a file that is asked for by name is the real one' run -q --ro \
	"$HOME/.gitconfig" cmp "$HOME/.gitconfig" "$HOME/.gitconfig"
rm "$HOME/.gitconfig"
ln -s chain.39 "$HOME/.gitconfig"
is 'a file that a link leads to is shown filtered' "$(get a.b39)" 1
rm -rf "$HOME/.gitconfig" "$HOME"/chain.* "$HOME/inc" "$HOME/.ssh" "$HOME/.config"
done_testing
