#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# The rules of a network by name, without a box: what options and files may say,
# what `net list` and `why HOST` answer, and what `net allow --keep` writes.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
conf=$HOME/.config/holdback
mkdir project && cd project || bail 'no directory'

# listed WORDS...: the rules of a run with these options.
listed() {
	"$HB_BIN" net list -- run "$@" -- true | tr -s ' '
}

# why WORDS...: the answer, in one line.
why() {
	"$HB_BIN" why "$@" | tr '\n' ' ' | tr -s ' '
}

# Options.
is 'without an option there is no network' "$(listed)" 'net = none'
is 'a host that is allowed makes a network by name' "$(listed --allow a.example)" \
	"allow = a.example # option '--allow'${nl}net = allow"
like 'a group is listed by its hosts, with those where anybody can post' \
	"$(listed --allow @github)" \
	"allow = github.com # option '--allow', @github, uploads possible*codeload.github.com # option '--allow', @github${nl}*net = allow"
like 'strict leaves the open groups of the profile out' \
	"$("$HB_BIN" net list -- run --net strict claude | grep -c 'uploads possible')" 0
like 'allow has the list of the profile' \
	"$("$HB_BIN" net list -- run --net allow claude | tr -s ' ')" \
	"allow = api.anthropic.com # profile 'claude' (built in), line *@github*@npm*net = allow"
like 'a base URL in a variable adds its host' \
	"$(ANTHROPIC_BASE_URL=https://llm.corp:8443/v1 "$HB_BIN" net list -- run --net allow claude)" \
	'*allow = llm.corp:8443=private*'
like 'a region in a variable is a part of a name' \
	"$(AWS_REGION=eu-west-1 "$HB_BIN" net list -- run --net allow claude)" \
	'*allow = bedrock-runtime.eu-west-1.amazonaws.com*'

# Bad input.
for bad in 'a..b' '*' '*.com' 'a.b:0' 'a.b:99999' 'https://a.b' '127.0.0.1' localhost '--x' \
	'[::1' 'a.b=public' '@nothing' '@' '$' "$(printf 'a%.0s' $(seq 254)).b"; do
	says "--allow refuses '$(printf %.20s "$bad")'" 125 "holdback: \[2\] option '--allow': *fix: *" \
		run "--allow=$bad" true
done
says '--port refuses a word' 125 "holdback: \[2\] option '--port': 'web' is no port*fix: *" run --port web true
says '--net refuses another word' 125 'holdback: \[2\] *fix: *' run --net some true
for other in '--allow a.b' '--port 80' '--host-port 80' --net-ask; do
	# shellcheck disable=SC2086 # two words
	says "--net host and $other contradict each other" 125 \
		"holdback: \[2\] '--net host' and '--*' contradict each other${nl}fix: *--net allow" \
		run --net host $other true
done
says '--code stays without network' 125 \
	"holdback: \[2\] option '--code' runs without network, and '--allow' asks for one*" \
	run --code x.py --allow a.b

# Files.
mkdir -p "$conf"
printf 'allow = a.example\ndeny = b.example\n' >"$conf/config"
is 'a file of the user makes a network by name' "$(listed)" \
	"allow = a.example # $conf/config:1${nl}deny = b.example # $conf/config:2${nl}net = allow"
is 'an option is stronger than a file' "$("$HB_BIN" net list -- run --net none -- true)" 'net = none'
printf 'deny = a.example\n' >.holdback.conf
like 'a file in the workspace may deny a host' "$(why a.example)" \
	"a.example port 443: denied: a rule denies it a.example # $PWD/.holdback.conf:1 "
for line in 'allow = c.example' 'deny =' 'port = 80' 'host-port = 80' 'net-ask = yes' 'net-loose = yes' \
	'net = allow' 'net-proxy = none'; do
	echo "$line" >.holdback.conf
	says "a file in the workspace may not say '$line'" 125 'holdback: \[3\] *may only tighten*' run true
done
rm .holdback.conf
printf 'allow = a..b\n' >"$conf/config"
says 'a rule in a file is refused with its line' 125 \
	"holdback: \[3\] $conf/config:1: key 'allow': 'a..b' is no name of a host${nl}fix: *" run true
rm -rf "$HOME/.config"

# why HOST.
like 'why says that there is no network' "$(why a.example)" 'a.example port 443: none: * # *'
like 'why says that no rule names a host, and the option' "$(why a.example:22 run --allow b.example -- true)" \
	'a.example port 22: refused: no rule names it --allow a.example:22 would allow it '
like 'why names the rule and its group' "$(why GitHub.com run --allow @github -- true)" \
	"github.com port 443: allowed: * github.com of @github # option '--allow' "
like 'why knows addresses' "$(why 10.1.2.3 run --allow 10.0.0.0/8 -- true)" '10.1.2.3 port 443: allowed: *'
like 'a wide range does not open the metadata service' \
	"$(why 169.254.169.254:80 run --allow '168.0.0.0/6:*' -- true)" '*: refused: the rule is too wide *'
like 'why says that the network is the host'"'"'s' "$(why a.example run --net host -- true)" '*: host: *'
echo x >a.example
like 'a file of that name is a path' "$(why a.example)" "$PWD/a.example: held-back: *"
is 'why of a host is JSON' "$("$HB_BIN" why --json c.b.example run --allow '*.b.example:*' -- true | python3 -c '
import json, sys
print(json.load(sys.stdin)["what"])')" allowed

# Kept rules.
is 'net allow --keep writes a line, and makes the directory' \
	"$("$HB_BIN" net allow --keep a.example @npm | tr -s ' ')" \
	"allow = a.example # $conf/config${nl}allow = @npm # $conf/config"
is 'a rule is kept once' "$("$HB_BIN" net allow --keep a.example | tr -s ' ')" \
	"allow = a.example # was there: $conf/config"
printf 'quiet = no' >"$conf/config"
check 'a file without an end of line gets one' "$HB_BIN" net deny --keep b.example
is 'the file has both lines' "$(cat "$conf/config")" "quiet = no${nl}deny = b.example"
says 'a bad rule is not kept' 2 "holdback: 'a..b' is no name of a host${nl}fix: *" \
	"$HB_BIN" net allow --keep a..b
is 'the file is as before' "$(cat "$conf/config")" "quiet = no${nl}deny = b.example"
chmod g+w "$conf/config"
says 'a file that others can write is not written to' 3 'holdback: *another user can write this file*' \
	"$HB_BIN" net allow --keep c.example
rm -rf "$HOME/.config"

# The command itself.
like 'net list --groups has every group' "$("$HB_BIN" net list --groups)" '@github *@npm *@registries *'
is 'net list is JSON' "$("$HB_BIN" net list --json -- run --allow a.example --deny b.example -- true | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["net"], [(r["rule"], r["deny"]) for r in d["rules"]])')" \
	"allow [('a.example', False), ('b.example', True)]"
says 'a word that net does not know' 2 "holdback: 'lst' is nothing that net does${nl}fix: did you mean*list'?" \
	"$HB_BIN" net lst
says 'net allow without a rule' 2 "holdback: there is no rule${nl}fix: *" "$HB_BIN" net allow
is 'net log of a store without records is empty' "$("$HB_BIN" net log)" ''
done_testing
