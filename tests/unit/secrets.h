/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_SECRETS_H
#define HB_TEST_SECRETS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/*
 * Secrets as their formats are documented, drawn anew in each run: a second
 * statement of data/secrets.rules, which knows nothing of the first.
 *
 * In a form, {20w} is 20 drawn bytes of a set:
 *
 *	w letters and digits	u those, "_" and "-"	b base64
 *	h 0-9 a-f		d digits		a 0-9 a-z
 *	A 0-9 A-Z		U 2-7 A-Z		z age's letters
 *
 * {C} is the sum of what {w} drew last, in base 62, and {c} that of everything
 * before it in base 36.
 */
struct form {
	const char *kind;
	const char *form;
};

static const struct form token_forms[] = {
	{ "age-key", "AGE-SECRET-KEY-1{58z}" },
	{ "aws-key", "AKIA{16U}" },
	{ "aws-key", "ASIA{16U}" },
	{ "aws-key", "ABIA{16U}" },
	{ "aws-key", "ACCA{16U}" },
	{ "aws-key", "ABSKQmVkcm9ja0FQSUtleS{90b}" },
	{ "google-key", "AIza{35u}" },
	{ "google-token", "GOCSPX-{28u}" },
	{ "google-token", "ya29.{30u}" },
	{ "google-token", "1//0{40u}" },
	{ "azure-key", "{52w}JQQJ99{1w}B{16w}A{7w}" },
	{ "azure-client-secret", "{3w}8Q~{31w}" },
	{ "azure-signature", "?sig={43b}" },
	{ "azure-signature", "&sig={43b}" },
	{ "alibaba-key", "LTAI{20w}" },
	{ "tencent-key", "AKID{32w}" },
	{ "digitalocean-token", "dop_v1_{64h}" },
	{ "digitalocean-token", "doo_v1_{64h}" },
	{ "digitalocean-token", "dor_v1_{64h}" },
	{ "heroku-key", "HRKU-AA{58u}" },
	{ "netlify-token", "nfp_{36w}" },
	{ "fly-token", "fm2_{100b}" },
	{ "supabase-key", "sbp_{40h}" },
	{ "supabase-key", "sb_secret_{31u}" },
	{ "planetscale-token", "pscale_tkn_{32u}" },
	{ "planetscale-token", "pscale_pw_{32u}" },
	{ "planetscale-token", "pscale_oauth_{32u}" },
	{ "databricks-token", "dapi{32h}" },
	{ "vault-token", "hvs.{90u}" },
	{ "vault-token", "hvb.{90u}" },
	{ "terraform-token", "{14w}.atlasv1.{60u}" },
	{ "pulumi-token", "pul-{40h}" },
	{ "doppler-token", "dp.pt.{43w}" },
	{ "doppler-token", "dp.sa.{43w}" },
	{ "tailscale-key", "tskey-auth-{12w}-{20w}" },
	{ "github-token", "ghp_{30w}{C}" },
	{ "github-token", "gho_{30w}{C}" },
	{ "github-token", "ghs_{30w}{C}" },
	{ "github-token", "ghu_{30w}{C}" },
	{ "github-token", "ghr_{30w}{C}" },
	{ "github-token", "ghr_{76w}" },
	{ "github-token", "github_pat_{22w}_{59w}" },
	{ "gitlab-token", "glpat-{20u}" },
	{ "gitlab-token", "gldt-{20u}" },
	{ "gitlab-token", "glrt-{20u}" },
	{ "gitlab-token", "glptt-{40h}" },
	{ "gitlab-token", "glagent-{50u}" },
	{ "gitlab-token", "glcbt-{20u}" },
	{ "gitlab-token", "glimt-{20u}" },
	{ "gitlab-token", "glsoat-{20u}" },
	{ "gitlab-token", "gloas-{64u}" },
	{ "gitlab-token", "glft-{20u}" },
	{ "gitlab-token", "glpat-{36u}.10{c}" },
	{ "gitlab-token", "glpat-{36u}.01.10{c}" },
	{ "atlassian-token", "ATATT3{180u}" },
	{ "atlassian-token", "ATCTT3{180u}" },
	{ "atlassian-token", "ATBB{32w}" },
	{ "npm-token", "npm_{30w}{C}" },
	{ "npm-token", "//registry/:_authToken={20u}" },
	{ "pypi-token", "pypi-AgEIcHlwaS5vcmc{50u}" },
	{ "pypi-token", "pypi-AgENdGVzdC5weXBpLm9yZw{50u}" },
	{ "rubygems-key", "rubygems_{48h}" },
	{ "crates-token", "cio{32w}" },
	{ "nuget-key", "oy2{43a}" },
	{ "clojars-token", "CLOJARS_{60a}" },
	{ "docker-token", "dckr_pat_{27u}" },
	{ "docker-token", "dckr_oat_{27u}" },
	{ "jfrog-token", "cmVmdGtu{56w}" },
	{ "jfrog-token", "AKCp{69w}" },
	{ "sonar-token", "sqp_{40h}" },
	{ "sonar-token", "squ_{40h}" },
	{ "sonar-token", "sqa_{40h}" },
	{ "circleci-token", "CCIPAT_{22w}_{40h}" },
	{ "buildkite-token", "bkua_{40h}" },
	{ "sourcegraph-token", "sgp_{16h}_{40h}" },
	{ "postman-key", "PMAK-{24h}-{34h}" },
	{ "openai-key", "sk-{20w}T3BlbkFJ{20w}" },
	{ "openai-key", "sk-proj-{40u}" },
	{ "openai-key", "sk-svcacct-{40u}" },
	{ "openai-key", "sk-admin-{40u}" },
	{ "anthropic-key", "sk-ant-api03-{60u}" },
	{ "anthropic-key", "sk-ant-oat01-{60u}" },
	{ "openrouter-key", "sk-or-v1-{64h}" },
	{ "deepseek-key", "sk-{32h}" },
	{ "huggingface-token", "hf_{34w}" },
	{ "huggingface-token", "api_org_{34w}" },
	{ "groq-key", "gsk_{52w}" },
	{ "xai-key", "xai-{80w}" },
	{ "perplexity-key", "pplx-{48w}" },
	{ "replicate-token", "r8_{37w}" },
	{ "nvidia-key", "nvapi-{64u}" },
	{ "pinecone-key", "pcsk_{60w}" },
	{ "langsmith-key", "lsv2_pt_{32h}_{10h}" },
	{ "langsmith-key", "lsv2_sk_{32h}_{10h}" },
	{ "elevenlabs-key", "sk_{48h}" },
	{ "slack-token", "xoxb-{11d}-{18w}" },
	{ "slack-token", "xoxp-{11d}-{18w}" },
	{ "slack-token", "xoxe-1-{100w}" },
	{ "slack-token", "xoxe.xoxp-1-{100w}" },
	{ "slack-token", "xapp-1-A{9A}-{12d}-{64h}" },
	{ "slack-webhook",
	  "https://hooks.slack.com/services/T{8A}/B{10A}/{24w}" },
	{ "discord-webhook", "https://discord.com/api/webhooks/{18d}/{60u}" },
	{ "discord-webhook",
	  "https://discordapp.com/api/webhooks/{18d}/{60u}" },
	{ "telegram-token", "{8d}:AA{33u}" },
	{ "telegram-token", "{9d}:AA{33u}" },
	{ "telegram-token", "{10d}:AA{33u}" },
	{ "twilio-key", "SK{32h}" },
	{ "sendgrid-key", "SG.{22u}.{43u}" },
	{ "mailgun-key", "key-{32h}" },
	{ "mailchimp-key", "{32h}-us{1d}" },
	{ "brevo-key", "xkeysib-{64h}-{16w}" },
	{ "resend-key", "re_{8w}_{24w}" },
	{ "stripe-key", "sk_live_{24w}" },
	{ "stripe-key", "rk_live_{24w}" },
	{ "stripe-key", "whsec_{32w}" },
	{ "stripe-test-key", "sk_test_{24w}" },
	{ "stripe-test-key", "rk_test_{24w}" },
	{ "square-token", "sq0atp-{22u}" },
	{ "square-token", "sq0csp-{43u}" },
	{ "shopify-token", "shpat_{32h}" },
	{ "shopify-token", "shpca_{32h}" },
	{ "shopify-token", "shppa_{32h}" },
	{ "shopify-token", "shpss_{32h}" },
	{ "braintree-token", "access_token$production${16a}${32h}" },
	{ "newrelic-key", "NRAK-{27A}" },
	{ "grafana-token", "glc_{32b}" },
	{ "grafana-token", "glsa_{32w}_{8h}" },
	{ "sentry-token", "sntrys_{60w}" },
	{ "sentry-token", "sntryu_{64h}" },
	{ "dynatrace-token", "dt0c01.{24A}.{64A}" },
	{ "linear-key", "lin_api_{40w}" },
	{ "notion-key", "secret_{43w}" },
	{ "notion-key", "ntn_{46w}" },
	{ "figma-token", "figd_{40u}" },
	{ "airtable-token", "pat{14w}.{64h}" },
	{ "onepassword-token", "ops_eyJ{200w}" },
	{ "dropbox-token", "sl.{130u}" },
	{ "mapbox-token", "sk.eyJ{40w}.{20w}" },
	{ "jwt", "eyJhbGciOiJIUzI1NiJ9.eyJ{40w}.{20u}" },
	{ "jwt", "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJ{10w}.{20u}" },
};

