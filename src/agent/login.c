/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/login.h"

#include "base/json_keys.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Names of the agents' files.  A file has a login, or one for each service in
 * an object of its own.
 */
static const char *const token_names[] = {
	"accessToken", "refreshToken", "access_token",	"refresh_token",
	"id_token",    "access",       "refresh",	"key",
	"token",       "apiKey",       "primaryApiKey", "OPENAI_API_KEY",
};
static const char *const time_names[] = { "expiresAt", "expiry_date",
					  "expires" };
static const char *const account_names[] = { "accountUuid", "account_id",
					     "accountId", "organizationUuid" };

/* An agent renews a token a little before its time. */
#define SLACK_SECONDS 600

/* Above it a time is in milliseconds. */
#define SECONDS_MAX 100000000000LL

#define UNITS_MAX	64
#define JWT_MAX		4096
#define JWT_EXPIRES	"exp"
#define DEPTH_OUTERMOST 1

/* The login of one service. */
struct unit {
	const char *name; /* "": of the whole file */
	size_t n_name;
	uint64_t tokens; /* a hash of them */
	uint64_t account;
	int64_t expires; /* 0: not told */
};

struct logins {
	const char *keys;
	bool is_flat; /* a token lies in the outermost object */
	bool is_over; /* more units than there is room for */
	bool counts;  /* what is read belongs to a key that counts */
	struct unit units[UNITS_MAX];
	size_t n;
};

static bool is_one_of(const char *const *names, size_t count, const char *key,
		      size_t n)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == n && memcmp(names[i], key, n) == 0)
			return true;
	return false;
}

bool login_has_key(const char *keys, const char *name, size_t n)
{
	for (const char *at = keys; *at;) {
		size_t len = strcspn(at, ",");

		if (len == n && memcmp(at, name, n) == 0)
			return true;
		at += len + (at[len] == ',');
	}
	return false;
}

static uint64_t mix(uint64_t hash, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)s[i]) * 1099511628211ULL;
	return (hash ^ n) * 1099511628211ULL;
}

static int sextet(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789-_";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static int64_t read_time(const char *s, size_t n)
{
	int64_t time = 0;

	for (size_t i = 0; i < n && s[i] >= '0' && s[i] <= '9'; i++) {
		if (time > SECONDS_MAX * 1000)
			return 0;
		time = time * 10 + (s[i] - '0');
	}
	return time > SECONDS_MAX ? time / 1000 : time;
}

static void find_expires(void *ctx, const struct json_member *m)
{
	if (m->depth == DEPTH_OUTERMOST && m->value &&
	    m->n_key == strlen(JWT_EXPIRES) &&
	    memcmp(m->key, JWT_EXPIRES, m->n_key) == 0)
		*(int64_t *)ctx = read_time(m->value, m->n);
}

/* When a token of three parts expires: its second part says so. */
static int64_t read_jwt(const char *value, size_t n)
{
	const char *dot = memchr(value, '.', n);
	char text[JWT_MAX];
	size_t at = 0;
	unsigned bits = 0, have = 0;
	int64_t expires = 0;

	if (!dot)
		return 0;
	for (const char *p = dot + 1; p < value + n && *p != '.'; p++) {
		int six = sextet(*p);

		if (six < 0 || at + 1 >= sizeof(text))
			return 0;
		bits = (bits << 6 | (unsigned)six) & 0xffff;
		have += 6;
		if (have >= 8) {
			have -= 8;
			text[at++] = (char)(bits >> have & 0xff);
		}
	}
	text[at] = '\0';
	(void)json_each_member(text, at, find_expires, &expires);
	return expires;
}

static void note_flat(void *ctx, const struct json_member *m)
{
	struct logins *l = ctx;

	if (m->depth == DEPTH_OUTERMOST && m->value &&
	    is_one_of(token_names, COUNT(token_names), m->key, m->n_key))
		l->is_flat = true;
}

static struct unit *begin_unit(struct logins *l, const char *name, size_t n)
{
	if (l->n == UNITS_MAX) {
		l->is_over = true;
		return NULL;
	}
	l->units[l->n] = (struct unit){ .name = name, .n_name = n };
	return &l->units[l->n++];
}

static void read_member(void *ctx, const struct json_member *m)
{
	struct logins *l = ctx;
	struct unit *unit;
	int64_t expires = 0;

	if (m->depth == DEPTH_OUTERMOST) {
		l->counts =
			!l->keys[0] || login_has_key(l->keys, m->key, m->n_key);
		if (l->counts && !l->is_flat && !m->value)
			(void)begin_unit(l, m->key, m->n_key);
	}
	if (!l->counts || !m->value || l->n == 0)
		return;
	unit = &l->units[l->n - 1];
	if (is_one_of(time_names, COUNT(time_names), m->key, m->n_key))
		expires = read_time(m->value, m->n);
	else if (is_one_of(account_names, COUNT(account_names), m->key,
			   m->n_key))
		unit->account = mix(unit->account, m->value, m->n);
	/* An empty string and null are none. */
	if (is_one_of(token_names, COUNT(token_names), m->key, m->n_key) &&
	    m->value[0] == '"' && m->n > 2) {
		unit->tokens = mix(mix(unit->tokens, m->key, m->n_key),
				   m->value, m->n);
		expires = read_jwt(m->value + 1, m->n - 2);
	}
	/* The token that lives longest is the login's end. */
	if (expires > unit->expires)
		unit->expires = expires;
}

/* False: it is no JSON. */
static bool read_logins(const char *text, size_t n, bool is_flat,
			struct logins *l)
{
	l->is_flat = is_flat;
	if (is_flat)
		(void)begin_unit(l, "", 0);
	return json_each_member(text, n, read_member, l) >= 0;
}

static const struct unit *find_unit(const struct logins *l,
				    const struct unit *like)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->units[i].n_name == like->n_name &&
		    memcmp(l->units[i].name, like->name, like->n_name) == 0)
			return &l->units[i];
	return NULL;
}

