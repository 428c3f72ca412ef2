/* SPDX-License-Identifier: Apache-2.0 */
#include "box/filter/filter_policy.h"

#include "box/filter/filter.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The grammar is at the head of default.policy.  A mistake in a policy is a
 * hole in the box, so every line that could silently mean less than it says is
 * refused:
 *
 *  (a) a rule that another one already covers, in any variant they share;
 *  (b) a constant that is defined twice;
 *  (c) a rule without a reason that names a row of the threat model;
 *  (d) a notification of a call that no rule refuses in the same way.
 */

static const char *const arch_names[POLICY_ARCHES] = {
	[POLICY_X86_64] = "x86_64",
	[POLICY_AARCH64] = "aarch64",
};

static const struct {
	const char *name;
	int value;
} errors[] = {
	{ "OK", 0 },
	{ "EPERM", EPERM },
	{ "EACCES", EACCES },
	{ "EINVAL", EINVAL },
	{ "ENOSYS", ENOSYS },
	{ "EOPNOTSUPP", EOPNOTSUPP },
	{ "EAFNOSUPPORT", EAFNOSUPPORT },
	{ "EPROTONOSUPPORT", EPROTONOSUPPORT },
};

static const struct {
	const char *name;
	unsigned int bit;
} options[] = {
	{ "no-ptrace", FILTER_NO_PTRACE }, { "nested", FILTER_NESTED },
	{ "bare", FILTER_BARE },	   { "no-sockets", FILTER_NO_SOCKETS },
	{ "no-setid", FILTER_NO_SETID },
};

/* From here up a number means the same call on every architecture. */
#define FIRST_COMMON_NUMBER 424

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

int policy_fail(const struct policy *p, unsigned int line, const char *fmt, ...)
{
	va_list ap;

	(void)fprintf(stderr, "%s:%u: ", p->file, line);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	return -1;
}

/* Cuts the next word off *rest; NULL at the end of the line. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " \t");
	size_t n = strcspn(word, " \t");

	if (n == 0)
		return NULL;
	*rest = word + n;
	if (**rest != '\0')
		*(*rest)++ = '\0';
	return word;
}

static bool is_number(const char *word, uint64_t *ret)
{
	char *end = NULL;

	if (word[0] < '0' || word[0] > '9')
		return false;
	errno = 0;
	*ret = strtoull(word, &end, 0);
	return errno == 0 && *end == '\0';
}

static int copy_name(const struct policy *p, unsigned int line, char *dst,
		     const char *src)
{
	if (strlen(src) >= POLICY_MAX_NAME)
		return policy_fail(p, line, "'%s' is too long", src);
	(void)snprintf(dst, POLICY_MAX_NAME, "%s", src);
	return 0;
}

static int read_last(struct policy *p, unsigned int line, char *rest)
{
	const char *arch = next_word(&rest);
	const char *word = next_word(&rest);
	uint64_t number;

	if (!arch || !word || next_word(&rest))
		return policy_fail(p, line, "expected 'last ARCH NUMBER'");
	if (!is_number(word, &number) || number > 4095)
		return policy_fail(p, line, "'%s' is not a call's number",
				   word);
	for (size_t i = 0; i < POLICY_ARCHES; i++) {
		if (strcmp(arch, arch_names[i]) != 0)
			continue;
		if (p->last[i] >= 0)
			return policy_fail(p, line, "a second 'last %s'", arch);
		p->last[i] = (int)number;
		return 0;
	}
	return policy_fail(p, line, "unknown architecture '%s'", arch);
}

static int read_const(struct policy *p, unsigned int line, char *rest)
{
	const char *name = next_word(&rest);
	const char *word = next_word(&rest);
	struct policy_const *c = &p->consts[p->n_consts];

	if (!name || !word || next_word(&rest))
		return policy_fail(p, line, "expected 'let NAME VALUE'");
	if (p->n_consts == POLICY_MAX_CONSTS)
		return policy_fail(p, line, "more than %d constants",
				   POLICY_MAX_CONSTS);
	for (size_t i = 0; i < p->n_consts; i++)
		if (strcmp(p->consts[i].name, name) == 0)
			return policy_fail(p, line, "a second 'let %s'", name);
	if (!is_number(word, &c->value))
		return policy_fail(p, line, "'%s' is not a number", word);
	if (copy_name(p, line, c->name, name) < 0)
		return -1;
	p->n_consts++;
	return 0;
}

static int read_value(struct policy *p, unsigned int line, const char *word,
		      uint64_t *ret)
{
	if (is_number(word, ret))
		return 0;
	for (size_t i = 0; i < p->n_consts; i++) {
		if (strcmp(p->consts[i].name, word) != 0)
			continue;
		*ret = p->consts[i].value;
		return 0;
	}
	return policy_fail(p, line, "unknown constant '%s'", word);
}

/* argN==A, argN&MASK==A, argN&MASK!=0, argN>A, argN!=A|B|C */
static int read_cond(struct policy *p, unsigned int line, char *text,
		     struct policy_cond *c)
{
	char *eq = strstr(text, "==");
	char *ne = strstr(text, "!=");
	char *gt = strchr(text, '>');
	char *values = eq ? eq : ne ? ne : gt;
	char *value;

