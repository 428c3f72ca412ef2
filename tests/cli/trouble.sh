#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: unshare
#
# holdback run where the host is in the way: a full disk, file systems that
# cannot be overlaid, or that cannot be written.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
unshare -Urm true 2>/dev/null || skip_all 'no namespace for mounts of our own'

# in_mounts SCRIPT: in a namespace of mounts, in the empty directory p of a home
# that has its own file system.
in_mounts() {
	mkdir home
	unshare -Urm sh -c '
		mount -t tmpfs -o size=3m none home && mkdir home/p || exit 99
		cd home/p && echo x >f
		HOME=$1/home
		export HOME
		hb() {
			"$HB_BIN" "$@"
		}
		eval "$2"' sh "$work" "$1" 2>&1
	rmdir home
}

out=$(in_mounts '
	head -c 1000000 /dev/zero >../ballast
	hb sh -c "echo y >f; head -c 8000000 /dev/zero >big; exit 5"
	echo "status $?"
	hb status >/dev/null; echo "status $?"
	rm ../ballast
	hb -q -s sh-1 rm big; echo "status $?"
	hb diff --name-status
	hb commit -y >/dev/null; cat f; ls')
like 'a full disk: the session is kept, the place and the fix are named' "$out" \
	"*holdback: session 'sh-1' is kept, but the disk is full: * bytes are left where changes to '$work/home/p' are kept; make room, then: holdback -s sh-1 COMMAND${nl}holdback: the log cannot be written, and misses this: *${nl}status 5${nl}*"
like 'status of a session on a full disk works, and says that it is not settled' "$out" \
	'*not settled: *No space left*status 0*'
like 'a session on a full disk goes on once there is room' "$out" "*status 0${nl}M	f${nl}y${nl}f"

out=$(in_mounts '
	mount --bind . . && cd . && cd "$HOME/p" && mount -o remount,bind,ro .
	hb -q sh -c "echo y >f; cat f"; echo "status $?"
	cat f
	hb commit -y; echo "status $?"; cat f')
like 'a workspace that cannot be written: the command works, after a line' "$out" \
	"*can be committed*${nl}y${nl}status 0${nl}x${nl}*"
like 'a commit to a workspace that cannot be written says why' "$out" "*ead-only*status [!0]*${nl}x"

out=$(in_mounts '
	mkdir ../u ../w && mount -t overlay -o lowerdir=.,upperdir=../u,workdir=../w,userxattr none . &&
		cd "$HOME/p" || exit 98
	hb -q sh -c "echo y >f; cat f"; echo "status $?"
	hb diff --name-status; cat f; hb commit -y >/dev/null; cat f')
like 'a workspace on an overlay: works, and says how' "$out" \
	"holdback: no overlay for '$work/home/p', a copy instead: *${nl}y${nl}status 0${nl}M	f${nl}x${nl}y"

out=$(in_mounts '
	mkdir m && mount -t tmpfs none m && echo below >m/b
	hb -q sh -c "echo y >f; cat f m/b"; echo "status $?"
	hb diff --name-status; cat f')
like 'with a mount below: a copy, which is said' "$out" \
	"holdback: no overlay for '$work/home/p', a copy instead: something is mounted at '$work/home/p/m'*y${nl}below${nl}status 0${nl}M	f${nl}x"

# As FUSE and NFS: no files without a name, and no layers.
out=$(in_mounts '
	mount -t tmpfs none . && cd "$HOME/p" && echo x >f && mkdir d && echo o >d/o
	hb() {
		"$HB_PROBE" deny "openat:2&0x400000" EOPNOTSUPP \
			fsopen:0~overlay ENODEV -- "$HB_BIN" "$@"
	}
	hb -q sh -c "echo y >f; rm -r d; echo n >new"; echo "status $?"
	hb diff --name-status; cat f; hb commit -y >/dev/null; cat f; echo *
	hb undo >/dev/null; cat f d/o; echo *; hb cleanup -y; ls -A')
like 'a file system without unnamed files: a copy, which can be committed' "$out" \
	"holdback: no overlay for '$work/home/p', a copy instead: *${nl}status 0${nl}D	d/*M	f${nl}A	new${nl}x${nl}y${nl}f new${nl}*x${nl}o${nl}d f${nl}*removed*${nl}d${nl}f"
unlike 'a copy on a file system without unnamed files says nothing else' "$out" '*cannot*work directory*'

# The real thing, if it can be mounted here.
out="no FUSE"
if command -v bindfs >/dev/null && [ -w /dev/fuse ]; then
	out=$(in_mounts '
		mkdir ../fuse d && echo o >d/o
		bindfs -f . ../fuse & fuse=$!
		for i in $(seq 3000); do
			mountpoint -q ../fuse && break
			kill -0 "$fuse" 2>/dev/null || break
			sleep 0.01
		done
		mountpoint -q ../fuse || { echo "no FUSE"; exit 0; }
		cd ../fuse
		hb -q sh -c "echo y >f; rm -r d; echo n >new"; echo "status $?"
		hb diff --name-status; cat f; hb commit -y >/dev/null; cat f; echo *
		hb undo >/dev/null; cat f d/o; echo *; hb cleanup -y; ls -A
		cd ../p; umount ../fuse; wait "$fuse"')
fi
case ${out##*"no FUSE"*} in
'') skip 'a workspace on FUSE' 'bindfs cannot mount here' ;;
*)
	like 'a workspace on FUSE: a copy, which can be committed' "$out" \
		"holdback: no overlay for '$work/home/fuse', a copy instead: *${nl}status 0${nl}D	d/*M	f${nl}A	new${nl}x${nl}y${nl}f new${nl}*x${nl}o${nl}d f${nl}*removed*${nl}d${nl}f"
	;;
esac

# What worked before does not any more.
out=$(in_mounts '
	hb -q true
	"$HB_PROBE" deny fsopen:0~overlay ENODEV -- "$HB_BIN" -q sh -c "echo y >f; cat f"
	echo "status $?"; hb diff --name-status; cat f')
like 'an overlay that worked before and is denied now: a copy' "$out" \
	"*a copy instead: *${nl}y${nl}status 0${nl}M	f${nl}x"
done_testing
