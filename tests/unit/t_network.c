/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/network/network.h"
#include "plan/network/network_url.h"
#include "plan/network/network_value.h"

#include "base/error.h"
#include "plan/plan.h"
#include "plan/profile.h"

#include "tap.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool is(const char *a, const char *b)
{
	if (strcmp(a, b) != 0)
		printf("# got '%s', want '%s'\n", a, b);
	return strcmp(a, b) == 0;
}

/* One key with its value and source; a row without a key ends the list. */
struct said {
	enum setting_source source;
	const char *key, *value;
};

static void set(struct settings *s, const struct said *said)
{
	struct hb_error err = { 0 };

	settings_init(s);
	for (; said->key; said++) {
		const struct setting_origin origin = { said->source, "f", 1 };

		CHECK_INT(
			settings_set(s, said->key, said->value, &origin, &err),
			0);
	}
}

static enum net_mode mode_of(const struct said *said)
{
	enum net_mode mode;
	struct settings s;

	set(&s, said);
	mode = settings_net(&s);
	settings_done(&s);
	return mode;
}

#define MODE(want, ...)                                                \
	CHECK_INT(mode_of((const struct said[]){ __VA_ARGS__,          \
						 { 0, NULL, NULL } }), \
		  want)
#define BUILT_IN(key, value)                 \
	{                                    \
		SETTING_BUILT_IN, key, value \
	}
#define USER(key, value)                 \
	{                                \
		SETTING_USER, key, value \
	}
#define OPTION(key, value)                 \
	{                                  \
		SETTING_OPTION, key, value \
	}
#define SESSION(key, value)                 \
	{                                   \
		SETTING_SESSION, key, value \
	}
#define WORKSPACE(key, value)                 \
	{                                     \
		SETTING_WORKSPACE, key, value \
	}

static void the_stronger_source_decides_about_the_network(void)
{
	MODE(NET_NONE, OPTION("quiet", "yes"));
	MODE(NET_NAMES, OPTION("allow", "a.b"));
	MODE(NET_NAMES, OPTION("net", "allow"));
	MODE(NET_STRICT, OPTION("net", "strict"));
	MODE(NET_STRICT, OPTION("net", "strict"), OPTION("allow", "a.b"));
	MODE(NET_NAMES, OPTION("port", "80"));
	MODE(NET_NAMES, OPTION("host-port", "80"));
	MODE(NET_NAMES, OPTION("net-ask", "yes"));
	MODE(NET_NONE, OPTION("deny", "a.b"));
	MODE(NET_NONE, OPTION("net", "none"), OPTION("deny", "a.b"));
	/* a profile's list, and words that are stronger */
	MODE(NET_NAMES, BUILT_IN("allow", "a.b"));
	MODE(NET_HOST, BUILT_IN("net", "host"), BUILT_IN("allow", "a.b"));
	MODE(NET_NAMES, BUILT_IN("net", "host"), USER("allow", "a.b"));
	MODE(NET_HOST, BUILT_IN("allow", "a.b"), OPTION("net", "host"));
	MODE(NET_NONE, BUILT_IN("allow", "a.b"), OPTION("net", "none"));
	MODE(NET_HOST, USER("net", "host"), USER("allow", "a.b"));
	MODE(NET_NONE, USER("allow", "a.b"), USER("net", "none"));
	MODE(NET_HOST, BUILT_IN("net", "host"), OPTION("port", "80"));
	/* what takes away is in force, or said */
	MODE(NET_NAMES, BUILT_IN("net", "host"), USER("deny", "a.b"));
	MODE(NET_NAMES, OPTION("net", "host"), WORKSPACE("deny", "a.b"));
	MODE(NET_HOST, USER("deny", "a.b"), OPTION("net", "host"));
	MODE(NET_NONE, OPTION("allow", "a.b"), WORKSPACE("net", "none"));
	/* as a session has them */
	MODE(NET_NAMES, SESSION("net", "allow"), SESSION("allow", "a.b"));
	MODE(NET_HOST, SESSION("net", "host"), SESSION("allow", "a.b"));
	MODE(NET_NONE, SESSION("net", "allow"), OPTION("net", "none"));
}

