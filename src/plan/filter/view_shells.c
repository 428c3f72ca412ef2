/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/filter/view_shells.h"

/* The session's name has no letter that a prompt would expand. */
#define MARK "(holdback${HOLDBACK_SESSION:+ $HOLDBACK_SESSION}) "

#define ABOUT(name) \
	"# Of holdback: your own file is not shown, but with --ro ~/" name ".\n"

/* In fish a prompt is a function, and may show the last command's status. */
const struct view_shell view_shells[VIEW_SHELLS] = {
	{ ".bashrc", ABOUT(".bashrc") "[ -r /etc/bashrc ] && . /etc/bashrc\n"
				      "PS1=\"" MARK "$PS1\"\n" },
	{ ".zshrc", ABOUT(".zshrc") "PROMPT=\"" MARK "$PROMPT\"\n" },
	{ ".config/fish/config.fish",
	  ABOUT(".config/fish/config.fish") "if status is-interactive\n"
					    "    functions -q fish_prompt; or function fish_prompt; end\n"
					    "    functions -c fish_prompt __holdback_prompt\n"
					    "    function __holdback_status\n"
					    "        return $argv[1]\n"
					    "    end\n"
					    "    function fish_prompt\n"
					    "        set -l last $status\n"
					    "        echo -n \"(\"(string join ' ' holdback $HOLDBACK_SESSION)\") \"\n"
					    "        __holdback_status $last\n"
					    "        __holdback_prompt\n"
					    "    end\n"
					    "end\n" },
};
