/* SPDX-License-Identifier: Apache-2.0 */
#include "run/database/kept_database.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/kv.h"
#include "base/path.h"
#include "base/quote.h"
#include "host/helper_error.h"
#include "host/self.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "run/database/taking.h"
#include "run/mounted.h"
#include "session/session.h"
#include "store/pictures.h"
#include "store/store.h"
#include "strategy/strategy.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SERVER_PROGRAM "postgres"
#define VARIABLE_MAX   ((size_t)4096)

bool database_is_kept(const struct hb_session *session)
{
	return pictures_find(session->store, &session->record) >= 0;
}

/* The values of the file of facts that a box is told. */
struct told_facts {
	char user[256], name[256], url[1024];
};

static int read_facts(int place, struct told_facts *ret, struct hb_error *err)
{
	const struct {
		const char *key;
		char *to;
		size_t size;
	} rows[] = { { "user", ret->user, sizeof(ret->user) },
		     { "name", ret->name, sizeof(ret->name) },
		     { "url", ret->url, sizeof(ret->url) } };
	auto_free char *text = calloc(1, KV_FILE_MAX);
	auto_kv_reader struct kv_reader k = { 0 };
	struct kv_entry e;
	ssize_t n = text ? sys_read_file_at(place, PICTURES_FACTS, text,
					    KV_FILE_MAX)
			 : -ENOMEM;
	int r;

	if (n < 0)
		return hb_fail(err, (int)n,
			       "cannot read the facts about the database");
	kv_reader_init(&k, PICTURES_FACTS, text, (size_t)n);
	while ((r = kv_next(&k, &e, err)) == 1)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (strcmp(rows[i].key, e.key) == 0)
				(void)snprintf(rows[i].to, rows[i].size, "%s",
					       e.value);
	return r;
}

static int open_place(const struct hb_session *s, char path[PATH_MAX],
		      struct hb_error *err)
{
	int number = pictures_find(s->store, &s->record);

	return pictures_open(s->record.resources[number].source, path, err);
}

/* A session that is there has its database, and no other. */
static int check_same(const struct hb_session *s, const char *url,
		      struct hb_error *err)
{
	struct told_facts facts = { 0 };
	char path[PATH_MAX];
	auto_fd int place = -1;
	int r;

	if (!database_is_kept(s)) {
		hb_fix(err, "another session: without --session");
		return hb_fail(err, -HB_E_STATE,
			       "session '%s' was made without a database",
			       s->record.name);
	}
	place = open_place(s, path, err);
	r = place < 0 ? place : read_facts(place, &facts, err);
	if (r >= 0 && strcmp(facts.url, url) != 0)
		return hb_fail(err, -HB_E_STATE,
			       "session '%s' has another database: '%s'",
			       s->record.name, quoted(facts.url));
	return r;
}

static bool is_asked(const struct hb_setting *setting)
{
	return strcmp(setting->key, setting_name(KEY_DB)) == 0 &&
	       setting->value && setting_names_server(setting->value);
}

bool database_is_asked(const struct hb_setting *settings, size_t n_settings)
{
	for (size_t i = 0; i < n_settings; i++)
		if (is_asked(&settings[i]))
			return true;
	return false;
}

/* The caller's settings without the URL, and with room for one more. */
static int copy_settings(const struct hb_setting *from, size_t n,
			 struct database_start *ret, struct hb_error *err)
{
	ret->settings = calloc(n + 1, sizeof(*ret->settings));
	if (!ret->settings)
		return hb_fail(err, -ENOMEM, "cannot keep the settings");
	for (size_t i = 0; i < n; i++) {
		if (!is_asked(&from[i])) {
			ret->settings[ret->n_settings++] = from[i];
			continue;
		}
		if (ret->url && strcmp(ret->url, from[i].value) != 0)
			return hb_fail(err, -HB_E_USAGE,
				       "a session can hold back one database "
				       "of a server");
		ret->url = from[i].value;
	}
	return 0;
}

/* What the command's run cannot have together with a server. */
static int check_modes(const struct database_start *start, struct hb_error *err)
{
	static const enum setting_key without[] = { KEY_EPHEMERAL, KEY_DIRECT,
						    KEY_ALLOW_DEGRADED };

	for (size_t i = 0; i < start->n_settings; i++)
		for (size_t k = 0; k < sizeof(without) / sizeof(without[0]);
		     k++)
			if (strcmp(start->settings[i].key,
				   setting_name(without[k])) == 0)
				return hb_fail(err, -HB_E_USAGE,
					       "a database of a server and "
					       "--%s exclude each other",
					       setting_name(without[k]));
	for (size_t i = 0; i < start->n_settings; i++)
		if (strcmp(start->settings[i].key,
			   setting_name(KEY_STRATEGY)) == 0 &&
		    strcmp(start->settings[i].value,
			   strategy_names[STRATEGY_NAME_NONE].name) == 0)
			return hb_fail(err, -HB_E_USAGE,
				       "a database of a server is held back, "
				       "and --strategy %s holds nothing back",
				       start->settings[i].value);
	if (sys_effective_uid() != 0)
		return 0;
	hb_fix(err, "run it as an ordinary user, such as the database's owner");
	return hb_fail(err, -HB_E_UNSUPPORTED,
		       "PostgreSQL does not run as root, and its server would "
		       "run as you do");
}

