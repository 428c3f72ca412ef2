#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 curl
#
# A network by name in a session: the lines at the start and at the end, rules
# that are added while it runs, and that a joined command, a second run, a fork
# and a session of `create` have the same rules.  Names that are refused need no
# internet.
# shellcheck disable=SC2016,SC2086,SC2154 # expanded inside; a command; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

mkdir project && cd project || bail 'no directory'
state=$work/state
mkdir "$state" && export XDG_STATE_HOME="$state"
get='curl -sS -m 20'
alert='*access denied*'
refused='holdback: net: 1 host was refused: no.example:443 (1); to allow: --allow no.example'

# The lines of a run.
like 'the end of a run names the refused hosts, and the options' \
	"$(run --allow a.example -- sh -c "$get https://no.example; $get http://no.example:81; $get http://10.9.8.7:82" 2>&1)" \
	'*net: 3 hosts were refused: no.example:443 (1), no.example:81 (1), 10.9.8.7:82 (1); to allow: --allow no.example --allow no.example:81 --allow 10.9.8.7:82'
unlike 'a host of `deny` has no option that would help' \
	"$(run --allow a.example --deny no.example -- $get https://no.example 2>&1)" '*to allow*'
unlike 'a command with a network by name is not told that it had none' \
	"$(run --allow a.example -- sh -c "$get https://no.example; exit 1" 2>&1)" '*it had no network*'
is 'a quiet run says nothing about refusals' \
	"$(run -q --allow a.example -- sh -c "$get https://no.example 2>/dev/null; exit 0" 2>&1 | grep -c refused)" 0
like 'the start says how many names there are, how they are caught, and where uploads are possible' \
	"$(on_terminal 'run --ephemeral --allow @github -- true')" \
	'*net: 6 names, *ports*nf_tables* · uploads possible: @github*'
like 'the list of a profile is unverified, and says so' \
	"$(on_terminal 'run --ephemeral --profile codex -- true')" '*network: allow*net: *· list unverified · uploads*'
for agent in claude codex gemini opencode aider; do
	like "$agent has the network of its list by default" "$("$HB_BIN" net list "$agent" | tail -1)" 'net = allow'
done
like 'the network of the host is a weakening for an agent too' \
	"$(run --profile claude --net host -- true 2>&1)" "*weakened: the network is the host's*"
like 'a wildcard over a shared host is said' "$(run --allow '*.github.io' -- true 2>&1)" \
	'*net: \*.github.io allows strangers: anybody can have a name below github.io*'
like 'a variable that adds a port of this host is said' \
	"$(ANTHROPIC_BASE_URL=http://127.0.0.1:4999 run --profile claude -- true 2>&1)" \
	'*net: ANTHROPIC_BASE_URL leads to this host: --host-port 4999*'
check '--require runs where every port is caught or no rule needs all' run --require --allow a.example -- true

# Ports, between a server outside and one inside.
python3 - <<'END' >"$work/port" &
import http.server
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(s.server_port, flush=True)
s.handle_request()
END
server=$!
wait_until test -s "$work/port"
port=$(cat "$work/port")
check_fails 'a port of this host is not reached without --host-port' \
	run -q --allow a.example -- curl -s -m 5 "http://127.0.0.1:$port/"
check 'a port of this host is reached by --host-port' \
	run -q --host-port "$port" -- curl -sf -m 20 "http://127.0.0.1:$port/"
wait "$server"
free=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
says 'a port that is taken is refused before the command runs' 125 '*cannot listen on port*fix: --port OTHER:80' \
	sh -c 'python3 -c "
