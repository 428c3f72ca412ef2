#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The variables that an agent documents pass; keys of a whole account do not.
# With the host's network its proxies and certificates pass as well.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

HOME=$work/home
PATH=$HOME/.local/bin:$PATH
export HOME PATH
mkdir -p home/.local/bin p
for name in claude codex gemini opencode other; do
	printf '#!/bin/sh\nenv\n' >"home/.local/bin/$name"
	chmod +x "home/.local/bin/$name"
done
cd p || bail 'no directory'

# passes AGENT VARIABLE...: each has its value inside.
passes() {
	agent=$1
	shift
	for variable; do
		got=$(env "$variable=x1" "$HB_BIN" run --ephemeral -q -- "$agent" 2>/dev/null |
			grep -cx "$variable=x1")
		is "$agent gets $variable" "$got" 1
	done
}
passes claude ANTHROPIC_BASE_URL CLAUDE_CODE_USE_BEDROCK DISABLE_TELEMETRY AWS_REGION \
	AWS_BEARER_TOKEN_BEDROCK CLOUD_ML_REGION VERTEX_REGION_CLAUDE_4_0_SONNET BASH_DEFAULT_TIMEOUT_MS \
	MCP_TIMEOUT MAX_THINKING_TOKENS
passes codex OPENAI_API_KEY CODEX_HOME AZURE_OPENAI_API_KEY RUST_LOG
passes gemini GEMINI_MODEL GOOGLE_GEMINI_BASE_URL GOOGLE_VERTEX_BASE_URL GOOGLE_GENAI_USE_GCA \
	CODE_ASSIST_ENDPOINT
passes opencode OPENCODE_CONFIG_CONTENT GEMINI_API_KEY OPENROUTER_API_KEY GROQ_API_KEY

# lacks AGENT VARIABLE...: none of them is there.
lacks() {
	agent=$1
	shift
	for variable; do
		got=$(env "$variable=x1" "$HB_BIN" run --ephemeral -q -- "$agent" 2>/dev/null |
			grep -c "^$variable=")
		is "$agent does not get $variable" "$got" 0
	done
}
for agent in claude codex gemini opencode; do
	lacks "$agent" AWS_SECRET_ACCESS_KEY GITHUB_TOKEN NPM_TOKEN SSH_AUTH_SOCK
done
like 'claude does not update itself inside' \
	"$("$HB_BIN" run --ephemeral -q -- claude 2>/dev/null)" '*DISABLE_AUTOUPDATER=1*'
like 'opencode does not update itself inside' \
	"$("$HB_BIN" run --ephemeral -q -- opencode 2>/dev/null)" '*OPENCODE_DISABLE_AUTOUPDATE=1*'

# By name the relay speaks to the proxy, and the command knows nothing of it.
lacks claude HTTPS_PROXY https_proxy NO_PROXY
lacks other HTTPS_PROXY https_proxy
like 'a command with the network of the host gets the proxy' \
	"$(HTTPS_PROXY=http://p:1 "$HB_BIN" run --ephemeral -q --net host -- other 2>/dev/null)" \
	'*HTTPS_PROXY=http://p:1*'
for url in http://ann:x@p:1 ann:x@p:1 http://ann:x@p/a@b; do
	like "the password in $url is said" \
		"$(HTTPS_PROXY=$url "$HB_BIN" run --ephemeral --net host -- claude 2>&1 >/dev/null)" \
		'*the command can read the password in HTTPS_PROXY*'
done
for url in http://p:1 p:1 http://ann@p:1 http://p:1/a:b@c; do
	unlike "nothing is said of $url, which has no password" \
		"$(HTTPS_PROXY=$url "$HB_BIN" run --ephemeral --net host -- claude 2>&1 >/dev/null)" '*password*'
done

: >../home/ca.pem
: >ca.pem
like 'a certificate that the view has is known inside' \
	"$(SSL_CERT_FILE=$PWD/ca.pem "$HB_BIN" run --ephemeral -q -- claude 2>/dev/null)" \
	"*SSL_CERT_FILE=$PWD/ca.pem*"
unlike 'a certificate that the view lacks is not named inside' \
	"$(SSL_CERT_FILE=$HOME/ca.pem "$HB_BIN" run --ephemeral -q -- claude 2>/dev/null)" '*SSL_CERT_FILE*'
unlike 'without a network no certificate is named inside' \
	"$(SSL_CERT_FILE=$PWD/ca.pem "$HB_BIN" run --ephemeral -q -- other 2>/dev/null)" '*SSL_CERT_FILE*'

