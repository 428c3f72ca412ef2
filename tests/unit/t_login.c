/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/login.h"
#include "agent/shelf.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "session/publish/login_publish.h"
#include "sys/fault.h"

#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOW 1800000000

static enum login_change compare(const char *host, const char *ours,
				 const char *keys)
{
	return login_compare(host, strlen(host), ours, strlen(ours), keys, NOW);
}

static void a_token_that_was_due_can_be_renewed(void)
{
	static const struct {
		const char *host, *ours, *keys;
		enum login_change change;
	} rows[] = {
		/* claude: milliseconds. */
		{ "{\"o\":{\"accessToken\":\"a\",\"expiresAt\":1700000000000}}",
		  "{\"o\":{\"accessToken\":\"b\",\"expiresAt\":1900000000000}}",
		  "o", LOGIN_RENEWED },
		{ "{\"o\":{\"accessToken\":\"a\",\"expiresAt\":1900000000000}}",
		  "{\"o\":{\"accessToken\":\"b\",\"expiresAt\":1900000000000}}",
		  "o", LOGIN_OTHER },
		{ "{\"o\":{\"accessToken\":\"a\"}}",
		  "{\"o\":{\"accessToken\":\"b\"}}", "o", LOGIN_OTHER },
		{ "", "{\"o\":{\"accessToken\":\"b\"}}", "o", LOGIN_OTHER },
		{ "{\"o\":{\"accessToken\":\"a\",\"x\":1}}",
		  "{\"o\":{\"accessToken\":\"a\",\"x\":2}}", "o", LOGIN_SAME },
		/* Of members that are not named nothing counts. */
		{ "{\"o\":{}}", "{\"p\":{\"accessToken\":\"b\"}}", "o",
		  LOGIN_SAME },
		/* Another account. */
		{ "{\"o\":{\"access\":\"a\",\"accountId\":\"me\",\"expires\":1}}",
		  "{\"o\":{\"access\":\"b\",\"accountId\":\"it\",\"expires\":1}}",
		  "", LOGIN_OTHER },
		/* Of two services each has to be due. */
		{ "{\"a\":{\"access\":\"1\",\"expires\":1},\"b\":{\"key\":\"k\"}}",
		  "{\"a\":{\"access\":\"2\",\"expires\":1},\"b\":{\"key\":\"k\"}}",
		  "", LOGIN_RENEWED },
		{ "{\"a\":{\"access\":\"1\",\"expires\":1},\"b\":{\"key\":\"k\"}}",
		  "{\"a\":{\"access\":\"2\",\"expires\":1},\"b\":{\"key\":\"l\"}}",
		  "", LOGIN_OTHER },
		/* gemini: the file is the login. */
		{ "{\"access_token\":\"a\",\"expiry_date\":1700000000000}",
		  "{\"access_token\":\"b\",\"expiry_date\":1900000000000}", "",
		  LOGIN_RENEWED },
		/* codex: {"exp":1700000000} is in the token itself. */
		{ "{\"tokens\":{\"access_token\":"
		  "\"e30.eyJleHAiOjE3MDAwMDAwMDB9.s\"}}",
		  "{\"tokens\":{\"access_token\":\"e30.e30.s\"}}", "tokens",
		  LOGIN_RENEWED },
		/* {"exp":1900000000} */
		{ "{\"tokens\":{\"access_token\":"
		  "\"e30.eyJleHAiOjE5MDAwMDAwMDB9.s\"}}",
		  "{\"tokens\":{\"access_token\":\"e30.e30.s\"}}", "tokens",
		  LOGIN_OTHER },
		/* No JSON. */
		{ "K=a", "K=a", "", LOGIN_SAME },
		{ "K=a", "K=b", "", LOGIN_OTHER },
		/* A logout. */
		{ "{\"a\":{\"access\":\"1\",\"expires\":1}}", "{}", "",
		  LOGIN_OTHER },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_INT(compare(rows[i].host, rows[i].ours, rows[i].keys),
			  rows[i].change);
}

struct world {
	char top[4096];
	int state;
	struct publish_item item;
};

static void begin(struct world *w)
{
	const char *tmp = getenv("TMPDIR");
	char path[8192];

	*w = (struct world){ .item = { .resource = -1 } };
	(void)snprintf(w->top, sizeof(w->top), "%s/login.XXXXXX",
		       tmp ? tmp : "/tmp");
	CHECK(mkdtemp(w->top));
	(void)snprintf(path, sizeof(path), "%s/state", w->top);
	CHECK_INT(mkdir(path, 0700), 0);
	w->state = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(w->item.path, sizeof(w->item.path), "%.4000s/login",
		       w->top);
	CHECK(w->state >= 0);
}

static void write_host(struct world *w, const char *text)
{
	int fd = open(w->item.path, O_WRONLY | O_CREAT | O_TRUNC, 0640);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), (long long)strlen(text));
	(void)close(fd);
	CHECK_INT(login_look(&w->item), 0);
}

