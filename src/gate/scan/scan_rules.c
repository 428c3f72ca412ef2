/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/scan/scan_rules.h"

#include "base/error.h"
#include "base/glob.h"
#include "base/grow.h"
#include "base/kv.h"
#include "gate/scan/scan_assign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENTROPY_DEFAULT 25

struct reading {
	struct scan_rules *rules;
	struct kv_reader reader;
	struct kv_entry entry;
	struct hb_error *err;
};

static int refuse(struct reading *in, const char *why)
{
	return kv_fail(&in->reader, &in->entry, in->err, "%s", why);
}

/*
 * Room for one more in an array that `max` bounds: the new one, zeroed, or
 * NULL.
 */
static void *one_more(struct reading *in, void *array, size_t *count,
		      size_t size, size_t max)
{
	char **items = array;
	char *more;

	if (*count == max) {
		(void)refuse(in, "too many rules");
		return NULL;
	}
	more = grow_array(*items, *count, size);
	if (!more) {
		(void)hb_fail(in->err, -ENOMEM, "cannot keep the rules");
		return NULL;
	}
	*items = more;
	memset(more + *count * size, 0, size);
	return more + (*count)++ * size;
}

/* What one_more() failed with. */
static int grow_failed(size_t count, size_t max)
{
	return count == max ? -HB_E_CONFIG : -ENOMEM;
}

static char *copy_value(struct reading *in)
{
	char *copy = strdup(in->entry.value);

	if (!copy)
		(void)hb_fail(in->err, -ENOMEM, "cannot keep the rules");
	return copy;
}

static struct rule_kind *last_kind(struct reading *in)
{
	return &in->rules->kinds[in->rules->kind_count - 1];
}

static int read_kind(struct reading *in)
{
	struct scan_rules *rules = in->rules;
	struct rule_kind *kind =
		one_more(in, (void *)&rules->kinds, &rules->kind_count,
			 sizeof(*kind), SCAN_KINDS_MAX);

	if (!kind)
		return grow_failed(rules->kind_count, SCAN_KINDS_MAX);
	kind->entropy = ENTROPY_DEFAULT;
	kind->public.id = copy_value(in);
	return kind->public.id ? 0 : -ENOMEM;
}

static int read_words(struct reading *in)
{
	struct rule_kind *kind = last_kind(in);

	if (kind->public.words)
		return refuse(in, "said twice");
	kind->public.words = copy_value(in);
	return kind->public.words ? 0 : -ENOMEM;
}

static int read_guess(struct reading *in)
{
	if (strcmp(in->entry.value, "yes") != 0)
		return refuse(in, "it is 'yes' or it is not said");
	last_kind(in)->public.is_guess = true;
	return 0;
}

static int read_check(struct reading *in)
{
	last_kind(in)->check = check_find(in->entry.value);
	return last_kind(in)->check ? 0 : refuse(in, "there is no such check");
}

/* "3.5": one digit, a point, one digit. */
static int read_entropy(struct reading *in)
{
	const char *s = in->entry.value;

	if (strlen(s) != 3 || s[0] < '0' || s[0] > '8' || s[1] != '.' ||
	    s[2] < '0' || s[2] > '9')
		return refuse(in, "not a number such as 3.5");
	last_kind(in)->entropy = (unsigned)((s[0] - '0') * 10 + s[2] - '0');
	return 0;
}

static int parse_pattern(struct reading *in, struct scan_pattern *p,
			 bool any_case)
{
	struct hb_error why = { 0 };
	int r = pattern_parse(p, in->entry.value, any_case, &why);

	return r == -HB_E_CONFIG ? refuse(in, why.text)
	       : r < 0		 ? hb_fail(in->err, r, "cannot keep the rules")
				 : 0;
}

static int read_value(struct reading *in)
{
	struct rule_kind *kind = last_kind(in);

	if (kind->has_value)
		return refuse(in, "said twice");
	kind->has_value = true;
	return parse_pattern(in, &kind->value, false);
}

/* What the filter needs; see scan_filter.h. */
#define CERTAIN_MIN 4

