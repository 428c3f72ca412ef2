/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/kv.h"
#include "base/num.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The session file.
 *
 * (a) A reader gets the very bytes of the writer.  The last line is the SHA-256
 *     of all before it, so a file that is cut or flipped is never half
 *     believed.
 * (b) A reader sees the old file or the new one: it is replaced by rename.
 *
 * t_record holds both.
 */

#define FILE_NAME "session"
#define FILE_NEW  "session.new"
#define FILE_ROOM "session.room"

/* Beyond what the record has now: a few lines are added meanwhile. */
#define ROOM_MORE 4096
#define SUM_KEY	  "sum"

/* As view/policy.c writes it. */
#define SHOWS_HOST "view=host"

static const char *const state_names[SESSION_STATES] = {
	[SESSION_CREATED] = "created", [SESSION_IDLE] = "idle",
	[SESSION_ACTIVE] = "active",   [SESSION_BROKEN] = "broken",
	[SESSION_GONE] = "gone",
};

const char *session_state_name(enum session_state state)
{
	return state < SESSION_STATES ? state_names[state] : "unknown";
}

void record_done(struct session_record *record)
{
	for (size_t i = 0; i < record->n_resources; i++) {
		free(record->resources[i].source);
		free(record->resources[i].inside);
		free(record->resources[i].berth);
	}
	free(record->resources);
	for (size_t i = 0; i < record->n_read_only; i++)
		free(record->read_only[i]);
	free(record->read_only);
	for (size_t i = 0; i < record->n_policy; i++)
		free(record->policy[i]);
	free(record->policy);
	free(record->layers);
	memset(record, 0, sizeof(*record));
}

void record_note_command(struct session_record *record, char *const *argv)
{
	struct path_part base = path_basename(argv[0]);
	const char *word = argv[1] && argv[1][0] != '-' ? argv[1] : NULL;

	(void)snprintf(record->command, sizeof(record->command), "%.*s%s%.24s",
		       (int)(base.n < 32 ? base.n : 32), base.s,
		       word ? " " : "", word ? word : "");
}

int record_check_name(const char *what, const char *name, struct hb_error *err)
{
	char shown[QUOTE_SHOWN];
	size_t n = strlen(name);
	const char *why = NULL;

	if (n == 0)
		why = "is empty";
	else if (n > RECORD_NAME_MAX)
		why = "is longer than 64 bytes";
	else if (strchr(name, '/'))
		why = "has a slash in it";
	else if (strchr(".-@", name[0]))
		why = "begins with '.', '-' or '@'";
	else if (quote_is_needed(name, n))
		why = "has a character that cannot be shown";
	if (!why)
		return 0;
	hb_fix(err, "use letters, digits, '-', '_' and '.'");
	return hb_fail(err, -HB_E_USAGE, "the %s name '%s' %s", what,
		       quote_shown(name, shown, sizeof(shown)), why);
}

bool record_is_id(const char *text)
{
	return strlen(text) == RECORD_ID_SIZE - 1 &&
	       strspn(text, "0123456789abcdef") == RECORD_ID_SIZE - 1;
}

int record_add_resource(struct session_record *record, const char *source,
			const char *inside, struct record_resource **ret,
			struct hb_error *err)
{
	struct record_resource *grown;

