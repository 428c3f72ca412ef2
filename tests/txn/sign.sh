#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git gpg ssh-keygen
# timeout: 240
#
# `commit --sign`: the owner's key signs the commits of a session, on the host.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/txn.sh"

export GIT_CONFIG_NOSYSTEM=1 GNUPGHOME="$TMPDIR/gnupg"
mkdir -m 700 "$GNUPGHOME"
key='Ann <ann@example.org>'
gpg -q --batch --pinentry-mode loopback --passphrase '' --quick-generate-key "$key" ed25519 sign 2>/dev/null ||
	skip_all 'gpg makes no key here'
git config --global user.name Ann
git config --global user.email ann@example.org
git_in() {
	(cd "$project" && git "$@")
}
new_repository() {
	new_session 'git init -q -b main . && echo f >f && git add f && git commit -qm one && git branch side'
	first=$(git_in rev-parse HEAD)
}
id='-c user.name=Ann -c user.email=ann@example.org'
two="echo 2 >>f; git $id commit -qam two; echo 3 >>f; git $id commit -qam three -m 'more words'"
# signed REVISION...: how many of the commits have a good signature of ours.
signed() {
	git_in log --format=%G? "$@" | grep -c '[GU]'
}

new_repository
in_box "$two"
out=$(hb commit -y --sign @s 2>&1)
is 'commit --sign ends well' "$?" 0
like 'commit --sign says how many' "$out" '*signed 2 commits*committed session s*'
is 'gpg: both commits have a good signature' "$(signed "$first..main")" 2
is 'gpg: the messages are as they were' "$(git_in log --format=%B -2 | tr '\n' ,)" 'three,,more words,,two,,'
is 'gpg: the history below is as it was' "$(git_in rev-parse main~2)" "$first"
is 'gpg: the tree is clean' "$(git_in status --porcelain)" ''
check 'gpg: the repository is whole' git_in fsck --strict
like 'gpg: the reflog tells it' "$(git_in reflog -1)" '*holdback: sign'
check 'gpg: undo' hb undo @s
is 'gpg: undo takes the branch back' "$(git_in rev-parse main)" "$first"
is 'gpg: undo takes the files back' "$(cat "$project/f")" f
out=$(hb commit -y --sign @s 2>&1)
like 'gpg: signed commits are not signed again' "$out" '*no commit to sign*committed session s*'
is 'gpg: they arrive' "$(signed "$first..main")" 2

new_repository
in_box "$two; git gc -q"
check 'packed commits and a packed branch are signed' hb commit -y --no-gate --sign @s
is 'packed: both commits have a good signature' "$(signed "$first..main")" 2
check 'packed: the repository is whole' git_in fsck --strict

# Whatever the name of the new object, its directory was there and is gone.
new_session 'git init -q -b main . && echo f >f && git add f && git commit -qm one
	cd .git/objects && for a in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
		mkdir -p "${a}0" "${a}1" "${a}2" "${a}3" "${a}4" "${a}5" "${a}6" "${a}7" \
			"${a}8" "${a}9" "${a}a" "${a}b" "${a}c" "${a}d" "${a}e" "${a}f"
	done'
first=$(git_in rev-parse HEAD)
in_box "$two; git gc -q; rmdir .git/objects/?? 2>/dev/null"
check 'commits whose directories of objects are gone are signed' hb commit -y --no-gate --sign @s
is 'gone: both commits have a good signature' "$(signed "$first..main")" 2
check 'gone: the repository is whole' git_in fsck --strict

new_repository
in_box "git checkout -q -b topic side; echo g >g; git add g; git $id commit -qm left
	git checkout -q main; $two; git $id merge -q -m merged topic; git branch -D topic -q"
check 'a merge is signed with both of its sides' hb commit -y --sign @s
is 'merge: all four have a good signature' "$(signed "$first..main")" 4
is 'merge: it has its two parents' "$(git_in log -1 --format=%P | wc -w)" 2