static void refuses(enum setting_source source, const char *key,
		    const char *value, int code, const char *text,
		    const char *fix)
{
	const struct setting_origin origin = { source, "f", 3 };
	struct hb_error err = { 0 };
	struct settings s;

	settings_init(&s);
	CHECK_INT(settings_set(&s, key, value, &origin, &err), code);
	CHECK(is(err.text, text));
	CHECK(strstr(err.fix, fix));
	settings_done(&s);
}

static void bad_values_are_refused_with_their_place(void)
{
	refuses(SETTING_OPTION, "allow", "a..b", -HB_E_USAGE,
		"option '--allow': 'a..b' is no name of a host", "write HOST");
	refuses(SETTING_USER, "deny", "a.b=private", -HB_E_CONFIG,
		"f:3: key 'deny': a rule that denies has no '='",
		"the host alone");
	refuses(SETTING_USER, "allow", "@githib", -HB_E_CONFIG,
		"f:3: key 'allow': there is no group '@githib'",
		"did you mean '@github'?");
	refuses(SETTING_OPTION, "allow", "", -HB_E_USAGE,
		"option '--allow': '\"\"' is no name of a host", "write HOST");
	refuses(SETTING_OPTION, "allow", "$", -HB_E_USAGE,
		"option '--allow': '$' names no variable", "write $NAME once");
	refuses(SETTING_OPTION, "allow", "$A.$B", -HB_E_USAGE,
		"option '--allow': '$A.$B' names no variable", "once");
	refuses(SETTING_OPTION, "allow", "a..$B", -HB_E_USAGE,
		"option '--allow': 'a..x' is no name of a host", "write HOST");
	refuses(SETTING_OPTION, "deny", "$A", -HB_E_USAGE,
		"option '--deny': '$A' is no name of a host", "write HOST");
	refuses(SETTING_OPTION, "port", "0", -HB_E_USAGE,
		"option '--port': '0' is no port", "1 to 65535");
	refuses(SETTING_OPTION, "port", "80:", -HB_E_USAGE,
		"option '--port': '\"\"' is no port", "1 to 65535");
	refuses(SETTING_OPTION, "port", ":80", -HB_E_USAGE,
		"option '--port': '\"\"' is no port", "1 to 65535");
	refuses(SETTING_OPTION, "port", "1:2:3", -HB_E_USAGE,
		"option '--port': '2:3' is no port", "1 to 65535");
	refuses(SETTING_OPTION, "port", "127.0.0.1:80", -HB_E_USAGE,
		"option '--port': '127.0.0.1:80' is no port", "1 to 65535");
	refuses(SETTING_OPTION, "host-port", "65536", -HB_E_USAGE,
		"option '--host-port': '65536' is no port", "1 to 65535");
	refuses(SETTING_OPTION, "net-proxy", "socks5://a.b", -HB_E_USAGE,
		"option '--net-proxy': 'socks5://a.b' is no HTTP proxy",
		"http://HOST:PORT");
	refuses(SETTING_OPTION, "net-proxy", "http://u:p@a.b", -HB_E_USAGE,
		"option '--net-proxy': a login of a proxy would be recorded",
		"HTTPS_PROXY");
	refuses(SETTING_OPTION, "net-proxy", "ftp://u:secret@a.b", -HB_E_USAGE,
		"option '--net-proxy': the value is no HTTP proxy",
		"http://HOST:PORT");
}

