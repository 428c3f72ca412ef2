#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Profiles and configuration files: who wins, what is refused, and that every
# value tells where it came from.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
conf=$HOME/.config/holdback
mkdir -p "$conf"

# value KEY WORDS...: what `holdback config WORDS` has for the key.
value() {
	value_key=$1
	shift
	"$HB_BIN" config "$@" | sed -n "s/^$value_key = //p" | tr -s ' '
}

# Options and keys come from one table.
keys() {
	sed -n 's/^	ROW([A-Z_]*, "\([a-z-]*\)", .*/\1/p' \
		"$HB_SOURCE/src/plan/keys.h" | sort
}
is 'every key is an option of run, and every option a key but those of the call' \
	"$(keys)" \
	"$("$HB_BIN" help --list | awk -F '\t' '$1 == "run" && $2 ~ /^--/ {
		print substr($2, 3) }' | grep -vx 'continue\|directory\|json\|json-fd' | sort)"

# The order.
is 'a default' "$(value net)" "none # profile 'generic' (built in), line 2"
is 'the profile of a command' "$(value net claude)" \
	"allow # profile 'claude' (built in), line 2"
is 'found by the last part of its name' "$(value net /opt/x/claude)" \
	"allow # profile 'claude' (built in), line 2"
for name in ./claude "$PWD/claude" "$PWD/x/../claude" ../"${PWD##*/}"/claude; do
	like "what the workspace has is not found by its name: $name" \
		"$(value net "$name")" 'none # *'
done
evil=$(mktemp -d)
like 'what lies in a --cow directory is not found by its name' "$(value net run --cow "$evil" \
	"$evil/claude")" 'none # *'
rmdir "$evil"
# By PATH likewise: the directory there, a link to it, or a link in it.
mkdir -p p/bin p/x tools "$HOME/bin"
cd p || bail 'no directory'
ln -s bin bin-link
ln -s "$PWD/bin" ../outside
printf '#!/bin/sh\necho "$CLAUDE_KEY."\n' >../tools/claude
chmod +x ../tools/claude
for first in "$PWD/bin" bin "$PWD/x/../bin" "$PWD/bin-link" "$work/outside"; do
	for kind in file link; do
		rm -f bin/claude
		[ $kind = link ] || cp ../tools/claude bin/claude
		[ $kind = file ] || ln -s "$work/tools/claude" bin/claude
		like "a command in the workspace has no profile by PATH: a $kind in $first" \
			"$(PATH=$first:$PATH value net claude)" 'none # *'
	done
done
ln -s "$PWD/bin/claude" "$HOME/bin/claude"
like 'a link outside that leads through the workspace gives no profile' \
	"$(PATH=$HOME/bin:$PATH value net claude)" 'none # *'
is 'a command that lies elsewhere has its profile' \
	"$(PATH=$work/tools:$PATH value net claude)" \
	"allow # profile 'claude' (built in), line 2"
rm "$HOME/bin/claude" && cp ../tools/claude "$HOME/bin"
is 'a command of the home directory has its profile where that is the workspace' \
	"$(cd "$HOME" && PATH=$HOME/bin:$PATH value net claude)" \
	"allow # profile 'claude' (built in), line 2"
rm bin/claude && cp ../tools/claude bin
"$HB_BIN" create named --cow . --ro "$work/tools" >/dev/null
is 'exec: a command of the session gets no variables by its name' \
	"$(CLAUDE_KEY=key PATH=$PWD/bin:$PATH "$HB_BIN" exec @named -- claude)" .
"$HB_BIN" cleanup -y @named >/dev/null
"$HB_BIN" create named --profile claude --cow . --ro "$work/tools" >/dev/null
is 'exec: a session that was made with the profile passes its variables' "$(CLAUDE_KEY=key \
	PATH=$work/tools:$PATH "$HB_BIN" exec @named -- claude)" key.