# Of a file of authorities only certificates are shown.  In two parts, so that
# this file has no key.
begin=-----BEGIN end=-----END
{
	echo "a note with SECRET"
	printf '%s CERTIFICATE-----\nQUJD\nREVG\n%s CERTIFICATE-----\n' $begin $end
	printf '%s PRIVATE KEY-----\nU0VDUkVU\n%s PRIVATE KEY-----\n' $begin $end
	printf '%s CERTIFICATE-----\nSECRET not base64\n%s CERTIFICATE-----\n' $begin $end
	printf '%s TRUSTED CERTIFICATE-----\r\nR0hJ\r\n%s TRUSTED CERTIFICATE-----\r\n' $begin $end
	printf '%s CERTIFICATE-----\nSkxN\n' $begin
} >../home/both.pem
echo SECRET >../home/both.key
printf '#!/bin/sh\ncat "$1"; ls -A ~; env\n' >../home/.local/bin/claude
both=$(for name in SSL_CERT_FILE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE PIP_CERT; do
	env $name="$HOME/both.pem" "$HB_BIN" run --ephemeral -q -- claude "$HOME/both.pem" 2>/dev/null
done)
for name in SSL_CERT_FILE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE PIP_CERT; do
	like "$name passes with a file of the home directory" "$both" "*$name=$HOME/both.pem*"
done
like 'certificates of a file are shown' "$both" '*QUJD*REVG*R0hJ*'
for word in SECRET U0VDUkVU SkxN 'PRIVATE KEY' both.key; do
	unlike "a file of certificates is shown without $word" "$both" "*$word*"
done
mkdir -p ../home/.ssh && cp ../home/both.pem ../home/.ssh/ca.pem
unlike 'a hidden file of certificates stays hidden' "$(SSL_CERT_FILE=$HOME/.ssh/ca.pem \
	"$HB_BIN" run --ephemeral -q -- claude "$HOME/.ssh/ca.pem" 2>/dev/null)" '*QUJD*'
for kind in fifo dir; do
	rm -rf ../home/odd
	case $kind in fifo) mkfifo ../home/odd ;; dir) mkdir ../home/odd ;; esac
	check "a $kind in the place of certificates stops nothing" \
		env SSL_CERT_FILE="$HOME/odd" "$HB_BIN" run --ephemeral -q --net host -- true
done

# Variables that look meant for the agent, and that it does not get.
script='#!/bin/sh
:'
for name in claude codex gemini other; do
	printf '%s\n' "$script" >"../home/.local/bin/$name"
done
# told AGENT OPTIONS...: the lines of the start that tell of variables.
told() {
	agent=$1
	shift
	on_terminal "run --ephemeral $* -- $agent" | grep -e 'passed on' || :
}
for name in ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY GOOGLE_APPLICATION_CREDENTIALS AWS_PROFILE; do
	unset "$name"
done
like 'one line tells of a variable that is dropped, and of the fix' \
	"$(GOOGLE_APPLICATION_CREDENTIALS=/x told gemini)" \
	'holdback: GOOGLE_APPLICATION_CREDENTIALS is not passed on; --env NAME passes it'
like 'of several at most three are named' \
	"$(AWS_PROFILE=x AWS_A=x AWS_B=x AWS_C=x told claude)" \
	'holdback: AWS_*, AWS_*, AWS_* and 1 more are not passed on; --env NAME passes one of them'
like 'a script is told of a variable that is dropped' \
	"$(AWS_PROFILE=x run claude 2>&1)" 'holdback: AWS_PROFILE is not passed on; --env NAME passes it'
is 'with --quiet nothing is told of it' "$(AWS_PROFILE=x run -q claude 2>&1)" ''
is 'nothing is told of a variable that passes' "$(ANTHROPIC_API_KEY=x told claude)" ''
is 'nothing is told of one that the user passes' "$(AWS_PROFILE=x told claude --env AWS_PROFILE)" ''
is 'nothing is told of the keys of another service' "$(OPENAI_API_KEY=x told claude)" ''
is 'nothing is told where no agent can work' "$(ANTHROPIC_API_KEY=x told other)" ''
like 'a command with the network may be an agent' "$(ANTHROPIC_API_KEY=x told other --net host)" \
	'*ANTHROPIC_API_KEY is not passed on*'
like 'a certificate that is not there is told' "$(SSL_CERT_FILE=$HOME/none.pem told claude)" \
	'*SSL_CERT_FILE is not passed on*'
unlike 'no value of a variable is told' \
	"$(GOOGLE_APPLICATION_CREDENTIALS=SECRET on_terminal 'run --ephemeral -- gemini')" '*SECRET*'
done_testing
