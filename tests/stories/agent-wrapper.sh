#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git python3
#
# A wrapper for agents: by a command, by a link before the real program, and
# switched off by a variable of the owner alone.  (system 4)
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

export XDG_STATE_HOME="$work/state" HOME="$work/home" GIT_CONFIG_NOSYSTEM=1
mkdir -p home/.ssh real/bin real/lib project
echo key >home/.ssh/id_ed25519
printf '[user]\n\tname = Ann\n\temail = ann@example.org\n' >home/.gitconfig
cat >real/bin/coder <<'END'
#!/bin/sh
# An agent: it looks for keys, edits, commits, and runs something destructive.
cat ~/.ssh/id_ed25519 2>/dev/null && echo "has the key"
echo "sandbox: ${HOLDBACK:-no}"
echo fixed >bug
git commit -qam fix
rm -rf docs
END
chmod +x real/bin/coder
cd project || bail 'no project'
git init -q -b main .
mkdir docs
echo broken >bug
echo doc >docs/d
git add -A
git commit -qm begin
export PATH="$work/real/bin:$PATH"

is 'the wrapper runs the agent in a sandbox, without keys' "$("$HB_BIN" coder 2>/dev/null)" \
	'sandbox: 1'
is 'the project is as it was' "$(cat bug docs/d; git log --format=%s)" 'broken
doc
begin'
check 'the owner sees the diff' sh -c '"$HB_BIN" diff @coder-1 | grep -q "+fixed"'
check 'the owner commits all but the deletion' "$HB_BIN" commit -y --except docs @coder-1
is 'the commit of the agent is on the branch' "$(git log --format=%s; cat bug docs/d)" 'fix
begin
fixed
doc'
check 'the rest is discarded' "$HB_BIN" rollback -y @coder-1
is 'git finds nothing wrong' "$(git status --short; git fsck 2>&1)" ''

git checkout -q -b two HEAD~1
"$HB_BIN" enable coder >/dev/null
line=$("$HB_BIN" enable --shell bash)
is 'always on: the plain name of the agent starts in a sandbox' \
	"$(eval "$line"; coder 2>/dev/null)" 'sandbox: 1'
is 'the owner switches it off by a variable' \
	"$(eval "$line"; AGENT_SANDBOX=false coder 2>/dev/null)" 'key
has the key
sandbox: no'
git reset -q --hard HEAD~1
cat >"$work/real/bin/sly" <<'END'
#!/bin/sh
AGENT_SANDBOX=false HOLDBACK= coder 2>/dev/null
END
chmod +x "$work/real/bin/sly"
unlike 'the variable is worth nothing inside' "$("$HB_BIN" run -q sly 2>/dev/null)" '*has the key*'
check 'disable removes the link' "$HB_BIN" disable coder
for s in $("$HB_BIN" ls --json | python3 -c '
import json, sys
print(*(s["name"] for s in json.load(sys.stdin)["sessions"]))'); do
	"$HB_BIN" cleanup -y "@$s" >/dev/null 2>&1
done
is 'no session is left' "$("$HB_BIN" ls)" ''
done_testing