"$HB_BIN" cleanup -y @named >/dev/null
cd .. || bail 'no directory'
rm -r p tools outside "${HOME:?}/bin" "$HOME/.local"
printf '# mine\n\nnet = host\nro = /usr/share\n' >"$conf/config"
is 'a file of the user' "$(value net)" "host # $conf/config:3"
printf 'net = none\nro = "/usr/lib"\n' >"$conf/make.conf"
is 'one for a command wins' "$(value net make)" "none # $conf/make.conf:1"
is 'a file for one command does not count for another' "$(value net true)" "host # $conf/config:3"
is 'lists grow' "$(value ro make)" \
	"/usr/share # $conf/config:4${nl}/usr/lib # $conf/make.conf:2"
is 'variables win over files' "$(HOLDBACK_NET=host value net make)" \
	"host # variable 'HOLDBACK_NET'"
is 'options win over variables' \
	"$(HOLDBACK_NET=host value net run --net none -- make)" \
	"none # option '--net'"
is '--profile' "$(value net run --profile make -- cat)" \
	"none # $conf/make.conf:1"
is 'HOLDBACK_PROFILE' "$(HOLDBACK_PROFILE=claude value env cat | grep CLAUDE)" \
	"CLAUDE_* # profile 'claude' (built in), line 4"
is 'XDG_CONFIG_HOME' "$(XDG_CONFIG_HOME=$work value net)" \
	"none # profile 'generic' (built in), line 2"
is 'JSON says the same' "$("$HB_BIN" config --json make | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["version"], [v for v in d["values"] if v["key"] == "net"])')" \
	"1 [{'key': 'net', 'value': 'none', 'source': 'user', 'file': '$conf/make.conf', 'line': 1}]"

# In force.
is 'a file is in force' "$(run readlink /proc/self/ns/net 2>/dev/null)" \
	"$(readlink /proc/self/ns/net)"
cp "$HB_PROBE" claude
printf 'env = MINE=1\nquiet = yes\n' >"$conf/config"
is 'a profile is in force, without a word' \
	"$(ANTHROPIC_X=key CODEX_X=key "$HB_BIN" --ephemeral --profile claude \
		sh -c 'echo $ANTHROPIC_X $CODEX_X $MINE; cat /etc/resolv.conf' 2>&1)" \
	"key 1${nl}nameserver 127.0.0.1"
printf 'show =\nshow = /usr\nshow = /bin\nshow = /lib\nshow = /lib64\n' \
	>"$conf/config"
check_fails 'an empty value empties a list' run cat /etc/hostname
check 'an emptied list leaves the other settings' run true

printf '' >"$conf/config"
like 'the line at the start says that an agent has a network by name' \
	"$(on_terminal '--ephemeral --profile claude ./claude limits')" \
	'holdback: ephemeral: * · network: allow · home hidden*'
mkdir -p "$HOME/.cargo/bin"
like 'the line at the start counts the tools' "$(on_terminal '--ephemeral true')" \
	'holdback: ephemeral: * · network: none · home hidden but for 1 tool'
rm -r "$HOME/.cargo"

