/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/carry_note.h"

#include "agent/login.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json_keys.h"
#include "base/kv.h"
#include "base/num.h"
#include "base/path.h"
#include "base/sha256.h"
#include "session/session.h"
#include "sys/attr.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Room for the paths of a full shelf. */
#define NOTE_MAX KV_FILE_MAX
#define NEW	 CARRY_NEW

/* The digits of any number, and a NUL. */
#define NUMBER_SIZE 24

void carry_note_done(struct carry_note *note)
{
	for (size_t i = 0; i < note->n_rules; i++) {
		free(note->rules[i].path);
		free(note->rules[i].keys);
	}
	for (size_t i = 0; i < note->n_given; i++)
		free(note->given[i].path);
	free(note->rules);
	free(note->given);
	*note = (struct carry_note){ 0 };
}

int carry_note_rule(struct carry_note *note, enum state_class class,
		    const char *path, const char *keys)
{
	struct carry_rule *rules = reallocarray(note->rules, note->n_rules + 1,
						sizeof(*note->rules));

	if (!rules)
		return -ENOMEM;
	note->rules = rules;
	rules += note->n_rules;
	*rules =
		(struct carry_rule){ class, strdup(path), strdup(keys), false };
	if (!rules->path || !rules->keys) {
		free(rules->path);
		free(rules->keys);
		return -ENOMEM;
	}
	note->n_rules++;
	return 0;
}

int carry_note_given(struct carry_note *note, const char *path,
		     const struct sys_attr *attr, uint64_t carried)
{
	struct carry_given *given = reallocarray(note->given, note->n_given + 1,
						 sizeof(*note->given));

	if (!given)
		return -ENOMEM;
	note->given = given;
	given += note->n_given;
	*given = (struct carry_given){ .path = strdup(path),
				       .ino = attr->ino,
				       .sec = attr->ctime.tv_sec,
				       .nsec = attr->ctime.tv_nsec,
				       .carried = carried };
	if (!given->path)
		return -ENOMEM;
	note->n_given++;
	return 0;
}

const struct carry_given *carry_note_find(const struct carry_note *note,
					  const char *path)
{
	for (size_t i = 0; i < note->n_given; i++)
		if (strcmp(note->given[i].path, path) == 0)
			return &note->given[i];
	return NULL;
}

bool carry_note_is_same(const struct carry_given *given,
			const struct sys_attr *attr)
{
	return given && given->ino == attr->ino &&
	       given->sec == attr->ctime.tv_sec &&
	       given->nsec == attr->ctime.tv_nsec;
}

/* One component with at most one star in it that counts. */
static bool fits(const char *rule, size_t n, const char *name, size_t len)
{
	const char *star = memchr(rule, '*', n);
	size_t before = star ? (size_t)(star - rule) : n;
	size_t behind = star ? n - before - 1 : 0;

	if (!star)
		return n == len && memcmp(rule, name, n) == 0;
	return len >= before + behind && memcmp(rule, name, before) == 0 &&
	       memcmp(star + 1, name + len - behind, behind) == 0;
}

/* 1: the path itself; 0: something below it; -1: neither. */
static int match(const struct carry_rule *rule, const char *path)
{
	const char *at = rule->path;

	for (;;) {
		size_t n, len;

		at += strspn(at, "/");
		path += strspn(path, "/");
		if (!*at)
			return *path ? 0 : 1;
		n = strcspn(at, "/");
		len = strcspn(path, "/");
		if (len == 0 || !fits(at, n, path, len))
			return -1;
		at += n;
		path += len;
	}
}

bool carry_rule_is_at(const struct carry_rule *rule, const char *path)
{
	return match(rule, path) == 1;
}

static const struct carry_rule *find_rule(const struct carry_note *note,
					  const char *path)
{
	const struct carry_rule *best = NULL;

	for (size_t i = 0; i < note->n_rules; i++) {
		const struct carry_rule *rule = &note->rules[i];

		if (match(rule, path) >= 0 &&
		    (!best || strlen(rule->path) >= strlen(best->path)))
			best = rule;
	}
	return best;
}

