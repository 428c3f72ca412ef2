/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/login.h"
#include "agent/shelf.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "session/publish/login_publish.h"
#include "session/publish/login_undo.h"
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

/* Of two files of one login. */
struct world {
	char top[4096];
	int state;
	struct publish_item item, other;
};

static void begin(struct world *w)
{
	const char *tmp = getenv("TMPDIR");
	char path[8192];

	*w = (struct world){ .item = { .resource = -1 },
			     .other = { .resource = -1 } };
	(void)snprintf(w->top, sizeof(w->top), "%s/login.XXXXXX",
		       tmp ? tmp : "/tmp");
	CHECK(mkdtemp(w->top));
	(void)snprintf(path, sizeof(path), "%s/state", w->top);
	CHECK_INT(mkdir(path, 0700), 0);
	w->state = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(w->item.path, sizeof(w->item.path), "%.4000s/login",
		       w->top);
	(void)snprintf(w->other.path, sizeof(w->other.path), "%.4000s/account",
		       w->top);
	CHECK(w->state >= 0);
}

static void write_item(struct publish_item *item, const char *text)
{
	int fd = open(item->path, O_WRONLY | O_CREAT | O_TRUNC, 0640);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), (long long)strlen(text));
	(void)close(fd);
	CHECK_INT(login_look(item), 0);
}

static void write_host(struct world *w, const char *text)
{
	write_item(&w->item, text);
}

static const char *text_of(const struct publish_item *item)
{
	static char text[64];
	int fd = open(item->path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	if (fd >= 0)
		(void)close(fd);
	return text;
}

static const char *host(const struct world *w)
{
	return text_of(&w->item);
}

static void end(struct world *w)
{
	char command[8192];

	(void)close(w->state);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", w->top);
	CHECK_INT(system(command), 0);
}

static int publish_item(struct world *w, struct publish_item *item,
			const char *text)
{
	auto_buf struct buf b = BUF_INIT(64);

	CHECK_INT(buf_add_str(&b, text), 0);
	return login_publish(w->state, "claude", item, &b, "tag", NULL);
}

static int publish(struct world *w, const char *text)
{
	return publish_item(w, &w->item, text);
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

static const enum fault_mode modes[] = { FAULT_KILL, FAULT_KILL_AFTER,
					 FAULT_EIO, FAULT_ENOSPC };

static void a_kill_or_failure_leaves_the_old_or_the_new_login(void)
{
	unsigned visited = 0;

	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
		for (unsigned n = 1;; n++) {
			struct world w;
			int status;
			pid_t pid;

			begin(&w);
			write_host(&w, "old");
			pid = fork();
			CHECK(pid >= 0);
			if (pid == 0) {
				fault_arm(modes[m], n);
				(void)publish(&w, "new");
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
	CHECK(visited > 20);
}

/* A file that was replaced, and one that the host did not have before. */
static void begin_undo(struct world *w)
{
	begin(w);
	write_item(&w->item, "old");
	CHECK_INT(publish_item(w, &w->item, "new"), 0);
	CHECK_INT(publish_item(w, &w->other, "other"), 0);
}

static bool has_new(const struct world *w)
{
	return strcmp(text_of(&w->item), "new") == 0 &&
	       strcmp(text_of(&w->other), "other") == 0;
}

static bool has_old(const struct world *w)
{
	return strcmp(text_of(&w->item), "old") == 0 &&
	       access(w->other.path, F_OK) < 0;
}

static void check_between(const struct world *w)
{
	const char *text = text_of(&w->item);

	CHECK(strcmp(text, "old") == 0 || strcmp(text, "new") == 0);
	text = text_of(&w->other);
	CHECK(access(w->other.path, F_OK) < 0 || strcmp(text, "other") == 0);
}

/* In a process of its own; whether the fault lay behind its end. */
static bool undo_until(struct world *w, enum fault_mode mode, unsigned nth)
{
	uint64_t n = 0;
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (pid == 0) {
		fault_arm(mode, nth);
		(void)login_undo(w->state, "claude", &n, NULL);
		_exit(fault_passages() < nth ? 7 : 8);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static void an_undo_that_was_cut_goes_on_and_loses_no_login(void)
{
	unsigned visited = 0;

	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
		for (unsigned nth = 1;; nth++) {
			uint64_t n = 0;
			struct world w;
			bool is_over, was_old;

			begin_undo(&w);
			is_over = undo_until(&w, modes[m], nth);
			check_between(&w);
			/* It goes on, or the way back begins: both are there.
			 */
			CHECK_INT(login_undo(w.state, "claude", &n, NULL), 0);
			CHECK_INT((int)n, 2);
			was_old = has_old(&w);
			CHECK(was_old || has_new(&w));
			CHECK_INT(login_undo(w.state, "claude", &n, NULL), 0);
			CHECK(was_old ? has_new(&w) : has_old(&w));
			end(&w);
			if (is_over)
				break;
			visited++;
		}
	CHECK(visited > 80);
}

/* The host's file is written by its own program after the kill. */
static void an_undo_that_was_cut_leaves_a_login_that_is_newer(void)
{
	unsigned kept = 0;

	for (unsigned nth = 1;; nth++) {
		uint64_t n = 0;
		struct world w;
		bool is_over;

		begin_undo(&w);
		is_over = undo_until(&w, FAULT_KILL, nth);
		write_item(&w.item, "newest");
		(void)login_undo(w.state, "claude", &n, NULL);
		CHECK(strcmp(text_of(&w.item), "newest") == 0);
		kept++;
		/* Nor does it stand in the way of the next login. */
		CHECK_INT(login_look(&w.item), 0);
		CHECK_INT(publish_item(&w, &w.item, "later"), 0);
		CHECK(strcmp(text_of(&w.item), "later") == 0);
		end(&w);
		if (is_over)
			break;
	}
	CHECK(kept > 20);
}

TESTS(T(a_token_that_was_due_can_be_renewed),
      T(the_login_that_was_replaced_comes_back),
      T(a_login_that_was_changed_is_not_replaced),
      T(a_kill_or_failure_leaves_the_old_or_the_new_login),
      T(an_undo_that_was_cut_goes_on_and_loses_no_login),
      T(an_undo_that_was_cut_leaves_a_login_that_is_newer))