# Profiles.
rm "$conf"/*
like 'profile lists them' "$("$HB_BIN" profile)" \
	"aider*base*claude*codex*gemini*generic*opencode*"
printf 'net = host\n' >"$conf/mine.conf"
like 'profile lists the profiles of the user' "$("$HB_BIN" profile)" "*mine	$conf/mine.conf"
like 'profile shows one' "$("$HB_BIN" profile claude | tr -s ' ')" \
	"*net = allow*env = ANTHROPIC_\\* # profile 'claude' (built in), line 3*"
is 'also of the user' "$("$HB_BIN" profile mine | tr -s ' ')" \
	"net = host # $conf/mine.conf:1"
check 'profile prints one of the user as JSON' sh -c '"$1" profile --json mine | python3 -m json.tool' \
	sh "$HB_BIN"
says 'profile of none' 3 \
	"holdback: there is no profile 'cluade'${nl}fix: did you mean 'claude'?" \
	"$HB_BIN" profile cluade
says '--profile of none' 125 \
	"holdback: \[3\] there is no profile 'no'${nl}fix: 'holdback profile'*" \
	run --profile no true
says '--profile of a path' 125 "holdback: \[3\] there is no profile '../x'*" \
	run --profile ../x true
rm "$conf"/*

# What is wrong stops the run, with the place.
wrong() {
	printf '%s' "$2" >"$conf/config"
	says "$1" 125 "holdback: \[3\] $3" run touch ran
	rm "$conf/config"
}
wrong 'an unknown key' "net = none${nl}allow-nestd = yes" \
	"$conf/config:2: unknown key 'allow-nestd'${nl}fix: did you mean 'allow-nested'?"
wrong 'a bad value' 'size = many' "$conf/config:1: key 'size': 'many' is not a number*"
wrong 'no value' 'net' "$conf/config:1: there is no '='"
wrong 'a path that is relative' 'ro = x' \
	"$conf/config:1: key 'ro': 'x' is neither absolute nor below '~/'"
wrong 'a path that is missing' 'ro = ~/none' \
	"$conf/config:1: key 'ro': cannot find '~/none': No such file*"
wrong 'bytes for a terminal' "$(printf 'x\033[2J = 1')" \
	"$conf/config:1: there is an unquoted control character"
echo 'net = none' >"$conf/config"
chmod 666 "$conf/config"
says 'a file that others can write' 125 \
	"holdback: \[3\] $conf/config: another user can write this file${nl}fix: *chmod go-w*" \
	run touch ran
rm "$conf/config"
mkfifo "$conf/config"
says 'a fifo' 125 "holdback: \[3\] $conf/config: *" run touch ran
rm "$conf/config"
HOLDBACK_NETT=none says 'an unknown variable' 125 \
	"holdback: \[3\] variable 'HOLDBACK_NETT': unknown key 'nett'${nl}fix: did you mean 'net'?" \
	run touch ran
says 'config says so as well' 3 \
	"holdback: variable 'HOLDBACK_NETT'*" env HOLDBACK_NETT=1 "$HB_BIN" config
is 'nothing ran' "$(ls)" claude

# A file in the workspace.
says_file() {
	printf '%s' "$2" >.holdback.conf
	says "$1" 125 "holdback: \[3\] $3" run touch ran
}
says_file 'a workspace cannot give itself the network' 'net = host' \
	"$work/.holdback.conf:1: key 'net': a file in the workspace may only tighten, not say 'host'${nl}fix: *"
says_file 'the workspace file cannot show files' 'ro = /home' "$work/.holdback.conf:1: key 'ro': a file*"
says_file 'an unknown key in the workspace file is refused' 'x = y' "$work/.holdback.conf:1: unknown key*"
printf 'net = none\nhide = keys\nhide = one\nsize = 64K\nno-ptrace = yes\n' \
	>.holdback.conf
mkdir keys && echo secret >keys/key && echo secret >one
check 'it takes the network away' \
	run --net host sh -c 'test "$(readlink /proc/self/ns/net)" != "$1"' sh \
	"$(readlink /proc/self/ns/net)"
is 'says where' "$(value net run --net host -- x)" \
	"none # $work/.holdback.conf:1"
check_fails 'hides a directory' run cat keys/key
check_fails 'the workspace file hides a file' run cat one
prints 'the rest is there' claude run sh -c 'ls | grep c'
check_fails 'makes less room' run sh -c 'head -c 100000 /dev/zero >x'
like 'the workspace file forbids ptrace' "$(run ./claude ptrace-child)" '*EPERM*'
echo 'net = none' >other
rm .holdback.conf && ln -s other .holdback.conf
says 'a link is not followed' 125 \
	"holdback: \[3\] cannot open '$work/.holdback.conf': *" run true
rm .holdback.conf && mkfifo .holdback.conf
says 'a fifo is not waited for' 125 \
	"holdback: \[3\] '$work/.holdback.conf' is no file" run true
rm .holdback.conf && head -c 70000 /dev/zero | tr '\0' '#' >.holdback.conf
says 'a file too large' 125 \
	"holdback: \[3\] $work/.holdback.conf: the file is too large" run true
rm .holdback.conf
check 'what is written inside does not count' run sh -c \
	'echo "net = host" >.holdback.conf && test -e .holdback.conf'
# The profile of claude makes its directory.
rm -r "${HOME:?}/.config" "$HOME/.claude"
done_testing
