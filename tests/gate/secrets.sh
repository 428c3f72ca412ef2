#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# What the gate finds is told by kind, file and line; nothing that is printed or
# kept beside the layers has a part of a secret.
. "$HB_TESTS/lib/txn.sh"

new_session 'echo old >config.py; echo old >plain'

# Drawn anew in each run; one secret a line, by the file that it goes to.
python3 - "$TMPDIR/drawn" <<-'END'
	import base64, random, string, sys
	letters = string.ascii_letters + string.digits
	def draw(n, of=letters):
	    return "".join(random.choice(of) for _ in range(n))
	key = base64.b64encode(random.randbytes(300)).decode()
	secrets = {
	    "aws": "AKIA" + draw(16, string.ascii_uppercase + "234567"),
	    "claude": "sk-ant-api03-" + draw(93),
	    "slack": "xoxb-" + draw(12, string.digits) + "-" + draw(24),
	    "guess": "a1B2c3D4" + draw(24) + "e5F6",
	    "key": "\\n".join(key[i:i + 64] for i in range(0, len(key), 64)),
	}
	with open(sys.argv[1], "w") as file:
	    for name, secret in secrets.items():
	        print(name, secret, file=file)
END
drawn() {
	sed -n "s/^$1 //p" "$TMPDIR/drawn"
}
in_box "printf 'x = 1\\nkey = \"%s\"\\n' '$(drawn aws)' >>config.py
	echo '$(drawn claude)' >.env
	printf '\\n\\n%s\\n' '$(drawn slack)' >notes
	echo 'password = \"$(drawn guess)\"' >plain
	printf -- '-----BEGIN PRIVATE KEY-----\\n$(drawn key)\\n' >server.key"

# said COMMAND...: what it prints, which is kept for the end.
said() {
	hb "$@" @s 2>&1 | tee -a "$TMPDIR/said"
}

# line PATH: what the gate says of it, without the reason.
line() {
	printf '%s\n' "$found" | sed -n "s/^\([a-z]*\): $1: .* \[\([a-z-]*\)\]$/\1 \2/p" |
		sort | tr '\n' ','
}

found=$(said gate)
is 'a key in a file that was there' "$(line config.py:3)" 'ask secret,'
is 'a token in a file whose name says so' "$(line .env)$(line .env:1)" \
	'ask secret-name,ask secret,'
is 'one further down' "$(line notes:3)" 'ask secret,'
is 'what may be one is said only' "$(line plain:1)" 'warn secret-guess,'
is 'a private key' "$(line server.key)$(line server.key:2)" 'ask secret-name,ask secret,'
like 'its kind is named' "$found" '*notes:3: *a Slack token*'

said gate --json >"$TMPDIR/json"
check 'the document names path, line and kind' python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))["findings"]
assert any(f["path"] == "notes" and f["line"] == 3 and f["rule"] == "secret"
           and "Slack" in f["detail"] for f in found), found' "$TMPDIR/json"
check_exit 'commit -y does not answer' 4 hb commit -y @s
for words in 'commit -y' 'commit -n' status 'status --json' 'diff --name-status'; do
	# shellcheck disable=SC2086 # words
	said $words >/dev/null
done
said commit -y --allow secret --allow secret-name >/dev/null
is 'what was allowed is committed' "$(cat "$project/.env")" "$(drawn claude)"
for words in status 'status --json' undo redo 'verify'; do
	# shellcheck disable=SC2086 # words
	said $words >/dev/null
done

# parts FILE: pieces of ten bytes of each secret that are in it.
cat >"$TMPDIR/parts.py" <<-'END'
	import sys
	pieces = set()
	for line in open(sys.argv[1]):
	    secret = line.split(" ", 1)[1].strip()
	    body = secret[secret.rfind("-", 0, 14) + 1:]
	    pieces |= {body[i:i + 10].encode() for i in range(len(body) - 9)}
	for path in sys.argv[2:]:
	    text = open(path, "rb").read()
	    for piece in pieces:
	        if piece in text:
	            print(path, piece.decode())
END
parts() {
	python3 "$TMPDIR/parts.py" "$TMPDIR/drawn" "$@" | head -n 5
}
unlike 'a piece would be found' "$(parts "$project/notes")" ''
is 'nothing that was said has a piece of one' "$(parts "$TMPDIR/said" "$TMPDIR/json")" ''
kept=$(find "$state/sessions/s" -maxdepth 1 -type f)
like 'the record is there' "$kept" '*/allowed*'
# shellcheck disable=SC2086 # a list of files
is 'nothing that is kept has a piece of a secret' "$(parts $kept)" ''
rm "$TMPDIR/drawn" "$TMPDIR/said" "$TMPDIR/json" "$TMPDIR/parts.py"
finish
