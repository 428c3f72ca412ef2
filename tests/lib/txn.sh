# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# For tests of sessions: a project with a store beside it, both below $TMPDIR.

. "$HB_TESTS/lib/tap.sh"

# A host without overlays in a user namespace shows nothing here.
"$HB_BWRAP" --bind / / --overlay-src / --tmp-overlay /mnt true 2>/dev/null ||
	"$HB_BWRAP" --ro-bind / / true 2>/dev/null ||
	skip_all 'no sandbox can be made here'

work=$TMPDIR/work
state=$TMPDIR/state
project=$work/p
mkdir -p "$project"

# hb COMMAND ARGUMENT...: in the project, with the test's own store.  A test that
# is run for another strategy as well has that in HB_STRATEGY.
hb() {
	hb_command=$1
	shift
	[ "$hb_command" != create ] || set -- "$@" ${HB_STRATEGY:+--strategy="$HB_STRATEGY"}
	(cd "$project" && exec "$HB_BIN" "$hb_command" --state-dir "$state" "$@")
}

# in_box SCRIPT: in the session `s`.
in_box() {
	hb exec @s -- sh -c "$1"
}

# new_session: an empty project, filled by the script, and the session `s`.
new_session() {
	remove_all
	mkdir -p "$project"
	(cd "$project" && eval "$1")
	hb create s --cow "$project" >/dev/null
}

# remove_all: layers may have directories that their owner cannot read.
remove_all() {
	chmod -R u+rwx "$work" "$state" 2>/dev/null
	rm -rf "$work" "$state"
}

# digest DIR: every attribute of everything below it, one object a line.
digest() {
	python3 "$HB_TESTS/lib/digest.py" "$@"
}

# names: the change set as `diff` has it, on one line.
names() {
	hb diff --name-status "$@" @s | tr '\t' ' ' | tr '\n' ','
}

finish() {
	remove_all
	done_testing
}
