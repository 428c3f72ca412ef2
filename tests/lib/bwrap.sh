# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# For tests/bwrap: the front end under test, and how its effect is looked at
# from inside.  A test starts in an empty directory, $work, which is removed.

# shellcheck disable=SC2016 # what runs inside expands there
. "$HB_TESTS/lib/tap.sh"

work=$(mktemp -d)
cd "$work" || bail "no directory to work in"
trap 'cd / && chmod -R u+rwx "$work" && rm -rf "$work"' EXIT

# box ARGUMENTS...: the host read-only, and an empty /mnt to put things into.
# --dev, because a shell needs /dev/null and --ro-bind lets no device work.
box() {
	"$HB_BWRAP" --ro-bind / / --dev /dev --tmpfs /mnt "$@"
}

# sees NAME WANT ARGUMENTS...: the box succeeds and prints just that.
sees() {
	sees_name=$1
	sees_want=$2
	shift 2
	sees_status=0
	sees_got=$(box "$@" 2>&1) || sees_status=$?
	is "$sees_name" "$sees_status:$sees_got" "0:$sees_want"
}

# refuses NAME WORDS ARGUMENTS...: the front end prints nothing but this
# diagnostic, and ends with 1.
refuses() {
	refuses_name=$1
	refuses_want=$2
	shift 2
	refuses_status=0
	refuses_got=$("$HB_BWRAP" "$@" 2>&1) || refuses_status=$?
	is "$refuses_name" "$refuses_status:$refuses_got" "1:bwrap: $refuses_want"
}

# differs NAME GOT OTHER: something came out, and it is not the other.
differs() {
	if [ -n "$2" ] && [ "$2" != "$3" ]; then
		pass "$1"
	else
		fail "$1" "got: $2"
	fi
}

# mount_options DIR: for use inside: how the topmost mount on DIR is mounted.
# shellcheck disable=SC2034 # for those who source this
mount_options='mount_options() {
	while read -r _ _ _ _ dir options _; do
		[ "$dir" = "$1" ] && found=$options
	done </proc/self/mountinfo
	echo "$found"
}'

# has_option OPTIONS WORD
has_option() {
	case ",$1," in
	*",$2,"*) return 0 ;;
	*) return 1 ;;
	esac
}

# hold_namespace NAME UNSHARE-OPTIONS...: a process in new namespaces that stays
# until release_namespaces; $held is its pid.  To be used from $work.
hold_namespace() {
	hold_name=$1
	shift
	mkfifo "$hold_name.go"
	# The inner exec is what says that everything is set up.
	unshare "$@" sh -c 'echo up >"$1.up"; read -r _ <"$1.go"' sh \
		"$hold_name" &
	held_names="${held_names:-} $hold_name"
	# shellcheck disable=SC2034 # for those who source this
	held=$!
	wait_until test -s "$hold_name.up" || bail "unshare $* does not work"
}

# Nobody waits for them: process 1 of a pid namespace ends when all who joined it
# are reaped, and whoever adopts those does that in its own time.
release_namespaces() {
	for hold_name in ${held_names:-}; do
		echo >"$hold_name.go"
	done
	held_names=
}

# make_filter CALL ERRNO: a raw filter on stdout that refuses one system call.
make_filter() {
	python3 - "$@" <<'PYTHON'
import os, struct, sys
numbers = {
    "x86_64": {"uname": 63, "getpriority": 140},
    "aarch64": {"uname": 160, "getpriority": 141},
}
number = numbers[os.uname().machine][sys.argv[1]]
program = [
    (0x20, 0, 0, 0),  # load the number
    (0x15, 0, 1, number),
    (0x06, 0, 0, 0x00050000 | int(sys.argv[2])),
    (0x06, 0, 0, 0x7FFF0000),
]
for word in program:
    sys.stdout.buffer.write(struct.pack("=HBBI", *word))
PYTHON
}