	if (record->n_resources >= RECORD_RESOURCES_MAX)
		return hb_fail(err, -E2BIG, "more than %d resources",
			       RECORD_RESOURCES_MAX);
	if (grow(record->resources, record->n_resources) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep a resource");
	grown = &record->resources[record->n_resources];
	*grown = (struct record_resource){ .source = strdup(source),
					   .inside = strdup(inside) };
	/* Counted at once, so that record_done() frees a half-made one. */
	record->n_resources++;
	if (!grown->source || !grown->inside)
		return hb_fail(err, -ENOMEM, "cannot keep a resource");
	*ret = grown;
	return 0;
}

/* One more copy in a list of at most `max`. */
static int add_copy(char ***list, size_t *n, size_t max, const char *text,
		    struct hb_error *err)
{
	if (*n >= max)
		return hb_fail(err, -E2BIG, "more than %zu of a kind", max);
	if (grow(*list, *n) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep the session");
	(*list)[*n] = strdup(text);
	if (!(*list)[*n])
		return hb_fail(err, -ENOMEM, "cannot keep the session");
	++*n;
	return 0;
}

int record_add_read_only(struct session_record *record, const char *path,
			 struct hb_error *err)
{
	return add_copy(&record->read_only, &record->n_read_only,
			RECORD_READ_ONLY_MAX, path, err);
}

int record_add_policy(struct session_record *record, const char *words,
		      struct hb_error *err)
{
	return add_copy(&record->policy, &record->n_policy, RECORD_POLICY_MAX,
			words, err);
}

int record_adopt(struct session_record *record, struct hb_error *err)
{
	int r;

	if (record->n_policy > 0)
		return 0;
	record->is_earlier = true;
	r = record_add_policy(record, "profile=generic", err);
	if (r >= 0)
		r = record_add_policy(record, SHOWS_HOST, err);
	for (size_t i = 0; r >= 0 && i < record->n_read_only; i++) {
		auto_free char *line = NULL;

		r = asprintf(&line, "ro=%s", record->read_only[i]);
		r = r < 0 ? hb_fail(err, -ENOMEM, "cannot keep the session")
			  : record_add_policy(record, line, err);
	}
	return r;
}

const char *record_profile(const struct session_record *record)
{
	static const char key[] = "profile=";
	const char *found = "";

	for (size_t i = 0; i < record->n_policy; i++)
		if (strncmp(record->policy[i], key, strlen(key)) == 0)
			found = record->policy[i] + strlen(key);
	return found;
}

bool record_shows_host(const struct session_record *record)
{
	for (size_t i = 0; i < record->n_policy; i++)
		if (strcmp(record->policy[i], SHOWS_HOST) == 0)
			return true;
	return record->n_policy == 0;
}

bool record_keeps_log(const struct session_record *record)
{
	for (size_t i = 0; i < record->n_policy; i++)
		if (strcmp(record->policy[i], "audit=none") == 0)
			return false;
	return true;
}

int record_add_layer(struct session_record *record,
		     const struct record_layer *layer, struct hb_error *err)
{
	if (record->n_layers >= RECORD_LAYERS_MAX) {
		hb_fix(err, "holdback gc, or commit the pending changes");
		return hb_fail(err, -E2BIG, "more than %d layers",
			       RECORD_LAYERS_MAX);
	}
	if (grow(record->layers, record->n_layers) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep a layer");
	record->layers[record->n_layers++] = *layer;
	return 0;
}

void record_remove_layer(struct session_record *record, size_t number)
{
	memmove(&record->layers[number], &record->layers[number + 1],
		(record->n_layers - number - 1) * sizeof(*record->layers));
	record->n_layers--;
}

/*
 * One row for each key.  Keys of a layer or a resource belong to the last one
 * before them; a key of the session stands before the first of either.
 */
enum field_type {
	FIELD_TEXT, /* char[size] in place */
	FIELD_COPY, /* char *, allocated */
	FIELD_U64,
	FIELD_I64,
	FIELD_BOOL,
	FIELD_TIME, /* struct timespec as SECONDS.NANOSECONDS */
	FIELD_STATE,
	FIELD_RESOURCE_TYPE, /* nothing is written of the first */
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset, size;
};

#define SESSION_FIELD(key, type, name)                             \
	{                                                          \
		key, type, offsetof(struct session_record, name),  \
			sizeof(((struct session_record *)0)->name) \
	}
#define LAYER_FIELD(key, type, name)                             \
	{                                                        \
		key, type, offsetof(struct record_layer, name),  \
			sizeof(((struct record_layer *)0)->name) \
	}
#define RESOURCE_FIELD(key, type, name)                             \
	{                                                           \
		key, type, offsetof(struct record_resource, name),  \
			sizeof(((struct record_resource *)0)->name) \
	}

static const struct field session_fields[] = {
	SESSION_FIELD("id", FIELD_TEXT, id),
	SESSION_FIELD("name", FIELD_TEXT, name),
	SESSION_FIELD("state", FIELD_STATE, state),
	SESSION_FIELD("dir-ino", FIELD_U64, dir_ino),
	SESSION_FIELD("created", FIELD_I64, created),
	SESSION_FIELD("used", FIELD_TIME, used),
	SESSION_FIELD("command", FIELD_TEXT, command),
	SESSION_FIELD("boot", FIELD_TEXT, boot),
	SESSION_FIELD("pid", FIELD_I64, pid),
	SESSION_FIELD("durable", FIELD_BOOL, is_durable),
	SESSION_FIELD("unsynced", FIELD_BOOL, is_unsynced),
	SESSION_FIELD("lost", FIELD_BOOL, has_lost),
	SESSION_FIELD("undo-bytes", FIELD_U64, undo_bytes),
	SESSION_FIELD("family", FIELD_TEXT, family),
	SESSION_FIELD("freezing", FIELD_BOOL, is_freezing),
	SESSION_FIELD("passing", FIELD_BOOL, is_passing),
	SESSION_FIELD("checks", FIELD_TEXT, checks),
	SESSION_FIELD("earlier", FIELD_BOOL, is_earlier),
};
#define N_SESSION_FIELDS (sizeof(session_fields) / sizeof(session_fields[0]))

static const struct field layer_fields[] = {
	LAYER_FIELD("mark", FIELD_TEXT, mark),
	LAYER_FIELD("frozen", FIELD_I64, frozen),
	LAYER_FIELD("after", FIELD_U64, after),
	LAYER_FIELD("from", FIELD_U64, from),
	LAYER_FIELD("until", FIELD_U64, until),
	LAYER_FIELD("copy", FIELD_BOOL, is_copy),
	LAYER_FIELD("turn", FIELD_BOOL, is_turn),
};
#define N_LAYER_FIELDS (sizeof(layer_fields) / sizeof(layer_fields[0]))

static const struct field resource_fields[] = {
	RESOURCE_FIELD("type", FIELD_RESOURCE_TYPE, type),
	RESOURCE_FIELD("inside", FIELD_COPY, inside),
	RESOURCE_FIELD("ino", FIELD_U64, ino),
	RESOURCE_FIELD("btime", FIELD_TIME, btime),
	RESOURCE_FIELD("t0", FIELD_TIME, t0),
	RESOURCE_FIELD("t0-before", FIELD_TIME, t0_before),
	RESOURCE_FIELD("same-mount", FIELD_BOOL, same_mount),
	RESOURCE_FIELD("in-base", FIELD_BOOL, is_in_base),
	RESOURCE_FIELD("berth", FIELD_COPY, berth),
	RESOURCE_FIELD("groups", FIELD_BOOL, has_groups),
	RESOURCE_FIELD("strategy", FIELD_TEXT, strategy),
	RESOURCE_FIELD("effective", FIELD_TEXT, effective),
	RESOURCE_FIELD("role", FIELD_TEXT, role),
};
#define N_RESOURCE_FIELDS (sizeof(resource_fields) / sizeof(resource_fields[0]))

static void write_field(struct kv_writer *w, const struct field *field,
			const void *object)
{
	const char *at = (const char *)object + field->offset;
	const struct timespec *time = (const void *)at;
	enum resource_type type;
	const char *copy;

	switch (field->type) {
	case FIELD_TEXT:
		(void)kv_add_str(w, field->key, at);
		break;
	case FIELD_COPY:
		copy = *(char *const *)(const void *)at;
		(void)kv_add_str(w, field->key, copy ? copy : "");
		break;
	case FIELD_U64:
		(void)kv_add_fmt(w, field->key, "%llu",
				 (unsigned long long)*(
					 const uint64_t *)(const void *)at);
		break;
	case FIELD_I64:
		(void)kv_add_fmt(w, field->key, "%lld",
				 (long long)*(const int64_t *)(const void *)at);
		break;
	case FIELD_BOOL:
		(void)kv_add_str(w, field->key,
				 *(const bool *)at ? "yes" : "no");
		break;
	case FIELD_TIME:
		(void)kv_add_fmt(w, field->key, "%lld.%09ld",
				 (long long)time->tv_sec, time->tv_nsec);
		break;
	/* Earlier versions know no such key, and no other type. */
	case FIELD_RESOURCE_TYPE:
		type = *(const enum resource_type *)(const void *)at;
		if (type != 0)
			(void)kv_add_str(w, field->key,
					 resource_type_name(type));
		break;
	case FIELD_STATE:
	default:
		(void)kv_add_str(
			w, field->key,
			session_state_name(
				*(const enum session_state *)(const void *)at));
		break;
	}
}

int record_format(const struct session_record *record, struct buf *out,
		  struct hb_error *err)
{
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];
	struct kv_writer w;

	kv_writer_init(&w, out);
	(void)kv_add_fmt(&w, "version", "%d", RECORD_VERSION);
	for (size_t i = 0; i < N_SESSION_FIELDS; i++)
		write_field(&w, &session_fields[i], record);
	for (size_t i = 0; i < record->n_read_only; i++)
		(void)kv_add_str(&w, "read-only", record->read_only[i]);
	for (size_t i = 0; i < record->n_policy; i++)
		(void)kv_add_str(&w, "policy", record->policy[i]);
	for (size_t i = 0; i < record->n_layers; i++) {
		(void)kv_add_str(&w, "layer", record->layers[i].id);
		for (size_t k = 0; k < N_LAYER_FIELDS; k++)
			write_field(&w, &layer_fields[k], &record->layers[i]);
	}
	for (size_t i = 0; i < record->n_resources; i++) {
		(void)kv_add_str(&w, "resource", record->resources[i].source);
		for (size_t k = 0; k < N_RESOURCE_FIELDS; k++)
			write_field(&w, &resource_fields[k],
				    &record->resources[i]);
	}
	sha256_of(out->data, out->len, digest);
	sha256_hex(digest, hex);
	(void)kv_add_str(&w, SUM_KEY, hex);
	if (out->error < 0)
		return hb_fail(err, out->error, "cannot write the session");
	return 0;
}

static int read_time(const char *text, struct timespec *ret)
{
	const char *dot = strchr(text, '.');
	int64_t sec, nsec;
	char head[24];

	/* Records of the version before have whole seconds of some times. */
	if (!dot) {
		if (num_int(text, INT64_MIN, INT64_MAX, &sec) < 0)
			return -EINVAL;
		*ret = (struct timespec){ .tv_sec = sec };
		return 0;
	}
	if ((size_t)(dot - text) >= sizeof(head) || strlen(dot + 1) != 9)
		return -EINVAL;
	memcpy(head, text, (size_t)(dot - text));
	head[dot - text] = '\0';
	if (num_int(head, INT64_MIN, INT64_MAX, &sec) < 0)
		return -EINVAL;
	if (num_int(dot + 1, 0, 999999999, &nsec) < 0)
		return -EINVAL;
	ret->tv_sec = sec;
	ret->tv_nsec = nsec;
	return 0;
}

static int read_state(const char *text, enum session_state *ret)
{
	for (int i = 0; i < SESSION_STATES; i++) {
		if (strcmp(text, state_names[i]) == 0) {
			*ret = (enum session_state)i;
			return 0;
		}
	}
	return -EINVAL;
}

static int read_copy(const char *text, char **ret)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*ret);
	*ret = copy;
	return 0;
}