static void a_file_in_the_workspace_may_only_tighten(void)
{
	static const struct said wide[] = {
		WORKSPACE("net", "host"),
		WORKSPACE("net", "allow"),
		WORKSPACE("net", "strict"),
		WORKSPACE("allow", "a.b"),
		WORKSPACE("allow", ""),
		WORKSPACE("deny", ""),
		WORKSPACE("port", "80"),
		WORKSPACE("host-port", "80"),
		WORKSPACE("net-ask", "yes"),
		WORKSPACE("net-loose", "yes"),
		WORKSPACE("net-proxy", "http://a.b"),
	};
	static const struct said narrow[] = {
		WORKSPACE("net", "none"),   WORKSPACE("deny", "a.b"),
		WORKSPACE("net-ask", "no"), WORKSPACE("net-loose", "no"),
		{ 0, NULL, NULL },
	};
	struct settings s;

	for (size_t i = 0; i < COUNT(wide); i++) {
		const struct setting_origin origin = { wide[i].source, "f", 1 };

		settings_init(&s);
		CHECK_INT(settings_set(&s, wide[i].key, wide[i].value, &origin,
				       NULL),
			  -HB_E_CONFIG);
		settings_done(&s);
	}
	set(&s, narrow);
	settings_done(&s);
}

static void options_that_contradict_are_refused(void)
{
	static const struct said pairs[][2] = {
		{ OPTION("net", "none"), OPTION("allow", "a.b") },
		{ OPTION("allow", "a.b"), OPTION("net", "host") },
		{ OPTION("net", "host"), OPTION("deny", "a.b") },
		{ OPTION("port", "80"), OPTION("net", "host") },
		{ OPTION("net", "none"), OPTION("host-port", "80") },
		{ OPTION("net-ask", "yes"), OPTION("net", "none") },
	};

	for (size_t i = 0; i < COUNT(pairs); i++) {
		const struct setting_origin origin = { SETTING_OPTION, NULL,
						       0 };
		struct hb_error err = { 0 };
		struct settings s;

		settings_init(&s);
		CHECK_INT(settings_set(&s, pairs[i][0].key, pairs[i][0].value,
				       &origin, &err),
			  0);
		CHECK_INT(settings_set(&s, pairs[i][1].key, pairs[i][1].value,
				       &origin, &err),
			  -HB_E_USAGE);
		CHECK(strstr(err.text, "contradict each other"));
		CHECK(strstr(err.fix, "--net allow"));
		settings_done(&s);
	}
}

/* A network from settings and an environment that passes but for SECRET. */
struct made {
	struct settings settings;
	struct plan plan;
	struct network network;
};

static void make_for(struct made *m, const struct said *said, char *const *envp,
		     char *const *argv)
{
	struct hb_error err = { 0 };

	*m = (struct made){ 0 };
	set(&m->settings, said);
	plan_init(&m->plan);
	CHECK_INT(plan_add_env(&m->plan, ENV_CLEAR, NULL, NULL, &err), 0);
	CHECK_INT(plan_add_env(&m->plan, ENV_PASS, "PASSED_*", NULL, &err), 0);
	CHECK_INT(network_build(&m->settings, &m->plan,
				&(struct network_call){ envp, argv },
				&m->network, &err),
		  0);
}

static void make(struct made *m, const struct said *said, char *const *envp)
{
	make_for(m, said, envp, NULL);
}

static void done(struct made *m)
{
	network_done(&m->network);
	plan_done(&m->plan);
	settings_done(&m->settings);
}

static bool allows(const struct made *m, const char *host, uint16_t port)
{
	const struct net_rule *rule =
		net_rules_decide(m->network.access.rules,
				 m->network.access.n_rules, host, NULL, port);

	return rule && !rule->is_deny;
}

static char *no_env[] = { NULL };