static enum login_change compare_unit(const struct unit *host,
				      const struct unit *ours, int64_t now)
{
	if (ours->tokens == (host ? host->tokens : 0))
		return LOGIN_SAME;
	if (!host || host->tokens == 0 || host->expires == 0 ||
	    host->expires > now + SLACK_SECONDS)
		return LOGIN_OTHER;
	if (host->account != 0 && host->account != ours->account)
		return LOGIN_OTHER;
	return LOGIN_RENEWED;
}

static enum login_change compare_all(const struct logins *host,
				     const struct logins *ours, int64_t now)
{
	enum login_change worst = LOGIN_SAME;

	if (host->is_over || ours->is_over)
		return LOGIN_OTHER;
	for (size_t i = 0; i < ours->n; i++) {
		enum login_change change = compare_unit(
			find_unit(host, &ours->units[i]), &ours->units[i], now);

		if (change > worst)
			worst = change;
	}
	/* A login that is gone, as after a logout. */
	for (size_t i = 0; i < host->n; i++)
		if (host->units[i].tokens != 0 &&
		    !find_unit(ours, &host->units[i]))
			worst = LOGIN_OTHER;
	return worst;
}

enum login_change login_compare(const char *host, size_t n_host,
				const char *ours, size_t n_ours,
				const char *keys, int64_t now)
{
	enum login_change change = LOGIN_OTHER;
	struct logins *both = calloc(2, sizeof(*both));
	struct logins flat = { 0 };

	if (!both)
		return LOGIN_OTHER;
	both[0].keys = both[1].keys = keys;
	(void)json_each_member(host, n_host, note_flat, &flat);
	(void)json_each_member(ours, n_ours, note_flat, &flat);
	if (n_host > 0)
		(void)read_logins(host, n_host, flat.is_flat, &both[0]);
	if (read_logins(ours, n_ours, flat.is_flat, &both[1]))
		change = compare_all(&both[0], &both[1], now);
	else if (n_host == n_ours && memcmp(host, ours, n_ours) == 0)
		change = LOGIN_SAME;
	free(both);
	return change;
}