static int read_field(const struct field *field, const char *text, void *object)
{
	char *at = (char *)object + field->offset;
	int64_t number;
	int r;

	switch (field->type) {
	case FIELD_TEXT:
		if (strlen(text) >= field->size)
			return -EINVAL;
		memcpy(at, text, strlen(text) + 1);
		return 0;
	case FIELD_COPY:
		return read_copy(text, (char **)(void *)at);
	case FIELD_U64:
		return num_u64(text, (uint64_t *)(void *)at);
	case FIELD_I64:
		r = num_int(text, INT64_MIN, INT64_MAX, &number);
		if (r < 0)
			return r;
		*(int64_t *)(void *)at = number;
		return 0;
	case FIELD_BOOL:
		*(bool *)at = strcmp(text, "yes") == 0;
		return *(bool *)at || strcmp(text, "no") == 0 ? 0 : -EINVAL;
	case FIELD_TIME:
		return read_time(text, (struct timespec *)(void *)at);
	case FIELD_RESOURCE_TYPE:
		*(enum resource_type *)(void *)at = resource_type_find(text);
		return resource_type_find(text) < RESOURCE_N_TYPES
			       ? 0
			       : -HB_E_STATE;
	case FIELD_STATE:
	default:
		return read_state(text, (enum session_state *)(void *)at);
	}
}

