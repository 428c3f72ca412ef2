#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 setsid unshare
# timeout: 300
# Every attempt of the table `vectors`, from inside: of a box, of a box that may
# make namespaces (open), and of a box in that one (nested).  As root the kernel
# gives a command without capabilities no namespace that has root in it, so there
# the third must be refused.
# shellcheck disable=SC2016,SC2034,SC2154 # expanded inside; set in lib/box.sh
. "$HB_TESTS/lib/box.sh"

# The rows of the threat model that a box answers; the others are transactions'
# or belong to a network filter by name.
ids='V1 V2 V3 V4 V5 V6 V7 V8 V9 V10 V11 V12 V13 V14 V15 V16 V17 V18 V19 V20 V22
	V23 V37 V39'
table=$HB_TESTS/escape/vectors
tab=$(printf '\t')
elsewhere=$(mktemp -d)
home=$(mktemp -d)
HOME=$home
XDG_STATE_HOME=$elsewhere/state
export HOME XDG_STATE_HOME
unset XDG_CONFIG_HOME XDG_RUNTIME_DIR

# --- what there is to get at -------------------------------------------------

echo canary >"$elsewhere/secret"
ln -s "$elsewhere/secret" link
secrets='.ssh/id_ed25519 .aws/credentials .azure/token .config/gh/hosts.yml
	.config/gcloud/access_tokens.db .netrc .docker/config.json .git-credentials
	.bash_history .gnupg/secring.gpg .kube/config .npmrc .pypirc
	.cargo/credentials.toml .vault-token .mozilla/cookies'
secrets=$(echo $secrets)
for file in $secrets; do
	mkdir -p "$home/$(dirname "$file")"
	echo canary >"$home/$file"
done

# A service of the host: one socket with a name of no file, and two with one, of
# which one lies in the workspace; a segment, a queue and a file of shared
# memory.  It is also the process to aim at, and ends when its input does.
cat >service.py <<'PYTHON'
import ctypes, os, socket, sys
name, folder, key = sys.argv[1], sys.argv[2], int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
sockets = []
for place in ("\0" + name, folder + "/socket", name + ".socket"):
    sockets.append(socket.socket(socket.AF_UNIX))
    sockets[-1].bind(place)
    sockets[-1].listen()
segment = libc.shmget(key, 4096, 0o1666)
open("/dev/shm/" + name, "w").close()
queue = libc.mq_open(("/" + name).encode(), os.O_RDONLY | os.O_CREAT, 0o666, None)
if segment < 0 or queue < 0:
    sys.exit("no segment or no queue")
open("up", "w").close()
sys.stdin.read()
libc.shmctl(segment, 0, None)
libc.mq_unlink(("/" + name).encode())
os.unlink("/dev/shm/" + name)
PYTHON
name=hb-$$
key=$((0x68620000 + $$ % 65536))
mkfifo go
python3 service.py "$name" "$elsewhere" "$key" <go &
victim=$!
exec 9>go
wait_until test -e up || bail 'the service does not start'

# --- the places --------------------------------------------------------------

shown="--ro ${HB_BIN%/*} --ro $HB_LIBEXEC"

# words PLACE [OPTIONS]: what comes in front of a command there.
words() {
	case $1 in
	box) echo "$HB_BIN run ${2---ephemeral} -q --" ;;
	open) echo "$HB_BIN run ${2---ephemeral} -q --allow-nested $shown --" ;;
	nested) echo "$(words open "${2---ephemeral}") $(words box "${2---ephemeral}")" ;;
	esac
}

# at PLACE COMMAND...
at() {
	at_place=$1
	shift
	# shellcheck disable=SC2046 # words
	$(words "$at_place") "$@" 2>/dev/null
}

# --- attempts that take more than a line: PLACE -------------------------------

