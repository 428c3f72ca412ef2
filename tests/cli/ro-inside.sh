#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# --ro DIR:INSIDE, and lists of paths in variables.  (Q2, F13)
# shellcheck disable=SC2016,SC2088 # expanded inside, and by holdback
. "$HB_TESTS/lib/cli.sh"

export XDG_STATE_HOME="$work/state"
export HOME="$work/home"
data=$work/data
mkdir -p home/.ssh p data/sub "data/odd:"
echo secret >home/.ssh/id
echo shown >data/sub/f
echo odd >"data/odd:/f"
mkdir "home/odd:"
echo mine >"home/odd:/f"
cd p || bail 'no workspace'

prints '--ro shows a directory at another path' shown \
	run -q --ro "$data/sub:/there" cat /there/f
check_fails 'its own path shows nothing then' \
	run -q --ro "$data/sub:/there" cat "$data/sub/f"
check_fails 'nothing can be written at the other path' \
	run -q --ro "$data/sub:/there" touch /there/new
prints '--ro shows a single file at another path' shown \
	run -q --ro "$data/sub/f:/one" cat /one
prints 'a path of the home directory can be the place' shown \
	run -q --ro "$data/sub:$HOME/there" sh -c 'cat ~/there/f'
prints 'a relative directory is one of the caller' shown \
	run -q --ro ../data/sub:/there cat /there/f
prints 'a path that is there as a whole is no pair' odd \
	run -q --ro "$data/odd:/f" cat "$data/odd:/f"
says 'a pair whose directory is missing is refused' 125 \
	"holdback: \[2\] option '--ro': cannot find *" run --ro "$data/none:/there" true
says 'a place in the workspace is refused' 125 \
	"holdback: \[2\] option '--ro': the view has its own files at *fix: choose another path inside" \
	run --ro "$data/sub:$work/p/x" true
for place in / /proc/x /tmp /usr/share/x "$HOME" "$work"; do
	check_exit "the place $place is refused" 125 run --ro "$data/sub:$place" true
done
for dir in "$HOME" "$HOME/.ssh" /etc / "$XDG_STATE_HOME"; do
	mkdir -p "$XDG_STATE_HOME"
	check_exit "$dir is not shown at another path, past what hides it" 125 \
		run --ro "$dir:/there" true
done
for dir in /proc /proc/self /sys /sys/kernel; do
	says "$dir of the host is not shown at another path" 125 \
		"holdback: \[2\] option '--ro': the host's * is not put into the view*" \
		run --ro "$dir:/there" true
done
# Of holdback's own: the doors of sessions, and stores that lie on other file systems.
mkdir -m 700 "$work/rt" "$work/rt/other"
ln -s rt "$work/rt-link"
for dir in rt rt-link rt/holdback; do
	mkdir -p "$work/rt/holdback"
	XDG_RUNTIME_DIR="$work/rt-link" says "$dir, which has the doors, is refused" 125 \
		'*has files that are hidden*fix: leave the second path out*' \
		run --ro "$work/$dir:/there" true
done
rmdir "$work/rt/holdback"
XDG_RUNTIME_DIR="$work/rt" check_exit 'doors that are made later count' 125 \
	run --ro "$work/rt:/there" true
XDG_RUNTIME_DIR="$work/rt" check 'what lies beside the doors is shown' \
	run -q --ro "$work/rt/other:/there" ls /there
berth=$work/disk/deep/.holdback
mkdir -p "$berth/s" "$XDG_STATE_HOME/holdback/berths"
check 'a directory without a store is shown' run -q --ro "$work/disk:/there" ls /there/deep
ln -s "$berth" "$XDG_STATE_HOME/holdback/berths/$(echo x | sha256sum | cut -c 1-64)"
for dir in disk disk/deep disk/deep/.holdback disk/deep/.holdback/s; do
	says "$dir, of a store of sessions, is refused" 125 \
		'*has files that are hidden*fix: leave the second path out*' \
		run --ro "$work/$dir:/there" true
done
rm -r "$work/disk"
"$HB_BIN" run -q -s kept --ro "$data/sub:/there" sh -c 'echo 1 >f'
prints 'a session remembers the pair' shown \
	"$HB_BIN" exec @kept -- cat /there/f
"$HB_BIN" cleanup -y @kept >/dev/null 2>&1

# Lists in variables.
HOLDBACK_RO="$data/sub:$data/odd\\:" prints 'F13 a variable has paths with colons between' \
	"shown
odd" run -q cat "$data/sub/f" "$data/odd:/f"
HOLDBACK_RO="$data/sub\\:/there" prints 'a backslash keeps a colon in a variable' \
	shown run -q cat /there/f
HOLDBACK_RO="$data/odd:/f" prints 'a value that is there as a whole is one path' \
	odd run -q cat "$data/odd:/f"
HOLDBACK_RO='~/odd:/f' prints 'a value in the home directory can be one path' \
	mine run -q cat "$HOME/odd:/f"
HOLDBACK_RO='../data/odd:/f' prints 'a value from the directory of the call can be one path' \
	odd run -q cat "$data/odd:/f"
mkdir -p "a:$PWD"
echo secret | tee a b "a:$PWD/b" >/dev/null
HOLDBACK_HIDE="$PWD/a:$PWD/b" prints 'what is hidden is hidden as a whole and in parts' '' \
	run -q sh -c 'cat a b "a:$PWD/b" 2>/dev/null; :'
rm -r a b a:
HOLDBACK_RO="$data/sub::$work" says 'an empty path in a variable is refused' 125 \
	"holdback: \[3\] variable 'HOLDBACK_RO': a path is empty*fix: *" run touch ran
is 'nothing ran' "$(ls)" ''
done_testing
