#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git openssl python3
#
# --git-token: git inside logs in to one host, and to no other.  (X8, Q3)
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

export XDG_STATE_HOME="$work/state" HOME="$work/home"
export GIT_CONFIG_NOSYSTEM=1
mkdir -p home p served
git init -q --bare served/r.git
python3 "$HB_TESTS/lib/git_server.py" "$work/served" right-token >server.log 2>&1 &
server=$!
trap 'kill $server; wait $server; cd / && chmod -R u+rwx "$work" && rm -rf "$work"' EXIT
wait_until test -e served/port || bail "no server: $(cat server.log)"
port=$(cat served/port)
url=https://localhost:$port/r.git
export GIT_SSL_CAINFO="$work/served/cert.pem"
export MY_TOKEN=right-token
cd p || bail 'no workspace'
git init -q .

# inside OPTIONS... -- COMMAND...: a run that reaches the server.
inside() {
	"$HB_BIN" run --ephemeral -q --host-port "$port" --ro "$GIT_SSL_CAINFO" \
		--env GIT_SSL_CAINFO "$@" 2>&1
}
story='set -e
	git clone -q "$1" c
	cd c
	git config user.name a; git config user.email a@example.org
	echo text >f; git add f; git commit -qm one
	git push -q origin HEAD:refs/heads/main
	git fetch -q origin main
	git rev-parse FETCH_HEAD'
got=$(inside --git-token "MY_TOKEN=localhost:$port" sh -c "$story" sh "$url")
is 'X8 clone, push and fetch over https work with --git-token' \
	"$(printf '%s\n' "$got" | tail -n 1)" "$(git -C ../served/r.git rev-parse main)"
like 'the start says that the command has the token' "$got" \
	"*weakened: MY_TOKEN for git at localhost:$port: the command can read and send this token*"

# fill HOST OPTIONS...: what git inside answers for that host.
fill() {
	fill_host=$1
	shift
	run -q "$@" sh -c 'printf "protocol=https\nhost=%s\n\n" "$1" |
		GIT_TERMINAL_PROMPT=0 git credential fill' sh "$fill_host" 2>/dev/null
}
like 'git has the token for the host' "$(fill localhost:1 --git-token MY_TOKEN=localhost:1)" \
	'*password=right-token'
is 'git has no token for another host' "$(fill other.example --git-token MY_TOKEN=localhost:1)" ''
is 'git has no token for another port' "$(fill localhost:2 --git-token MY_TOKEN=localhost:1)" ''
like 'without a host it is for github.com' "$(fill github.com --git-token MY_TOKEN)" \
	'*password=right-token'
is 'it has none by http' "$(run -q --git-token MY_TOKEN=localhost:1 sh -c '
	printf "protocol=http\nhost=localhost:1\n\n" |
		GIT_TERMINAL_PROMPT=0 git credential fill' 2>/dev/null)" ''
is 'without the option the variable does not pass' "$(run -q sh -c 'echo "${MY_TOKEN-none}"')" none
export OTHER=two
like 'two hosts have a token each' \
	"$(fill b.example --git-token MY_TOKEN=a.example --git-token OTHER=b.example)" '*password=two'
rm -f ../served/refused
MY_TOKEN=wrong
like 'a wrong token is an error of git' \
	"$(inside --git-token "MY_TOKEN=localhost:$port" sh -c 'GIT_TERMINAL_PROMPT=0 git ls-remote "$1"' \
		sh "$url")" '*Authentication failed*'
MY_TOKEN=right-token
check 'the server was asked' test -s ../served/refused
rm -f ../served/refused
like 'a token for the wrong host does not reach the server' \
	"$(inside --git-token MY_TOKEN=wrong.example sh -c 'GIT_TERMINAL_PROMPT=0 git ls-remote "$1"' \
		sh "$url")" '*could not read Username*'

# What cannot be meant.
says 'a token in the place of its name is refused, and not shown' 125 \
	"holdback: \[2\] option '--git-token': that is no name of a variable*fix: --git-token GITHUB_TOKEN, the name and not its value*" \
	run --git-token 'ghp_x;rm -rf /' touch ran
secret=0Zz19abcdefghijklmnopqrstuvwxyz0123
# refused NAME COMMAND...: for what it is, and without a word of it.
refused() {
	refused_name=$1
	shift
	refused_words=$("$@" 2>&1)
	is "$refused_name: the status" $? 125
	like "$refused_name: the words" "$refused_words" '*that is no name of a variable*fix: *'
	check_fails "$refused_name: the token is not shown" \
		sh -c 'case $1 in *"$2"*) ;; *) false ;; esac' sh "$refused_words" "$secret"
}
for begin in ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- glpat_; do
	refused "$begin as a name" run --git-token "$begin$secret" touch ran
	refused "$begin as a host" run --git-token "MY_TOKEN=$begin$secret" touch ran
done
refused 'a token that is set as a variable' env "ghp_$secret=x" \
	"$HB_BIN" run --ephemeral --git-token "ghp_$secret=localhost" touch ran
HOLDBACK_GIT_TOKEN=ghp_$secret refused 'a token in a variable' run touch ran
mkdir -p "$HOME/.config/holdback"
echo "git-token = ghp_$secret" >"$HOME/.config/holdback/config"
refused 'a token in a file' "$HB_BIN" run touch ran
check_exit 'no session is made with it' 3 "$HB_BIN" create s --cow .
rm "$HOME/.config/holdback/config"
is 'no file of ours has it' "$(grep -rl "$secret" "$work/state" 2>/dev/null)" ''
check_exit 'an empty name' 125 run --git-token '' touch ran
for host in 'a b' 'a/b' 'a"b' '-a' 'a:0' 'a:x' 'a:70000' ''; do
	check_exit "the host '$host' is refused" 125 run --git-token "MY_TOKEN=$host" touch ran
done
says 'a variable that is not set is refused' 125 \
	"holdback: \[2\] --git-token: the variable 'NOT_SET' is not set*fix: export NOT_SET" \
	run --git-token NOT_SET touch ran
says '--require refuses a token' 125 \
	"holdback: \[6\] --require: the command could read and send a token*" \
	run --require --git-token MY_TOKEN touch ran
echo 'git-token = MY_TOKEN' >.holdback.conf
check_exit 'no file in the workspace says it' 125 run touch ran
rm .holdback.conf
is 'nothing ran' "$(ls)" ''
check_fails 'the token is in no plan' sh -c \
	'"$HB_BIN" plan --git-token MY_TOKEN true | grep right-token'
done_testing
