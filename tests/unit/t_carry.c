/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/carried.h"
#include "agent/shelf.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "session/publish/carry_fill.h"
#include "session/publish/carry_note.h"
#include "session/publish/carry_policy.h"
#include "session/publish/carry_settle.h"
#include "session/session.h"
#include "store/store.h"
#include "sys/fault.h"

#include "tap.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A session by hand: a state directory of the host, an upper over it, a store.
 * Box and locks are elsewhere.
 */
struct world {
	char top[4096];
	struct hb_store store;
	struct hb_session session;
	struct resource resource;
	struct record_resource record;
	struct shelf_project project;
};

static int open_dir(const char *top, const char *name)
{
	char path[8192];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", top, name);
	(void)mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static char source[8192];

static void begin(struct world *w)
{
	const char *tmp = getenv("TMPDIR");

	*w = (struct world){ 0 };
	(void)snprintf(w->top, sizeof(w->top), "%s/carry.XXXXXX",
		       tmp ? tmp : "/tmp");
	CHECK(mkdtemp(w->top));
	w->store = (struct hb_store){ .dir = open_dir(w->top, "state"),
				      .sessions = -1 };
	w->resource = (struct resource)RESOURCE_CLOSED;
	w->resource.record = &w->record;
	w->resource.base = open_dir(w->top, "host");
	w->resource.dir = open_dir(w->top, "r0");
	w->resource.upper = open_dir(w->top, "r0/upper");
	(void)snprintf(source, sizeof(source), "%s/host", w->top);
	w->record.source = source;
	w->record.inside = source;
	(void)snprintf(w->record.role, sizeof(w->record.role), "state");
	w->session = (struct hb_session){ .store = &w->store,
					  .dir = open_dir(w->top, "session"),
					  .has_lock = true,
					  .has_resources = true,
					  .resources = &w->resource };
	w->session.record.resources = &w->record;
	w->session.record.n_resources = 1;
	(void)snprintf(w->session.record.id, sizeof(w->session.record.id),
		       "0123456789abcdef");
	CHECK_INT(shelf_find_project(w->resource.base, &w->project, NULL), 0);
}

static void end(struct world *w)
{
	char command[8192];

	(void)close(w->store.dir);
	(void)close(w->resource.base);
	(void)close(w->resource.dir);
	(void)close(w->resource.upper);
	(void)close(w->session.dir);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", w->top);
	CHECK_INT(system(command), 0);
}

static void write_in(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), (long long)strlen(text));
	(void)close(fd);
}

/* What a run of the agent `claude` is given. */
static void fill(struct world *w, const char *policy)
{
	auto_carry_note struct carry_note note = { .project = w->project };

	(void)snprintf(note.agent, sizeof(note.agent), "claude");
	(void)snprintf(note.where, sizeof(note.where), "/project");
	(void)snprintf(note.policy, sizeof(note.policy), "%s", policy);
	CHECK_INT(carry_note_rule(&note, STATE_DATA, "/none", ""), 0);
	CHECK_INT(carry_fill(&w->session, &note, NULL), 0);
}

static void settle(struct world *w)
{
	CHECK_INT(carry_settle(&w->session, false, NULL), 0);
}

/* What is carried for a file of the state directory; "": nothing. */
static const char *carried(struct world *w, const char *name)
{
	static char text[4096];
	auto_buf struct buf bytes = BUF_INIT(sizeof(text) - 1);
	char path[16384], file[CARRIED_NAME_SIZE];
	struct carried c;
	auto_fd int shelf =
		shelf_open(w->store.dir, &w->project, "claude", NULL, NULL);

	text[0] = '\0';
	(void)snprintf(path, sizeof(path), "%s/%s", source, name);
	carried_name(path, file);
	if (shelf < 0 || carried_read(shelf, file, &c, &bytes, NULL) < 0)
		return text;
	(void)snprintf(text, sizeof(text), "%s", buf_str(&bytes));
	return text;
}

