/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exit.h"

#include <errno.h>
#include <stddef.h>

static const struct {
	int code;
	enum hb_exit exit;
} exits[] = {
	{ HB_E_USAGE, HB_EXIT_USAGE },
	{ HB_E_CONFIG, HB_EXIT_CONFIG },
	{ HB_E_DENIED, HB_EXIT_DENIED },
	{ HB_E_CONFLICT, HB_EXIT_CONFLICT },
	{ HB_E_UNSUPPORTED, HB_EXIT_UNSUPPORTED },
	{ HB_E_BUSY, HB_EXIT_BUSY },
	{ HB_E_NO_SESSION, HB_EXIT_NO_SESSION },
	{ HB_E_STATE, HB_EXIT_STATE },
	{ HB_E_CORRUPT, HB_EXIT_STATE },
	/* The real directory does not let itself be changed, or be read. */
	{ EACCES, HB_EXIT_STATE },
	{ EPERM, HB_EXIT_STATE },
	{ EROFS, HB_EXIT_STATE },
	{ EXDEV, HB_EXIT_STATE },
	{ HB_E_NOT_FOUND, HB_EXIT_USAGE },
	{ HB_E_NOT_EXECUTABLE, HB_EXIT_USAGE },
	{ ENOSPC, HB_EXIT_NO_SPACE },
	{ EDQUOT, HB_EXIT_NO_SPACE },
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