# A commit with a second name is refused, and nothing changes.
for name in 'branch other' 'tag label' 'tag -a -m words label' 'update-ref refs/x/y HEAD~1'; do
	new_repository
	in_box "$two; git $id $name"
	before=$(hb status --json @s | grep -o '"hash":"[0-9a-f]*"')
	out=$(hb commit -y --sign @s 2>&1)
	is "git $name: the commit is refused" "$?" 10
	like "git $name: it is named" "$out" '*commit ?????????? of refs/heads/main is also in*fix:*'
	is "git $name: the session is as it was" \
		"$(hb status --json @s | grep -o '"hash":"[0-9a-f]*"')" "${before:-none}"
	is "git $name: the repository is as it was" "$(git_in rev-parse main)" "$first"
done
new_repository
in_box "git tag old; git branch older; $two"
check 'new names for old commits are no hindrance' hb commit -y --sign @s
is 'new names for old commits: both are signed' "$(signed "$first..main")" 2

# The repository has no say: not its configuration, hooks or programs.
new_repository
cat >"$project/bad" <<END
#!/bin/sh
echo ran >>"$TMPDIR/ran"
END
chmod +x "$project/bad"
cp "$project/bad" "$project/gpg"
for hook in post-rewrite reference-transaction pre-commit post-commit post-index-change; do
	cp "$project/bad" "$project/.git/hooks/$hook"
done
git_in config gpg.program "$project/bad"
git_in config gpg.format ssh
git_in config gpg.ssh.program "$project/bad"
git_in config user.signingKey nobody@example.org
git_in config core.fsmonitor "$project/bad"
git_in config core.hooksPath .git/hooks
rm -f "$TMPDIR/ran"
hb rollback -y @s >/dev/null 2>&1
in_box "git -c core.fsmonitor= -c core.hooksPath=/none $id commit -q --allow-empty -m two"
out=$(cd "$project" && PATH=.:$project:$PATH "$HB_BIN" commit -y --sign --state-dir "$state" @s 2>&1)
like 'a program in the project is not run: it is refused' "$out" '*in a directory of the session*'
check 'hostile: the commit is signed by the key of the user' hb commit -y --sign @s
check 'hostile: nothing of the repository ran' test ! -e "$TMPDIR/ran"
git_in config --unset gpg.format
git_in config --unset gpg.program
git_in config core.hooksPath /none
git_in config core.fsmonitor false
is 'hostile: its signature is good' "$(signed -1 main)" 1

# Reasons not to sign: each leaves the session as it was.
new_repository
in_box "$two"
git config --global user.signingKey nobody@example.org
out=$(hb commit -y --sign @s 2>&1)
is 'a key that is not there: the commit fails' "$?" 10
like 'a key that is not there: the words of gpg are told' "$out" "*did not sign*nobody@example.org*fix:*"
is 'a key that is not there: the repository is as it was' "$(git_in rev-parse main)" "$first"
git config --global gpg.program /none/gpg
out=$(hb commit -y --sign @s 2>&1)
like 'a program that is not there is named' "$out" "*'/none/gpg', which signs commits, is not there*fix:*"
git config --global --unset gpg.program
git config --global gpg.format sealing-wax
like 'a format that is not known is named' "$(hb commit -y --sign @s 2>&1)" "*'sealing-wax', which is not known*"
git config --global gpg.format ssh
git config --global --unset user.signingKey
like 'no key at all is told' "$(hb commit -y --sign @s 2>&1)" '*no key to sign with*user.signingKey*'

