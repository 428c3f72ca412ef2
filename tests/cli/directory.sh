#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# -C DIR of run, exec, shell and create: as cd before the call.
# shellcheck disable=SC2154 # set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

mkdir -p top/sub "two words" elsewhere
echo old >top/sub/file
cd top || bail "no directory"

prints 'run -C works in the directory' "$work/top/sub" \
	"$HB_BIN" run -q --ephemeral -C sub -- pwd
prints 'without the word run, too' "$work/top/sub" "$HB_BIN" -q --ephemeral -C sub pwd
prints 'a directory with a blank in its name' "$work/two words" \
	"$HB_BIN" run -q --ephemeral -C "../two words" pwd
prints 'the long name of the option' "$work/top/sub" \
	"$HB_BIN" run -q --ephemeral --directory sub pwd
is 'paths of options are seen from there' \
	"$("$HB_BIN" run -q --ephemeral -C sub --ro ../../elsewhere ls -d ../../elsewhere)" \
	../../elsewhere
"$HB_BIN" run -q -s kept -C sub -- sh -c 'echo new >file'
is 'a kept run holds its change back' "$(cat sub/file)" old
is 'the session is that of the directory' \
	"$(cd sub && "$HB_BIN" ls --json | grep -o '"source":"[^"]*"')" "\"source\":\"$work/top/sub\""
prints 'exec -C finds the session of the directory' new "$HB_BIN" exec -C sub cat file
like 'a run with -C names the pending session there' \
	"$("$HB_BIN" run -C sub cat file 2>&1)" '*kept*'
prints 'run -C -c goes on in that session' new \
	"$HB_BIN" run -q -C sub -c cat file
(cd elsewhere 2>/dev/null || cd ../elsewhere || exit 1
	"$HB_BIN" create -C ../top made --cow sub >/dev/null)
like 'create -C takes directories from there' "$("$HB_BIN" ls --json)" \
	"*\"name\":\"made\"*\"source\":\"$work/top/sub\"*"
like 'why tells of a run in the directory' "$("$HB_BIN" why "$work/top/sub/file" run -C sub true)" \
	'*held-back*'
is 'AGENT_SANDBOX=off keeps to the directory' \
	"$(AGENT_SANDBOX=off "$HB_BIN" run -q -C sub pwd 2>/dev/null)" "$work/top/sub"
says 'a directory that is not there runs nothing' 125 \
	"*there is no directory 'absent' to work in*" "$HB_BIN" run -C absent touch made
says 'a file in its place runs nothing' 125 "*there is no directory 'sub/file' to work in*" \
	"$HB_BIN" run -C sub/file touch made
says 'create in a directory that is not there makes nothing' 2 \
	"*there is no directory 'absent'*" "$HB_BIN" create -C absent none --cow .
"$HB_BIN" cleanup -y @kept >/dev/null
"$HB_BIN" cleanup -y @made >/dev/null
rm -r "$HOME/.local"
done_testing
