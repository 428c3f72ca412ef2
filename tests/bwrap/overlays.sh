#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --overlay-src --overlay --tmp-overlay --ro-overlay.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

mkdir low high upper scratch
echo low >low/both
echo low >low/low
echo high >high/both
echo high >high/high

type_of='while read -r _ _ _ _ dir _ rest; do
	[ "$dir" = "$0" ] && type=${rest#*- } && echo "${type%% *}"
done </proc/self/mountinfo'

set -- --overlay-src low --overlay-src high
sees '--overlay is an overlay' overlay "$@" --overlay upper scratch /mnt/o \
	sh -c "$type_of" /mnt/o
sees '--overlay-src: the first is the lowest' 'high high low' "$@" \
	--overlay upper scratch /mnt/o \
	sh -c 'cd /mnt/o; echo $(cat both high low)'
sees '--overlay can be written' '' "$@" --overlay upper scratch /mnt/o \
	sh -c 'cd /mnt/o; echo new >low; rm high; echo added >added'
is '--overlay: writes are in the upper' "$(cat upper/low upper/added)" 'new
added'
check '--overlay: so are deletions' test -c upper/high
is '--overlay: layers are as before' "$(cat low/low high/high)" 'low
high'
sees '--overlay: the upper is seen again' 'added, both, low' "$@" \
	--overlay upper scratch /mnt/o ls -m /mnt/o

sees '--tmp-overlay is an overlay' overlay "$@" --tmp-overlay /mnt/o \
	sh -c "$type_of" /mnt/o
sees '--tmp-overlay can be written' 'new high high low' "$@" \
	--tmp-overlay /mnt/o \
	sh -c 'cd /mnt/o; echo new >new; echo $(cat new both high low)'
is '--tmp-overlay: layers are as before' "$(ls low high)" 'high:
both
high

low:
both
low'
sees '--tmp-overlay: removing works' 'both low' "$@" --tmp-overlay /mnt/o \
	sh -c 'cd /mnt/o; rm high; echo *'
sees '--tmp-overlay: two are apart' 'x|both high low' "$@" \
	--tmp-overlay /mnt/o "$@" --tmp-overlay /mnt/p \
	sh -c 'cd /mnt/o; touch x; echo $(ls x)"|"$(ls /mnt/p)'
sees '--tmp-overlay with one layer' 'both low' --overlay-src low \
	--tmp-overlay /mnt/o sh -c 'cd /mnt/o; echo *'

sees '--ro-overlay is an overlay' overlay "$@" --ro-overlay /mnt/o \
	sh -c "$type_of" /mnt/o
sees '--ro-overlay shows all layers' 'high high low' "$@" \
	--ro-overlay /mnt/o sh -c 'cd /mnt/o; echo $(cat both high low)'
like '--ro-overlay refuses writes' \
	"$(box "$@" --ro-overlay /mnt/o touch /mnt/o/x 2>&1)" \
	'*Read-only file system*'

odd_upper='u:,\d' odd_work='w:,\d'
mkdir 'a:b,c\d' "$odd_upper" "$odd_work"
echo odd >'a:b,c\d/file'
sees 'names that overlayfs could take for syntax' 'odd new' \
	--overlay-src low --overlay-src 'a:b,c\d' --overlay "$odd_upper" "$odd_work" /mnt/o \
	sh -c 'cd /mnt/o; echo new >new; echo $(cat file new)'
is 'the odd upper was written' "$(cat "$odd_upper/new")" new

sees 'an overlay over the place that it reads' 'both low x' --bind low /mnt/o \
	--overlay-src low --tmp-overlay /mnt/o \
	sh -c 'cd /mnt/o; touch x; echo *'
check_fails 'the lower directory of an odd upper is as before' test -e low/x

refuses '--overlay without a layer' \
	'--overlay requires at least one --overlay-src' \
	--overlay upper scratch /x true
refuses '--ro-overlay with one layer' \
	'--ro-overlay requires at least two --overlay-src' \
	--overlay-src low --ro-overlay /x true
refuses '--overlay-src of nothing' \
	"Can't find source path /no/such: No such file or directory" \
	--overlay-src /no/such --tmp-overlay /x true
refuses '--overlay-src before something else' \
	'--overlay-src must be followed by another --overlay-src or one of --overlay, --tmp-overlay, or --ro-overlay' \
	--overlay-src low --dir /x true
done_testing
