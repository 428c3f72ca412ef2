/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/buf.h"

#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void write_sample(struct json *j)
{
	json_object(j);
	json_key(j, "null");
	json_text(j, "null", 4);
	json_key(j, "list");
	json_array(j);
	json_int(j, INT64_MIN);
	json_uint(j, UINT64_MAX);
	json_array(j);
	json_end(j);
	json_object(j);
	json_end(j);
	json_bool(j, true);
	json_bool(j, false);
	json_end(j);
	json_key(j, "deep");
	json_object(j);
	json_key(j, "a");
	json_str(j, "b");
	json_end(j);
	json_end(j);
}

static void commas_stand_where_they_belong(void)
{
	auto_buf struct buf b = BUF_INIT(1000);
	struct json j;

	json_init(&j, &b);
	write_sample(&j);
	CHECK_INT(json_end_text(&j), 0);
	CHECK(strcmp(buf_str(&b),
		     "{\"null\":null,\"list\":[-9223372036854775808,"
		     "18446744073709551615,[],{},true,false],"
		     "\"deep\":{\"a\":\"b\"}}") == 0);
}

struct pair {
	const char *bytes;
	const char *json;
};

static void any_bytes_become_a_string(void)
{
	static const struct pair all[] = {
		{ "plain", "\"plain\"" },
		{ "a\"b\\c/", "\"a\\\"b\\\\c/\"" },
		{ "\n\t\001\177", "\"\\u000a\\u0009\\u0001\\u007f\"" },
		{ "gr\303\274n \360\237\230\200",
		  "\"gr\303\274n \360\237\230\200\"" },
		{ "\302\205", "\"\\u0085\"" },
		{ "\342\200\256", "\"\\u202e\"" },
		{ "\342\200\250", "\"\\u2028\"" },
		/* A tag character: hidden and above U+FFFF. */
		{ "\363\240\201\201", "\"\\udb40\\udc41\"" },
		/* Not UTF-8. */
		{ "a\200", "\"a\\udbff\\ude80\"" },
		{ "\377x", "\"\\udbff\\udeffx\"" },
		{ "\303", "\"\\udbff\\udec3\"" },
		/* U+10FE80, which would pass for the byte 80. */
		{ "\364\217\272\200", "\"\\udbff\\udef4\\udbff\\ude8f"
				      "\\udbff\\udeba\\udbff\\ude80\"" },
		/* Its neighbour below passes for nothing. */
		{ "\364\217\271\277", "\"\364\217\271\277\"" },
	};
	auto_buf struct buf b = BUF_INIT(1000);
	struct json j;

	for (size_t i = 0; i < COUNT(all); i++) {
		buf_cut(&b, 0);
		json_init(&j, &b);
		json_str(&j, all[i].bytes);
		CHECK_INT(json_end_text(&j), 0);
		if (strcmp(buf_str(&b), all[i].json) != 0)
			printf("# row %zu: %s\n", i, buf_str(&b));
		CHECK(strcmp(buf_str(&b), all[i].json) == 0);
	}
}

/* Turns the strings of a list back into bytes and prints them in hex. */
static const char check_script[] =
	"python3 -c '"
	"import json, sys\n"
	"text = sys.stdin.buffer.read().decode(\"utf-8\", \"strict\")\n"
	"def back(s):\n"
	"    out = b\"\"\n"
	"    for c in s:\n"
	"        if 0x10fe80 <= ord(c) <= 0x10feff:\n"
	"            out += bytes([ord(c) - 0x10fe00])\n"
	"        else:\n"
	"            out += c.encode(\"utf-8\")\n"
	"    return out\n"
	"print(b\"\".join(back(s) for s in json.loads(text)).hex())\n"
	"' </dev/fd/3";

static void a_real_parser_gives_the_bytes_back(void)
{
	auto_buf struct buf b = BUF_INIT(1 << 20), want = BUF_INIT(1 << 20);
	FILE *file = tmpfile(), *out;
	char line[64] = { 0 };
	struct json j;

	json_init(&j, &b);
	json_array(&j);
	for (unsigned int i = 0; i < 256; i++) {
		/* Each byte alone, in front of and after others. */
		const char s[4] = { (char)i, (char)(i * 5), (char)0xc3,
				    (char)i };

		json_bytes(&j, s, sizeof(s));
		for (size_t k = 0; k < sizeof(s); k++)
			(void)buf_add_fmt(&want, "%02x", (unsigned char)s[k]);
	}
	json_end(&j);
	CHECK_INT(json_end_text(&j), 0);

	CHECK(file != NULL);
	CHECK_INT(fwrite(b.data, 1, b.len, file), b.len);
	CHECK_INT(fflush(file), 0);
	rewind(file);
	CHECK_INT(dup2(fileno(file), 3), 3);
	out = popen(check_script, "r");
	CHECK(out != NULL);
	for (size_t i = 0; i < want.len; i += strlen(line)) {
		CHECK(fgets(line, sizeof(line), out) != NULL);
		line[strcspn(line, "\n")] = '\0';
		CHECK(strlen(line) > 0);
		CHECK(strncmp(want.data + i, line, strlen(line)) == 0);
	}
	CHECK_INT(pclose(out), 0);
	(void)fclose(file);
	(void)close(3);
}

static void a_full_buffer_is_reported(void)
{
	auto_buf struct buf b = BUF_INIT(10);
	struct json j;

	json_init(&j, &b);
	write_sample(&j);
	CHECK_INT(json_end_text(&j), -E2BIG);
}

static void value_without_key(struct json *j)
{
	json_object(j);
	json_bool(j, true);
}

static void key_in_array(struct json *j)
{
	json_array(j);
	json_key(j, "a");
}

static void key_without_value(struct json *j)
{
	json_object(j);
	json_key(j, "a");
	json_end(j);
}

static void two_values(struct json *j)
{
	json_bool(j, true);
	json_bool(j, true);
}

static void end_too_many(struct json *j)
{
	json_end(j);
}

static void end_missing(struct json *j)
{
	json_array(j);
	(void)json_end_text(j);
}

static void too_deep(struct json *j)
{
	for (int i = 0; i <= JSON_DEPTH_MAX; i++)
		json_array(j);
}

static void misuse_stops_the_program(void)
{
	static void (*const all[])(struct json *) = {
		value_without_key, key_in_array, key_without_value, two_values,
		end_too_many,	   end_missing,	 too_deep,
	};
	int status;
	pid_t pid;

	for (size_t i = 0; i < COUNT(all); i++) {
		(void)fflush(stdout);
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			struct buf b = BUF_INIT(1000);
			struct json j;

			/* The message is expected, and a core is a trace. */
			(void)close(2);
			(void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
			json_init(&j, &b);
			all[i](&j);
			_exit(0);
		}
		CHECK_INT(waitpid(pid, &status, 0), pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

TESTS(T(commas_stand_where_they_belong), T(any_bytes_become_a_string),
      T(a_real_parser_gives_the_bytes_back), T(a_full_buffer_is_reported),
      T(misuse_stops_the_program))
