#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# share/holdback/tool-proxy.sh: one tool call of an agent runtime.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
mkdir -p bin share/holdback project outside
ln -s "$HB_BIN" bin/holdback
cp "$HB_SOURCE/data/tool-proxy.sh" share/holdback/
proxy=$work/share/holdback/tool-proxy.sh
root=$work/project
echo old >project/file
export YAMTAM_SANDBOX_ROOTDIR="$root"

# call WORDS...: in the sandbox, by bash, as a runtime calls it.
call() {
	YAMTAM_SANDBOX_MODE=1 bash "$proxy" "$@"
}

is 'without a variable the command itself runs' \
	"$(bash "$proxy" sh -c 'echo "${HOLDBACK:-no}"')" no
is 'a value of 0 is no sandbox' \
	"$(YAMTAM_SANDBOX_MODE=0 YAMTAM_BWRAP_SANDBOX='' bash "$proxy" sh -c 'echo "${HOLDBACK:-no}"')" no
is 'X1 the variable puts a tool call into a sandbox' "$(call sh -c 'echo "${HOLDBACK:-no}"')" 1
is 'X3 the second variable does the same' \
	"$(YAMTAM_BWRAP_SANDBOX=1 bash "$proxy" sh -c 'echo "${HOLDBACK:-no}"')" 1
is 'X2 the project is the working directory' "$(call pwd)" "$root"
call sh -c 'echo new >file; echo more >made'
is 'X1 a tool call changes no real file' "$(cat project/file):$(ls project)" old:file
is 'a call by dash is the same' "$(YAMTAM_SANDBOX_MODE=1 dash "$proxy" pwd)" "$root"
is 'a call by its own name is the same' "$(YAMTAM_SANDBOX_MODE=1 "$proxy" pwd)" "$root"

for word in 'a;b' "a${nl}b" '../..' 'https://x.example/?a=1&b=2' '$(touch x)' '`touch x`' \
	'"' "'" '\' '*' '-s' '--' '' ' two  blanks '; do
	is "the word '$word' arrives as it is" \
		"$(call printf '<%s>' "$word" end; echo .)" "<$word><end>."
done
is 'the words ran nothing' "$(ls project)" file
is 'the status is that of the command' "$(call sh -c 'exit 42'; echo $?)" 42
is 'standard input reaches the command' "$(echo in | call cat)" in

export YAMTAM_SANDBOX_WRITEDIR=out/deep
call sh -c 'echo real >out/deep/result; echo held >file'
is 'X2 writes in the writable directory are real' "$(cat project/out/deep/result)" real
is 'X2 writes beside it are not' "$(cat project/file)" old
for bad in .. ../x a/../../x /tmp a/..; do
	YAMTAM_SANDBOX_WRITEDIR=$bad
	says "the writable directory '$bad' is refused" 4 '*leads out of the project: nothing was run' \
		call touch file2
done
ln -s "$work/outside" project/link
for bad in link link/new; do
	YAMTAM_SANDBOX_WRITEDIR=$bad
	says "a link in the writable directory '$bad' is refused" 4 '*has a link in it: nothing was run' \
		call touch link/new
done
is 'a link led to no new directory outside' "$(ls outside)" ''
YAMTAM_SANDBOX_WRITEDIR='two words'
call sh -c 'echo real >"two words/f"'
is 'a writable directory with a blank is made' "$(cat 'project/two words/f')" real
unset YAMTAM_SANDBOX_WRITEDIR

says 'no command at all is 4' 4 '*there is no command to run' call
says 'an empty command is 4' 4 '*there is no command to run' call ''
says 'a switch that is no number runs nothing' 4 '*YAMTAM_SANDBOX_MODE is neither 0 nor 1*' \
	env YAMTAM_SANDBOX_MODE=yes bash "$proxy" touch file3
says 'a project that is not there runs nothing' 4 '*ROOTDIR is no directory*' \
	env YAMTAM_SANDBOX_ROOTDIR="$work/absent" YAMTAM_SANDBOX_MODE=1 bash "$proxy" touch file3
ln -s project linked
is 'a project by a link is the project' \
	"$(YAMTAM_SANDBOX_ROOTDIR=$work/linked call sh -c 'cat file; pwd -P')" "old$nl$root"
is 'a command that is not there is 127' "$(call no-such-program 2>/dev/null; echo $?)" 127

# No sandbox can be had: nothing runs.
cat >bin/no-sandbox <<'END'
#!/bin/sh
exit 125
END
chmod +x bin/no-sandbox
rm bin/holdback
ln -s no-sandbox bin/holdback
is 'a sandbox that cannot be had is 6' "$(call touch "$work/outside/ran"; echo $?)" 6
rm bin/holdback
is 'without holdback it is 6' \
	"$(YAMTAM_SANDBOX_MODE=1 PATH=/usr/bin:/bin bash "$proxy" touch "$work/outside/ran" 2>/dev/null; echo $?)" 6
is 'the command ran in neither case' "$(ls outside)" ''
cat >bin/holdback <<'END'
#!/bin/sh
printf '%s ' "$@"
END
chmod +x bin/holdback
is 'STRICT=0 allows a weaker sandbox, and no less' \
	"$(YAMTAM_SANDBOX_STRICT=0 call true)" "run -q -C $root --allow-degraded --ephemeral -- true "
is 'STRICT=1 is the default' "$(YAMTAM_SANDBOX_STRICT=1 call true)" "$(call true)"
is 'a session keeps the changes' "$(HOLDBACK_SESSION=s call true)" "run -q -C $root -s s -- true "
is 'nothing was written to the project' "$(cd project && ls)" "file${nl}link${nl}out${nl}two words"
done_testing