enum state_class carry_note_class(const struct carry_note *note,
				  const char *path)
{
	const struct carry_rule *rule = find_rule(note, path);

	return rule ? rule->class : STATE_RUNS;
}

const char *carry_note_keys(const struct carry_note *note, const char *path)
{
	for (size_t i = 0; i < note->n_rules; i++)
		if (note->rules[i].class == STATE_LOGIN &&
		    carry_rule_is_at(&note->rules[i], path))
			return note->rules[i].keys;
	return "";
}

static int format(const struct carry_note *note, struct buf *out)
{
	struct kv_writer w;

	kv_writer_init(&w, out);
	(void)kv_add_str(&w, "project", note->project.name);
	(void)kv_add_str(&w, "where", note->where);
	(void)kv_add_str(&w, "agent", note->agent);
	(void)kv_add_str(&w, "policy", note->policy);
	(void)kv_add_str(&w, "home", note->home);
	(void)kv_add_str(&w, "resume", note->resume);
	(void)kv_add_str(&w, "quiet", note->is_quiet ? "yes" : "no");
	(void)kv_add_fmt(&w, "begun", "%lld", (long long)note->begun);
	(void)kv_add_fmt(&w, "nsec", "%lld", (long long)note->begun_nsec);
	for (size_t i = 0; i < note->n_rules; i++) {
		(void)kv_add_str(&w, "keys", note->rules[i].keys);
		(void)kv_add_str(&w, state_class_name(note->rules[i].class),
				 note->rules[i].path);
	}
	for (size_t i = 0; i < note->n_given; i++) {
		const struct carry_given *given = &note->given[i];

		(void)kv_add_fmt(&w, "given", "%llu %lld %lld %llu %s",
				 (unsigned long long)given->ino,
				 (long long)given->sec, (long long)given->nsec,
				 (unsigned long long)given->carried,
				 given->path);
	}
	return out->error;
}

int carry_note_write(const struct hb_session *s, const struct carry_note *note,
		     struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(NOTE_MAX);
	auto_fd int fd = -1;
	int r = format(note, &text);

	(void)sys_unlinkat(s->dir, NEW, 0);
	if (r >= 0)
		r = fd = sys_openat(s->dir, NEW,
				    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
				    0600);
	if (r >= 0)
		r = sys_write_all(fd, text.data, text.len);
	if (r >= 0)
		r = sys_renameat(s->dir, NEW, s->dir, CARRY_NOTE);
	return r < 0 ? hb_fail(err, r, "cannot note the state of the agent")
		     : 0;
}

static int copy_text(const char *value, char *ret, size_t size)
{
	if (strlen(value) >= size)
		return -EINVAL;
	memcpy(ret, value, strlen(value) + 1);
	return 0;
}

/* One number with the blank behind it. */
static int read_number(const char **at, uint64_t *ret)
{
	size_t n = strcspn(*at, " ");
	char digits[NUMBER_SIZE];

	if (n >= sizeof(digits) || (*at)[n] != ' ')
		return -EINVAL;
	memcpy(digits, *at, n);
	digits[n] = '\0';
	*at += n + 1;
	return num_u64(digits, ret);
}

static int read_given(struct carry_note *note, const char *value)
{
	uint64_t ino, sec, nsec, carried;
	struct sys_attr attr = { 0 };

	if (read_number(&value, &ino) < 0 || read_number(&value, &sec) < 0 ||
	    read_number(&value, &nsec) < 0 ||
	    read_number(&value, &carried) < 0 || value[0] != '/')
		return -EINVAL;
	attr.ino = ino;
	attr.ctime.tv_sec = (time_t)sec;
	attr.ctime.tv_nsec = (long)nsec;
	return carry_note_given(note, value, &attr, carried);
}

static int read_entry(const struct kv_entry *e, char *keys, size_t size,
		      struct carry_note *note)
{
	enum state_class class = state_class_named(e->key);