	if (strncmp(text, "arg", 3) != 0 || text[3] < '0' || text[3] > '5' ||
	    !values || !!eq + !!ne + !!gt != 1)
		return policy_fail(p, line, "'%s' is not a condition", text);
	c->arg = (unsigned int)(text[3] - '0');
	c->op = ne ? POLICY_NONE_OF : gt ? POLICY_ABOVE : POLICY_EQ;
	*values = '\0';
	values += gt ? 1 : 2;
	if (text[4] == '&' && (eq || ne)) {
		c->op = eq ? POLICY_MASK_EQ : POLICY_ANY_OF;
		if (read_value(p, line, text + 5, &c->mask) < 0)
			return -1;
	} else if (text[4] != '\0') {
		return policy_fail(p, line, "'%s' is not an argument", text);
	}
	while ((value = strsep(&values, "|")) != NULL) {
		if (c->n_values == (ne ? POLICY_MAX_VALUES : 1))
			return policy_fail(p, line, "too many values");
		if (read_value(p, line, value, &c->value[c->n_values]) < 0)
			return -1;
		c->n_values++;
	}
	if (c->op == POLICY_MASK_EQ && (c->value[0] & ~c->mask) != 0)
		return policy_fail(p, line, "'%s' can never hold", text);
	if (c->op == POLICY_ANY_OF && (c->n_values != 1 || c->value[0] != 0))
		return policy_fail(
			p, line, "a mask is compared with one value, or != 0");
	return 0;
}

static int read_when(struct policy *p, struct policy_rule *rule, char *text)
{
	char *cond;

	if (strcmp(text, "*") == 0)
		return 0;
	while ((cond = strsep(&text, ",")) != NULL) {
		if (rule->n_conds == POLICY_MAX_CONDS)
			return policy_fail(p, rule->line,
					   "more than %d conditions",
					   POLICY_MAX_CONDS);
		if (read_cond(p, rule->line, cond, &rule->cond[rule->n_conds]) <
		    0)
			return -1;
		if (rule->cond[rule->n_conds].op == POLICY_ANY_OF)
			return policy_fail(p, rule->line,
					   "'!= 0' of a mask is for 'watch'");
		for (size_t i = 0; i < rule->n_conds; i++)
			if (rule->cond[i].arg == rule->cond[rule->n_conds].arg)
				return policy_fail(p, rule->line,
						   "an argument twice");
		rule->n_conds++;
	}
	return 0;
}

static int read_variants(struct policy *p, struct policy_rule *rule, char *text)
{
	char *word;

	rule->variants = ~0U >> (32 - FILTER_VARIANTS);
	if (strcmp(text, "*") == 0)
		return 0;
	while ((word = strsep(&text, ",")) != NULL) {
		bool without = word[0] == '!';
		unsigned int bit = 0;

		for (size_t i = 0; i < N_OF(options); i++)
			if (strcmp(word + without, options[i].name) == 0)
				bit = options[i].bit;
		if (bit == 0)
			return policy_fail(p, rule->line,
					   "unknown variant '%s'", word);
		for (unsigned int v = 0; v < FILTER_VARIANTS; v++)
			if (((v & bit) != 0) == without)
				rule->variants &= ~(1U << v);
	}
	if (rule->variants == 0)
		return policy_fail(p, rule->line, "a rule for no variant");
	return 0;
}