/* What is given as the value of a key. */
static const struct form assigned_forms[] = {
	{ "aws-secret-key", "aws_secret_access_key = {40b}" },
	{ "aws-secret-key", "export AWS_SECRET_ACCESS_KEY='{40b}'" },
	{ "aws-secret-key", "aws-secret-access-key: {40b}" },
	{ "aws-secret-key", "awsSecretAccessKey = \"{40b}\";" },
	{ "aws-secret-key", "AWS_SECRET_KEY={40b}" },
	{ "aws-secret-key", "\"SecretAccessKey\": \"{40b}\"," },
	{ "aws-session-token", "AWS_SESSION_TOKEN={100b}" },
	{ "aws-session-token", "\"SessionToken\": \"{100b}\"" },
	{ "azure-key", "AccountName=a;AccountKey={86b}==;Endpoint=b" },
	{ "azure-key", "SharedAccessKeyName=a;SharedAccessKey={43b}=" },
	{ "twilio-key", "TWILIO_AUTH_TOKEN={32h}" },
	{ "twilio-key", "twilioAuthToken: '{32h}'" },
	{ "secret-assignment", "client_secret = \"{32w}\"" },
	{ "secret-assignment", "clientSecret: '{32w}'," },
	{ "secret-assignment", "SESSION_SECRET={40w}" },
	{ "secret-assignment", "db_password := \"{24w}\"" },
	{ "secret-assignment", "<password>{24w}</password>" },
	{ "secret-assignment", "token => '{40h}'" },
	{ "secret-assignment", "const API_TOKEN: &str = \"{40h}\";" },
	{ "secret-assignment", "config[\"api_key\"] = \"{32w}\"" },
	{ "secret-assignment", "x-api-key: {32w}" },
	{ "secret-assignment", "\"apikey\":\"{32w}\"" },
	{ "secret-assignment", "ACCESS_KEY={32w}" },
	{ "secret-assignment", "accessKey = `{32w}`" },
	{ "secret-assignment", "auth_key = b'{32w}'" },
	{ "secret-assignment", "private_key = \"{40w}\"" },
	{ "secret-assignment", "privateKey: \\\"{40w}\\\"" },
	{ "secret-assignment", "credential: {32w}" },
	{ "address-password", "git clone https://me:{24w}@host/path" },
};

