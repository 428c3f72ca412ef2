/* SPDX-License-Identifier: Apache-2.0 */
#include "base/env.h"

#include "tap.h"

static char first[] = "HOMELESS=no", second[] = "HOME=/a=b",
	    third[] = "HOME=/c", empty[] = "EMPTY=";
static char *const env[] = { first, second, third, empty, NULL };

static void the_first_value_of_a_whole_name_is_found(void)
{
	CHECK(strcmp(env_get(env, "HOME"), "/a=b") == 0);
	CHECK(strcmp(env_get(env, "HOMELESS"), "no") == 0);
}

static void an_empty_value_is_set(void)
{
	CHECK(env_get(env, "EMPTY") && *env_get(env, "EMPTY") == '\0');
}

static void a_part_of_a_name_is_no_name(void)
{
	CHECK(!env_get(env, "HOM") && !env_get(env, "OME"));
	CHECK(!env_get(env, "PATH") && !env_get(env + 4, "HOME"));
}

TESTS(T(the_first_value_of_a_whole_name_is_found), T(an_empty_value_is_set),
      T(a_part_of_a_name_is_no_name))