static int make_picture(const struct hb_store *store, char *const *envp,
			struct database_start *start, struct hb_error *err)
{
	char picture[PATH_MAX];
	int r = database_take(store, start->url, envp, picture, &start->lock,
			      err);

	if (r < 0)
		return r;
	(void)snprintf(start->cow, sizeof(start->cow), "%s:" DATABASE_PICTURE,
		       picture);
	start->settings[start->n_settings++] =
		(struct hb_setting){ setting_name(KEY_COW), start->cow };
	return 0;
}

int database_begin(const struct hb_store *store,
		   const struct hb_session *session,
		   const struct hb_setting *settings, size_t n_settings,
		   char *const *envp, bool is_quick, struct database_start *ret,
		   struct hb_error *err)
{
	int r;

	if (!database_is_asked(settings, n_settings))
		return 0;
	r = copy_settings(settings, n_settings, ret, err);
	if (r >= 0 && session)
		return check_same(session, ret->url, err);
	if (r >= 0)
		r = check_modes(ret, err);
	if (r >= 0 && is_quick)
		return -EAGAIN;
	return r < 0 ? r : make_picture(store, envp, ret, err);
}

void database_end(const struct hb_store *store, struct database_start *start)
{
	free(start->settings);
	if (start->lock < 0)
		return;
	fd_closep(&start->lock);
	pictures_sweep(store);
}

static int keep_joined(struct run *run, const char *dir, const char *name,
		       const char **ret, struct hb_error *err)
{
	char path[PATH_MAX];
	int r = path_join(dir, name, path, sizeof(path));

	return r < 0 ? hb_fail(err, r, "cannot name a part of the database")
		     : plan_keep_text(&run->plan, path, ret, err);
}

static int add_entries(struct run *run, const struct hb_session *s,
		       const char *place, struct hb_error *err)
{
	const char *source =
		s->record.resources[pictures_find(s->store, &s->record)].source;
	char server[PICTURES_NAME_SIZE], program[PATH_MAX];
	struct view_entry rows[] = {
		{ .class = VIEW_RW,
		  .found = VIEW_DIR,
		  .path = DATABASE_SERVER },
		{ .class = VIEW_RO,
		  .found = VIEW_DIR,
		  .path = DATABASE_ORIGINAL,
		  .source = source },
		{ .class = VIEW_RO,
		  .found = VIEW_FILE,
		  .path = DATABASE_FACTS "/" PICTURES_FACTS },
		{ .class = VIEW_RO,
		  .found = VIEW_FILE,
		  .path = DATABASE_PROGRAM },
	};
	size_t n = sizeof(rows) / sizeof(rows[0]);
	struct view_entry *entries;
	int r;

	pictures_server(&s->record, server);
	r = keep_joined(run, place, server, &rows[0].source, err);
	if (r >= 0)
		r = keep_joined(run, place, PICTURES_FACTS, &rows[2].source,
				err);
	if (r >= 0)
		r = place_helper(SERVER_PROGRAM, program);
	if (r >= 0)
		r = plan_keep_text(&run->plan, program, &rows[3].source, err);
	if (r < 0)
		return hb_fail(err, r, "cannot show the server");
	entries = reallocarray(run->entries, run->n_entries + n,
			       sizeof(*entries));
	if (!entries)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	memcpy(entries + run->n_entries, rows, sizeof(rows));
	run->entries = entries;
	run->n_entries += n;
	run->request.entries = entries;
	run->request.n_entries = run->n_entries;
	return 0;
}

/* As a part of a URL. */
static void add_escaped(struct buf *out, const char *text)
{
	for (; *text; text++)
		if ((*text >= 'a' && *text <= 'z') ||
		    (*text >= 'A' && *text <= 'Z') ||
		    (*text >= '0' && *text <= '9') || *text == '_' ||
		    *text == '-')
			(void)buf_add_char(out, *text);
		else
			(void)buf_add_fmt(out, "%%%02X", (unsigned char)*text);
}

static int set_variable(struct run *run, const char *name, const char *value,
			struct hb_error *err)
{
	static const struct setting_origin origin = { .source = SETTING_SESSION,
						      .file = "database" };
	auto_buf struct buf word = BUF_INIT(VARIABLE_MAX);
	const char *kept;
	int r = buf_add_fmt(&word, "%s=%s", name, value);

