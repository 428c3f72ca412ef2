# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# For tests/cli: a test starts in an empty directory, $work, which is removed.

# shellcheck disable=SC2016 # what runs inside expands there
. "$HB_TESTS/lib/tap.sh"

work=$(mktemp -d)
cd "$work" || bail "no directory to work in"
trap 'cd / && chmod -R u+rwx "$work" && rm -rf "$work"' EXIT

# run ARGUMENTS...: holdback run --ephemeral.
run() {
	"$HB_BIN" run --ephemeral "$@"
}

# on_terminal WORDS: a call of holdback whose output is a terminal.  script(1)
# types an end of file there, which the terminal may echo at any moment.
on_terminal() {
	script -qec "'$HB_BIN' $1" /dev/null </dev/null |
		sed 's/\r//g; s/\x00//g; s/\^@//g; s/\^D\x08\x08//g; s/\x04//g'
}

# says NAME STATUS WORDS COMMAND...: the command ends with that status, prints
# nothing on stdout and WORDS, a shell pattern, on stderr.
says() {
	says_name=$1
	says_status=$2
	says_words=$3
	shift 3
	says_got=0
	says_out=$("$@" 2>"$work/.stderr") || says_got=$?
	like "$says_name" "$says_got:$says_out:$(cat "$work/.stderr")" \
		"$says_status::$says_words"
	rm -f "$work/.stderr"
}

# prints NAME WANT COMMAND...: the command succeeds and prints just that, on
# stdout and stderr together.
prints() {
	prints_name=$1
	prints_want=$2
	shift 2
	prints_status=0
	prints_got=$("$@" 2>&1) || prints_status=$?
	is "$prints_name" "$prints_status:$prints_got" "0:$prints_want"
}
