#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# modes: user
# needs: pipx python3
# timeout: 180
#
# The real pipx: an installed program is the one outside, and pipx itself works
# inside.  home-managers.sh has the layouts of managers that cannot be had here.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

HOME=$work/home
PATH=$HOME/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
XDG_STATE_HOME=$work/state
PIP_NO_INDEX=1
export HOME PATH XDG_STATE_HOME PIP_NO_INDEX
mkdir home p && cd p || bail 'no directory'

# A package as pip wants it, without a network and without a build.
python3 - "$work/p" <<'END' || bail 'no package'
import sys
import zipfile

INFO = "hbtool-1.0.dist-info/"
FILES = {
    "hbtool/__init__.py": "import sys\ndef main():\n    print('tool of pipx', sys.prefix)\n",
    INFO + "METADATA": "Metadata-Version: 2.1\nName: hbtool\nVersion: 1.0\n",
    INFO + "WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    INFO + "entry_points.txt": "[console_scripts]\nhbtool = hbtool:main\n",
}
with zipfile.ZipFile(sys.argv[1] + "/hbtool-1.0-py3-none-any.whl", "w") as wheel:
    for name, text in FILES.items():
        wheel.writestr(name, text)
    wheel.writestr(INFO + "RECORD", "".join(name + ",,\n" for name in [*FILES, INFO + "RECORD"]))
END
wheel=$work/p/hbtool-1.0-py3-none-any.whl
check 'pipx installs a program outside' pipx install "$wheel"
outside=$(hbtool)
like 'the program works outside' "$outside" "tool of pipx $HOME/*"
is 'the program that pipx installed works inside, from the same place' "$(run -q hbtool 2>&1)" "$outside"
is 'its path is the one outside' "$(run -q sh -c 'command -v hbtool')" "$(command -v hbtool)"
like 'pipx lists it inside' "$(run -q pipx list 2>&1)" '*package hbtool 1.0*'
like 'pipx runs a package inside' \
	"$(run -q sh -c 'PIP_NO_INDEX=1 pipx run --spec "$1" hbtool' sh "$wheel" 2>&1)" '*tool of pipx *'
before=$(find "$HOME" | sort)
run -q pipx uninstall hbtool >/dev/null 2>&1
is 'pipx inside changes nothing of the home directory' "$(find "$HOME" | sort)" "$before"
is 'the program is still there' "$(hbtool)" "$outside"
done_testing