static int read_call(struct policy *p, struct policy_rule *rule, char *word)
{
	char *eq = strchr(word, '=');
	uint64_t number;

	rule->number = -1;
	if (eq) {
		*eq = '\0';
		if (!is_number(eq + 1, &number) ||
		    number < FIRST_COMMON_NUMBER || number > 4095)
			return policy_fail(
				p, rule->line,
				"'%s' is not a number from %d up, where all architectures agree",
				eq + 1, FIRST_COMMON_NUMBER);
		rule->number = (int)number;
	}
	return copy_name(p, rule->line, rule->call, word);
}

static int read_error(struct policy *p, struct policy_rule *rule,
		      const char *word)
{
	for (size_t i = 0; i < N_OF(errors); i++) {
		if (strcmp(word, errors[i].name) != 0)
			continue;
		rule->error = errors[i].value;
		return 0;
	}
	return policy_fail(p, rule->line, "unknown error '%s'", word);
}

/* V, digits, a colon, and words after it. */
static bool is_reason(const char *text)
{
	size_t digits;

	text += strspn(text, " \t");
	if (*text++ != 'V')
		return false;
	digits = strspn(text, "0123456789");
	if (digits == 0 || text[digits] != ':')
		return false;
	text += digits + 1;
	return text[strspn(text, " \t")] != '\0';
}

static bool is_same_when(const struct policy_rule *a,
			 const struct policy_rule *b)
{
	if (a->n_conds != b->n_conds)
		return false;
	for (size_t i = 0; i < a->n_conds; i++)
		if (a->cond[i].arg != b->cond[i].arg ||
		    a->cond[i].op != b->cond[i].op ||
		    a->cond[i].mask != b->cond[i].mask ||
		    a->cond[i].n_values != b->cond[i].n_values ||
		    memcmp(a->cond[i].value, b->cond[i].value,
			   sizeof(a->cond[i].value)) != 0)
			return false;
	return true;
}

/* A number may only be one call, and a call may only be one number. */
static int check_duplicate(const struct policy *p,
			   const struct policy_rule *rule)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct policy_rule *old = &p->rules[i];

		if (strcmp(old->call, rule->call) != 0) {
			if (rule->number >= 0 && old->number == rule->number)
				return policy_fail(
					p, rule->line,
					"number %d is '%s' in line %u",
					rule->number, old->call, old->line);
			continue;
		}
		if (!(old->variants & rule->variants))
			continue;
		if (old->n_conds == 0 || rule->n_conds == 0 ||
		    is_same_when(old, rule))
			return policy_fail(
				p, rule->line,
				"duplicate rule for '%s', see line %u",
				rule->call, old->line);
	}
	return 0;
}

static int read_rule(struct policy *p, unsigned int line, char *call,
		     char *rest)
{
	char *error = next_word(&rest);
	char *when = next_word(&rest);
	char *variants = next_word(&rest);
	struct policy_rule *rule = &p->rules[p->n_rules];

	if (p->n_rules == POLICY_MAX_RULES)
		return policy_fail(p, line, "more than %d rules",
				   POLICY_MAX_RULES);
	if (!variants)
		return policy_fail(
			p, line, "expected 'CALL ERRNO WHEN VARIANTS REASON'");
	rule->line = line;
	if (read_call(p, rule, call) < 0 || read_error(p, rule, error) < 0 ||
	    read_when(p, rule, when) < 0 ||
	    read_variants(p, rule, variants) < 0)
		return -1;
	if (!is_reason(rest))
		return policy_fail(p, line,
				   "'%s' has no reason of the form 'V1: words'",
				   rule->call);
	if (rule->number >= 0 && rule->n_conds > 0)
		return policy_fail(p, line,
				   "a call given by number takes no condition");
	if (check_duplicate(p, rule) < 0)
		return -1;
	p->n_rules++;
	return 0;
}

/* One bit of what the instruction that tests it can load. */
static bool is_one_bit(const struct policy_cond *c)
{
	return c->op == POLICY_MASK_EQ && c->mask == c->value[0] &&
	       c->mask != 0 && (c->mask & (c->mask - 1)) == 0 &&
	       c->mask <= UINT32_MAX;
}