static void groups_rules_and_ports_are_gathered(void)
{
	static const struct said said[] = {
		USER("allow", "@github"),
		USER("deny", "raw.githubusercontent.com"),
		OPTION("allow", "a.b:*"),
		OPTION("port", "3000"),
		OPTION("port", "8080:80"),
		OPTION("host-port", "5432"),
		OPTION("host-port", "5432"),
		OPTION("require", "yes"),
		{ 0, NULL, NULL },
	};
	struct made m;
	const struct net_access *access = &m.network.access;
	char words[512];

	make(&m, said, no_env);
	CHECK(allows(&m, "github.com", 443));
	CHECK(!allows(&m, "github.com", 22));
	CHECK(!allows(&m, "raw.githubusercontent.com", 443));
	CHECK(allows(&m, "a.b", 22));
	CHECK_INT(m.network.n_allowed, 7);
	CHECK_INT(access->n_rules, 8);
	CHECK_INT(access->n_ports, 2);
	CHECK_INT(access->ports[0].outside, 3000);
	CHECK_INT(access->ports[0].inside, 3000);
	CHECK_INT(access->ports[1].outside, 8080);
	CHECK_INT(access->ports[1].inside, 80);
	CHECK_INT(access->n_host_ports, 1);
	CHECK_INT(access->host_ports[0], 5432);
	CHECK(access->needs_all_ports);
	CHECK(!access->proxy_host && !access->is_asking && !access->is_loose);
	CHECK(is(m.network.origins[0].group, "github"));
	CHECK(is(m.network.origins[0].item->value, "@github"));
	CHECK(is(network_words(&m.network, words, sizeof(words)),
		 "7 names · port 3000 is 127.0.0.1:3000 here · port 80 is "
		 "127.0.0.1:8080 here · this host's port 5432 · uploads "
		 "possible: @github"));
	done(&m);
}

static void strict_leaves_open_groups_of_weaker_sources_out(void)
{
	static const struct said said[] = {
		BUILT_IN("allow", "api.a.b"),
		BUILT_IN("allow", "@github"),
		BUILT_IN("allow", "@registries"),
		BUILT_IN("allow", "gitlab.com"),
		BUILT_IN("deny", "@npm"),
		OPTION("net", "strict"),
		OPTION("allow", "@bitbucket"),
		{ 0, NULL, NULL },
	};
	struct made m;
	char words[512];

	make(&m, said, no_env);
	CHECK(allows(&m, "api.a.b", 443));
	CHECK(!allows(&m, "github.com", 443));
	CHECK(!allows(&m, "codeload.github.com", 443));
	CHECK(!allows(&m, "gitlab.com", 443));
	CHECK(!allows(&m, "pypi.org", 443));
	CHECK(allows(&m, "go.dev", 443));
	CHECK(allows(&m, "bitbucket.org", 443));
	CHECK(net_rules_decide(m.network.access.rules, m.network.access.n_rules,
			       "x.npmjs.org", NULL, 443)
		      ->is_deny);
	CHECK(strstr(network_words(&m.network, words, sizeof(words)),
		     " · list unverified · uploads possible: @bitbucket"));
	done(&m);
}

