#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --chdir --setenv --unsetenv --clearenv, and where the command starts.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

sees '--chdir' '/etc /etc' --chdir /etc sh -c 'echo "$(pwd -P) $PWD"'
sees '--chdir to what the options made' '/mnt/new' --dir /mnt/new \
	--chdir /mnt/new sh -c 'pwd -P'
refuses '--chdir to nothing' \
	"Can't chdir to /no/such: No such file or directory" \
	--ro-bind / / --chdir /no/such true
is '--chdir twice: the last' "$(box --chdir /etc --chdir /usr pwd 2>&1)" \
	'bwrap: Only the last --chdir option will take effect
/usr'

sees 'the old directory if it exists inside' "$work $work" \
	sh -c 'echo "$(pwd -P) $PWD"'
is '$HOME otherwise' \
	"$("$HB_BWRAP" --ro-bind / / --tmpfs "$work/.." --setenv HOME /usr \
		sh -c 'echo "$(pwd -P) $PWD"' 2>&1)" '/usr /usr'
is '/ at last' \
	"$("$HB_BWRAP" --ro-bind / / --tmpfs "$work/.." --setenv HOME /no/such \
		sh -c 'echo "$(pwd -P) $PWD"' 2>&1)" '/ /'

export OUTSIDE_A=outside OUTSIDE_B=outside
sees 'the environment is inherited' outside printenv OUTSIDE_A
sees '--setenv' 'new value' --setenv OUTSIDE_A 'new value' printenv OUTSIDE_A
sees '--setenv of a new name' 'x=y' --setenv OUTSIDE_C x=y printenv OUTSIDE_C
sees '--setenv to nothing' '' --setenv OUTSIDE_A '' printenv OUTSIDE_A
sees '--unsetenv' 'gone outside' --unsetenv OUTSIDE_A \
	sh -c 'echo "${OUTSIDE_A-gone} $OUTSIDE_B"'
is '--clearenv leaves PWD alone' "$(box --clearenv /usr/bin/env 2>&1)" \
	"PWD=$work"
is 'they act in order' \
	"$(box --setenv A 1 --clearenv --setenv B 2 --setenv C 3 --unsetenv C \
		/usr/bin/env 2>&1 | sort)" "B=2
PWD=$work"
sees 'PATH for the command is the new one' found --dir /mnt/bin \
	--symlink /bin/echo /mnt/bin/hb-test-tool --setenv PATH /mnt/bin \
	hb-test-tool found
refuses '--setenv of a bad name' 'setenv failed' --setenv A=B c true
refuses '--unsetenv of a bad name' 'unsetenv failed' --unsetenv '' true
done_testing
