/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/scan/scan_pattern.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REPEAT_MAX 4096

bool is_word_byte(uint8_t byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '_';
}

struct parser {
	const char *text; /* all of it */
	const char *at;
	bool any_case;
};

static int fail(const struct parser *in, struct hb_error *err, const char *why)
{
	return hb_fail(err, -HB_E_CONFIG, "%s at byte %zu of '%s'", why,
		       (size_t)(in->at - in->text) + 1, in->text);
}

static void add_letter(struct scan_set *set, uint8_t byte, bool any_case)
{
	uint8_t lower = byte | 0x20;

	set_add(set, byte);
	if (any_case && lower >= 'a' && lower <= 'z') {
		set_add(set, lower);
		set_add(set, lower & (uint8_t)~0x20);
	}
}

/* Behind the opening bracket; "-" stands last, "^" first. */
static int parse_class(struct parser *in, struct scan_set *set,
		       struct hb_error *err)
{
	bool is_negated = *in->at == '^';

	in->at += is_negated;
	for (; *in->at && *in->at != ']'; in->at++) {
		uint8_t first = (uint8_t)*in->at, last = first;

		if (in->at[1] == '-' && in->at[2] && in->at[2] != ']') {
			last = (uint8_t)in->at[2];
			in->at += 2;
		}
		if (last < first)
			return fail(in, err, "a range ends before it begins");
		for (unsigned b = first; b <= last; b++)
			set_add(set, (uint8_t)b);
	}
	if (*in->at != ']')
		return fail(in, err, "a class has no end");
	in->at++;
	if (!is_negated)
		return 0;
	for (size_t i = 0; i < 4; i++)
		set->bits[i] = ~set->bits[i];
	/* A secret is on one line, and no text has a NUL. */
	set->bits[0] &= ~((uint64_t)1 << '\n' | (uint64_t)1 << '\r' | 1);
	return 0;
}

static int parse_set(struct parser *in, struct scan_set *set,
		     struct hb_error *err)
{
	char c = *in->at++;

	if (c == '[')
		return parse_class(in, set, err);
	if (c == '\\') {
		c = *in->at;
		if (!c)
			return fail(in, err, "nothing to escape");
		in->at++;
	} else if (strchr("{}?*+|^$.]", c)) {
		in->at--;
		return fail(in, err, "a special byte that needs a '\\'");
	}
	add_letter(set, (uint8_t)c, in->any_case);
	return 0;
}

static int parse_number(struct parser *in, uint16_t *ret, struct hb_error *err)
{
	unsigned n = 0;
	const char *begin = in->at;

	for (; *in->at >= '0' && *in->at <= '9' && n <= REPEAT_MAX; in->at++)
		n = n * 10 + (unsigned)(*in->at - '0');
	if (in->at == begin || n > REPEAT_MAX)
		return fail(in, err,
			    "no number, or a number that is too large");
	*ret = (uint16_t)n;
	return 0;
}

static int parse_repeat(struct parser *in, struct scan_atom *atom,
			struct hb_error *err)
{
	int r;

	atom->min = atom->max = 1;
	if (*in->at == '?') {
		in->at++;
		atom->min = 0;
		return 0;
	}
	if (*in->at != '{')
		return 0;
	in->at++;
	r = parse_number(in, &atom->min, err);
	if (r < 0)
		return r;
	atom->max = atom->min;
	if (*in->at == ',') {
		in->at++;
		r = parse_number(in, &atom->max, err);
		if (r < 0)
			return r;
	}
	if (*in->at != '}' || atom->max < atom->min || atom->max == 0)
		return fail(in, err, "no repetition");
	in->at++;
	return 0;
}

static int parse_atoms(struct scan_pattern *p, struct parser *in,
		       struct hb_error *err)
{
	bool is_open = false;
	size_t span = 0;
	int r;

	p->to = SIZE_MAX;
	while (*in->at) {
		struct scan_atom *atom = &p->atoms[p->count];

		if (*in->at == '(' && !is_open && p->to == SIZE_MAX) {
			is_open = true;
			p->from = p->count;
			in->at++;
			continue;
		}
		if (*in->at == ')' && is_open) {
			is_open = false;
			p->to = p->count;
			in->at++;
			continue;
		}
		if (*in->at == '(' || *in->at == ')')
			return fail(in, err, "one pair of parentheses at most");
		r = parse_set(in, &atom->set, err);
		if (r >= 0)
			r = parse_repeat(in, atom, err);
		if (r < 0)
			return r;
		span += atom->max;
		p->count++;
	}
	if (is_open)
		return fail(in, err, "no closing parenthesis");
	if (p->to == SIZE_MAX)
		p->to = p->count;
	if (p->from == p->to || span > SCAN_SPAN_MAX)
		return fail(in, err, "nothing, or too much, to match");
	return 0;
}