static const struct field *find_field(const struct field *fields, size_t n,
				      const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(fields[i].key, key) == 0)
			return &fields[i];
	return NULL;
}

static int read_layer(struct session_record *record, const char *id,
		      struct hb_error *err)
{
	struct record_layer layer = { 0 };

	if (!record_is_id(id))
		return hb_fail(err, -HB_E_CORRUPT,
			       "a layer of the session file has no id");
	memcpy(layer.id, id, sizeof(layer.id));
	return record_add_layer(record, &layer, err);
}

static int read_entry(struct session_record *record,
		      const struct kv_entry *entry, struct hb_error *err)
{
	struct record_resource *resource = NULL;
	const struct field *field;
	int r;

	if (strcmp(entry->key, "read-only") == 0)
		return record_add_read_only(record, entry->value, err);
	if (strcmp(entry->key, "policy") == 0)
		return record_add_policy(record, entry->value, err);
	if (strcmp(entry->key, "resource") == 0)
		return record_add_resource(record, entry->value, "", &resource,
					   err);
	if (strcmp(entry->key, "layer") == 0 && record->n_resources == 0)
		return read_layer(record, entry->value, err);
	if (record->n_resources == 0 && record->n_layers > 0) {
		field = find_field(layer_fields, N_LAYER_FIELDS, entry->key);
		r = field ? read_field(field, entry->value,
				       &record->layers[record->n_layers - 1])
			  : -EINVAL;
	} else if (record->n_resources == 0) {
		field = find_field(session_fields, N_SESSION_FIELDS,
				   entry->key);
		r = field ? read_field(field, entry->value, record) : -EINVAL;
	} else {
		resource = &record->resources[record->n_resources - 1];
		field = find_field(resource_fields, N_RESOURCE_FIELDS,
				   entry->key);
		r = field ? read_field(field, entry->value, resource) : -EINVAL;
	}
	if (r == -HB_E_STATE) {
		hb_fix(err, "use the holdback that made it, or a newer one");
		return hb_fail(err, r,
			       "line %zu of the session file has a type that "
			       "this program does not know",
			       entry->line);
	}
	if (r < 0)
		return hb_fail(err, r == -ENOMEM ? r : -HB_E_CORRUPT,
			       "line %zu of the session file makes no sense",
			       entry->line);
	return 0;
}