static const char *host(const struct world *w)
{
	static char text[64];
	int fd = open(w->item.path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	if (fd >= 0)
		(void)close(fd);
	return text;
}

static void end(struct world *w)
{
	char command[8192];

	(void)close(w->state);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", w->top);
	CHECK_INT(system(command), 0);
}

static int publish(struct world *w, const char *text)
{
	auto_buf struct buf b = BUF_INIT(64);

	CHECK_INT(buf_add_str(&b, text), 0);
	return login_publish(w->state, "claude", &w->item, &b, "tag", NULL);
}

static void the_login_that_was_replaced_comes_back(void)
{
	struct world w;
	uint64_t n = 0;

	begin(&w);
	write_host(&w, "old");
	CHECK_INT(publish(&w, "new"), 0);
	CHECK(strcmp(host(&w), "new") == 0);
	CHECK_INT(login_undo(w.state, "claude", &n, NULL), 0);
	CHECK_INT((int)n, 1);
	CHECK(strcmp(host(&w), "old") == 0);
	CHECK_INT(login_undo(w.state, "claude", &n, NULL), 0);
	CHECK(strcmp(host(&w), "new") == 0);
	write_host(&w, "newer");
	CHECK_INT(login_undo(w.state, "claude", &n, NULL), -HB_E_STATE);
	CHECK(strcmp(host(&w), "newer") == 0);
	CHECK_INT(login_undo(w.state, "codex", &n, NULL), -HB_E_STATE);
	end(&w);
}

static void a_login_that_was_changed_is_not_replaced(void)
{
	struct world w;

	begin(&w);
	write_host(&w, "old");
	w.item.nsec ^= 1;
	CHECK_INT(publish(&w, "new"), -ESTALE);
	CHECK(strcmp(host(&w), "old") == 0);
	end(&w);
}

/* With undo, which is the same way back. */
static void one_way(struct world *w, bool is_undo)
{
	uint64_t n = 0;

	if (is_undo)
		(void)login_undo(w->state, "claude", &n, NULL);
	else
		(void)publish(w, "new");
}

static void a_kill_or_failure_leaves_the_old_or_the_new_login(void)
{
	static const enum fault_mode modes[] = { FAULT_KILL, FAULT_KILL_AFTER,
						 FAULT_EIO, FAULT_ENOSPC };
	unsigned visited = 0;

	for (size_t m = 0; m < 2 * sizeof(modes) / sizeof(modes[0]); m++)
		for (unsigned n = 1;; n++) {
			bool is_undo = m % 2;
			struct world w;
			int status;
			pid_t pid;

			begin(&w);
			write_host(&w, "old");
			if (is_undo)
				CHECK_INT(publish(&w, "new"), 0);
			pid = fork();
			CHECK(pid >= 0);
			if (pid == 0) {
				fault_arm(modes[m / 2], n);
				one_way(&w, is_undo);
				_exit(fault_passages() < n ? 7 : 8);
			}
			CHECK(waitpid(pid, &status, 0) == pid);
			CHECK(strcmp(host(&w), "old") == 0 ||
			      strcmp(host(&w), "new") == 0);
			end(&w);
			if (WIFEXITED(status) && WEXITSTATUS(status) == 7)
				break;
			visited++;
		}
	CHECK(visited > 40);
}

TESTS(T(a_token_that_was_due_can_be_renewed),
      T(the_login_that_was_replaced_comes_back),
      T(a_login_that_was_changed_is_not_replaced),
      T(a_kill_or_failure_leaves_the_old_or_the_new_login))
