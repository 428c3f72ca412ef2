/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "cli/show/exit.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

#define LAST_ERRNO 200

static bool needs_fix(int code)
{
	const struct hb_error err = { .code = code };
	enum hb_exit status = cli_exit_of(&err);

	return status == HB_EXIT_STATE || status == HB_EXIT_INTERNAL;
}

static void every_error_with_status_10_or_70_has_a_fix(void)
{
	for (int code = 1; code < HB_E_END; code++) {
		const struct hb_error err = { .code = code };

		if (code > LAST_ERRNO && code < HB_E_UNSUPPORTED)
			continue;
		if (needs_fix(code) && !cli_fix_of(&err)[0])
			printf("# code %d\n", code);
		CHECK(!needs_fix(code) || cli_fix_of(&err)[0]);
	}
}

static void the_fix_of_the_error_itself_comes_first(void)
{
	struct hb_error err = { .code = HB_E_CORRUPT };

	hb_fix(&err, "its own");
	CHECK(strcmp(cli_fix_of(&err), "its own") == 0);
}

static void a_failure_of_the_sandbox_is_the_hosts(void)
{
	const struct hb_error err = { .code = EPERM, .stage = 1 };

	CHECK_INT(cli_exit_of(&err), HB_EXIT_UNSUPPORTED);
}

static void a_damaged_session_has_status_10(void)
{
	const struct hb_error err = { .code = HB_E_CORRUPT };

	CHECK_INT(cli_exit_of(&err), HB_EXIT_STATE);
}

static void an_unknown_code_has_status_70(void)
{
	const struct hb_error err = { .code = EDOM };

	CHECK_INT(cli_exit_of(&err), HB_EXIT_INTERNAL);
}

TESTS(T(every_error_with_status_10_or_70_has_a_fix),
      T(the_fix_of_the_error_itself_comes_first),
      T(a_failure_of_the_sandbox_is_the_hosts),
      T(a_damaged_session_has_status_10), T(an_unknown_code_has_status_70))
