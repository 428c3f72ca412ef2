#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# V18: no file of /proc through which the whole machine can be set may be opened
# for writing.  access() on the directories says nothing about what is in them,
# so every file is tried.
# shellcheck disable=SC2154 # set in lib/box.sh
. "$HB_TESTS/lib/box.sh"

# Left out: what is of a process, the next pid of a pid namespace, and pressure,
# which takes nothing but triggers of the one who writes.
cat >writable <<'SH'
find /proc -type f -not -path '/proc/[0-9]*' -not -path '/proc/pressure/*' \
	-not -name ns_last_pid 2>/dev/null | while read -r file; do
	(exec 3>>"$file") 2>/dev/null && echo "$file"
done
:
SH
says 'V18 no file of the machine can be written' '' inside sh writable
is 'V18 no file of the machine can be written with namespaces allowed' "$("$HB_BIN" run --ephemeral -q \
	--allow-nested -- sh writable 2>/dev/null)" ''
says 'control: a file of its own can be' '' \
	inside sh -c 'echo 10 >/proc/self/oom_score_adj'
says 'control: they can be read' Linux inside cat /proc/sys/kernel/ostype
done_testing
