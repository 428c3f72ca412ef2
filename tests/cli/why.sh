#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# holdback why says of a path what a run then does with it, and which line of
# which file decided; holdback caps looks from inside at what is left.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
mkdir project other && cd project || bail 'no directory'
echo x >file

# why WORDS...: the answer, in one line.
why() {
	"$HB_BIN" why "$@" | tr '\n' ' ' | tr -s ' '
}

like 'the workspace' "$(why file)" \
	"$work/project/file: held-back: *# the workspace "
like 'the system' "$(why /usr/bin)" \
	"/usr/bin: read-only: *show = /usr # profile 'base' (built in), line 7 "
if [ "$(readlink /bin)" = usr/bin ]; then
	like 'a link of the view is followed' "$(why /bin/sh)" \
		'/bin/sh -> /usr/bin/sh: read-only: *'
else
	like '/bin is not merged' "$(why /bin/sh)" '/bin/sh: read-only: *'
fi
like 'what nothing shows' "$(why "$work/other")" \
	"$work/other: *: *"
check_fails 'is not there' run ls "$work/other"
like 'a file of its own' "$(why /etc/passwd)" '/etc/passwd: own: *'
if [ -r /etc/shadow ]; then
	like 'a secret of the system' "$(why /etc/shadow)" '/etc/shadow: hidden: *'
else
	like 'a secret that this user may not read anyway' "$(why /etc/shadow)" \
		'/etc/shadow: unreadable: it is shown, and its mode does not let this user read it *'
	check_fails 'a secret that why calls unreadable cannot be read inside' run cat /etc/shadow
fi
like '/tmp' "$(why /tmp)" '/tmp: private: *'
mkdir -p "$HOME/.cargo/bin" "$HOME/.npm" "$HOME/.config/holdback"
like 'a tool' "$(why "$HOME/.cargo/bin/x")" \
	"*: read-only: *show = ~/.cargo/bin # profile 'base' (built in), line *"
like 'a cache' "$(why "$HOME/.npm/x")" '*: cache: *cache = ~/.npm # profile*'
like 'the home directory' "$(why "$HOME/.ssh")" \
	'*: private: *# the home directory, of which*'
like 'an option' "$(why ../other run --ro ../other -- true)" \
	"$work/other: read-only: *ro = ../other # option '--ro' "
like 'a weakening' "$(why ../other/x run --rw ../other -- true)" \
	"*/other/x: real: *rw = ../other # option '--rw' "
printf '\nhide = %s\n' "$work/project/file" >"$HOME/.config/holdback/make.conf"
like 'a line of a file, for that command' "$(why file make)" \
	"*: hidden: *hide = $work/project/file # $HOME/.config/holdback/make.conf:2 "
like 'not for others' "$(why file)" '*: held-back: *'
echo 'hide = file' >.holdback.conf
like 'a line of the workspace'"'"'s file' "$(why file)" \
	"*: hidden: *hide = file # $work/project/.holdback.conf:1 "
check_fails 'a file that why calls hidden cannot be read inside' run cat file
rm .holdback.conf
like '--at' "$(why file run --at /w -- true)" \
	"$work/project/file -> /w/file: held-back: *"
is 'as JSON' "$("$HB_BIN" why --json "$HOME/.npm" | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["version"], d["command"], d["what"], d["key"], d["value"], d["source"],
    d["file"], d["line"] > 0)')" '1 why cache cache ~/.npm built-in base True'
rm -r "$HOME/.cargo" "$HOME/.npm" "$HOME/.config"
like 'without a path the log is asked' "$("$HB_BIN" why)" '*refused*'
says 'an empty one' 2 "holdback: '\"\"' is not a path" "$HB_BIN" why ''

# What why says of a path is what happens to it.
for path in /usr/bin /etc/passwd /etc/hostname /etc/shadow /etc/ssh /tmp /srv \
	/run /proc/version /home file "$HOME" /var/lib /root /boot; do
	what=$(why "$path" | sed 's/^[^:]*: \([a-z-]*\):.*/\1/')
	seen=$(run sh -c 'if [ ! -e "$1" ]; then echo absent
		elif [ ! -r "$1" ]; then echo hidden
		elif [ -w "$1" ]; then echo writable
		else echo readable; fi' sh "$path")
	case $what:$seen in
	absent:absent | read-only:readable | read-only:absent | \
		own:readable | private:* | held-back:writable | \
		hidden:hidden | unreadable:hidden)
		pass "why and a run agree about $path"
		;;
	*) fail "why and a run agree about $path" "$what, but $seen" ;;
	esac
done

# caps
is 'all five sets are empty, and stay so' \
	"$("$HB_BIN" caps | tr -s ' ' | head -n 6)" \
	"ok inheritable 0000000000000000
ok permitted 0000000000000000
ok effective 0000000000000000
ok bounding 0000000000000000
ok ambient 0000000000000000
ok no-new-privs yes"
like 'a filter and a ruleset are in force' \
	"$("$HB_BIN" caps | tr -s ' ' | tail -n 2)" \
	"ok seccomp [1-9]* filter*${nl}ok landlock [1-9]* ruleset*, version *"
says 'an option behind the path is not passed over' 2 \
	"holdback: '--json' would not count there${nl}fix: *" \
	"$HB_BIN" why file --json
check_exit 'an option behind the command is not passed over' 2 "$HB_BIN" config make --net=host
check 'it works where nothing can be a workspace' \
	sh -c 'cd / && "$1" caps' sh "$HB_BIN"
is 'as JSON' "$("$HB_BIN" caps --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(len(d["checks"]), all(c["ok"] for c in d["checks"]))')" '8 True'
like 'outside there is more, and that is a failure' \
	"$("$HB_LIBEXEC/commands" caps --inside | tr -s ' '; echo)" \
	'*fail seccomp*'
done_testing
