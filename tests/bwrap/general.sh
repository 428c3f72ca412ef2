#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The words of the command line: --help --version --args --argv0 --level-prefix.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

status=0
out=$("$HB_BWRAP" --help 2>err) || status=$?
is '--help succeeds' "$status" 0
is '--help says nothing on stderr' "$(cat err)" ''
is '--help begins with the usage' "$(echo "$out" | head -n 1)" \
	"usage: $HB_BWRAP [OPTIONS...] [--] COMMAND [ARGS...]"
is '--help lists 67 options' "$(echo "$out" | grep -c '^    --[a-z]')" 67
is '--help ends the parse' "$("$HB_BWRAP" --help --no-such | head -n 1)" \
	"usage: $HB_BWRAP [OPTIONS...] [--] COMMAND [ARGS...]"

is '--version' "$("$HB_BWRAP" --version)" 'bubblewrap 0.11.1'
is '--version among others' \
	"$("$HB_BWRAP" --unshare-pid --version --no-such)" 'bubblewrap 0.11.1'

for words in '' '--' '--unshare-pid'; do
	status=0
	# shellcheck disable=SC2086 # words
	out=$("$HB_BWRAP" $words 2>err) || status=$?
	is "no command in '$words': exit status" "$status" 1
	is "no command in '$words': nothing on stdout" "$out" ''
	is "no command in '$words': usage" "$(head -n 1 err)" \
		"usage: $HB_BWRAP [OPTIONS...] [--] COMMAND [ARGS...]"
done

printf -- '--dir\0/mnt/a b\0--setenv\0X\0\0--symlink\0t\0/mnt/link\0false' >args
sees '--args puts options in its place' "a b link t." \
	--args 9 --chdir /mnt sh -c \
	'echo * "$(readlink link)${X-unset}."' 9<args
sees '--args closes its descriptor' gone \
	--args 9 sh -c 'test -e /proc/self/fd/9 || echo gone' 9<args
printf -- '--dir\0/mnt/b\0' >again
sees '--args may be repeated' 'a b b link' --args 9 --args 8 --chdir /mnt \
	sh -c 'echo *' 9<args 8<again
sees '--args without a word' ok --args 9 echo ok 9</dev/null

is '--argv0' "$(box --argv0 other cat /proc/self/cmdline | tr '\0' '|')" \
	'other|/proc/self/cmdline|'
is 'without --argv0' "$(box cat /proc/self/cmdline | tr '\0' '|')" \
	'cat|/proc/self/cmdline|'

sees '-- ends the options' '--help' -- printf %s --help
sees 'options end at the command' '--dir x' echo --dir x

is '--level-prefix on errors' "$("$HB_BWRAP" --level-prefix --no-such 2>&1)" \
	'<3>bwrap: Unknown option --no-such'
is '--level-prefix on warnings' \
	"$(box --level-prefix --chdir /etc --chdir / pwd 2>&1 >/dev/null)" \
	'<4>bwrap: Only the last --chdir option will take effect'
is '--level-prefix on what fails inside' \
	"$("$HB_BWRAP" --level-prefix --dir /x /no/such 2>&1)" \
	'<3>bwrap: execvp /no/such: No such file or directory'
is 'no prefix before --level-prefix' \
	"$(box --chdir /etc --chdir / --level-prefix pwd 2>&1 >/dev/null)" \
	'bwrap: Only the last --chdir option will take effect'
done_testing