/* The checksum is the last line and covers what stands before it. */
static int check_sum(const char *text, size_t n, size_t *ret_n)
{
	static const char key[] = SUM_KEY " = ";
	const size_t line = sizeof(key) - 1 + SHA256_HEX_SIZE;
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];

	if (n < line || memcmp(text + n - line, key, sizeof(key) - 1) != 0 ||
	    text[n - 1] != '\n')
		return -HB_E_CORRUPT;
	sha256_of(text, n - line, digest);
	sha256_hex(digest, hex);
	if (memcmp(text + n - SHA256_HEX_SIZE, hex, SHA256_HEX_SIZE - 1) != 0)
		return -HB_E_CORRUPT;
	*ret_n = n - line;
	return 0;
}

static int check_version(struct kv_reader *k, struct hb_error *err)
{
	struct kv_entry entry;
	int64_t version;

	if (kv_next(k, &entry, NULL) != 1 ||
	    strcmp(entry.key, "version") != 0 ||
	    num_int(entry.value, 1, INT64_MAX, &version) < 0)
		return hb_fail(err, -HB_E_CORRUPT,
			       "the session file has no version");
	if (version > RECORD_VERSION) {
		hb_fix(err, "use the holdback that made it, or a newer one");
		return hb_fail(err, -HB_E_STATE,
			       "the session file has version %lld, and this "
			       "program knows versions up to %d",
			       (long long)version, RECORD_VERSION);
	}
	return 0;
}