# What is said of files must not be what their names say.  An inner session keeps
# its store where the outer one lists nothing, so that it is asked inside.
escape_sequence_in_a_name() {
	sequence=$(printf 'a\033]52;c;aGI=\007b')
	cat >escape.sh <<-'SH'
		holdback=$1 sequence=$2
		shift 2
		"$@" touch "$sequence"
		for command in 'status @esc' 'diff @esc' ls; do
			$holdback $command
		done
		$holdback cleanup -y @esc
	SH
	around=
	place=$1
	if [ "$1" = nested ]; then
		around=$(words open)
		place=box
	fi
	# shellcheck disable=SC2046,SC2086 # words
	$around sh escape.sh "$HB_BIN" "$sequence" $(words "$place" '-s esc') \
		>told 2>&1
	if grep -q "$(printf '[\033\007]')" told; then
		echo raw
	elif [ ! -e "$sequence" ] && [ "$(grep -c 'a.033]52;c;aGI=' told)" -ge 2 ]; then
		echo quoted
	else
		cat told
	fi
	rm told escape.sh
}

directory_as_input() {
	echo original >"$elsewhere/file"
	tried=0
	at "$1" sh -c 'echo changed >/proc/self/fd/0/file
		cat /proc/self/fd/0/secret' <"$elsewhere" || tried=$?
	echo "$tried:$(cat "$elsewhere/file")"
}

file_as_input() {
	echo original >"$elsewhere/file"
	chmod 640 "$elsewhere/file"
	at "$1" sh -c 'cat; for name in /dev/stdin /proc/self/fd/0 /dev/fd/0; do
		echo changed >$name; chmod 777 $name; done' <"$elsewhere/file"
	echo "$(cat "$elsewhere/file") $(stat -c %a "$elsewhere/file")"
}

# In a session of its own, as it would reach this test as well.
signal_for_the_group() {
	cat >group.sh <<-'SH'
		trap 'exit 9' USR1
		"$@" sh -c 'trap : USR1; kill -USR1 0; exit 4'
	SH
	tried=0
	# shellcheck disable=SC2046 # words
	setsid -w sh group.sh $(words "$1") </dev/null 2>/dev/null || tried=$?
	echo "$tried"
}

abstract_socket_with_the_network() {
	# shellcheck disable=SC2046 # words
	$(words "$1" '--ephemeral --net host') ./probe connect "@$name" \
		2>/dev/null
}

# Nothing that a run writes is read as the next one's configuration.
configuration_that_is_planted() {
	# shellcheck disable=SC2046 # words
	$(words "$1" '-s planted') sh -c '
		for file in "$HOME/.config/holdback/config" .holdback.conf \
			"$HOME/.config/holdback/generic.conf" /etc/holdback; do
			mkdir -p "$(dirname "$file")"
			echo "net = host" >"$file"
		done' 2>/dev/null
	find "$home" "$work" /etc/holdback \( -path '*holdback/*' -o \
		-name .holdback.conf \) 2>/dev/null | grep . || echo absent
	"$HB_BIN" cleanup -y @planted >/dev/null 2>&1
}

supervisor_that_is_killed() {
	mkfifo "$elsewhere/stay"
	# shellcheck disable=SC2046 # words
	$(words "$1") sh -c './probe linger 3 deaf; echo up; cat' \
		<"$elsewhere/stay" >"$elsewhere/told" 2>/dev/null &
	killed=$!
	exec 8>"$elsewhere/stay"
	wait_until grep -q up "$elsewhere/told" || echo 'not up'
	all=$(below "$killed")
	kill -9 "$killed"
	wait "$killed" 2>/dev/null
	# shellcheck disable=SC2086 # words
	[ "$(echo $all | wc -w)" -gt 4 ] && wait_until are_gone $all && echo gone
	exec 8>&-
	rm "$elsewhere/stay" "$elsewhere/told"
}

# --- all attempts, at all places ----------------------------------------------

grep -v '^\(#\|$\)' "$table" >rows
{
	cat <<-SH
		elsewhere='$elsewhere' victim=$victim name=$name key=$key
		holdback='$HB_BIN' libexec='$HB_LIBEXEC' secrets='$secrets'
		is_inside=\${1:-true}
		attempt() {
			printf '%s\t' "\$1"
			eval "\$2" 2>/dev/null | tr -s ' \n' '__' | sed 's/_\$//'
			echo
		}
	SH
	number=0
	while read -r _ outside _ _ _ line; do
		number=$((number + 1))
		case $line in
		@*) continue ;;
		esac
		[ "$outside" != - ] || echo "\$is_inside &&"
		echo "attempt $number '$(printf %s "$line" | sed "s/'/'\\\\''/g")'"
	done <rows
} >attempts

