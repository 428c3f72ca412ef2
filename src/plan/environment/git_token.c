/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/environment/git_token.h"

#include "base/error.h"
#include "base/num.h"
#include "base/quote.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LETTERS	 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS	 "0123456789"
#define PORT_MAX 65535

static bool is_name(const char *text, size_t n)
{
	return n > 0 && n <= GIT_TOKEN_NAME_MAX && !strchr(DIGITS, text[0]) &&
	       strspn(text, LETTERS DIGITS "_") == n;
}

static bool is_host(const char *text)
{
	size_t n = strspn(text, LETTERS DIGITS ".-");
	int64_t port;

	if (n == 0 || strlen(text) > GIT_TOKEN_HOST_MAX ||
	    !strchr(LETTERS DIGITS, text[0]))
		return false;
	return !text[n] || (text[n] == ':' &&
			    num_int(text + n + 1, 1, PORT_MAX, &port) >= 0);
}

/* As GitHub and GitLab begin theirs: no name, and no line has to show it. */
static bool is_token(const char *text)
{
	static const char *const begins[] = { "ghp_", "gho_", "ghu_",
					      "ghs_", "ghr_", "github_pat_",
					      "glpat" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(text, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

int git_token_parse(const char *text, struct git_token *ret,
		    struct hb_error *err)
{
	const char *equals = strchr(text, '=');
	const char *host = equals ? equals + 1 : GIT_TOKEN_HOST;
	size_t n = equals ? (size_t)(equals - text) : strlen(text);

	if (!is_name(text, n) || is_token(text) || is_token(host)) {
		hb_fix(err,
		       "--git-token GITHUB_TOKEN, the name and not its value");
		/* It may be the token itself, which no line has to show. */
		return hb_fail(err, -HB_E_USAGE,
			       "that is no name of a variable");
	}
	if (!is_host(host)) {
		hb_fix(err, "--git-token %.*s=git.example.org", (int)n, text);
		return hb_fail(err, -HB_E_USAGE, "'%s' is no name of a host",
			       quoted(host));
	}
	memcpy(ret->name, text, n);
	ret->name[n] = '\0';
	memcpy(ret->host, host, strlen(host) + 1);
	return 0;
}