static int read_format(struct reading *in, bool is_assign)
{
	struct scan_rules *rules = in->rules;
	struct rule_format *format =
		one_more(in, (void *)&rules->formats, &rules->format_count,
			 sizeof(*format), SCAN_FORMATS_MAX);
	int r;

	if (!format)
		return grow_failed(rules->format_count, SCAN_FORMATS_MAX);
	format->kind = rules->kind_count - 1;
	format->is_assign = is_assign;
	r = parse_pattern(in, &format->pattern, is_assign);
	if (r < 0)
		return r;
	if (!pattern_at(&format->pattern, CERTAIN_MIN - 1))
		return refuse(in, "it must begin with four certain bytes");
	return 0;
}

static int read_match(struct reading *in)
{
	return read_format(in, false);
}

static int read_assign(struct reading *in)
{
	return read_format(in, true);
}

static int read_file_name(struct reading *in, bool is_except)
{
	struct scan_rules *rules = in->rules;
	struct rule_name *name =
		one_more(in, (void *)&rules->names, &rules->name_count,
			 sizeof(*name), SCAN_NAMES_MAX);
	struct hb_error why = { 0 };

	if (!name)
		return grow_failed(rules->name_count, SCAN_NAMES_MAX);
	name->kind = rules->kind_count - 1;
	name->is_except = is_except;
	if (glob_check(in->entry.value, &why) < 0)
		return refuse(in, why.text);
	name->glob = copy_value(in);
	return name->glob ? 0 : -ENOMEM;
}

static int read_name(struct reading *in)
{
	return read_file_name(in, false);
}

static int read_except(struct reading *in)
{
	return read_file_name(in, true);
}

static uint8_t lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static int read_harmless(struct reading *in)
{
	struct scan_rules *rules = in->rules;
	char **word =
		one_more(in, (void *)&rules->harmless, &rules->harmless_count,
			 sizeof(*word), SCAN_HARMLESS_MAX);

	if (!word)
		return grow_failed(rules->harmless_count, SCAN_HARMLESS_MAX);
	*word = copy_value(in);
	if (!*word)
		return -ENOMEM;
	for (char *p = *word; *p; p++)
		*p = (char)lower((uint8_t)*p);
	return **word ? 0 : refuse(in, "empty");
}

static const struct {
	const char *key;
	bool is_first; /* may stand before the first kind */
	int (*read)(struct reading *in);
} keys[] = {
	{ "kind", true, read_kind },	     { "words", false, read_words },
	{ "guess", false, read_guess },	     { "match", false, read_match },
	{ "assign", false, read_assign },    { "value", false, read_value },
	{ "check", false, read_check },	     { "entropy", false, read_entropy },
	{ "name", false, read_name },	     { "except", false, read_except },
	{ "harmless", true, read_harmless },
};

static int read_entry(struct reading *in)
{
	if (!kv_is_string(&in->entry))
		return refuse(in, "a NUL in it");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].key, in->entry.key) != 0)
			continue;
		if (!keys[i].is_first && in->rules->kind_count == 0)
			return refuse(in, "no 'kind' before it");
		return keys[i].read(in);
	}
	return refuse(in, "there is no such key");
}

/* What only the end of the file tells. */
static int check_whole(const struct scan_rules *rules, const char *name,
		       struct hb_error *err)
{
	for (size_t i = 0; i < rules->kind_count; i++)
		if (!rules->kinds[i].public.words)
			return hb_fail(err, -HB_E_CONFIG,
				       "%s: kind '%s' has no words", name,
				       rules->kinds[i].public.id);
	for (size_t i = 0; i < rules->format_count; i++) {
		const struct rule_format *format = &rules->formats[i];
		const struct rule_kind *kind = &rules->kinds[format->kind];

		if (format->is_assign && !kind->has_value)
			return hb_fail(err, -HB_E_CONFIG,
				       "%s: kind '%s' assigns no value", name,
				       kind->public.id);
	}
	return 0;
}

int rules_read(struct scan_rules *rules, const char *name, const void *text,
	       size_t n, struct hb_error *err)
{
	struct reading in = { .rules = rules, .err = err };
	int r;

	*rules = (struct scan_rules){ 0 };
	kv_reader_init(&in.reader, name, text, n);
	while ((r = kv_next(&in.reader, &in.entry, err)) > 0) {
		r = read_entry(&in);
		if (r < 0)
			break;
	}
	kv_reader_done(&in.reader);
	return r < 0 ? r : check_whole(rules, name, err);
}