static void a_url_in_a_variable_adds_its_host(void)
{
	static const struct said said[] = {
		BUILT_IN("allow", "known.example"),
		BUILT_IN("allow", "$PASSED_NAME"),
		BUILT_IN("allow", "$PASSED_KNOWN"),
		BUILT_IN("allow", "$PASSED_LOCAL"),
		BUILT_IN("allow", "$PASSED_SIX"),
		BUILT_IN("allow", "$PASSED_PRIVATE"),
		BUILT_IN("allow", "$PASSED_BAD"),
		BUILT_IN("allow", "$PASSED_EMPTY"),
		BUILT_IN("allow", "$PASSED_MISSING"),
		BUILT_IN("allow", "$SECRET_URL"),
		{ 0, NULL, NULL },
	};
	char *envp[] = { (char[]){ "PASSED_NAME=https://LLM.corp:8443/v1?x" },
			 (char[]){ "PASSED_KNOWN=https://known.example" },
			 (char[]){ "PASSED_LOCAL=http://127.0.0.1:4000/v1" },
			 (char[]){ "PASSED_SIX=http://[::1]:4001" },
			 (char[]){ "PASSED_PRIVATE=http://10.1.2.3:8000" },
			 (char[]){ "PASSED_BAD=not a url" },
			 (char[]){ "PASSED_EMPTY=" },
			 (char[]){ "SECRET_URL=https://evil.example" },
			 NULL };
	struct made m;
	struct in6_addr a;
	struct net_range range;

	make(&m, said, envp);
	CHECK(allows(&m, "llm.corp", 8443));
	CHECK(!allows(&m, "llm.corp", 443));
	CHECK(!allows(&m, "evil.example", 443));
	CHECK_INT(m.network.n_allowed, 3);
	CHECK(net_range_parse("10.1.2.3", 8, &range));
	a = range.address;
	CHECK(net_rules_decide(m.network.access.rules, m.network.access.n_rules,
			       NULL, &a, 8000) != NULL);
	CHECK_INT(m.network.access.n_host_ports, 2);
	CHECK_INT(m.network.host_ports[0], 4000);
	CHECK_INT(m.network.host_ports[1], 4001);
	CHECK_INT(m.network.n_said, 5);
	CHECK(is(m.network.said[0], "PASSED_NAME adds llm.corp:8443=private"));
	CHECK(is(m.network.said[1],
		 "PASSED_LOCAL leads to this host: --host-port 4000"));
	CHECK(is(m.network.said[2],
		 "PASSED_SIX leads to this host: --host-port 4001"));
	CHECK(is(m.network.said[3], "PASSED_PRIVATE adds 10.1.2.3:8000"));
	CHECK(is(m.network.said[4], "PASSED_BAD is no URL, and adds no host"));
	done(&m);
}

static void a_region_in_a_variable_is_one_label(void)
{
	static const struct said said[] = {
		BUILT_IN("allow", "api.$PASSED_REGION.cloud.example"),
		BUILT_IN("allow", "$PASSED_ML_*-api.ml.example"),
		BUILT_IN("allow", "x.$PASSED_EVIL.example"),
		{ 0, NULL, NULL },
	};
	char *envp[] = { (char[]){ "PASSED_REGION=eu-west-1" },
			 (char[]){ "PASSED_ML_A=us-east5" },
			 (char[]){ "PASSED_ML_B=asia" },
			 (char[]){ "PASSED_EVIL=a.b" }, NULL };
	struct made m;

	make(&m, said, envp);
	CHECK_INT(m.network.n_allowed, 3);
	CHECK(allows(&m, "api.eu-west-1.cloud.example", 443));
	CHECK(allows(&m, "us-east5-api.ml.example", 443));
	CHECK(allows(&m, "asia-api.ml.example", 443));
	CHECK_INT(m.network.n_said, 1);
	CHECK(is(m.network.said[0],
		 "PASSED_EVIL is no part of a name, and adds no host"));
	done(&m);
}

static void a_region_of_all_regions_has_no_label(void)
{
	static const struct said said[] = {
		BUILT_IN("allow", "$PASSED_ML-api.ml.example"),
		BUILT_IN("allow", "api.$PASSED_ML.ml.example"),
		{ 0, NULL, NULL },
	};
	char *envp[] = { (char[]){ "PASSED_ML=global" }, NULL };
	struct made m;

	make(&m, said, envp);
	CHECK(allows(&m, "api.ml.example", 443));
	CHECK(allows(&m, "api.global.ml.example", 443));
	CHECK(!allows(&m, "global-api.ml.example", 443));
	done(&m);
}

