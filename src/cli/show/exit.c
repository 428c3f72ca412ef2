/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/exit.h"

#include <errno.h>
#include <stddef.h>

static const struct {
	int code;
	enum hb_exit exit;
	const char *fix; /* where the error has no fix of its own */
} exits[] = {
	{ HB_E_USAGE, HB_EXIT_USAGE, NULL },
	{ HB_E_CONFIG, HB_EXIT_CONFIG, NULL },
	{ HB_E_DENIED, HB_EXIT_DENIED, NULL },
	{ HB_E_CONFLICT, HB_EXIT_CONFLICT, NULL },
	{ HB_E_UNSUPPORTED, HB_EXIT_UNSUPPORTED, NULL },
	{ HB_E_BUSY, HB_EXIT_BUSY, NULL },
	{ HB_E_NO_SESSION, HB_EXIT_NO_SESSION, NULL },
	{ HB_E_STATE, HB_EXIT_STATE,
	  "holdback status lists the pending changes; holdback "
	  "recover finishes an interrupted one" },
	{ HB_E_CORRUPT, HB_EXIT_STATE,
	  "restore the file from a backup, or remove the session: holdback ls, "
	  "then holdback cleanup -y @SESSION" },
	/* The real directory does not let itself be changed, or be read. */
	{ EACCES, HB_EXIT_STATE,
	  "give yourself permission there, and try again" },
	{ EPERM, HB_EXIT_STATE,
	  "make yourself its owner, or take its protection away (lsattr), and "
	  "try again" },
	{ EROFS, HB_EXIT_STATE, "mount it writable, and try again" },
	{ EXDEV, HB_EXIT_STATE,
	  "unmount the file systems in the directory, and try again" },
	{ HB_E_NOT_FOUND, HB_EXIT_USAGE, NULL },
	{ HB_E_NOT_EXECUTABLE, HB_EXIT_USAGE, NULL },
	{ ENOSPC, HB_EXIT_NO_SPACE, "make room there, and try again" },
	{ EDQUOT, HB_EXIT_NO_SPACE,
	  "make room in your quota there, and try again" },
	{ EIO, HB_EXIT_INTERNAL,
	  "the disk failed: look at the kernel's log, then try again" },
	{ ENOMEM, HB_EXIT_INTERNAL, "free some memory, and try again" },
	{ EMFILE, HB_EXIT_INTERNAL,
	  "allow more open files (ulimit -n), and try again" },
	{ ENFILE, HB_EXIT_INTERNAL, "end programs that have many files open" },
	{ EAGAIN, HB_EXIT_INTERNAL,
	  "end some processes, or allow more (ulimit -u), and try again" },
	{ EFBIG, HB_EXIT_INTERNAL,
	  "allow larger files (ulimit -f), and try again" },
	{ ENAMETOOLONG, HB_EXIT_INTERNAL, "shorten the path, and try again" },
	{ HB_E_CHILD, HB_EXIT_INTERNAL,
	  "free some memory, and try again; the kernel's log says why it died" },
};

enum hb_exit cli_exit_of(const struct hb_error *err)
{
	/* Building a sandbox failed: it is the host that lacks something. */
	if (err->stage != 0 && err->code < HB_E_UNSUPPORTED)
		return HB_EXIT_UNSUPPORTED;
	for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++)
		if (exits[i].code == err->code)
			return exits[i].exit;
	return HB_EXIT_INTERNAL;
}

const char *cli_fix_of(const struct hb_error *err)
{
	if (err->fix[0] != '\0')
		return err->fix;
	for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++)
		if (exits[i].code == err->code && exits[i].fix)
			return exits[i].fix;
	/* Not foreseen: the doctor finds out most, and changes nothing. */
	if (cli_exit_of(err) == HB_EXIT_INTERNAL)
		return "try again; if it stays so: holdback doctor";
	return "";
}