	if (!kv_is_string(e))
		return -EINVAL;
	if (class < STATE_CLASSES)
		return carry_note_rule(note, class, e->value, keys);
	if (strcmp(e->key, "keys") == 0)
		return copy_text(e->value, keys, size);
	if (strcmp(e->key, "given") == 0)
		return read_given(note, e->value);
	if (strcmp(e->key, "project") == 0)
		return copy_text(e->value, note->project.name,
				 sizeof(note->project.name));
	if (strcmp(e->key, "where") == 0)
		return copy_text(e->value, note->where, sizeof(note->where));
	if (strcmp(e->key, "agent") == 0)
		return copy_text(e->value, note->agent, sizeof(note->agent));
	if (strcmp(e->key, "policy") == 0)
		return copy_text(e->value, note->policy, sizeof(note->policy));
	if (strcmp(e->key, "home") == 0)
		return copy_text(e->value, note->home, sizeof(note->home));
	if (strcmp(e->key, "resume") == 0)
		return copy_text(e->value, note->resume, sizeof(note->resume));
	if (strcmp(e->key, "quiet") == 0) {
		note->is_quiet = strcmp(e->value, "yes") == 0;
		return 0;
	}
	if (strcmp(e->key, "begun") == 0)
		return num_int(e->value, 0, INT64_MAX, &note->begun);
	if (strcmp(e->key, "nsec") == 0)
		return num_int(e->value, 0, 999999999, &note->begun_nsec);
	return -EINVAL;
}

static int read_text(int fd, char **ret, size_t *ret_n)
{
	struct stat st;
	ssize_t n;
	int r = sys_fstat(fd, &st);

	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > NOTE_MAX)
		return -EINVAL;
	*ret = malloc((size_t)st.st_size + 1);
	if (!*ret)
		return -ENOMEM;
	n = sys_pread_full(fd, *ret, (size_t)st.st_size, 0);
	if (n < 0)
		return (int)n;
	*ret_n = (size_t)n;
	return 0;
}

int carry_note_read(const struct hb_session *s, const char *name,
		    struct carry_note *ret, struct hb_error *err)
{
	auto_kv_reader struct kv_reader k = { 0 };
	auto_free char *text = NULL;
	char keys[1024] = "";
	struct kv_entry e;
	auto_fd int fd = -1;
	size_t n = 0;
	int r;

	fd = sys_openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd == -ENOENT)
		return fd;
	r = fd < 0 ? fd : read_text(fd, &text, &n);
	kv_reader_init(&k, name, text, n);
	while (r >= 0 && (r = kv_next(&k, &e, NULL)) == 1)
		r = read_entry(&e, keys, sizeof(keys), ret);
	if (r >= 0 && (!shelf_is_agent(ret->agent) || !ret->project.name[0]))
		r = -EINVAL;
	if (r < 0)
		return hb_fail(err, -HB_E_CORRUPT,
			       "the note about the agent's state is damaged");
	return 0;
}

/* {"KEY":null,…}: what json_take_keys() puts in the place of members. */
static int format_nulls(const char *keys, struct buf *out)
{
	(void)buf_add_char(out, '{');
	for (bool is_first = true; *keys; is_first = false) {
		size_t n = strcspn(keys, ",");

		(void)buf_add_fmt(out, "%s\"%.*s\":null", is_first ? "" : ",",
				  (int)n, keys);
		keys += n + (keys[n] == ',');
	}
	return buf_add_char(out, '}');
}

struct present {
	const char *keys;
	struct buf nulls; /* of those that are there */
};

static void add_null(void *ctx, const struct json_member *m)
{
	struct present *present = ctx;

	if (m->depth == 1 && login_has_key(present->keys, m->key, m->n_key))
		(void)buf_add_fmt(&present->nulls, "%s\"%.*s\":null",
				  present->nulls.len > 1 ? "," : "",
				  (int)m->n_key, m->key);
}

int carry_without_login(struct buf *text, const char *keys)
{
	struct present present = { .keys = keys, .nulls = BUF_INIT(4096) };
	auto_buf struct buf rest = BUF_INIT(4 * CARRIED_FILE_MAX);
	int r;

	if (!keys[0])
		return 0;
	(void)buf_add_char(&present.nulls, '{');
	r = json_each_member(buf_str(text), text->len, add_null, &present);
	if (r >= 0)
		r = buf_add_char(&present.nulls, '}');
	if (r >= 0)
		r = json_take_keys(buf_str(text), text->len, present.nulls.data,
				   present.nulls.len, keys, &rest);
	buf_done(&present.nulls);
	if (r < 0)
		return r;
	buf_done(text);
	*text = (struct buf)BUF_INIT(4 * CARRIED_FILE_MAX);
	return buf_add(text, rest.data, rest.len);
}

