/* SPDX-License-Identifier: Apache-2.0 */
#include "session/gone.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "session/interruption.h"
#include "session/layers.h"
#include "session/resource_dirs.h"
#include "session/state.h"
#include "store/berth.h"
#include "store/layout.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/file.h"
#include "tree/tree.h"
#include "txn/history.h"
#include "txn/journal.h"
#include "txn/op.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define BASE	  "base"
#define UNSETTLED "unsettled"
#define UPPER	  "upper"
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

#define NAME_SIZE 32

static void name_of(size_t number, char ret[NAME_SIZE])
{
	(void)snprintf(ret, NAME_SIZE, "g%zu", number);
}

/* By one rename: a part of one could not be opened any more. */
static int discard(const struct hb_session *s, const char *name,
		   struct hb_error *err)
{
	char old[NAME_SIZE + sizeof(".new")];
	int r;

	(void)snprintf(old, sizeof(old), "%s.new", name);
	r = tree_remove(s->dir, old, err);
	if (r < 0)
		return r;
	r = sys_renameat(s->dir, name, s->dir, old);
	if (r >= 0)
		r = sys_fsync(s->dir);
	if (r < 0)
		return hb_fail(err, r, "cannot remove '%s'", name);
	return tree_remove(s->dir, old, err);
}

/* Nothing is under way that has begun with one or the other. */
static bool is_settled(const struct hb_session *s)
{
	return s->has_lock && s->record.state == SESSION_IDLE &&
	       !s->record.is_unsynced && !s->record.is_freezing &&
	       !session_has_journal(s);
}

static bool has_other(const struct hb_session *s, size_t number)
{
	for (size_t i = 0; i < s->record.n_resources; i++) {
		auto_fd int fd = -1;

		if (i == number)
			continue;
		fd = resource_open(&s->record.resources[i], NULL);
		if (fd >= 0)
			return true;
	}
	return false;
}

/* Its top looks as that of the real one: a mark makes a layer of it. */
static int fill(const struct hb_session *s, size_t number, int dir,
		struct hb_error *err)
{
	char name[LAYOUT_RESOURCE_SIZE];
	auto_fd int real = -1;
	auto_fd int like = -1;
	int r;

	layout_resource_dir(number, name);
	if (!berth_is_used(&s->record.resources[number]))
		real = sys_openat(s->dir, name, DIR_FLAGS, 0);
	if (real >= 0)
		like = sys_openat(real, UPPER, DIR_FLAGS, 0);
	r = like >= 0 ? layers_make_upper(dir, UPPER, like, err)
		      : resource_make_upper(dir, err);
	if (r >= 0)
		r = sys_mkdirat(dir, BASE, 0700);
	return r < 0 ? r : resource_make_dirs(dir, err);
}