void rules_done(struct scan_rules *rules)
{
	for (size_t i = 0; i < rules->kind_count; i++) {
		free((void *)(uintptr_t)rules->kinds[i].public.id);
		free((void *)(uintptr_t)rules->kinds[i].public.words);
		pattern_done(&rules->kinds[i].value);
	}
	for (size_t i = 0; i < rules->format_count; i++)
		pattern_done(&rules->formats[i].pattern);
	for (size_t i = 0; i < rules->name_count; i++)
		free(rules->names[i].glob);
	for (size_t i = 0; i < rules->harmless_count; i++)
		free(rules->harmless[i]);
	free(rules->kinds);
	free(rules->formats);
	free(rules->names);
	free(rules->harmless);
	*rules = (struct scan_rules){ 0 };
}

const struct scan_kind *rules_name(const struct scan_rules *rules,
				   const char *path)
{
	const struct scan_kind *found = NULL;

	for (size_t i = 0; i < rules->name_count; i++) {
		const struct rule_name *name = &rules->names[i];

		if (!name->is_except && found)
			continue;
		if (!glob_match(name->glob, path, GLOB_FOLD))
			continue;
		if (name->is_except)
			return NULL;
		found = &rules->kinds[name->kind].public;
	}
	return found;
}

/* Whether the secret has one of the words that no secret has. */
static bool is_harmless(const struct scan_rules *rules, const uint8_t *secret,
			size_t n)
{
	for (size_t w = 0; w < rules->harmless_count; w++) {
		const char *word = rules->harmless[w];
		size_t len = strlen(word), k;

		for (size_t i = 0; i + len <= n; i++) {
			for (k = 0; k < len; k++)
				if (lower(secret[i + k]) != (uint8_t)word[k])
					break;
			if (k == len)
				return true;
		}
	}
	return false;
}

static bool is_meant(const struct scan_rules *rules,
		     const struct rule_kind *kind, const uint8_t *secret,
		     size_t n)
{
	if (entropy_of(secret, n) < kind->entropy)
		return false;
	if (kind->check && kind->check->is_enough)
		return true;
	return !is_typed(secret, n) && !is_harmless(rules, secret, n);
}

static enum scan_answer match_assigned(const struct rule_kind *kind,
				       const struct scan_text *t,
				       struct scan_match *m)
{
	enum scan_answer answer;
	size_t start = m->start, value;
	uint8_t quote;

	answer = assign_value(t, m->end, &value, &quote);
	if (answer != SCAN_YES)
		return answer;
	answer = pattern_here(&kind->value, t, value, m);
	if (answer != SCAN_YES)
		return answer;
	m->start = start;
	m->is_quoted = quote != 0;
	return assign_ends(t, m->end, quote);
}

static enum scan_answer match_format(const struct rule_format *format,
				     const struct scan_text *t,
				     struct scan_match *m)
{
	enum scan_answer more = pattern_goes_on(&format->pattern, t, m);

	return more == SCAN_MORE  ? SCAN_MORE
	       : more == SCAN_YES ? SCAN_NO
				  : SCAN_YES;
}

enum scan_answer rules_match(const struct scan_rules *rules,
			     const struct rule_format *format,
			     const struct scan_text *t, size_t at,
			     struct scan_match *ret)
{
	const struct rule_kind *kind = &rules->kinds[format->kind];
	enum scan_answer answer;
	struct scan_match m;

	if (!format->is_assign && !text_is_boundary(t, at))
		return SCAN_NO;
	answer = pattern_here(&format->pattern, t, at, &m);
	if (answer != SCAN_YES)
		return answer;
	answer = format->is_assign ? match_assigned(kind, t, &m)
				   : match_format(format, t, &m);
	if (answer == SCAN_YES && kind->check)
		answer = kind->check->check(t, &m);
	if (answer != SCAN_YES)
		return answer;
	if (!is_meant(rules, kind, t->bytes + m.from, m.to - m.from))
		return SCAN_NO;
	*ret = m;
	return SCAN_YES;
}
