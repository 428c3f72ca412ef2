#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: unshare
#
# holdback inside of holdback, of other namespaces, and of what containers mask: it
# works, or it says why not.  No container engine is among what tests install;
# rootless podman, with runc, was tried by hand.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
export XDG_STATE_HOME="$work/state"
export HOME="$work/home"
mkdir home p
cd p || bail 'no workspace'
echo one >f
# nest OPTIONS... -- COMMAND...: a run that sees all of the installation.
nest() {
	"$HB_BIN" run --ephemeral -q --ro "$(dirname "$HB_BIN")" \
		--ro "$HB_LIBEXEC" --env HB_BIN "$@"
}

# V37: a box allows no user namespaces, so there is none inside of it.
says 'a run in a run is refused, and says why' 125 \
	'holdback: [[]6]*user namespaces*fix: *' \
	nest -- "$HB_BIN" run --ephemeral echo ran
like 'the fix has the other way' "$(nest -- \
	"$HB_BIN" run --ephemeral echo ran 2>&1)" \
	'*fix: *run outside of the other sandbox*--allow-degraded'
if [ "$HB_MODE" = root ]; then
	like 'as root not even that' "$(nest -- "$HB_BIN" run \
		--allow-degraded echo ran 2>&1)" '*[[]6] a run as root needs *'
else
	like 'a run in a run without namespaces works, and is weaker' "$(nest -- sh -c '
		"$HB_BIN" run --allow-degraded -q -s inner -- sh -c "
			cat f; echo two >f; cat f"
		cat f; "$HB_BIN" diff @inner --name-status
		"$HB_BIN" commit -y @inner >/dev/null; cat f' 2>&1)" \
		"*weakened: there are no namespaces*one${nl}two${nl}one${nl}M	f${nl}two"
	is 'the outer run holds the weaker inner one back' "$(cat f)" one
fi

# With --allow-nested it is as anywhere.
inner='"$HB_BIN" run --ephemeral -q -- sh -c "
	cat f; echo two >f; cat f" && cat f'
if [ "$HB_MODE" = root ]; then
	like 'root in a box has no capability to do it with' "$(nest \
		--allow-nested -- sh -c "$inner" 2>&1)" \
		'*[[]6]*root without capabilities*fix: *as an ordinary user*'
else
	like 'a run in a run that allows it' "$(nest --allow-nested -- \
		sh -c "$inner" 2>&1)" "*one${nl}two${nl}one"
	is 'a run in a run that allows it leaves the real file as it was' "$(cat f)" one
	like 'a kept one, committed inside' "$(nest --allow-nested -- \
		sh -c '"$HB_BIN" -q -s inner sh -c "echo two >f"; cat f
			"$HB_BIN" commit -y @inner >/dev/null; cat f' 2>&1)" \
		"*one${nl}two"
	is 'is held back outside' "$(cat f)" one
	like 'the inner one is not weaker than the outer' "$(nest --allow-nested -- "$HB_BIN" run --ephemeral -q --net host -- sh -c '
			ls /sys/class/net 2>/dev/null || grep -c : /proc/net/dev' \
		2>&1)" "*1"
fi
# Installed for one user, as `make install PREFIX=~/.local` does.
mkdir -p "$HOME/.local/bin" "$HOME/.local/libexec"
cp "$HB_BIN" "$HOME/.local/bin/holdback"
cp -r "$HB_LIBEXEC" "$HOME/.local/libexec/holdback"
own() {
	PATH="$HOME/.local/bin:$PATH" holdback "$@" 2>&1
}
like 'holdback in holdback, installed for one user, has the way out' "$(own -q holdback true)" \
	'*fix: *AGENT_SANDBOX=off, or --allow-nested for the outer one*'
if [ "$HB_MODE" != root ]; then
	like 'the way out works with holdback installed for one user' \
		"$(own -q --allow-nested holdback -q --ephemeral echo ran)" '*ran'
	like 'every command works there' "$(own -q --allow-nested sh -c 'holdback -q sh -c "echo x >new"; holdback status')" \
		'*A new*'
fi
is 'the parts of an installation for one user cannot be written inside' \
	"$(own -q --ephemeral sh -c 'echo x 2>/dev/null >>~/.local/libexec/holdback/commands || echo refused')" refused
"$HB_BIN" cleanup -y --all >/dev/null 2>&1
rm -r "$HOME/.local/libexec" "$HOME/.local/bin"

# Namespaces of somebody else.
like 'in unshare with an own /proc' "$(unshare -Urmpf --mount-proc \
	sh -c "$inner" 2>&1)" "*one${nl}two${nl}one"
like 'in unshare with a masked /proc' "$(unshare -Urmpf --mount-proc sh -c "
	mount -t tmpfs none /proc/scsi 2>/dev/null ||
		mount -t tmpfs none /proc/fs || exit 99
	$inner" 2>&1)" "*weakened: parts of /proc are masked*one${nl}two${nl}one"
like 'doctor says the same there' "$(unshare -Urmpf --mount-proc sh -c '
	mount -t tmpfs none /proc/scsi 2>/dev/null ||
		mount -t tmpfs none /proc/fs || exit 99
	"$HB_BIN" doctor' 2>&1)" \
	'*warn  procfs*fix: *unmask*ok    filter-in-force*holdback run works here'
like 'in a box of the bubblewrap front end' "$("$HB_BWRAP" --ro-bind / / \
	--dev /dev --bind "$work" "$work" --unshare-user --unshare-pid \
	--proc /proc sh -c "$inner" 2>&1)" "*one${nl}two${nl}one"
is 'nothing of it reached the file' "$(cat f)" one
done_testing