int pattern_parse(struct scan_pattern *p, const char *text, bool any_case,
		  struct hb_error *err)
{
	struct parser in = { text, text, any_case };
	/* Each atom is at least a byte of the text. */
	size_t most = strlen(text);

	*p = (struct scan_pattern){ 0 };
	p->atoms = calloc(most ? most : 1, sizeof(*p->atoms));
	if (!p->atoms)
		return hb_fail(err, -ENOMEM, "cannot read '%s'", text);
	return parse_atoms(p, &in, err);
}

void pattern_done(struct scan_pattern *p)
{
	free(p->atoms);
	*p = (struct scan_pattern){ 0 };
}

enum scan_answer pattern_here(const struct scan_pattern *p,
			      const struct scan_text *t, size_t at,
			      struct scan_match *ret)
{
	size_t from = at, to = at, i = at;

	for (size_t a = 0; a < p->count; a++) {
		const struct scan_atom *atom = &p->atoms[a];
		size_t n = 0;

		if (a == p->from)
			from = i;
		while (n < atom->max && i < t->len &&
		       set_has(&atom->set, t->bytes[i])) {
			n++;
			i++;
		}
		if (n < atom->max && i == t->len && !t->is_all)
			return SCAN_MORE;
		if (n < atom->min)
			return SCAN_NO;
		if (a + 1 == p->to)
			to = i;
	}
	*ret = (struct scan_match){ at, i, from, to, false };
	return SCAN_YES;
}

enum scan_answer pattern_goes_on(const struct scan_pattern *p,
				 const struct scan_text *t,
				 const struct scan_match *m)
{
	const struct scan_atom *last = &p->atoms[p->count - 1];
	uint8_t next;

	if (m->end >= t->len)
		return t->is_all ? SCAN_NO : SCAN_MORE;
	next = t->bytes[m->end];
	/* A lone byte at the end, as the "@" of an address, is no word. */
	if (last->max > 1 && set_has(&last->set, next))
		return SCAN_YES;
	return is_word_byte(t->bytes[m->end - 1]) && is_word_byte(next)
		       ? SCAN_YES
		       : SCAN_NO;
}

static bool is_hex(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') ||
	       ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

/* Whether what is before is base64, in which "/" and "+" end nothing. */
static bool is_in_base64(const uint8_t *before)
{
	unsigned upper = 0, lower = 0, digits = 0;

	for (size_t i = 0; i < SCAN_BEHIND; i++) {
		uint8_t c = before[i];

		if (c >= '0' && c <= '9')
			digits++;
		else if (c >= 'A' && c <= 'Z')
			upper++;
		else if (c >= 'a' && c <= 'z')
			lower++;
		else if (c != '/' && c != '+')
			return false;
	}
	return digits && upper && lower;
}

bool text_is_boundary(const struct scan_text *t, size_t at)
{
	const uint8_t *b = t->bytes;

	if (at == 0)
		return true;
	if (b[at - 1] == '/' || b[at - 1] == '+')
		return at < SCAN_BEHIND || !is_in_base64(b + at - SCAN_BEHIND);
	if (!is_word_byte(b[at]) || !is_word_byte(b[at - 1]))
		return true;
	/* The word before may be the end of "\n" or "%3D". */
	if (at >= 2 && b[at - 2] == '\\' && strchr("nrt", b[at - 1]))
		return true;
	return at >= 3 && b[at - 3] == '%' && is_hex(b[at - 2]) &&
	       is_hex(b[at - 1]);
}

const struct scan_set *pattern_at(const struct scan_pattern *p, size_t i)
{
	for (size_t a = 0; a < p->count; a++) {
		const struct scan_atom *atom = &p->atoms[a];

		if (i < atom->min)
			return &atom->set;
		if (atom->min != atom->max)
			return NULL;
		i -= atom->max;
	}
	return NULL;
}