struct rest {
	const char *keys;
	bool has_some; /* a member that is not of the login */
};

static void look_at_member(void *ctx, const struct json_member *m)
{
	struct rest *rest = ctx;

	if (m->depth == 1 && !login_has_key(rest->keys, m->key, m->n_key))
		rest->has_some = true;
}

/* Whether the file has a login and nothing else: as good as none. */
static bool is_login_alone(const char *text, size_t n, const char *keys)
{
	struct rest rest = { .keys = keys };

	return keys[0] &&
	       json_each_member(text, n, look_at_member, &rest) >= 0 &&
	       !rest.has_some;
}

void carry_text_digest(const char *text, size_t n, const char *keys,
		       char ret[CARRIED_HOST_SIZE])
{
	auto_buf struct buf nulls = BUF_INIT(4096);
	auto_buf struct buf rest = BUF_INIT(4 * CARRIED_FILE_MAX);
	uint8_t digest[SHA256_SIZE];

	ret[0] = '\0';
	if (is_login_alone(text, n, keys))
		return;
	if (keys[0] && format_nulls(keys, &nulls) >= 0 &&
	    json_take_keys(text, n, nulls.data, nulls.len, keys, &rest) >= 0)
		sha256_of(rest.data, rest.len, digest);
	else
		sha256_of(text, n, digest);
	sha256_hex(digest, ret);
}

void carry_members_digest(const char *text, size_t n, const char *keys,
			  char ret[CARRIED_HOST_SIZE])
{
	auto_buf struct buf members = BUF_INIT(4 * CARRIED_FILE_MAX);
	uint8_t digest[SHA256_SIZE];

	ret[0] = '\0';
	/* Without one of them the file has no login. */
	if (!keys[0] || json_take_keys("{}", 2, text, n, keys, &members) < 0 ||
	    members.len <= 2)
		return;
	sha256_of(members.data, members.len, digest);
	sha256_hex(digest, ret);
}

void carry_login_digest(int dir, const char *name, const char *keys,
			char ret[CARRIED_HOST_SIZE])
{
	auto_free char *text = NULL;
	auto_fd int fd = -1;
	size_t n = 0;

	ret[0] = '\0';
	if (!keys[0] || dir < 0)
		return;
	fd = sys_openat(dir, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (fd >= 0 && read_text(fd, &text, &n) >= 0)
		carry_members_digest(text, n, keys, ret);
}

int carry_host_digest(int dir, const char *name, const char *keys,
		      char ret[CARRIED_HOST_SIZE])
{
	auto_free char *text = NULL;
	char target[PATH_MAX];
	struct sys_attr attr;
	auto_fd int fd = -1;
	size_t size = 0;
	ssize_t n;
	int r = sys_attr_at(dir, name, &attr);

	ret[0] = '\0';
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	(void)snprintf(ret, CARRIED_HOST_SIZE, "%o-%llx-%llx.%lx",
		       (unsigned)(attr.mode & S_IFMT),
		       (unsigned long long)attr.ino,
		       (unsigned long long)attr.ctime.tv_sec,
		       (unsigned long)attr.ctime.tv_nsec);
	if (S_ISLNK(attr.mode)) {
		n = sys_readlinkat(dir, name, target, sizeof(target));
		if (n >= 0)
			carry_text_digest(target, (size_t)n, "", ret);
		return n < 0 ? (int)n : 0;
	}
	/* What is too large, or no file, is told by its change time. */
	if (!S_ISREG(attr.mode) || attr.size > CARRIED_FILE_MAX)
		return 0;
	fd = sys_openat(dir, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	r = fd < 0 ? fd : read_text(fd, &text, &size);
	if (r >= 0)
		carry_text_digest(text, size, keys, ret);
	return r == -EACCES ? 0 : r;
}
