#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: bash
#
# The demo shows the whole job on a terminal and leaves nothing; install puts
# down every file that uninstall takes away.
. "$HB_TESTS/lib/cli.sh"

tools=$HB_TESTS/../tools
build=${HB_BIN%/bin/holdback}
before=$(ls -d /var/tmp/holdback-demo.* 2>/dev/null)
out=$("$tools/demo" "$build" 2>&1 | tr -d '\r')
like 'the demo tells where the changes are' "$out" '*session sh-1 · *copy-on-write · network: none*'
like 'the demo shows the summary and the next commands' "$out" \
	'*3 files: 1 changed, 1 added, 1 deleted*Next: holdback diff @sh-1*'
like 'the demo shows that the key is out of reach' "$out" '*id_ed25519: No such file*'
like 'the demo shows that the network is out of reach' "$out" '*Network is unreachable*'
like 'the demo commits and undoes' "$out" '*committed session sh-1: 2 files*undid 2 changes*'
like 'the demo shows a conflict' "$out" '*conflict: shop.py: *(exit status 5)*'
like 'the demo shows a fork' "$out" '*made session other of sh-1*'
like 'the demo ends with the next steps' "$out" '*Next:*make install*man holdback-tutorial'
is 'the demo leaves nothing behind' "$(ls -d /var/tmp/holdback-demo.* 2>/dev/null)" "$before"

mkdir -p "$work/tree/bin" "$work/tree/man" "$work/place"
cp -r "$build/bin" "$build/libexec" "$work/tree/"
echo page >"$work/tree/man/holdback.1"
echo "the user's own" >"$work/place/own"
like 'install tells the next step' "$("$tools/install" "$work/tree" "$work/place")" \
	'*is in *place/bin.*Next: *holdback COMMAND*into PATH first.'
check 'install puts the program in its place' "$work/place/bin/holdback" version
check 'install puts the manual in its place' test -e "$work/place/share/man/man1/holdback.1"
check 'install puts the tool proxy in its place' test -x "$work/place/share/holdback/tool-proxy.sh"
check 'uninstall succeeds' "$tools/uninstall" "$work/tree" "$work/place"
is 'uninstall leaves the files of others alone' \
	"$(cd "$work/place" && find . -type f)" ./own
done_testing