/* With the boot in which the box ran: after another one writes are lost. */
static int note_unsettled(const struct hb_session *s, int dir)
{
	auto_fd int fd = sys_openat(
		dir, UNSETTLED, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	int r = fd < 0 ? fd
		       : sys_write_all(fd, s->record.boot,
				       strlen(s->record.boot));

	return r < 0 ? r : sys_fsync(fd);
}

static int make(const struct hb_session *s, size_t number, const char *name,
		bool is_unsettled, struct hb_error *err)
{
	char fresh[NAME_SIZE + sizeof(".new")];
	auto_fd int dir = -1;
	int r;

	(void)snprintf(fresh, sizeof(fresh), "%s.new", name);
	r = tree_remove(s->dir, fresh, err);
	if (r >= 0)
		r = sys_mkdirat(s->dir, fresh, 0700);
	if (r >= 0)
		r = dir = sys_openat(s->dir, fresh, DIR_FLAGS, 0);
	if (r >= 0)
		r = fill(s, number, dir, err);
	if (r >= 0 && is_unsettled)
		r = note_unsettled(s, dir);
	if (r >= 0)
		r = sys_fsync(dir);
	if (r >= 0)
		r = sys_renameat(s->dir, fresh, s->dir, name);
	if (r >= 0)
		r = sys_fsync(s->dir);
	return r < 0 ? hb_fail(err, r, "cannot work without '%s'",
			       s->record.resources[number].source)
		     : 0;
}

/* How to bring the session on whose directory `number` is gone. */
static void gone_fix(const struct hb_session *s, size_t number,
		     struct hb_error *err)
{
	hb_fix(err,
	       "put '%s' back; or holdback cleanup -y @%s, which discards the "
	       "session",
	       quoted(s->record.resources[number].source), s->record.name);
}

/* The mark of stand-in `number`: -ENOENT if there is none. */
static int open_mark(const struct hb_session *s, size_t number)
{
	char name[NAME_SIZE];
	auto_fd int dir = -1;

	name_of(number, name);
	dir = store_open_own(s->dir, name, NULL);
	return dir < 0 ? dir
		       : sys_openat(dir, UNSETTLED, O_RDONLY | O_NOFOLLOW, 0);
}

static bool waits(const struct hb_session *s, size_t number)
{
	auto_fd int mark = open_mark(s, number);

	return mark != -ENOENT;
}

bool gone_waits(const struct hb_session *s)
{
	for (size_t i = 0; i < s->record.n_resources; i++)
		if (waits(s, i))
			return true;
	return false;
}

int gone_put_off(struct hb_session *s, struct hb_error *err)
{
	for (size_t i = 0; i < s->record.n_resources; i++) {
		struct hb_error why = { 0 };
		char name[NAME_SIZE];
		auto_fd int base = -1;
		int r;

		name_of(i, name);
		if (sys_faccessat(s->dir, name, F_OK) != -ENOENT)
			continue;
		base = r = resource_open(&s->record.resources[i], &why);
		if (base == -HB_E_STATE && has_other(s, i))
			r = make(s, i, name, true, &why);
		else if (base == -HB_E_STATE)
			gone_fix(s, i, &why);
		if (r >= 0)
			continue;
		return hb_pass(err, &why, r);
	}
	return 0;
}

/* Which boot it was; of several a boot that is over. */
static void read_mark(const struct hb_session *s, size_t number,
		      char ret_boot[RECORD_BOOT_SIZE])
{
	auto_fd int mark = open_mark(s, number);
	char boot[RECORD_BOOT_SIZE] = { 0 };
	ssize_t n = mark < 0 ? mark : sys_read(mark, boot, sizeof(boot) - 1);

	/* A mark that cannot be read is no boot: then writes may be lost. */
	if (n < 0)
		boot[0] = '\0';
	if (strcmp(boot, s->record.boot) != 0)
		memcpy(ret_boot, boot, sizeof(boot));
}

int gone_take_up(struct hb_session *s, struct hb_error *err)
{
	bool is_back[RECORD_RESOURCES_MAX] = { false }, any = false;
	char boot[RECORD_BOOT_SIZE], name[NAME_SIZE];
	int r;

	if (!is_settled(s))
		return 0;
	memcpy(boot, s->record.boot, sizeof(boot));
	for (size_t i = 0; i < s->record.n_resources; i++) {
		auto_fd int base = -1;

		if (!waits(s, i))
			continue;
		base = resource_open(&s->record.resources[i], NULL);
		is_back[i] = base >= 0;
		any = any || is_back[i];
		if (is_back[i])
			read_mark(s, i, boot);
	}
	if (!any)
		return 0;
	/* A stand-in that is left after that is taken up once more. */
	r = session_reopen(s, boot, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		name_of(i, name);
		if (is_back[i])
			r = discard(s, name, err);
	}
	return r < 0 ? r : 1;
}

int gone_open_store(const struct hb_session *s, size_t number,
		    struct hb_error *err)
{
	char name[NAME_SIZE];
	int dir;

	name_of(number, name);
	dir = store_open_own(s->dir, name, NULL);
	return dir != -ENOENT ? dir
			      : berth_open(&s->record, number, s->dir, -1, err);
}

int gone_judge(struct hb_session *s, size_t number, int *ret_base,
	       struct hb_error *err)
{
	bool is_kept, may_choose = is_settled(s);
	struct hb_error why = { 0 };
	char name[NAME_SIZE];
	auto_fd int base = -1;
	int r = 0;

	name_of(number, name);
	is_kept = !s->is_fresh && sys_faccessat(s->dir, name, F_OK) != -ENOENT;
	if (is_kept && !may_choose)
		return 1;
	base = resource_open(&s->record.resources[number], &why);
	if (base == -HB_E_STATE && s->leaves_out)
		return 1;
	/* The next command takes it up, and this one goes without. */
	if (base >= 0 && is_kept && waits(s, number))
		return 1;
	if (base >= 0 && is_kept && !s->leaves_out)
		r = discard(s, name, err);
	if (r < 0)
		return r;
	if (base >= 0) {
		*ret_base = take_fd(&base);
		return 0;
	}
	if (base == -HB_E_STATE && may_choose && !s->is_fresh &&
	    has_other(s, number)) {
		r = is_kept ? 0 : make(s, number, name, false, err);
		return r < 0 ? r : 1;
	}
	if (base == -HB_E_STATE)
		gone_fix(s, number, &why);
	return hb_pass(err, &why, base);
}

int gone_open(const struct hb_session *s, size_t number, struct resource *ret,
	      struct hb_error *err)
{
	char name[NAME_SIZE];

	name_of(number, name);
	ret->is_gone = true;
	if (s->leaves_out)
		return 0;
	ret->dir = store_open_own(s->dir, name, err);
	ret->spot = ret->dir;
	if (ret->dir < 0)
		return ret->dir;
	ret->base = sys_openat(ret->dir, BASE, DIR_FLAGS, 0);
	if (ret->base < 0)
		return hb_fail(err, ret->base, "cannot open '%s/" BASE "'",
			       name);
	ret->upper = sys_openat(ret->dir, UPPER, DIR_FLAGS, 0);
	if (ret->upper == -EACCES && s->has_lock &&
	    session_open_top(ret->dir) >= 0)
		ret->upper = sys_openat(ret->dir, UPPER, DIR_FLAGS, 0);
	if (ret->upper < 0 &&
	    !(ret->upper == -ENOENT &&
	      (s->record.is_freezing || session_has_journal(s))))
		return hb_fail(err, ret->upper, "cannot open '%s/" UPPER "'",
			       name);
	return 0;
}

bool session_has_gone(const struct hb_session *s)
{
	for (size_t i = 0; s->resources && i < s->record.n_resources; i++)
		if (s->resources[i].is_gone)
			return true;
	return false;
}

static int fail_gone(const struct hb_session *s, size_t number,
		     const char *what, struct hb_error *err)
{
	gone_fix(s, number, err);
	return hb_fail(err, -HB_E_STATE, "the directory '%s' is gone: %s",
		       quoted(s->record.resources[number].source), what);
}

int gone_refuse(const struct hb_session *s, const char *what,
		struct hb_error *err)
{
	for (size_t i = 0; s->resources && i < s->record.n_resources; i++)
		if (s->resources[i].is_gone)
			return fail_gone(s, i, what, err);
	return 0;
}

static int count(void *ctx, const struct tree_visit *visit,
		 struct hb_error *err)
{
	uint64_t *n = ctx;

	(void)err;
	if (visit->when == TREE_LEAVE)
		return 0;
	if (berth_is_name(visit->name))
		return TREE_SKIP;
	*n += !S_ISDIR(visit->attr.mode);
	return 0;
}

static int find_any(void *ctx, const struct tree_visit *visit,
		    struct hb_error *err)
{
	(void)ctx;
	(void)err;
	return berth_is_name(visit->name) ? TREE_SKIP : -ENOTEMPTY;
}

/* A directory alone is a change as well. */
static uint64_t count_in(int dir, const char *name)
{
	uint64_t n = 0;
	int r = tree_walk(dir, name, TREE_FLAT | TREE_OURS, find_any, NULL,
			  NULL);

	if (r >= 0)
		return 0;
	if (r != -ENOTEMPTY ||
	    tree_walk(dir, name, TREE_OURS, count, &n, NULL) < 0)
		return UINT64_MAX;
	return n > 0 ? n : 1;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a == UINT64_MAX || b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* In the layers that count and are above `keep`; NULL: in all that count. */
static uint64_t count_layers(const struct hb_session *s, size_t number,
			     const char *keep)
{
	char path[PATH_MAX];
	uint64_t done = 0, n = 0;

	if (s->record.n_layers > 0 && session_last_done(s, &done, NULL) < 0)
		return UINT64_MAX;
	for (size_t i = s->record.n_layers; i > 0; i--) {
		const struct record_layer *layer = &s->record.layers[i - 1];

		if (keep && strcmp(layer->id, keep) == 0)
			break;
		if (!layer_counts(layer, done))
			continue;
		(void)snprintf(path, sizeof(path), LAYERS_DIR "/%s/%s/r%zu",
			       s->record.family, layer->id, number);
		n = add(n, count_in(s->store->dir, path));
	}
	return n;
}

static uint64_t count_upper(const struct hb_session *s, size_t number)
{
	auto_fd int dir = -1;

	if (s->record.resources[number].is_in_base)
		return UINT64_MAX;
	dir = berth_open(&s->record, number, s->dir, -1, NULL);
	return dir < 0 ? UINT64_MAX : count_in(dir, UPPER);
}

/*
 * How much is pending in a resource that is gone, as files of its layers;
 * UINT64_MAX: cannot be told, because they are gone with it.
 */
static uint64_t gone_pending(const struct hb_session *s, size_t number)
{
	return add(count_upper(s, number), count_layers(s, number, NULL));
}

uint64_t gone_say_pending(const struct hb_session *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; s->resources && i < s->record.n_resources; i++) {
		uint64_t n = s->resources[i].is_gone ? gone_pending(s, i) : 0;

		sum = add(sum, n);
		if (n == UINT64_MAX)
			store_say(s->store,
				  "all changes of %s stay pending: the "
				  "directory is gone",
				  quoted(s->record.resources[i].source));
		else if (n > 0)
			store_say(s->store,
				  "%llu change%s of %s stay%s pending: the "
				  "directory is gone",
				  (unsigned long long)n, n == 1 ? "" : "s",
				  quoted(s->record.resources[i].source),
				  n == 1 ? "s" : "");
	}
	return sum;
}

int gone_check_layers(struct hb_session *s, const char *keep,
		      struct hb_error *err)
{
	for (size_t i = 0; s->resources && i < s->record.n_resources; i++)
		if (s->resources[i].is_gone && count_layers(s, i, keep) > 0)
			return fail_gone(
				s, i,
				"its marked changes cannot be parted from the rest",
				err);
	return 0;
}

int gone_check_mark(struct hb_session *s, struct hb_error *err)
{
	for (size_t i = 0; s->resources && i < s->record.n_resources; i++)
		if (s->resources[i].is_gone && count_upper(s, i) > 0)
			return fail_gone(s, i,
					 "its pending changes cannot be marked",
					 err);
	return 0;
}

int gone_check_last(struct hb_session *s, bool is_undone, struct hb_error *err)
{
	enum history which = is_undone ? HISTORY_UNDONE : HISTORY_DONE;
	auto_journal struct journal *journal = NULL;
	uint64_t id = 0;
	struct op op;
	int r;

	if (!session_has_gone(s))
		return 0;
	r = history_last(s->dir, which, &id, err);
	/* Then there is nothing to do, which is said elsewhere. */
	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = history_open(s->dir, which, id, &journal, err);
	if (r < 0)
		return r;
	journal_to_start(journal);
	while ((r = journal_next(journal, &op, err)) == 1)
		if (op.resource < s->record.n_resources &&
		    s->resources[op.resource].is_gone)
			return fail_gone(s, op.resource,
					 "its commits cannot be changed", err);
	return r;
}

void gone_say_hidden(const struct hb_session *s)
{
	for (size_t i = 0; s->resources && i < s->record.n_resources; i++) {
		char shown[QUOTE_SHOWN];

		if (s->resources[i].is_gone)
			store_say(
				s->store,
				"the directory '%s' is gone: it is not shown, and its "
				"pending changes stay",
				quote_shown(s->record.resources[i].source,
					    shown, sizeof(shown)));
	}
}