/* The variants in which a rule refuses all of it, as a listener does. */
static unsigned int find_refused(const struct policy *p,
				 const struct policy_notify *notify)
{
	const struct policy_rule asked = { .cond = { notify->cond },
					   .n_conds = 1 };
	unsigned int variants = 0;

	for (size_t i = 0; i < p->n_rules; i++) {
		const struct policy_rule *rule = &p->rules[i];

		if (strcmp(rule->call, notify->call) == 0 && rule->number < 0 &&
		    rule->error == EPERM &&
		    (rule->n_conds == 0 || is_same_when(rule, &asked)))
			variants |= rule->variants;
	}
	return variants;
}

/* The classes of `hear` lines. */
static const char *const class_names[FILTER_CLASSES] = {
	[FILTER_RENAMES] = "renames",
};

/* Those of `watch` lines. */
static const char *const watch_names[FILTER_CLASSES] = {
	[FILTER_CALLS] = "calls",
	[FILTER_LOOKS] = "looks",
};

/* FILTER_CLASSES: there is none of that name. */
static int find_class(const char *const *names, const char *name)
{
	int class = 0;

	while (class < FILTER_CLASSES &&
	       (!names[class] || strcmp(names[class], name) != 0))
		class ++;
	return class;
}

/* A place for one more, with its call; NULL: a mistake, which was told. */
static struct policy_notify *new_notify(struct policy *p, unsigned int line,
					enum filter_class class,
					const char *call)
{
	struct policy_notify *notify = &p->notified[p->n_notified];

	/* The table needs a place behind the last. */
	if (p->n_notified == FILTER_NOTIFIED_MAX - 1) {
		(void)policy_fail(p, line, "more than %d calls to notify of",
				  FILTER_NOTIFIED_MAX - 1);
		return NULL;
	}
	for (size_t i = 0; i < p->n_notified; i++) {
		if (p->notified[i].class != class ||
		    strcmp(p->notified[i].call, call) != 0)
			continue;
		(void)policy_fail(p, line, "a second 'notify %s'", call);
		return NULL;
	}
	*notify = (struct policy_notify){
		.line = line, .class = class, .number = -1, .variants = ~0U
	};
	return copy_name(p, line, notify->call, call) < 0 ? NULL : notify;
}

static int read_notify(struct policy *p, unsigned int line, char *rest)
{
	const char *call = next_word(&rest);
	char *when = next_word(&rest);
	struct policy_notify *notify;

	if (!call || !when || next_word(&rest))
		return policy_fail(p, line, "expected 'notify CALL WHEN'");
	notify = new_notify(p, line, FILTER_REFUSED, call);
	if (!notify || read_cond(p, line, when, &notify->cond) < 0)
		return -1;
	if (!is_one_bit(&notify->cond))
		return policy_fail(p, line,
				   "a notification is of one bit below 32");
	notify->has_cond = true;
	notify->variants = find_refused(p, notify);
	if (notify->variants == 0)
		return policy_fail(p, line,
				   "no rule above refuses '%s' with EPERM then",
				   call);
	p->n_notified++;
	return 0;
}

/* Bits of what the instruction that tests them can load. */
static bool are_no_bits(const struct policy_cond *c)
{
	return c->op == POLICY_MASK_EQ && c->value[0] == 0 && c->mask != 0 &&
	       c->mask <= UINT32_MAX;
}

static int read_hear(struct policy *p, unsigned int line, char *rest)
{
	const char *name = next_word(&rest);
	const char *call = next_word(&rest);
	char *when = next_word(&rest);
	struct policy_notify *notify;
	int class;

	if (!name || !call || !when || next_word(&rest))
		return policy_fail(p, line, "expected 'hear CLASS CALL WHEN'");
	class = find_class(class_names, name);
	if (class == FILTER_CLASSES)
		return policy_fail(p, line, "unknown class '%s'", name);
	notify = new_notify(p, line, (enum filter_class) class, call);
	if (!notify)
		return -1;
	notify->has_cond = strcmp(when, "*") != 0;
	if (notify->has_cond && read_cond(p, line, when, &notify->cond) < 0)
		return -1;
	if (notify->has_cond && !is_one_bit(&notify->cond) &&
	    !are_no_bits(&notify->cond))
		return policy_fail(
			p, line,
			"a notification is of one bit below 32, or of no bits");
	p->n_notified++;
	return 0;
}