# ssh: a key in a file, in the file of a condition, and a text with an agent.
ssh-keygen -q -t ed25519 -N '' -f "$HOME/key" -C ann@example.org
echo "ann@example.org $(cat "$HOME/key.pub")" >"$HOME/allowed"
git config --global gpg.ssh.allowedSignersFile "$HOME/allowed"
printf '[user]\n\tsigningKey = ~/key\n' >"$HOME/work-config"
git config --global "includeIf.gitdir:$work/.path" work-config
out=$(hb commit -y --sign --json @s 2>/dev/null)
is 'ssh: a key in a file that a condition includes' "$?" 0
like 'ssh: the document has the number' "$out" '*"signed":2,*'
is 'ssh: both commits have a good signature' "$(signed "$first..main")" 2
git config --global --unset "includeIf.gitdir:$work/.path"
eval "$(ssh-agent -s)" >/dev/null
ssh-add -q "$HOME/key" 2>/dev/null
mv "$HOME/key" "$HOME/elsewhere"
git config --global user.signingKey "key::$(cat "$HOME/key.pub")"
new_repository
in_box "$two"
check 'ssh: a key that the agent has' hb commit -y --sign @s
is 'agent: both commits have a good signature' "$(signed "$first..main")" 2
ssh-agent -k >/dev/null
mv "$HOME/elsewhere" "$HOME/key"
# shellcheck disable=SC2088 # git expands it
git config --global user.signingKey '~/key'

# x509: a certificate that we made and trust ourselves.
printf 'disable-crl-checks\ndisable-policy-checks\n' >"$GNUPGHOME/gpgsm.conf"
printf '%s\n' 'Key-Type: RSA' 'Key-Length: 2048' 'Key-Usage: sign' 'Serial: random' 'Name-DN: CN=Ann' \
	'Name-Email: ann@example.org' 'Not-After: 2037-01-01' >"$GNUPGHOME/certificate"
gpgsm --batch --pinentry-mode loopback --generate-key --output "$GNUPGHOME/made" "$GNUPGHOME/certificate" 2>/dev/null
if gpgsm --batch --import "$GNUPGHOME/made" 2>/dev/null; then
	gpgsm --batch --with-colons --list-keys 2>/dev/null |
		sed -n 's/^fpr:*\([0-9A-F]*\):.*/\1 S relax/p' >"$GNUPGHOME/trustlist.txt"
	gpgconf --reload gpg-agent
	git config --global gpg.format x509
	git config --global user.signingKey ann@example.org
	new_repository
	in_box "$two"
	check 'x509: commits are signed by a certificate' hb commit -y --sign @s
	is 'x509: both commits have a good signature' "$(signed "$first..main")" 2
	like 'x509: the signature is one of gpgsm' "$(git_in cat-file commit main)" '*BEGIN SIGNED MESSAGE*'
	check 'x509: the repository is whole' git_in fsck --strict
	check 'x509: undo takes the signed commits back' hb undo @s
	is 'x509: the branch is as it was' "$(git_in rev-parse main)" "$first"
	new_repository
	in_box "$two"
	git config --global user.signingKey nobody@example.org
	out=$(hb commit -y --sign @s 2>&1)
	is 'x509: a certificate that is not there fails the commit' "$?" 10
	like 'x509: the words of gpgsm are told' "$out" '*did not sign*fix:*'
	is 'x509: the repository is as it was then' "$(git_in rev-parse main)" "$first"
	git config --global gpg.format ssh
	# shellcheck disable=SC2088 # git expands it
	git config --global user.signingKey '~/key'
else
	skip 'x509: commits are signed by a certificate' 'gpgsm makes no certificate here'
fi

# SHA-256, no commits, a mark.
new_session 'git init -q -b main --object-format=sha256 . && git commit -q --allow-empty -m one'
first=$(git_in rev-parse HEAD)
in_box "git $id commit -q --allow-empty -m two"
check 'SHA-256: commits are signed' hb commit -y --sign @s
is 'SHA-256: the commit has a good signature' "$(signed "$first..main")" 1
new_repository
in_box 'echo x >x'
like 'a session without commits says so and commits' "$(hb commit -y --sign @s 2>&1)" \
	'*no commit to sign*committed session s*'
new_repository
in_box "$two"
hb mark @s m >/dev/null
out=$(hb commit -y --sign @s 2>&1)
like 'commits under a mark are refused' "$out" '*lies under a mark*fix:*'
check 'commits under a mark are committed without --sign' hb commit -y @s

gpgconf --kill all
rm -rf "$GNUPGHOME" "$HOME"/.gitconfig "$HOME"/key* "$HOME"/allowed "$HOME"/work-config "$TMPDIR/ran" "$HOME/.ssh"
finish
