/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/scan/scan_check.h"

#include <string.h>

#define BODY_MIN     48	  /* base64 digits of the shortest key */
#define BODY_MAX     2048 /* that tell one key from another */
#define BODY_HEADS   8	  /* lines of the kind "Proc-Type: 4,ENCRYPTED" */
#define HEAD_MAX     200
#define TYPED_MIN    8
#define RANDOM_MIN   12 /* letters and digits in a row, in what is random */
#define PASSWORD_MIN 5	/* different bytes */

/* log2(n) in 256ths, for n up to SCAN_SPAN_MAX. */
static unsigned log2_256(size_t n)
{
	unsigned whole = 0, part = 0;
	uint64_t x;

	while (n >> (whole + 1))
		whole++;
	/* Between 1 and 2, in 2^-31; squaring it doubles its logarithm. */
	x = ((uint64_t)n << 31) >> whole;
	for (unsigned bit = 128; bit; bit >>= 1) {
		x = (x * x) >> 31;
		if (x >> 32) {
			part |= bit;
			x >>= 1;
		}
	}
	return whole * 256 + part;
}

unsigned entropy_of(const uint8_t *bytes, size_t n)
{
	unsigned counts[256] = { 0 };
	uint64_t sum = 0;

	if (n == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		counts[bytes[i]]++;
	for (size_t i = 0; i < 256; i++)
		if (counts[i])
			sum += (uint64_t)counts[i] * log2_256(counts[i]);
	return (unsigned)((log2_256(n) - sum / n) * 10 / 256);
}

bool is_typed(const uint8_t *bytes, size_t n)
{
	size_t same = 1, next = 1;

	for (size_t i = 1; i < n; i++) {
		same = bytes[i] == bytes[i - 1] ? same + 1 : 1;
		next = bytes[i] == bytes[i - 1] + 1 ? next + 1 : 1;
		if (same == TYPED_MIN || next == TYPED_MIN)
			return true;
	}
	return false;
}

static uint32_t crc32_of(const uint8_t *bytes, size_t n)
{
	uint32_t crc = ~0U;

	for (size_t i = 0; i < n; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
	}
	return ~crc;
}

/* Whether the last `width` bytes are the sum of the others, in these digits. */
static enum scan_answer ends_in_crc32(const struct scan_text *t,
				      const struct scan_match *m,
				      const char *digits, size_t width)
{
	size_t n = m->to - m->from, base = strlen(digits);
	const uint8_t *secret = t->bytes + m->from;
	uint32_t crc;

	if (n < width)
		return SCAN_NO;
	crc = crc32_of(secret, n - width);
	for (size_t i = 1; i <= width; i++) {
		if (secret[n - i] != (uint8_t)digits[crc % base])
			return SCAN_NO;
		crc /= (uint32_t)base;
	}
	return SCAN_YES;
}

static const char digits62[] =
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

static enum scan_answer check_crc32_base62(const struct scan_text *t,
					   struct scan_match *m)
{
	return ends_in_crc32(t, m, digits62, 6);
}

static enum scan_answer check_crc32_base36(const struct scan_text *t,
					   struct scan_match *m)
{
	return ends_in_crc32(t, m, "0123456789abcdefghijklmnopqrstuvwxyz", 7);
}

/* The value of a digit of base64 in its form for addresses, or -1. */
static int base64url_digit(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '-' ? 62 : c == '_' ? 63 : -1;
}

/* The first part is a header, and that names its algorithm. */
static enum scan_answer check_jwt(const struct scan_text *t,
				  struct scan_match *m)
{
	uint8_t header[1536];
	const uint8_t *in = t->bytes + m->from;
	size_t n = 0;
	uint32_t bits = 0;

	for (size_t i = 0; in[i] != '.' && n + 3 < sizeof(header); i++) {
		bits = bits << 6 | (uint32_t)base64url_digit(in[i]);
		if (i % 4 == 3) {
			header[n++] = (uint8_t)(bits >> 16);
			header[n++] = (uint8_t)(bits >> 8);
			header[n++] = (uint8_t)bits;
		} else if (in[i + 1] == '.' && i % 4 == 1) {
			header[n++] = (uint8_t)(bits >> 4);
		} else if (in[i + 1] == '.' && i % 4 == 2) {
			header[n++] = (uint8_t)(bits >> 10);
			header[n++] = (uint8_t)(bits >> 2);
		}
	}
	return memmem(header, n, "\"alg\"", 5) ? SCAN_YES : SCAN_NO;
}

static bool is_base64(uint8_t c)
{
	return (is_word_byte(c) && c != '_') || c == '+' || c == '/' ||
	       c == '=';
}

/* What stands between the lines of a key, in files and in string literals. */
static size_t over_between(const struct scan_text *t, size_t at)
{
	for (; at < t->len; at++) {
		uint8_t c = t->bytes[at];

		if (c == '\\' && at + 1 < t->len &&
		    strchr("nrt", t->bytes[at + 1]) && t->bytes[at + 1])
			at++;
		else if (!c || !strchr(" \t\r\n\"'`,#*|>\\", c))
			break;
	}
	return at;
}

/* Behind "Name: value" and its end, or where it began. */
static size_t over_head(const struct scan_text *t, size_t at)
{
	size_t i = at;

	while (i < t->len && i - at < 32 &&
	       (is_word_byte(t->bytes[i]) || t->bytes[i] == '-'))
		i++;
	if (i == at || i + 1 >= t->len || t->bytes[i] != ':' ||
	    t->bytes[i + 1] != ' ')
		return at;
	while (i < t->len && i - at < HEAD_MAX && t->bytes[i] != '\n' &&
	       t->bytes[i] != '\\')
		i++;
	return i;
}

/*
 * A key follows, not only words about one.  All of it that fits is the secret,
 * because keys of a kind begin alike.
 */
static enum scan_answer check_key_body(const struct scan_text *t,
				       struct scan_match *m)
{
	size_t i = over_between(t, m->end), digits = 0;
	size_t start = m->start;

	for (int head = 0; head < BODY_HEADS; head++)
		i = over_between(t, over_head(t, i));
	m->from = i;
	while (i < t->len && digits < BODY_MAX &&
	       i - start < SCAN_SPAN_MAX / 2) {
		if (is_base64(t->bytes[i])) {
			digits++;
			m->to = m->end = ++i;
			continue;
		}
		if (over_between(t, i) == i)
			break;
		i = over_between(t, i);
	}
	if (i >= t->len && !t->is_all && i - start < SCAN_SPAN_MAX / 2)
		return SCAN_MORE;
	return digits >= BODY_MIN ? SCAN_YES : SCAN_NO;
}

static enum scan_answer check_putty_body(const struct scan_text *t,
					 struct scan_match *m)
{
	static const char mark[] = "Private-Lines: ";
	size_t most = m->start + SCAN_SPAN_MAX / 2;
	size_t end = t->len < most ? t->len : most;
	const uint8_t *found;
	const uint8_t *hash;

	if (end == t->len && !t->is_all)
		return SCAN_MORE;
	found = memmem(t->bytes + m->end, end - m->end, mark, strlen(mark));
	if (!found)
		return SCAN_NO;
	m->from = (size_t)(found - t->bytes) + strlen(mark);
	hash = memmem(t->bytes + m->from, end - m->from, "Private-", 8);
	m->to = m->end = hash ? (size_t)(hash - t->bytes) : end;
	return m->to > m->from ? SCAN_YES : SCAN_NO;
}

/* How often letters and digits of a run take turns. */
struct mixture {
	size_t len, digits, upper, lower, turns, hex;
};

static struct mixture longest_run(const uint8_t *bytes, size_t n)
{
	struct mixture best = { 0 }, now = { 0 };
	int before = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t c = bytes[i];
		int kind = c >= '0' && c <= '9'	  ? 1
			   : c >= 'a' && c <= 'z' ? 2
			   : c >= 'A' && c <= 'Z' ? 3
						  : 0;

		if (kind == 0) {
			now = (struct mixture){ 0 };
		} else {
			now.len++;
			now.digits += kind == 1;
			now.lower += kind == 2;
			now.upper += kind == 3;
			now.hex += kind == 1 || ((c | 0x20) <= 'f');
			now.turns += now.len > 1 && kind != before;
		}
		before = kind;
		if (now.len > best.len)
			best = now;
	}
	return best;
}