/* What a `watch` line may ask of an argument. */
static bool can_watch(const struct policy_cond *c)
{
	return c->op == POLICY_ANY_OF && c->mask != 0 && c->mask <= UINT32_MAX;
}

static int read_watch(struct policy *p, unsigned int line, char *rest)
{
	struct policy_notify *watch = &p->watched[p->n_watched];
	struct policy_rule named = { .line = line };
	const char *name = next_word(&rest);
	char *call = next_word(&rest);
	char *when = next_word(&rest);
	int class;

	if (!name || !call || !when || next_word(&rest))
		return policy_fail(p, line, "expected 'watch CLASS CALL WHEN'");
	class = find_class(watch_names, name);
	if (class == FILTER_CLASSES)
		return policy_fail(p, line, "unknown class '%s'", name);
	if (p->n_watched == N_OF(p->watched))
		return policy_fail(p, line, "more than %zu calls to watch",
				   N_OF(p->watched));
	if (read_call(p, &named, call) < 0)
		return -1;
	for (size_t i = 0; i < p->n_watched; i++)
		if (p->watched[i].class == (enum filter_class) class &&
		    strcmp(p->watched[i].call, named.call) == 0)
			return policy_fail(p, line, "a second 'watch %s %s'",
					   name, named.call);
	*watch = (struct policy_notify){ .line = line,
					 .class = (enum filter_class) class,
					 .number = named.number,
					 .has_cond = strcmp(when, "*") != 0,
					 .variants = ~0U };
	memcpy(watch->call, named.call, sizeof(watch->call));
	if (watch->has_cond && (read_cond(p, line, when, &watch->cond) < 0 ||
				!can_watch(&watch->cond)))
		return policy_fail(p, line, "expected argN&BITS!=0");
	p->n_watched++;
	return 0;
}

static int read_line(struct policy *p, unsigned int line, char *text)
{
	char *rest = text;
	char *word = next_word(&rest);

	if (!word || word[0] == '#')
		return 0;
	if (strcmp(word, "last") == 0)
		return read_last(p, line, rest);
	if (strcmp(word, "let") == 0)
		return read_const(p, line, rest);
	if (strcmp(word, "notify") == 0)
		return read_notify(p, line, rest);
	if (strcmp(word, "hear") == 0)
		return read_hear(p, line, rest);
	if (strcmp(word, "watch") == 0)
		return read_watch(p, line, rest);
	return read_rule(p, line, word, rest);
}

static int check_whole(const struct policy *p, unsigned int lines)
{
	for (size_t i = 0; i < POLICY_ARCHES; i++)
		if (p->last[i] < 0)
			return policy_fail(p, lines, "no 'last %s'",
					   arch_names[i]);
	for (size_t i = 0; i < p->n_rules; i++)
		for (size_t a = 0; a < POLICY_ARCHES; a++)
			if (p->rules[i].number > p->last[a])
				return policy_fail(
					p, p->rules[i].line,
					"number %d is above 'last %s'",
					p->rules[i].number, arch_names[a]);
	return 0;
}

static int read_lines(struct policy *p, FILE *f)
{
	char text[POLICY_MAX_LINE];
	unsigned int line = 0;

	while (fgets(text, sizeof(text), f)) {
		char *end = strchr(text, '\n');

		line++;
		if (!end)
			return policy_fail(p, line,
					   "longer than %d bytes or cut off",
					   POLICY_MAX_LINE);
		*end = '\0';
		if (read_line(p, line, text) < 0)
			return -1;
	}
	if (ferror(f))
		return policy_fail(p, line, "cannot read on");
	return check_whole(p, line);
}

int policy_read(struct policy *p, const char *file)
{
	FILE *f;
	int r;

	(void)memset(p, 0, sizeof(*p));
	p->file = file;
	for (size_t i = 0; i < POLICY_ARCHES; i++)
		p->last[i] = -1;
	f = fopen(file, "re");
	if (!f)
		return policy_fail(p, 0, "cannot open: %s", strerror(errno));
	r = read_lines(p, f);
	(void)fclose(f);
	return r;
}