	if (r >= 0)
		r = plan_keep_text(&run->plan, word.data, &kept, err);
	return r < 0 ? r
		     : settings_set(&run->settings, setting_name(KEY_ENV), kept,
				    &origin, err);
}

static int set_variables(struct run *run, const struct told_facts *facts,
			 struct hb_error *err)
{
	auto_buf struct buf url = BUF_INIT(VARIABLE_MAX);
	int r;

	(void)buf_add_str(&url, "postgres://");
	add_escaped(&url, facts->user);
	(void)buf_add_str(&url, "@/");
	add_escaped(&url, facts->name);
	(void)buf_add_str(&url, "?host=");
	add_escaped(&url, DATABASE_SERVER);
	r = buf_add_str(&url, "&port=5432");
	if (r >= 0)
		r = set_variable(run, "PGHOST", DATABASE_SERVER, err);
	if (r >= 0)
		r = set_variable(run, "PGPORT", "5432", err);
	if (r >= 0)
		r = set_variable(run, "PGUSER", facts->user, err);
	if (r >= 0)
		r = set_variable(run, "PGDATABASE", facts->name, err);
	return r < 0 ? r : set_variable(run, "DATABASE_URL", url.data, err);
}

int database_show(struct run *run, const struct mounted *m,
		  struct hb_error *err)
{
	const struct hb_session *s = m->session;
	struct told_facts facts = { 0 };
	char path[PATH_MAX], server[PICTURES_NAME_SIZE];
	auto_fd int place = -1;
	int r;

	if (!database_is_kept(s))
		return 0;
	if (run->is_bare)
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "a database needs a box with namespaces");
	place = open_place(s, path, err);
	if (place < 0)
		return place;
	pictures_server(&s->record, server);
	r = sys_mkdirat(place, server, 0700);
	if (r < 0 && r != -EEXIST)
		return hb_fail(err, r, "cannot make a place for the server");
	r = read_facts(place, &facts, err);
	if (r >= 0)
		r = add_entries(run, s, path, err);
	return r < 0 ? r : set_variables(run, &facts, err);
}

int database_spoil(const struct hb_session *s, struct hb_error *err)
{
	char path[PATH_MAX], name[PICTURES_NAME_SIZE];
	auto_fd int place = open_place(s, path, err);
	int r;

	pictures_inspected(&s->record, name);
	r = place < 0 ? place : sys_unlinkat(place, name, 0);
	return r < 0 && r != -ENOENT
		       ? hb_fail(err, r, "cannot begin with the database")
		       : 0;
}

int database_wrap(struct run *run, bool is_inspection, struct hb_error *err)
{
	static const char *const words[] = { DATABASE_PROGRAM, "serve",
					     DATABASE_SERVER,  DATABASE_PICTURE,
					     DATABASE_FACTS,   "--" };
	size_t n = 0, n_words = sizeof(words) / sizeof(words[0]);
	char *const *from = run->plan.argv;
	char **argv;

	if (is_inspection)
		return 0;
	if (!from) {
		hb_fix(err, "holdback exec @SESSION -- COMMAND");
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "a session with a database cannot be kept open: "
			       "its server runs with a command");
	}
	while (from[n])
		n++;
	argv = calloc(n + n_words + 2, sizeof(*argv));
	if (!argv)
		return hb_fail(err, -ENOMEM, "cannot keep the words");
	/* The first is room for the shell of a script: sys_execvpe(). */
	for (size_t i = 0; i < n_words; i++)
		argv[1 + i] = (char *)(uintptr_t)words[i];
	memcpy(argv + 1 + n_words, from, n * sizeof(*argv));
	free(run->argv);
	run->argv = argv;
	run->plan.argv = argv + 1;
	return 0;
}

void database_words(char *argv[DATABASE_WORDS])
{
	static const char *const words[DATABASE_WORDS] = { DATABASE_PROGRAM,
							   "inspect",
							   DATABASE_SERVER,
							   DATABASE_PICTURE,
							   DATABASE_FACTS,
							   DATABASE_ORIGINAL,
							   NULL };

	for (size_t i = 0; i < DATABASE_WORDS; i++)
		argv[i] = (char *)(uintptr_t)words[i];
}

void database_inspected(const struct hb_session *s, int status)
{
	char path[PATH_MAX], name[PICTURES_NAME_SIZE];
	auto_fd int place = open_place(s, path, NULL);
	struct hb_error err = { 0 };
	auto_fd int server = -1;

	if (place < 0)
		return;
	pictures_inspected(&s->record, name);
	if (status == 0 && sys_make_file_at(place, name, 0600) >= 0)
		return;
	pictures_server(&s->record, name);
	server = store_open_own(place, name, NULL);
	(void)helper_error(server, &err);
	store_say(s->store,
		  "session '%s': the changes of the database cannot be told: "
		  "%s; they can be committed after: holdback exec @%s -- true",
		  s->record.name, err.text, s->record.name);
}