static bool is_uuid(const uint8_t *bytes, size_t n)
{
	if (n != 36)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((i == 8 || i == 13 || i == 18 || i == 23) !=
		    (bytes[i] == '-'))
			return false;
	return true;
}

/*
 * Drawn, and not a name, a path, a number or a version: letters and digits
 * without anything between them take turns as no word does.
 */
static enum scan_answer check_random(const struct scan_text *t,
				     struct scan_match *m)
{
	const uint8_t *secret = t->bytes + m->from;
	size_t n = m->to - m->from;
	struct mixture run = longest_run(secret, n);
	bool is_random;

	if (run.len < RANDOM_MIN || run.digits < 2 || is_uuid(secret, n))
		return SCAN_NO;
	if (run.hex == run.len)
		is_random = run.len >= 24 && run.digits * 4 >= run.len &&
			    run.digits < run.len;
	else if (run.upper && run.lower)
		is_random = run.turns * 3 >= run.len;
	else
		is_random = run.turns * 4 >= run.len && run.digits >= 3;
	return is_random ? SCAN_YES : SCAN_NO;
}

/* Anything but what everybody writes where a password would be. */
static enum scan_answer check_password(const struct scan_text *t,
				       struct scan_match *m)
{
	static const char *const words[] = {
		"password", "passwd", "secret", "postgres", "mysql",
		"redis",    "guest",  "token",	"mongo",    "rabbitmq",
	};
	const char *secret = (const char *)t->bytes + m->from;
	size_t n = m->to - m->from, different = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (n >= strlen(words[i]) &&
		    strncasecmp(secret, words[i], strlen(words[i])) == 0)
			return SCAN_NO;
	for (size_t i = 0; i < n; i++)
		different += !memchr(secret, secret[i], i);
	return different >= PASSWORD_MIN ? SCAN_YES : SCAN_NO;
}

static const struct scan_check checks[] = {
	{ "crc32-base36", check_crc32_base36, false },
	{ "crc32-base62", check_crc32_base62, false },
	{ "jwt", check_jwt, false },
	{ "key-body", check_key_body, true },
	{ "password", check_password, false },
	{ "putty-body", check_putty_body, true },
	{ "random", check_random, false },
};

const struct scan_check *check_find(const char *name)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (strcmp(checks[i].name, name) == 0)
			return &checks[i];
	return NULL;
}
