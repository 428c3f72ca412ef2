#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# An agent runtime that sends each tool call through a proxy: its variables name
# the project and the one directory whose output has to survive.  (system 0)
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

export XDG_STATE_HOME="$work/state" HOME="$work/home"
mkdir -p home bin share/holdback project/releases
ln -s "$HB_BIN" bin/holdback
cp "$HB_SOURCE/data/tool-proxy.sh" share/holdback/
printf 'price = 100\n' >project/shop.py
echo keep >project/notes
export YAMTAM_SANDBOX_MODE=1 YAMTAM_SANDBOX_ROOTDIR="$work/project"
export YAMTAM_SANDBOX_WRITEDIR=releases/logs HOLDBACK_SESSION=tools

# tool WORDS...: one call of the runtime.
tool() {
	bash "$work/share/holdback/tool-proxy.sh" "$@"
}

check 'a tool edits a file' tool sed -i s/100/200/ shop.py
is 'the next tool sees the edit of the one before' "$(tool cat shop.py)" 'price = 200'
check 'a tool deletes a file' tool rm notes
check 'a tool writes its log' tool sh -c 'echo built >releases/logs/build'
is 'the project is as it was, but for the log' \
	"$(cat project/shop.py project/notes project/releases/logs/build)" 'price = 100
keep
built'
is 'a tool that fails fails for the runtime' "$(tool sh -c 'exit 9'; echo $?)" 9
check_fails 'a tool has no network' tool sh -c 'exec 3<>/dev/tcp/127.0.0.1/9' bash
check_fails 'a tool reads nothing of the home directory' tool ls "$HOME/.ssh"
unset HOLDBACK_SESSION
is 'the runtime sees what is pending' "$("$HB_BIN" status --json @tools | python3 -c '
import json, sys
print(*sorted(c["kind"] + " " + c["path"] for c in json.load(sys.stdin)["changes"]))')" \
	'D notes M shop.py'
check 'the owner commits' "$HB_BIN" commit -y @tools
is 'now the project has the work of the tools' \
	"$(cat project/shop.py; ls project)" 'price = 200
releases
shop.py'
check 'the owner takes it back' "$HB_BIN" undo @tools
is 'the project is as it was' "$(cat project/shop.py project/notes)" 'price = 100
keep'
export HOLDBACK_SESSION=tools
rm bin/holdback
is 'without a sandbox no tool runs' \
	"$(PATH=/usr/bin:/bin tool touch project/x 2>/dev/null; echo $?; ls project)" '6
notes
releases
shop.py'
unset HOLDBACK_SESSION
check 'the session is removed' "$HB_BIN" cleanup -y @tools
done_testing