static void a_port_of_a_login_is_there_for_its_word(void)
{
	static const struct said said[] = {
		BUILT_IN("login-port", "login:1455"),
		OPTION("allow", "a.b"),
		{ 0, NULL, NULL },
	};
	static const struct {
		const char *first;
		size_t n;
	} rows[] = { { "login", 1 },
		     { "exec", 0 },
		     { "logi", 0 },
		     { "login:", 0 },
		     { "logins", 0 } };
	char words[512];
	struct made m;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[] = { (char[]){ "codex" },
				 (char *)(uintptr_t)rows[i].first,
				 (char[]){ "login" }, NULL };

		make_for(&m, said, no_env, argv);
		CHECK_INT(m.network.access.n_ports, rows[i].n);
		if (rows[i].n > 0) {
			CHECK_INT(m.network.ports[0].inside, 1455);
			CHECK_INT(m.network.ports[0].outside, 1455);
			CHECK(m.network.ports[0].may_lack);
		}
		CHECK(is(network_words(&m.network, words, sizeof(words)),
			 "1 name"));
		done(&m);
	}
	refuses(SETTING_OPTION, "login-port", "1455", -HB_E_USAGE,
		"option '--login-port': '1455' names no word and port",
		"WORD:PORT");
	refuses(SETTING_OPTION, "login-port", "login:0", -HB_E_USAGE,
		"option '--login-port': '0' is no port", "1 to 65535");
}

static void a_port_of_this_host_in_words_and_variables_is_pointed_out(void)
{
	static const struct said said[] = {
		OPTION("allow", "a.b"),
		OPTION("host-port", "4000"),
		{ 0, NULL, NULL },
	};
	char *envp[] = {
		(char[]){ "PASSED_JSON={\"u\":\"http://localhost:11434/v1\"}" },
		(char[]){ "PASSED_KNOWN=http://127.0.0.1:4000" },
		(char[]){ "PASSED_OTHER=https://a.b http http:// https" },
		(char[]){ "SECRET=http://localhost:1" }, NULL
	};
	char *argv[] = { (char[]){ "agent" },
			 (char[]){ "url=\"http://[::1]:1234/v1\" and "
				   "http://localhost:11434" },
			 NULL };
	struct made m;

	make_for(&m, said, envp, argv);
	CHECK_INT(m.network.n_said, 2);
	CHECK(is(m.network.said[0],
		 "[::1]:1234 is the command's own; to reach this host's: "
		 "--host-port 1234"));
	CHECK(is(m.network.said[1],
		 "localhost:11434 is the command's own; to reach this host's: "
		 "--host-port 11434"));
	CHECK_INT(m.network.access.n_host_ports, 1);
	done(&m);
}

static void the_proxy_is_the_hosts_unless_said(void)
{
	static const struct said nothing[] = { OPTION("net", "allow"),
					       { 0, NULL, NULL } };
	static const struct said other[] = { OPTION("net", "allow"),
					     OPTION("net-proxy", "p.b:3128"),
					     { 0, NULL, NULL } };
	static const struct said none[] = { OPTION("net", "allow"),
					    OPTION("net-proxy", "none"),
					    { 0, NULL, NULL } };
	char *envp[] = { (char[]){ "HTTPS_PROXY=http://proxy.corp:8080" },
			 NULL };
	char *useless[] = { (char[]){ "https_proxy=socks5://proxy.corp:8080" },
			    NULL };
	struct made m;

	make(&m, nothing, envp);
	CHECK(is(m.network.access.proxy_host, "proxy.corp"));
	CHECK_INT(m.network.access.proxy_port, 8080);
	CHECK(strstr(m.network.said[0], "no address is checked"));
	done(&m);
	make(&m, other, envp);
	CHECK(is(m.network.access.proxy_host, "p.b"));
	CHECK_INT(m.network.access.proxy_port, 3128);
	done(&m);
	make(&m, none, envp);
	CHECK(!m.network.access.proxy_host);
	done(&m);
	make(&m, nothing, useless);
	CHECK(!m.network.access.proxy_host);
	CHECK(is(m.network.said[0],
		 "https_proxy is no proxy that can be used, and is not"));
	done(&m);
}