static const char *seen(struct world *w, const char *name)
{
	static char text[4096];
	int fd = openat(w->resource.upper, name, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	if (fd >= 0)
		(void)close(fd);
	return text;
}

static bool is_settled(struct world *w)
{
	return faccessat(w->session.dir, CARRY_NOTE, F_OK, 0) < 0 &&
	       faccessat(w->session.dir, CARRY_SETTLING, F_OK, 0) < 0;
}

static void what_a_run_wrote_is_given_to_the_next(void)
{
	struct world w;

	begin(&w);
	fill(&w, "net host\n");
	CHECK_INT(mkdirat(w.resource.upper, "hooks", 0755), 0);
	write_in(w.resource.upper, "hooks/x", "one");
	settle(&w);
	CHECK(is_settled(&w));
	CHECK(strcmp(carried(&w, "hooks/x"), "one") == 0);
	CHECK_INT(unlinkat(w.resource.upper, "hooks", AT_REMOVEDIR), -1);
	fill(&w, "net host\n");
	CHECK(strcmp(seen(&w, "hooks/x"), "one") == 0);
	/* Removed inside: carried no more. */
	CHECK_INT(unlinkat(w.resource.upper, "hooks/x", 0), 0);
	settle(&w);
	CHECK(strcmp(carried(&w, "hooks/x"), "") == 0);
	end(&w);
}

static void a_run_that_is_allowed_more_has_the_hosts_version(void)
{
	struct world w;

	begin(&w);
	fill(&w, "");
	write_in(w.resource.upper, "hook", "planted");
	settle(&w);
	fill(&w, "net host\n");
	CHECK(strcmp(seen(&w, "hook"), "") == 0);
	settle(&w);
	/* That it was not given is no deletion. */
	CHECK(strcmp(carried(&w, "hook"), "planted") == 0);
	fill(&w, "");
	CHECK(strcmp(seen(&w, "hook"), "planted") == 0);
	settle(&w);
	end(&w);
}

static void the_hosts_version_wins_where_it_was_changed(void)
{
	struct world w;

	begin(&w);
	write_in(w.resource.base, "settings", "old");
	fill(&w, "");
	write_in(w.resource.upper, "settings", "inside");
	settle(&w);
	fill(&w, "");
	CHECK(strcmp(seen(&w, "settings"), "inside") == 0);
	settle(&w);
	write_in(w.resource.base, "settings", "outside");
	fill(&w, "");
	CHECK(strcmp(seen(&w, "settings"), "") == 0);
	settle(&w);
	end(&w);
}

static void a_policy_fits_if_nothing_of_it_is_missing(void)
{
	CHECK(carry_policy_fits("", ""));
	CHECK(carry_policy_fits("", "net host\n"));
	CHECK(carry_policy_fits("net host\n", "rw /a\nnet host\n"));
	CHECK(!carry_policy_fits("net host\n", ""));
	CHECK(!carry_policy_fits("net host\nrw /a\n", "net host\n"));
	CHECK(!carry_policy_fits("rw /a\n", "rw /ab\n"));
	CHECK(carry_policy_fits("rw /a\n", CARRIED_POLICY_ANY));
}

static void a_policy_compares_networks_by_what_they_reach(void)
{
	CHECK(!carry_policy_fits("net strict\n", ""));
	CHECK(!carry_policy_fits("net allow\n", "net strict\n"));
	CHECK(!carry_policy_fits("net host\n", "net allow\n"));
	CHECK(carry_policy_fits("net strict\n", "net allow\n"));
	CHECK(carry_policy_fits("net allow\nallow a.b\n",
				"allow a.b\nnet allow\n"));
	CHECK(!carry_policy_fits("net allow\nallow a.b\n", "net allow\n"));
	CHECK(!carry_policy_fits("net allow\nhost-port 80\n",
				 "net allow\nhost-port 8\n"));
	CHECK(!carry_policy_fits("net allow\nnet-loose yes\n", "net allow\n"));
	CHECK(carry_policy_fits("net allow\nallow a.b\nhost-port 80\n",
				"net host\n"));
	CHECK(!carry_policy_fits("net allow\nrw /a\n", "net host\n"));
	/* A host that was denied to the writer is one more. */
	CHECK(!carry_policy_fits("net allow\n", "net allow\ndeny a.b\n"));
	CHECK(carry_policy_fits("net allow\ndeny a.b\n", "net allow\n"));
	CHECK(carry_policy_fits("", "net allow\ndeny a.b\n"));
	CHECK(carry_policy_fits("net allow\n", "net host\ndeny a.b\n"));
}

static void a_damaged_file_is_none(void)
{
	char name[CARRIED_NAME_SIZE], path[16384];
	struct world w;
	struct carried c;
	int shelf;

	begin(&w);
	fill(&w, "");
	write_in(w.resource.upper, "hook", "text");
	settle(&w);
	shelf = shelf_open(w.store.dir, &w.project, "claude", NULL, NULL);
	CHECK(shelf >= 0);
	(void)snprintf(path, sizeof(path), "%s/hook", source);
	carried_name(path, name);
	CHECK_INT(carried_read(shelf, name, &c, NULL, NULL), 0);
	/* Cut short, at every length. */
	for (off_t n = 600; n >= 0; n--) {
		struct stat st;
		int fd = openat(shelf, name, O_RDWR);

		CHECK(fd >= 0 && fstat(fd, &st) == 0);
		if (n < st.st_size) {
			CHECK_INT(ftruncate(fd, n), 0);
			CHECK_INT(carried_read(shelf, name, &c, NULL, NULL),
				  -HB_E_CORRUPT);
		}
		(void)close(fd);
	}
	(void)close(shelf);
	fill(&w, "");
	CHECK(strcmp(seen(&w, "hook"), "") == 0);
	end(&w);
}

/* Two files were carried; the box wrote one, made one and removed one. */
static void prepare(struct world *w)
{
	begin(w);
	fill(w, "");
	write_in(w->resource.upper, "written", "old");
	write_in(w->resource.upper, "removed", "old");
	write_in(w->resource.upper, "same", "same");
	settle(w);
	fill(w, "");
	write_in(w->resource.upper, "written", "new");
	CHECK_INT(unlinkat(w->resource.upper, "removed", 0), 0);
	CHECK_INT(mkdirat(w->resource.upper, "d", 0700), 0);
	write_in(w->resource.upper, "d/made", "new");
}

static void check_between(struct world *w, bool is_over)
{
	const char *text = carried(w, "written");

	CHECK(strcmp(text, "new") == 0 ||
	      (!is_over && strcmp(text, "old") == 0));
	/* What is not carried yet is still in the session. */
	if (strcmp(text, "new") != 0)
		CHECK(strcmp(seen(w, "written"), "new") == 0);
	text = carried(w, "d/made");
	if (strcmp(text, "new") != 0)
		CHECK(!is_over && strcmp(seen(w, "d/made"), "new") == 0);
	CHECK(strcmp(carried(w, "same"), "same") == 0);
	text = carried(w, "removed");
	CHECK(text[0] == '\0' || (!is_over && strcmp(text, "old") == 0));
}

static void a_kill_at_any_call_leaves_each_file_old_or_new(void)
{
	static const enum fault_mode modes[] = { FAULT_KILL, FAULT_KILL_AFTER };
	unsigned visited = 0;

	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
		for (unsigned n = 1;; n++) {
			struct world w;
			int status;
			pid_t pid;

			prepare(&w);
			pid = fork();
			CHECK(pid >= 0);
			if (pid == 0) {
				fault_arm(modes[m], n);
				(void)carry_settle(&w.session, false, NULL);
				_exit(7);
			}
			CHECK(waitpid(pid, &status, 0) == pid);
			check_between(&w, false);
			settle(&w);
			CHECK(is_settled(&w));
			check_between(&w, true);
			end(&w);
			if (WIFEXITED(status) && WEXITSTATUS(status) == 7)
				break;
			visited++;
		}
	CHECK(visited > 20);
}

static void a_failure_at_any_call_loses_nothing(void)
{
	static const enum fault_mode modes[] = { FAULT_EIO, FAULT_ENOSPC,
						 FAULT_DEAD };

	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
		for (unsigned n = 1;; n++) {
			unsigned passages;
			struct world w;

			prepare(&w);
			fault_arm(modes[m], n);
			(void)carry_settle(&w.session, false, NULL);
			passages = fault_passages();
			fault_arm(FAULT_NONE, 0);
			check_between(&w, false);
			settle(&w);
			check_between(&w, true);
			end(&w);
			if (passages < n)
				break;
		}
}

TESTS(T(what_a_run_wrote_is_given_to_the_next),
      T(a_run_that_is_allowed_more_has_the_hosts_version),
      T(the_hosts_version_wins_where_it_was_changed),
      T(a_policy_fits_if_nothing_of_it_is_missing),
      T(a_policy_compares_networks_by_what_they_reach),
      T(a_damaged_file_is_none),
      T(a_kill_at_any_call_leaves_each_file_old_or_new),
      T(a_failure_at_any_call_loses_nothing))
