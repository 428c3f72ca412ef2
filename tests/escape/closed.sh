#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# modes: root
# needs: script unshare
#
# Root's box has nothing of /etc that others may not read.  Run again below a
# mount namespace of its own, in which /etc is a copy with more in it.
# shellcheck disable=SC2154 # set in lib/box.sh
if [ "${1-}" = again ]; then
	shift
	# Somebody may be writing there: a file that goes away is not missed.
	mount -t tmpfs none /mnt && { cp -a /etc/. /mnt/ 2>/dev/null || :; } &&
		mount --bind /mnt /etc || exit 99
	mkdir -p /etc/hb/open /etc/hb/closed /etc/hb/names /etc/hb/1/2/3/4/5/6/7/8/9/10/11/12
	echo HB-CLOSED-SECRET >/etc/hb/open/key
	chmod 640 /etc/hb/open/key
	echo HB-CLOSED-SECRET >/etc/hb/closed/file
	chmod 750 /etc/hb/closed
	echo HB-CLOSED-SECRET >/etc/hb/names/file
	chmod 711 /etc/hb/names
	echo HB-CLOSED-SECRET >/etc/hb/1/2/3/4/5/6/7/8/9/10/11/12/key
	chmod 600 /etc/hb/1/2/3/4/5/6/7/8/9/10/11/12/key
	echo plain >/etc/hb/open/file
	if [ "$1" = many ]; then
		mkdir /etc/hb/many
		(cd /etc/hb/many && seq 17000 | xargs touch && echo HB-CLOSED-SECRET >z && chmod 600 z)
	fi
	shift
	exec "$@"
fi
. "$HB_TESTS/lib/box.sh"

unshare -m sh "$0" again few true || skip_all 'nothing can be mounted here'

# box HOW COMMAND: what it prints there.
box() {
	unshare -m sh "$HB_TESTS/escape/closed.sh" again "$1" "$HB_BIN" run --ephemeral -q -- \
		sh -c "$2" 2>/dev/null
}
# said HOW: what the user of a terminal is told there.
said() {
	unshare -m sh "$HB_TESTS/escape/closed.sh" again "$1" \
		script -qec "'$HB_BIN' run --ephemeral true" /dev/null 2>&1
}
search='grep -rs HB-CLOSED-SECRET /etc; :'
is 'control: the secrets are there' "$(unshare -m sh "$0" again few grep -rc HB-CLOSED-SECRET /etc/hb | grep -c ':1$')" 4
is 'no closed file can be read' "$(box few "$search")" ''
is 'a file for all can, beside one' "$(box few 'cat /etc/hb/open/file')" plain
is 'a closed directory is empty' "$(box few 'chmod 755 /etc/hb/closed; ls -A /etc/hb/closed; :')" ''
is 'a directory that only hides its names is empty' "$(box few 'cat /etc/hb/names/file; :')" ''
like 'a directory that is too deep is hidden, and said' "$(said few)" '*/etc: 1 directory has too much in it*'
is 'no file that others may not read is open' \
	"$(box few 'find /etc -type f ! -perm -004 -exec sh -c "cat \"\$@\"" sh {} + 2>/dev/null; :')" ''
is 'in a directory with too many entries none is' "$(box many "$search")" ''
like 'a directory with too many entries is said to be hidden' "$(said many)" '*/etc: [0-9]* director* too much in *'
is 'the box works without it' "$(box many 'ls -A /etc/hb/many; id -un')" root
done_testing