static void the_login_of_a_proxy_is_the_environments(void)
{
	static const struct said nothing[] = { OPTION("net", "allow"),
					       { 0, NULL, NULL } };
	static const struct said same[] = { OPTION("net", "allow"),
					    OPTION("net-proxy",
						   "proxy.corp:8080"),
					    { 0, NULL, NULL } };
	static const struct said other[] = { OPTION("net", "allow"),
					     OPTION("net-proxy",
						    "proxy.corp:8081"),
					     { 0, NULL, NULL } };
	static const struct {
		const char *variable;
		const char *login; /* NULL: none */
	} rows[] = {
		{ "https_proxy=http://u:p@proxy.corp:8080", "dTpw" },
		{ "https_proxy=u:p%40%3a@proxy.corp:8080", "dTpwQDo=" },
		{ "https_proxy=http://user:@proxy.corp:8080", "dXNlcjo=" },
		{ "https_proxy=http://user@proxy.corp:8080", NULL },
		{ "https_proxy=http://u:p%0d%0ax@proxy.corp:8080", NULL },
		{ "https_proxy=http://u:p%4@proxy.corp:8080", NULL },
		{ "https_proxy=http://u:p%zz@proxy.corp:8080", NULL },
	};
	struct made m;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[80];
		char *envp[] = { text, NULL };

		(void)snprintf(text, sizeof(text), "%s", rows[i].variable);
		make(&m, i % 2 ? same : nothing, envp);
		CHECK(is(m.network.access.proxy_host, "proxy.corp"));
		if (rows[i].login)
			CHECK(is(m.network.access.proxy_login, rows[i].login));
		else
			CHECK(!m.network.access.proxy_login);
		CHECK(!strstr(m.network.said[0], "u:p"));
		done(&m);
		make(&m, other, envp);
		CHECK(!m.network.access.proxy_login);
		done(&m);
	}
}

static void a_wildcard_over_a_shared_host_is_said(void)
{
	static const struct said said[] = { OPTION("allow", "*.github.io"),
					    { 0, NULL, NULL } };
	struct made m;

	make(&m, said, no_env);
	CHECK_INT(m.network.n_said, 1);
	CHECK(is(m.network.said[0],
		 "*.github.io allows strangers: anybody can have a name below "
		 "github.io"));
	done(&m);
}

/* settings_set() trusts those that are built in. */
static void every_profile_has_rules_that_can_be_read(void)
{
	const struct profile *p;
	size_t n = 0;

	for (size_t i = 0; (p = profile_at(i)) != NULL; i++)
		for (size_t k = 0; k < p->n; k++) {
			const struct profile_entry *e = &p->entries[k];
			const struct option *o =
				option_find(settings_table, e->key);
			struct hb_error err = { 0 };

			CHECK(o != NULL);
			CHECK_INT(network_check((enum setting_key)(
							o - settings_table),
						e->value, &err),
				  0);
			n += strcmp(e->key, "allow") == 0;
		}
	CHECK(n > 20);
}

TESTS(T(the_stronger_source_decides_about_the_network),
      T(bad_values_are_refused_with_their_place),
      T(a_file_in_the_workspace_may_only_tighten),
      T(options_that_contradict_are_refused),
      T(groups_rules_and_ports_are_gathered),
      T(strict_leaves_open_groups_of_weaker_sources_out),
      T(a_url_in_a_variable_adds_its_host),
      T(a_region_in_a_variable_is_one_label),
      T(a_region_of_all_regions_has_no_label),
      T(a_port_of_a_login_is_there_for_its_word),
      T(a_port_of_this_host_in_words_and_variables_is_pointed_out),
      T(the_proxy_is_the_hosts_unless_said),
      T(the_login_of_a_proxy_is_the_environments),
      T(a_wildcard_over_a_shared_host_is_said),
      T(every_profile_has_rules_that_can_be_read))
