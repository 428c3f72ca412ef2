#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: bash getent
#
# A command that fails for want of the network is told that there was none.  A
# command that did not look for it is not.
# shellcheck disable=SC2154 # set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

XDG_STATE_HOME=$work/state
export XDG_STATE_HOME
line='*the command failed, and it had no network (--allow HOST, if it needs one)*'

# ends NAME LIKE SCRIPT OPTION...: all that is said of a script.
ends() {
	ends_name=$1
	ends_want=$2
	ends_script=$3
	shift 3
	ends_said=$("$HB_BIN" run "$@" -- bash -c "$ends_script" 2>&1)
	case $ends_want in
	told) like "$ends_name" "$ends_said" "$line" ;;
	*) unlike "$ends_name" "$ends_said" '*network*' ;;
	esac
}

far='exec 3<>/dev/tcp/192.0.2.1/80'
far6='exec 3<>/dev/tcp/2001:db8::1/80'
name='getent hosts holdback.example'
ends 'a far address is missed' told "$far; exit 1" --ephemeral
if [ -e /proc/net/if_inet6 ]; then
	ends 'a far address of the other protocol is missed' told "$far6; exit 1" --ephemeral
else
	skip 'a far address of the other protocol is missed' 'no IPv6 here'
fi
ends 'a name is missed' told "$name || exit 1" --ephemeral
ends 'the last process may be another' told "($name); sh -c 'exit 3'" --ephemeral
ends 'a command that a signal ended has failed' told "$far; kill -TERM \$\$" --ephemeral
ends 'in a session' told "$far; echo >new; exit 1" -s net
ends 'in the real directory' told "$far; exit 1" --direct
ends 'a command that succeeds hears nothing' silent "$far; exit 0" --ephemeral
ends 'a command that did not look for the network hears nothing' silent 'exit 1' --ephemeral
ends 'a closed port of the loopback is no network' silent 'exec 3<>/dev/tcp/127.0.0.1/9; exit 1' --ephemeral
ends 'a quiet run says nothing' silent "$far; exit 1" --ephemeral -q
unlike 'with the network of the host nothing is missed' \
	"$("$HB_BIN" run --ephemeral --net host -- bash -c "$far6; exit 1" 2>&1)" "$line"
like 'exec says it as well' "$("$HB_BIN" exec @net -- bash -c "$far; exit 1" 2>&1)" "$line"

# A command that joins: what others in the box missed is not its own.
"$HB_BIN" keep @net &
keep=$!
wait_until sh -c '"$1" ls | grep -q "^net  *live "' sh "$HB_BIN" || bail 'the session is not live'
like 'a command that joined is told' "$("$HB_BIN" exec @net -- bash -c "$far; exit 1" 2>&1)" "$line"
unlike 'a command that joined is not told of the misses of another' \
	"$("$HB_BIN" exec @net -- bash -c 'exit 1' 2>&1)" '*network*'
unlike 'a command that joined and succeeds hears nothing' \
	"$("$HB_BIN" exec @net -- bash -c "$far; exit 0" 2>&1)" '*holdback*'
kill "$keep"
wait "$keep"
"$HB_BIN" cleanup -y @net >/dev/null
done_testing