/* Addresses with a password in them. */
static const struct form address_forms[] = {
	{ "address-password", "postgres://app:{12w}@db/app" },
	{ "address-password", "postgresql://app:{12w}@db/app" },
	{ "address-password", "mysql://app:{12w}@db/app" },
	{ "address-password", "mongodb://app:{12w}@db/app" },
	{ "address-password", "mongodb+srv://app:{12w}@db/app" },
	{ "address-password", "redis://:{12w}@cache:6379/0" },
	{ "address-password", "amqp://app:{12w}@queue/" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Each run draws others; the number that it prints brings them back. */
static uint64_t draw_state;

static void draw_begin(void)
{
	const char *seed = getenv("HB_SEED");

	if (seed)
		draw_state = strtoull(seed, NULL, 10);
	else if (getrandom(&draw_state, sizeof(draw_state), 0) < 0)
		abort();
	printf("# HB_SEED=%llu\n", (unsigned long long)draw_state);
}

/* splitmix64 */
static uint64_t draw(void)
{
	uint64_t z = draw_state += 0x9e3779b97f4a7c15U;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
	z = (z ^ z >> 27) * 0x94d049bb133111ebU;
	return z ^ z >> 31;
}

static const char letters62[] =
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-+/";

/* The bytes of a set; of `u` and `b` two others stand behind the letters. */
static char draw_byte(char set)
{
	static const struct {
		char set;
		const char *bytes;
	} sets[] = {
		{ 'h', "0123456789abcdef" },
		{ 'd', "0123456789" },
		{ 'a', "0123456789abcdefghijklmnopqrstuvwxyz" },
		{ 'A', "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" },
		{ 'U', "234567ABCDEFGHIJKLMNOPQRSTUVWXYZ" },
		{ 'z', "023456789ACDEFGHJKLMNPQRSTUVWXYZ" },
	};
	size_t i;

	for (i = 0; i < COUNT(sets); i++)
		if (sets[i].set == set)
			return sets[i].bytes[draw() % strlen(sets[i].bytes)];
	i = draw() % (set == 'w' ? 62 : 64);
	return letters62[set == 'b' && i >= 62 ? i + 2 : i];
}

static uint32_t crc_of(const char *s, size_t n)
{
	uint32_t crc = ~0U;

	for (size_t i = 0; i < n; i++) {
		crc ^= (uint8_t)s[i];
		for (int k = 0; k < 8; k++)
			crc = (crc & 1) ? crc >> 1 ^ 0xedb88320U : crc >> 1;
	}
	return ~crc;
}

static size_t put_sum(char *out, const char *of, size_t n, unsigned base)
{
	const char *digits =
		base == 62 ? letters62 : "0123456789abcdefghijklmnopqrstuvwxyz";
	size_t width = base == 62 ? 6 : 7;
	uint32_t crc = crc_of(of, n);

	for (size_t i = width; i-- > 0; crc /= base)
		out[i] = digits[crc % base];
	return width;
}

/* What of a drawn text a test changes. */
struct drawn {
	char text[4096];
	size_t len;
	size_t last, last_len; /* the last run that was drawn or summed */
};

/* One in a million has a word by chance that no secret is to have. */
static int has_word(const char *text)
{
	static const char *const words[] = { "dummy", "xxxxx", "your-",
					     "your_" };

	for (size_t i = 0; i < COUNT(words); i++)
		if (strcasestr(text, words[i]))
			return 1;
	return 0;
}

static void draw_once(const char *form, struct drawn *d)
{
	char *out = d->text;

	d->last = d->last_len = 0;
	for (; *form; form++) {
		size_t n;
		char *end;

		if (*form != '{') {
			*out++ = *form;
			continue;
		}
		n = strtoul(form + 1, &end, 10);
		form = strchr(form, '}');
		if (*end == 'C')
			n = put_sum(out, d->text + d->last, d->last_len, 62);
		else if (*end == 'c')
			n = put_sum(out, d->text, (size_t)(out - d->text), 36);
		else
			for (size_t i = 0; i < n; i++)
				out[i] = draw_byte(*end);
		d->last = (size_t)(out - d->text);
		d->last_len = n;
		out += n;
	}
	*out = '\0';
	d->len = (size_t)(out - d->text);
}

static void draw_form(const char *form, struct drawn *d)
{
	do
		draw_once(form, d);
	while (has_word(d->text));
}

#endif