# make_all PLACE: what came of each attempt, by its number, in $PLACE.got.
make_all() {
	at "$1" sh attempts </dev/null >"$1.got"
	number=0
	while read -r _ _ _ _ _ line; do
		number=$((number + 1))
		case $line in
		@*) printf '%s\t%s\n' "$number" \
			"$("${line#@}" "$1" </dev/null | tr -s ' \n' '__' | sed 's/_$//')" ;;
		esac
	done <rows >>"$1.got"
	at "$1" ./probe calls all >"$1.calls"
}

# fits GOT PATTERNS: with | between them.
fits() {
	fits_rest=$2
	while [ -n "$fits_rest" ]; do
		# shellcheck disable=SC2254 # a pattern
		case $1 in
		${fits_rest%%|*}) return 0 ;;
		esac
		case $fits_rest in
		*'|'*) fits_rest=${fits_rest#*|} ;;
		*) return 1 ;;
		esac
	done
}

# judge PLACE NUMBER ID WANT LINE
judge() {
	[ "$4" != - ] || return 0
	case $scopes:$5 in
	no:@signal_for* | no:@abstract*)
		skip "$3 $1: $5" 'landlock has no scopes'
		return 0
		;;
	esac
	got=$(sed -n "s/^$2$tab//p" "$1.got")
	if fits "$got" "$4"; then
		pass "$3 $1: $5"
	else
		fail "$3 $1: $5" "     got: $got
expected: $4"
	fi
}

judge_calls() {
	while read -r id call verdict; do
		case $1:$id:$verdict in
		*:EPERM | *:ENOSYS | open:V12:*) pass "$id $1: $call" ;;
		*) fail "$id $1: $call" "$verdict" ;;
		esac
	done <"$1.calls"
}

exec 7</etc/passwd 8</
export SECRET=canary AWS_SECRET_ACCESS_KEY=canary GITHUB_TOKEN=canary
export SSH_AUTH_SOCK=/x DISPLAY=:0 DBUS_SESSION_BUS_ADDRESS=unix:path=/x \
	WAYLAND_DISPLAY=w TMUX=/x,1,0 XAUTHORITY=/x VSCODE_IPC_HOOK=/x
sh attempts false </dev/null 9>&- >outside.got
./probe calls >outside.calls
make_all box
make_all open
if [ "$HB_MODE" != root ]; then
	make_all nested
fi
exec 7<&- 8<&-

scopes=no
[ "$(landlock_version)" -lt 6 ] || scopes=yes
number=0
while read -r id outside box open nested line; do
	number=$((number + 1))
	[ "$open" != = ] || open=$box
	[ "$nested" != = ] || nested=$open
	judge outside "$number" "$id" "$outside" "$line"
	judge box "$number" "$id" "$box" "$line"
	judge open "$number" "$id" "$open" "$line"
	[ "$HB_MODE" = root ] || judge nested "$number" "$id" "$nested" "$line"
done <rows
judge_calls box
judge_calls open
if [ "$HB_MODE" = root ]; then
	stopped 'as root a box in a box is refused, with the reason' \
		'[[]6]*root*capabilities*' "$HB_BIN" run --ephemeral -q \
		--allow-nested $shown -- "$HB_BIN" run --ephemeral -q -- echo ran
else
	judge_calls nested
	is 'control: in an open box namespaces can be made and mounts in them' \
		"$(at open unshare -Urm sh -c \
			'mount -t tmpfs none /opt && echo mounted')" mounted
	is 'every call was tried in the inner box' "$(wc -l <nested.calls)" \
		"$(wc -l <box.calls)"
fi
is 'every call was tried' "$(wc -l <box.calls)" "$(($(wc -l <outside.calls) + 3))"
# What the kernel would not refuse by itself is what shows that the filter did.
if [ "$(grep -cvE ' (EPERM|ENOSYS)$' outside.calls)" -gt 35 ]; then
	pass 'control: outside most calls get further'
else
	fail 'control: outside most calls get further' "$(cat outside.calls)"
fi
missing=
for id in $ids; do
	cut -d ' ' -f 1 rows box.calls | grep -qx "$id" || missing="$missing $id"
done
is 'the table has every row of the threat model' "$missing" ''

exec 9>&-
wait "$victim"
rm -r "$elsewhere" "$home"
done_testing
