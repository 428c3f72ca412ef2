#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Layers and data in memory lie in a mount that the view does not show.  It
# leaves together with the host's root, and nothing stays above the new one.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/cli.sh"

echo data >data

# What is at "/" is at "/.." and at "/../..", too.
script='[ "$(ls -di / | sed s,/,,)" = "$(ls -di /.. | sed s,/..,,)" ] &&
	[ "$(ls /)" = "$(ls /../..)" ]'

empty() {
	"$HB_BWRAP" --ro-bind /usr /usr --symlink usr/bin /bin \
		--symlink usr/lib /lib --symlink usr/lib64 /lib64 "$@"
}

check 'bwrap --tmp-overlay: nothing is above the root' \
	empty --overlay-src . --tmp-overlay /mnt sh -c "$script"
check 'bwrap --ro-bind-data: nothing is above the root' \
	empty --ro-bind-data 9 /mnt/data sh -c "$script" 9<data
check 'bwrap with both, over the host' \
	"$HB_BWRAP" --ro-bind / / --overlay-src . --tmp-overlay /mnt \
	--tmpfs /tmp --bind-data 9 /tmp/data sh -c "$script" 9<data
check 'run --ephemeral: nothing is above the root' run sh -c "$script"
done_testing