import socket, subprocess, sys
s = socket.create_server((\"127.0.0.1\", int(sys.argv[1])))
sys.exit(subprocess.call(sys.argv[2:]))" "$@"' sh "$free" "$HB_BIN" run --ephemeral --port "$free:80" -- touch ran

# The port of a login is open for its word alone.
mkdir -p "$work/bin"
printf '#!/bin/sh\ncase $1-$2 in login-) exec python3 -m http.server %s --bind 127.0.0.1 >/dev/null 2>&1 ;; esac\n' \
	"$free" >"$work/bin/codex"
chmod +x "$work/bin/codex"
mkdir -p "$work/config/holdback" "$work/home"
printf 'login-port =\nlogin-port = login:%s\n' "$free" >"$work/config/holdback/codex.conf"
PATH=$work/bin:$PATH
export PATH XDG_CONFIG_HOME="$work/config" HOME="$work/home"
"$HB_BIN" run -s login --ro "$work/bin" -- codex login >"$work/login" 2>&1 &
box=$!
check 'a port of a login leads to the command that logs in' \
	wait_until curl -sf -o /dev/null -m 5 "http://127.0.0.1:$free/"
like 'a second command that logs in is told that the port is taken, and runs' \
	"$(run --ro "$work/bin" -- codex login quick 2>&1)" \
	"*net: port $free of this host is taken*log in with a code*"
unlike 'another word of the command opens no port' "$(run --ro "$work/bin" -- codex exec login 2>&1)" '*port*'
"$HB_BIN" stop @login >/dev/null
wait "$box"
rm "$work/config/holdback/codex.conf"

# A session that runs.
"$HB_BIN" run -q -s one --allow a.example --port "$free:8000" -- sh -c \
	'python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 & echo >ready; while [ ! -e stop ]; do sleep 0.1; done; kill $!' \
	>"$work/out" 2>&1 &
box=$!
wait_until sh -c '"$1" net list -s one >/dev/null 2>&1' sh "$HB_BIN"
is 'net list shows the rules of a session that runs' "$("$HB_BIN" net list -s one)" 'allow = a.example'
wait_until curl -sf -o /dev/null -m 5 "http://127.0.0.1:$free/"
is 'net allow adds a rule while it runs' "$("$HB_BIN" net allow b.example)" 'it counts for new connections'
check 'net deny adds a rule while it runs' "$HB_BIN" net deny -s one c.example
like 'both are listed, as added' "$("$HB_BIN" net list -s one | tr -s ' ')" \
	'*allow = b.example # added since the start*deny = c.example # added since the start'
says 'a bad rule changes nothing' 2 "holdback: 'a..b' is no name of a host*" "$HB_BIN" net allow a..b
second=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
check 'net port opens a port while it runs' "$HB_BIN" net port "$second:8000"
wait_until curl -sf -o /dev/null -m 5 "http://127.0.0.1:$second/"
like 'a joined command has the same rules' "$("$HB_BIN" exec @one -- $get https://no.example 2>&1)" "$alert"
"$HB_BIN" exec @one -- touch stop
wait "$box"
unlike 'a port is closed with its session' "$(curl -s -m 5 "http://127.0.0.1:$second/" && echo open)" '*open*'
says 'a session that does not run has no rules to change' 10 "holdback: nothing runs in session 'one'*--keep" \
	"$HB_BIN" net allow -s one d.example
like 'net log has the decision' "$("$HB_BIN" net log -s one)" '*one net deny no.example:443: no rule allows it'

# The record of the session.
like 'a second run in the session has its rules' "$("$HB_BIN" run -s one -- $get https://no.example 2>&1)" "$alert*$refused*"
check 'a fork is made' "$HB_BIN" fork @one two
like 'a fork has the rules of its session' "$("$HB_BIN" exec @two -- $get https://no.example 2>&1)" "$alert"
check 'a session is made by create' "$HB_BIN" create three --cow . --allow a.example
like 'exec in it has its rules' "$("$HB_BIN" exec @three -- $get https://no.example 2>&1)" "$alert"
check 'a session without a network is made' "$HB_BIN" create four --cow . --net none
"$HB_BIN" exec @four -- sleep 100 &
box=$!
wait_until sh -c '"$1" status @four | grep -q live' sh "$HB_BIN"
says 'its network has no rules' 10 "holdback: the network of session 'four' is not by name*fix: *" \
	"$HB_BIN" net list -s four
"$HB_BIN" stop @four >/dev/null
wait "$box"
"$HB_BIN" cleanup --all -y >/dev/null
done_testing