static int check_whole(const struct session_record *record,
		       struct hb_error *err)
{
	if (!record->id[0] || !record->name[0] || record->n_resources == 0)
		return hb_fail(err, -HB_E_CORRUPT,
			       "the session file is incomplete");
	if ((record->family[0] && !record_is_id(record->family)) ||
	    (record->n_layers > 0 && !record->family[0]))
		return hb_fail(err, -HB_E_CORRUPT,
			       "the layers of the session file have no family");
	for (size_t i = 0; i < record->n_resources; i++)
		if (record->resources[i].source[0] != '/' ||
		    record->resources[i].inside[0] != '/')
			return hb_fail(err, -HB_E_CORRUPT,
				       "a resource of the session file has no "
				       "absolute path");
	return 0;
}

int record_parse(const char *text, size_t n, struct session_record *record,
		 struct hb_error *err)
{
	auto_kv_reader struct kv_reader k = { 0 };
	struct kv_entry entry;
	int r;

	/* The version first: a newer one may know another checksum. */
	kv_reader_init(&k, FILE_NAME, text, n);
	r = check_version(&k, err);
	if (r < 0)
		return r;
	r = check_sum(text, n, &n);
	if (r < 0)
		return hb_fail(err, r,
			       "the session file is cut or was changed");
	kv_reader_done(&k);
	kv_reader_init(&k, FILE_NAME, text, n);
	(void)kv_next(&k, &entry, NULL);
	while ((r = kv_next(&k, &entry, err)) == 1) {
		if (!kv_is_string(&entry))
			return hb_fail(err, -HB_E_CORRUPT,
				       "the session file has a NUL");
		r = read_entry(record, &entry, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r == -HB_E_CONFIG ? -HB_E_CORRUPT : r;
	return check_whole(record, err);
}

int record_read(int dir, struct session_record *record, struct hb_error *err)
{
	auto_free char *text = NULL;
	auto_fd int fd = -1;
	struct stat st;
	ssize_t n;
	int r;

	fd = sys_openat(dir, FILE_NAME,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return hb_fail(err, fd, "cannot open the session file");
	r = sys_fstat(fd, &st);
	if (r < 0)
		return hb_fail(err, r, "cannot look at the session file");
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > RECORD_FILE_MAX)
		return hb_fail(err, -HB_E_CORRUPT,
			       "the session file is empty or no file");
	if (st.st_uid != sys_effective_uid())
		return hb_fail(err, -HB_E_CORRUPT,
			       "the session file belongs to another user");
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return hb_fail(err, -ENOMEM, "cannot read the session file");
	n = sys_read_full(fd, text, (size_t)st.st_size);
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read the session file");
	return record_parse(text, (size_t)n, record, err);
}

/*
 * File systems write out at once what is renamed over something.  A run that
 * may leave nothing waits for no disk: there the two change places.
 */
static int put_in_place(int dir, bool is_passing)
{
	int r = -ENOENT;

	if (is_passing)
		r = sys_renameat2(dir, FILE_NEW, dir, FILE_NAME, RENAME_SWAP);
	if (r < 0)
		return sys_renameat(dir, FILE_NEW, dir, FILE_NAME);
	(void)sys_unlinkat(dir, FILE_NEW, 0);
	return 0;
}

static int write_text(int dir, const char *name, const struct buf *text,
		      bool sync)
{
	auto_fd int fd = -1;
	int r;

	/* Not O_EXCL: a leftover of a crash is ours, for we hold the lock. */
	fd = sys_openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
			0600);
	if (fd < 0)
		return fd;
	r = sys_write_all(fd, text->data, text->len);
	return r < 0 || !sync ? r : sys_fsync(fd);
}

int record_replace(int dir, const char *name, const char *fresh,
		   const struct buf *text)
{
	int r = write_text(dir, fresh, text, true);

	if (r >= 0)
		r = sys_renameat(dir, fresh, dir, name);
	return r < 0 ? r : sys_fsync(dir);
}

static int write_record(int dir, const char *name,
			const struct session_record *record, bool sync,
			struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(RECORD_FILE_MAX);
	int r = record_format(record, &text, err);

	if (r < 0)
		return r;
	r = write_text(dir, name, &text, sync);
	return r < 0 ? hb_fail(err, r, "cannot write the session file") : 0;
}

int record_create(int dir, const struct session_record *record,
		  struct hb_error *err)
{
	return write_record(dir, FILE_NAME, record, false, err);
}

void record_keep_room(int dir, const struct session_record *record)
{
	auto_buf struct buf text = BUF_INIT(RECORD_FILE_MAX + ROOM_MORE);
	int r = record_format(record, &text, NULL);

	/* Written, not only set aside: then it is there on all file systems. */
	for (size_t i = 0; r >= 0 && i < ROOM_MORE; i++)
		r = buf_add_char(&text, '\n');
	if (r >= 0)
		r = write_text(dir, FILE_ROOM, &text, false);
	if (r < 0)
		(void)sys_unlinkat(dir, FILE_ROOM, 0);
}

/* Where there is no other: what was kept gets the bytes, then the name. */
static int write_in_room(int dir, const struct session_record *record,
			 struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(RECORD_FILE_MAX);
	auto_fd int fd = -1;
	int r = record_format(record, &text, err);

	if (r < 0)
		return r;
	r = sys_renameat(dir, FILE_ROOM, dir, FILE_NEW);
	if (r >= 0)
		r = fd = sys_openat(dir, FILE_NEW, O_WRONLY | O_NOFOLLOW, 0);
	if (r >= 0)
		r = sys_write_all(fd, text.data, text.len);
	if (r >= 0)
		r = sys_truncate(fd, text.len);
	if (r >= 0)
		r = sys_fsync(fd);
	if (r < 0)
		return r;
	/* The room of the one before is what is kept from now on. */
	r = sys_renameat2(dir, FILE_NEW, dir, FILE_NAME, RENAME_SWAP);
	if (r < 0)
		return sys_renameat(dir, FILE_NEW, dir, FILE_NAME);
	(void)sys_renameat(dir, FILE_NEW, dir, FILE_ROOM);
	return 0;
}

int record_write(int dir, const struct session_record *record, bool sync,
		 struct hb_error *err)
{
	struct hb_error why = { 0 };
	int r = write_record(dir, FILE_NEW, record, sync, &why);

	if ((r == -ENOSPC || r == -EDQUOT) &&
	    write_in_room(dir, record, NULL) >= 0)
		return 0;
	if (r < 0 && err)
		*err = why;
	if (r < 0)
		return r;
	r = put_in_place(dir, !sync && record->is_passing);
	return r < 0 ? hb_fail(err, r, "cannot write the session file") : 0;
}
