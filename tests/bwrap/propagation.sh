#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# modes: root
# needs: unshare
# Mounts that are made on the host later do not arrive inside, and those made
# inside do not arrive on the host.  All of it in a mount namespace of our own,
# which stands for the host.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
if [ "${HB_IN_OWN_NAMESPACE:-}" = "" ]; then
	HB_IN_OWN_NAMESPACE=yes exec unshare --mount --propagation private -- "$0"
fi
. "$HB_TESTS/lib/bwrap.sh"

mkdir shared
mount -t tmpfs none shared
mount --make-shared shared
mkdir shared/later shared/below
mount -t tmpfs none shared/below
echo visible >shared/below/file
mkfifo go answer

for option in ro-bind bind; do
	box --"$option" / / --dev /dev --tmpfs /mnt --unshare-pid sh -c '
		echo up; read -r _ <go; echo "$(ls shared/later)."' >answer &
	pid=$!
	exec 6<answer
	read -r word <&6
	is "--$option: it runs" "$word" up
	mount -t tmpfs none shared/later
	echo late >shared/later/file
	echo >go
	read -r word <&6
	is "--$option: a later mount does not arrive inside" "$word" .
	wait "$pid"
	exec 6<&-
	umount shared/later
done

box --bind / / --dev /dev --cap-add ALL sh -c '
	mount -t tmpfs none shared/later && touch shared/later/inside'
is 'a mount made inside does not arrive outside' "$(ls shared/later)" ''

# What is below a bind gets its attributes as well.
is '--ro-bind: what is mounted below is seen' "$(
	"$HB_BWRAP" --ro-bind "$work/shared" "$work/shared" --ro-bind /usr /usr \
		--symlink usr/lib /lib --symlink usr/lib64 /lib64 \
		/usr/bin/cat "$work/shared/below/file" 2>&1
)" visible
is '--ro-bind: and it is read-only' "$(
	box touch shared/below/new 2>&1 | sed 's/.*: //'
)" 'Read-only file system'
is '--remount-ro is of one mount alone' "$(
	"$HB_BWRAP" --bind / / --dev /dev --remount-ro "$work/shared" sh -c '
		touch shared/new 2>&1 | sed "s/.*: //"; touch shared/below/new; ls shared/below'
)" 'Read-only file system
file
new'
umount shared/below shared
done_testing
