/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres/database_facts.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/kv.h"
#include "base/num.h"
#include "sys/file.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(name) offsetof(struct database_facts, name)

static const struct {
	const char *key;
	size_t at;
	bool is_needed;
} texts[] = {
	{ "url", TEXT(url), true },
	{ "name", TEXT(name), true },
	{ "user", TEXT(user), true },
	{ "encoding", TEXT(encoding), true },
	{ "collate", TEXT(collate), true },
	{ "ctype", TEXT(ctype), true },
	{ "icu", TEXT(icu), false },
};

#define ROLE	  "role"
#define SUPERUSER "superuser"

#define N_TEXTS (sizeof(texts) / sizeof(texts[0]))

static char **text_at(const struct database_facts *f, size_t i)
{
	return (char **)(void *)((char *)(uintptr_t)f + texts[i].at);
}

void facts_done(struct database_facts *f)
{
	for (size_t i = 0; i < N_TEXTS; i++)
		free(*text_at(f, i));
	for (size_t i = 0; i < f->n_roles; i++)
		free(f->roles[i].name);
	free(f->roles);
	*f = (struct database_facts){ 0 };
}

int facts_add_role(struct database_facts *f, const char *name,
		   bool is_superuser)
{
	char *copy = strdup(name);

	if (!copy || grow(f->roles, f->n_roles) < 0) {
		free(copy);
		return -ENOMEM;
	}
	f->roles[f->n_roles++] = (struct database_role){ copy, is_superuser };
	return 0;
}

int facts_write(int dir, const struct database_facts *f, struct hb_error *err)
{
	auto_buf struct buf out = BUF_INIT(KV_FILE_MAX);
	struct kv_writer w;
	int r;

	kv_writer_init(&w, &out);
	(void)kv_add_fmt(&w, "major", "%d", f->major);
	(void)kv_add_str(&w, "bin", f->bin);
	for (size_t i = 0; i < N_TEXTS; i++)
		if (*text_at(f, i))
			(void)kv_add_str(&w, texts[i].key, *text_at(f, i));
	for (size_t i = 0; i < f->n_roles; i++)
		(void)kv_add_str(&w,
				 f->roles[i].is_superuser ? SUPERUSER : ROLE,
				 f->roles[i].name);
	r = out.error;
	if (r >= 0)
		r = sys_make_file_at(dir, FACTS_FILE, 0600);
	if (r >= 0)
		r = sys_write_file_at(dir, FACTS_FILE, buf_str(&out));
	return r < 0 ? hb_fail(err, r, "cannot write '" FACTS_FILE "'") : 0;
}

static int take(struct database_facts *f, const struct kv_entry *e)
{
	for (size_t i = 0; i < N_TEXTS; i++)
		if (strcmp(texts[i].key, e->key) == 0) {
			free(*text_at(f, i));
			*text_at(f, i) = strdup(e->value);
			return *text_at(f, i) ? 0 : -ENOMEM;
		}
	if (strcmp(e->key, ROLE) == 0 || strcmp(e->key, SUPERUSER) == 0)
		return facts_add_role(f, e->value,
				      strcmp(e->key, SUPERUSER) == 0);
	if (strcmp(e->key, "major") == 0)
		f->major = (int)strtol(e->value, NULL, 10);
	else if (strcmp(e->key, "bin") == 0)
		(void)snprintf(f->bin, sizeof(f->bin), "%s", e->value);
	return 0;
}

int facts_read(int dir, struct database_facts *ret, struct hb_error *err)
{
	auto_free char *text = calloc(1, KV_FILE_MAX);
	auto_kv_reader struct kv_reader k = { 0 };
	struct kv_entry e;
	ssize_t n;
	int r;

	*ret = (struct database_facts){ 0 };
	if (!text)
		return hb_fail(err, -ENOMEM, "cannot read '" FACTS_FILE "'");
	n = sys_read_file_at(dir, FACTS_FILE, text, KV_FILE_MAX);
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read '" FACTS_FILE "'");
	kv_reader_init(&k, FACTS_FILE, text, (size_t)n);
	while ((r = kv_next(&k, &e, err)) == 1) {
		r = take(ret, &e);
		if (r < 0)
			break;
	}
	for (size_t i = 0; r == 0 && i < N_TEXTS; i++)
		if (texts[i].is_needed && !*text_at(ret, i))
			r = hb_fail(err, -HB_E_CORRUPT,
				    "'" FACTS_FILE "' lacks '%s'",
				    texts[i].key);
	if (r < 0)
		facts_done(ret);
	return r;
}
