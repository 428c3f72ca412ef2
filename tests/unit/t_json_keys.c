/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_keys.h"

#include "base/buf.h"

#include "tap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void what_is_an_object(void)
{
	static const char *const good[] = {
		"{}",
		" { } \n",
		"{\"a\":1}",
		"{\"a\":-0.5e+7,\"b\":[true,false,null,[],{}],\"c\":{\"d\":\"x\"}}",
		"{\"\\u00e9\\\"\\\\\":\"\\n\"}",
		"{\"a\":[1,2,[3,{\"b\":{}}]]}",
	};
	static const char *const bad[] = {
		"",
		"[]",
		"1",
		"{",
		"}",
		"{}}",
		"{} x",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{,}",
		"{a:1}",
		"{\"a\":01}",
		"{\"a\":1.}",
		"{\"a\":+1}",
		"{\"a\":tru}",
		"{\"a\":\"\n\"}",
		"{\"a\":\"\\x\"}",
		"{\"a\":\"\\u12g4\"}",
		"{\"a\":[1}",
		"{\"a\":{]}",
		"{\"a\":1 \"b\":2}",
		"{\"a\":\"x",
	};
	char deep[2 * JSON_READ_DEPTH_MAX + 64];
	size_t n;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK_INT(json_check_object(good[i], strlen(good[i])), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(json_check_object(bad[i], strlen(bad[i])), -EINVAL);
	/* A NUL is a byte like any other. */
	CHECK_INT(json_check_object("{}\0", 3), -EINVAL);
	n = (size_t)snprintf(deep, sizeof(deep), "{\"a\":");
	memset(deep + n, '[', JSON_READ_DEPTH_MAX - 1);
	memset(deep + n + JSON_READ_DEPTH_MAX - 1, ']',
	       JSON_READ_DEPTH_MAX - 1);
	n += 2 * (JSON_READ_DEPTH_MAX - 1);
	deep[n] = '}';
	CHECK_INT(json_check_object(deep, n + 1), 0);
	n = (size_t)snprintf(deep, sizeof(deep), "{\"a\":");
	memset(deep + n, '[', JSON_READ_DEPTH_MAX);
	memset(deep + n + JSON_READ_DEPTH_MAX, ']', JSON_READ_DEPTH_MAX);
	n += 2 * (size_t)JSON_READ_DEPTH_MAX;
	deep[n] = '}';
	CHECK_INT(json_check_object(deep, n + 1), -EINVAL);
}

static bool takes(const char *host, const char *ours, const char *keys,
		  const char *want)
{
	struct buf out = BUF_INIT(4096);
	bool is_same;
	int r;

	r = json_take_keys(host, strlen(host), ours, strlen(ours), keys, &out);
	if (!want)
		is_same = r == -EINVAL;
	else
		is_same = r == 0 && strcmp(buf_str(&out), want) == 0;
	if (!is_same)
		printf("# %d: %s\n", r, buf_str(&out));
	buf_done(&out);
	return is_same;
}

static void only_what_is_named_is_taken(void)
{
	CHECK(takes("{\"a\":1,\"b\":2}", "{\"a\":9,\"b\":8}", "a",
		    "{\"a\":9,\"b\":2}"));
	CHECK(takes("{\"a\":1,\"b\":2}", "{\"b\":{\"a\":[1]},\"x\":0}", "a,b",
		    "{\"a\":1,\"b\":{\"a\":[1]}}"));
	CHECK(takes("{\"h\":{\"a\":1}}", "{\"h\":{\"a\":2},\"a\":3}", "a",
		    "{\"h\":{\"a\":1},\n  \"a\": 3}"));
	CHECK(takes("{}", "{\"a\":\"t\",\"evil\":1}", "a",
		    "{\n  \"a\": \"t\"\n}"));
	CHECK(takes("{ \"x\" : 1 }", "{\"a\":2}", "a",
		    "{ \"x\" : 1,\n  \"a\": 2 }"));
	CHECK(takes("{\"a\":1}", "{}", "a", "{\"a\":1}"));
	CHECK(takes("{\"a\":1}", "{\"\\u0061\":2}", "a", "{\"a\":1}"));
	CHECK(takes("{\"a\":1}", "{\"ab\":2}", "a", "{\"a\":1}"));
}

static void what_is_not_clear_is_refused(void)
{
	CHECK(takes("{\"a\":1}", "{\"a\":2,\"a\":3}", "a", NULL));
	CHECK(takes("{\"a\":1,\"a\":2}", "{\"a\":3}", "a", NULL));
	CHECK(takes("{\"a\":1}", "{\"a\":2", "a", NULL));
	CHECK(takes("[1]", "{\"a\":2}", "a", NULL));
	CHECK(takes("{}", "{\"a\":2}", "a,,b", NULL));
}

TESTS(T(what_is_an_object), T(only_what_is_named_is_taken),
      T(what_is_not_clear_is_refused))
