#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# G3, G9, G12, Q17: every commit asks the gate, -y answers nothing, --allow does
# and is recorded, and what the gate saw is what is committed.
. "$HB_TESTS/lib/txn.sh"

git_words='-c user.name=n -c user.email=e -c core.hooksPath=/dev/null'

# found [ARGUMENT...]: what the gate says of the session, on one line.
found() {
	hb gate "$@" @s 2>&1 | sed -n 's/^\([a-z]*\): \(.*\): .* \[\([a-z-]*\)\]$/\1 \2 \3/p' |
		tr '\n' ','
}

rules=$HOME/.config/holdback/gate.rules
mkdir -p "${rules%/*}"

new_session "git init -q . && seq 50 | while read -r i; do echo \$i >f\$i; done &&
	echo '{\"scripts\": {\"test\": \"t\"}}' >package.json &&
	git add -A && git $git_words commit -qm first"
# tree: the project without git's objects, which an undo leaves.
tree() {
	digest "$project" | grep -v '^\.git/objects'
}
before=$(tree)
in_box "for i in \$(seq 50); do echo more >>f\$i; done; mkdir d; echo new >d/g; rm f50
	git branch other; git config branch.other.description x
	echo '{\"scripts\": {\"test\": \"t\"}, \"dependencies\": {\"a\": \"1\"}}' >package.json
	git add -A && git $git_words commit -qm second" >/dev/null
is 'an ordinary session has nothing to be asked' "$(found)" ''
check 'gate says so' hb gate @s
like 'in words' "$(hb gate @s)" 'nothing stands against it'
like 'a change without findings is committed without a question' "$(hb commit -y @s 2>&1)" 'committed session s: *'
check 'undo' hb undo @s
is 'everything is as it was' "$(tree)" "$before"
hb rollback -y @s >/dev/null

in_box 'echo evil >.git/hooks/pre-commit; echo evil >.envrc; echo ok >ok'
asked='ask .envrc environment,ask .git/hooks/pre-commit git-hook,'
is 'what runs by itself is found' "$(found)" "$asked"
check_exit 'gate exits with 4' 4 hb gate @s
check_exit 'commit -y exits with 4 on a finding that asks' 4 hb commit -y @s
check_exit 'a dry run exits with 4 on a finding that asks' 4 hb commit -n @s
is 'nothing is committed' "$(tree)" "$before"
like 'the refusal names path, reason, rule and a fix' "$(hb commit -y @s 2>&1)" \
	'ask: .envrc: *obeys it* \[environment]*
fix: *--allow RULE*'
check_exit 'one that is allowed is not enough' 4 hb commit -y --allow git-hook @s
check_exit '--allow for another path is not enough' 4 hb commit -y --allow git-hook \
	--allow 'environment:d/*' @s
check_exit 'a rule that does not exist is a mistake' 2 hb commit -y --allow git-hok @s
like 'with a suggestion' "$(hb commit -y --allow git-hok @s 2>&1)" \
	"*did you mean 'git-hook'*"
is 'nothing is committed still' "$(tree)" "$before"
is 'gate counts what is allowed' "$(found --allow git-hook)" \
	'ask .envrc environment,allowed .git/hooks/pre-commit git-hook,'
check 'what is left out is not asked about' hb gate --except .envrc --except pre-commit @s
check 'commit --allow' hb commit -y --allow git-hook --allow 'environment:*.nope' \
	--allow 'environment:.env*' @s
is 'it is there' "$(cat "$project/.envrc" "$project/.git/hooks/pre-commit")" 'evil
evil'
record=$(sed '/^time/d' "$state/sessions/s/allowed")
is 'what was allowed is recorded' "$record" 'commit = 3
allow = git-hook
allow = environment:*.nope
allow = environment:.env*
findings = 2
finding = environment .envrc
finding = git-hook .git/hooks/pre-commit'
in_box 'echo more >ok'
hb commit -y @s >/dev/null
is 'a commit that needs nothing records nothing' \
	"$(sed '/^time/d' "$state/sessions/s/allowed")" "$record"

in_box 'echo worse >.envrc'
like '--no-gate is said' "$(hb commit -y --no-gate @s 2>&1)" '*the gate is not asked*committed*'
like '--no-gate is recorded' "$(cat "$state/sessions/s/allowed")" '*
commit = 5
time = *
no-gate = yes*'

# Rules of the user.
in_box 'echo again >.envrc; mkdir src; echo x >src/s; echo x >x; rm f1'
cat >"$rules" <<-END
	rule = environment
	severity = warn
	rule = only-src
	severity = deny
	reason = "only src is to be changed"
	on = added modified deleted mode
	path = **
	not = src/**
	not = .envrc
END
is 'the user may weaken a rule and add another' "$(found)" \
	'warn .envrc environment,deny f1 only-src,deny x only-src,'
check_exit 'what is denied is not allowed by name' 4 hb commit -y --allow only-src @s
check 'it can be left out' hb commit -y --except x --except f1 @s
is 'a denied change that is left out stays in the session' "$(names)" 'D f1,A x,'
echo 'rule = no-severity' >"$rules"
check_exit 'rules without a severity: nothing is committed' 3 hb commit -y @s
echo 'severity = warn' >"$rules"
like 'the place of what is wrong is said' "$(hb gate @s 2>&1)" \
	"*gate.rules:1: no rule was begun*"
check_exit 'gate exits with 3' 3 hb gate @s
printf 'rule = a\nseverity = warn\nreason = x\npath = [\n' >"$rules"
check_exit 'a bad pattern in the rules stops a commit' 3 hb commit -y @s
chmod 666 "$rules"
check_exit 'rules that others can write stop a commit' 3 hb commit -y @s
rm -f "$rules"
is 'nothing was committed meanwhile' "$(names)" 'D f1,A x,'

# Rules in the real directory may only tighten, and not before they are there.
hb rollback -y @s >/dev/null
in_box 'printf "rule = environment\nseverity = off\n" >.holdback.rules; echo y >.envrc'
is 'rules that the session holds back decide nothing' "$(found)" \
	'ask .envrc environment,ask .holdback.rules holdback,'
hb rollback -y @s >/dev/null
printf 'rule = environment\nseverity = off\n' >"$project/.holdback.rules"
in_box 'echo y >.envrc'
check_exit 'rules in the project cannot weaken' 3 hb commit -y --allow environment @s
printf 'rule = environment\nseverity = deny\nrule = own\nseverity = ask
reason = "\033[31mred\033[0m"\npath = *.own\n' >"$project/.holdback.rules"
check_exit 'a control character in rules is refused' 3 hb gate @s
printf 'rule = environment\nseverity = deny\nrule = own\nseverity = ask
reason = "\\033[31mred"\npath = *.own\n' >"$project/.holdback.rules"
in_box 'echo >x.own'
is 'they can tighten' "$(found)" 'deny .envrc environment,ask x.own own,'
unlike 'their words do not reach the terminal' "$(hb gate @s)" "*$(printf '\033')*"
in_box 'rm .holdback.rules'
is 'removing the rules of the project asks' "$(found | tr ',' '\n' | grep holdback)" \
	'ask .holdback.rules holdback'
rm "$project/.holdback.rules"
ln -s /etc/passwd "$project/.holdback.rules"
check_exit 'a link is no file of rules' 3 hb gate @s

rm -rf "${HOME:?}/.config"
finish
