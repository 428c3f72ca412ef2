#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Directories of keys, and homes by whatever name, are no workspace.
. "$HB_TESTS/lib/tap.sh"

# refuses NAME DIRECTORY [ENV-ARGUMENT...]
refuses() {
	name=$1 dir=$2
	shift 2
	(cd "$dir" && env "$@" "$HB_BIN" run --ephemeral -q -- \
		sh -c 'echo ran >&2') >out 2>&1
	is "$name: exit status" "$?" 125
	check_fails "$name: nothing ran" grep -q '^ran$' out
	check "$name: the fix is named" grep -q '^fix: change to' out
}

mkdir home home/.ssh home/src keys plain
echo secret >home/.ssh/key
home=$PWD/home
refuses 'the home directory' home HOME="$home"
refuses 'a home, HOME not set' home -u HOME
refuses 'a home, HOME somewhere else' home HOME=/nonexistent
refuses 'a directory of keys' home/.ssh HOME="$home"
check 'a project in a home runs' \
	sh -c "cd home/src && HOME='$home' '$HB_BIN' run --ephemeral -q -- true"
for dir in /proc /sys; do
	(cd plain && "$HB_BIN" run --ephemeral -q --ro "$dir" -- true) >out 2>&1
	is "--ro $dir: exit status" "$?" 125
	check "--ro $dir: says so" grep -q 'is not put into the view' out
done
rm -r home keys plain out
done_testing
