/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/scan/scan.h"

#include "base/error.h"
#include "gate/scan/scan_check.h"
#include "tap.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct scan *scan;

static void start(void)
{
	CHECK_INT(scan_new(&scan, NULL), 0);
}

static const char *kind_of(const char *path)
{
	const struct scan_kind *kind = scan_name(scan, path);

	return kind ? kind->id : "nothing";
}

static void must_be(const char *path, const char *kind)
{
	if (strcmp(kind_of(path), kind) == 0)
		return;
	printf("# '%s' is %s, expected %s\n", path, kind_of(path), kind);
	CHECK(!"the right kind");
}

/* Each as it stands, below a directory, and in capitals. */
static void must_be_everywhere(const char *path, const char *kind)
{
	char other[256];

	must_be(path, kind);
	(void)snprintf(other, sizeof(other), "a/b c/%s", path);
	must_be(other, kind);
	for (char *p = other; *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p -= 0x20;
	must_be(other, kind);
}

static const struct {
	const char *path, *kind;
} files[] = {
	{ "id_rsa", "key-file" },
	{ "id_dsa", "key-file" },
	{ "id_ecdsa", "key-file" },
	{ "id_ecdsa_sk", "key-file" },
	{ "id_ed25519", "key-file" },
	{ "id_ed25519_sk", "key-file" },
	{ "server.key", "key-file" },
	{ "AuthKey_1.p8", "key-file" },
	{ "putty.ppk", "key-file" },
	{ "code.pvk", "key-file" },
	{ "secring.gpg", "key-file" },
	{ ".gnupg/private-keys-v1.d/x", "key-file" },
	{ ".ssh/mine", "key-file" },
	{ "a.p12", "keystore-file" },
	{ "a.pfx", "keystore-file" },
	{ "a.pkcs12", "keystore-file" },
	{ "a.jks", "keystore-file" },
	{ "a.keystore", "keystore-file" },
	{ "a.bcfks", "keystore-file" },
	{ "krb5.keytab", "keystore-file" },
	{ "a.kdb", "keystore-file" },
	{ "a.kdbx", "keystore-file" },
	{ "login.keychain", "keystore-file" },
	{ "login.keychain-db", "keystore-file" },
	{ "a.agilekeychain", "keystore-file" },
	{ "a.ovpn", "keystore-file" },
	{ ".env", "env-file" },
	{ ".env.local", "env-file" },
	{ "production.env", "env-file" },
	{ ".netrc", "credentials-file" },
	{ "_netrc", "credentials-file" },
	{ ".pgpass", "credentials-file" },
	{ ".my.cnf", "credentials-file" },
	{ ".mylogin.cnf", "credentials-file" },
	{ ".authinfo", "credentials-file" },
	{ ".git-credentials", "credentials-file" },
	{ ".pypirc", "credentials-file" },
	{ ".dockercfg", "credentials-file" },
	{ ".s3cfg", "credentials-file" },
	{ ".boto", "credentials-file" },
	{ ".htpasswd", "credentials-file" },
	{ ".vault-token", "credentials-file" },
	{ ".secret", "credentials-file" },
	{ ".secrets", "credentials-file" },
	{ ".credentials", "credentials-file" },
	{ ".vault_pass.txt", "credentials-file" },
	{ "kubeconfig", "credentials-file" },
	{ ".aws/credentials", "credentials-file" },
	{ "credentials.json", "credentials-file" },
	{ "credentials.tfrc.json", "credentials-file" },
	{ "application_default_credentials.json", "credentials-file" },
	{ "client_secret_1.apps.json", "credentials-file" },
	{ "service-account-1.json", "credentials-file" },
	{ "service_account.json", "credentials-file" },
	{ "secrets.json", "credentials-file" },
	{ "secrets.toml", "credentials-file" },
	{ "secrets.yaml", "credentials-file" },
	{ "secrets.yml", "credentials-file" },
	{ "terraform.tfstate", "credentials-file" },
	{ ".docker/config.json", "credentials-file" },
	{ ".kube/config", "credentials-file" },
	{ ".config/gh/hosts.yml", "credentials-file" },
	/* What everybody has. */
	{ "id_rsa.pub", "nothing" },
	{ ".ssh/id_ed25519.pub", "nothing" },
	{ ".ssh/config", "nothing" },
	{ ".ssh/known_hosts", "nothing" },
	{ ".ssh/known_hosts.old", "nothing" },
	{ ".ssh/authorized_keys", "nothing" },
	{ ".env.example", "nothing" },
	{ ".env.sample", "nothing" },
	{ ".env.template", "nothing" },
	{ ".env.tmpl", "nothing" },
	{ ".env.dist", "nothing" },
	{ ".env.defaults", "nothing" },
	{ "example.env", "nothing" },
	{ "sample.env", "nothing" },
	{ "id_rsa.c", "nothing" },
	{ "valid_rsa", "nothing" },
	{ "key", "nothing" },
	{ "key.c", "nothing" },
	{ "monkey", "nothing" },
	{ "a.p12.txt", "nothing" },
	{ "environment", "nothing" },
	{ "env", "nothing" },
	{ ".environment", "nothing" },
	{ "secrets.c", "nothing" },
	{ "secrets.py", "nothing" },
	{ "credentials.py", "nothing" },
	{ "config.json", "nothing" },
	{ "hosts.yml", "nothing" },
	{ "terraform.tf", "nothing" },
	{ "src/main.c", "nothing" },
	{ "package.json", "nothing" },
	{ "ssh/x", "nothing" },
};

static void names(void)
{
	for (size_t i = 0; i < COUNT(files); i++)
		must_be_everywhere(files[i].path, files[i].kind);
}

static void every_kind_has_words(void)
{
	const struct scan_kind *kind;
	size_t i, k;

	for (i = 0; (kind = scan_kind_at(scan, i)); i++) {
		CHECK(kind->id[0] && kind->words[0]);
		for (k = 0; kind->id[k]; k++)
			CHECK(strchr("abcdefghijklmnopqrstuvwxyz0123456789-",
				     kind->id[k]));
	}
	CHECK(i > 50);
}

#define K "kind = k\nwords = w\n"

static const struct {
	const char *text, *message;
} broken[] = {
	{ "match = abcd\n", "r:1: no 'kind' before it" },
	{ K "odd = 1\n", "r:3: there is no such key" },
	{ K "words = x\n", "r:3: said twice" },
	{ K "guess = no\n", "r:3: it is 'yes' or it is not said" },
	{ K "check = none\n", "r:3: there is no such check" },
	{ K "entropy = 3\n", "r:3: not a number such as 3.5" },
	{ K "entropy = 9.0\n", "r:3: not a number such as 3.5" },
	{ K "harmless =\n", "r:3: empty" },
	{ K "name = [\n", "r:3: " },
	{ K "match = abc\n", "r:3: it must begin with four certain bytes" },
	{ K "match = a{1,2}bcde\n", "r:3: it must begin with four certain" },
	{ K "match = abcd(e\n", "r:3: no closing parenthesis at byte 7" },
	{ K "match = abcd()\n", "r:3: nothing, or too much, to match" },
	{ K "match = abcd)\n", "r:3: one pair of parentheses at most" },
	{ K "match = (ab)(cd)\n", "r:3: one pair of parentheses at most" },
	{ K "match = abcd[e\n", "r:3: a class has no end at byte 7" },
	{ K "match = abcd[z-a]\n", "r:3: a range ends before it begins" },
	{ K "match = abcd{\n",
	  "r:3: no number, or a number that is too large" },
	{ K "match = abcd{9999}\n", "r:3: no number, or a number that is too" },
	{ K "match = abcd{2,1}\n", "r:3: no repetition" },
	{ K "match = abcd{0}\n", "r:3: no repetition" },
	{ K "match = abcd{3\n", "r:3: no repetition" },
	{ K "match = abcd+\n", "r:3: a special byte that needs a '\\'" },
	{ K "match = abcd\\\n", "r:3: nothing to escape" },
	{ K "match = abcd[a]{4096}[b]{4096}\n", "r:3: nothing, or too much" },
	{ K "match = [^a][^a][^a][^a]\n", "a format of 'k' begins like" },
	{ K "assign = token\n", "r: kind 'k' assigns no value" },
	{ K "value = a\nvalue = b\n", "r:4: said twice" },
	{ "kind = k\n", "r: kind 'k' has no words" },
	{ K "words\n", "r:3: " },
};

static void broken_rules_are_refused(void)
{
	for (size_t i = 0; i < COUNT(broken); i++) {
		struct hb_error err = { 0 };
		struct scan *none = NULL;
		const char *text = broken[i].text;
		int r = scan_new_rules("r", text, strlen(text), &none, &err);

		if (r != -HB_E_CONFIG || none ||
		    strncmp(err.text, broken[i].message,
			    strlen(broken[i].message)) != 0)
			printf("# %s -> %d, %s\n", text, r, err.text);
		CHECK_INT(r, -HB_E_CONFIG);
		CHECK(!none);
		CHECK(strncmp(err.text, broken[i].message,
			      strlen(broken[i].message)) == 0);
	}
}

static size_t told;

static int count(void *ctx, const struct scan_finding *f, struct hb_error *err)
{
	(void)ctx;
	(void)f;
	(void)err;
	told++;
	return 0;
}

static size_t finds(const char *rules, const char *text)
{
	struct scan *own = NULL;

	told = 0;
	CHECK_INT(scan_new_rules("r", rules, strlen(rules), &own, NULL), 0);
	scan_begin(own, count, NULL);
	CHECK_INT(scan_add(own, text, strlen(text), NULL), 0);
	CHECK_INT(scan_end(own, NULL), 0);
	scan_free(own);
	return told;
}

static void the_grammar(void)
{
	static const struct {
		const char *match, *text;
		size_t count;
	} rows[] = {
		{ "abcd", "abcd", 1 },
		{ "abcd", "abc", 0 },
		{ "abcd", "abcd abcd", 2 },
		{ "abcd", "ABCD", 0 },
		{ "abcd[e-g]", "abcde abcdg abcdh", 2 },
		{ "abcd[^e-g]", "abcde abcdh abcd\n", 1 },
		{ "abcd[x-]", "abcd- abcdx abcdy", 2 },
		{ "abcd\\[", "abcd[", 1 },
		{ "abcde?", "abcd abcde abcdf", 2 },
		{ "abcde{2}", "abcde abcdee abcdeee", 1 },
		{ "abcde{1,2}f?", "abcde abcdee abcdeef abcdeee", 3 },
		{ "[ab][cd]ef", "acef bdef cdef", 2 },
	};
	char rules[256];

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)snprintf(
			rules, sizeof(rules),
			"kind = k\nwords = w\nentropy = 0.0\nmatch = %s\n",
			rows[i].match);
		if (finds(rules, rows[i].text) != rows[i].count)
			printf("# %s in '%s'\n", rows[i].match, rows[i].text);
		CHECK_INT(finds(rules, rows[i].text), rows[i].count);
	}
}

static void entropy_is_measured(void)
{
	static const struct {
		const char *text;
		unsigned tenths;
	} rows[] = {
		{ "", 0 },
		{ "aaaaaaaa", 0 },
		{ "aaaabbbb", 10 },
		{ "abcdabcd", 20 },
		{ "abcdefgh", 30 },
		{ "aab", 9 },
		{ "0123456789abcdef", 40 },
		{ "0123456789abcdef0123456789abcdef", 40 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		CHECK_INT(entropy_of((const uint8_t *)rows[i].text,
				     strlen(rows[i].text)),
			  rows[i].tenths);
	CHECK(is_typed((const uint8_t *)"..12345678", 10));
	CHECK(is_typed((const uint8_t *)"xxxxxxxx", 8));
	CHECK(!is_typed((const uint8_t *)"1234567.xxxxxxx", 15));
	scan_free(scan);
}

TESTS(T(start), T(names), T(every_kind_has_words), T(broken_rules_are_refused),
      T(the_grammar), T(entropy_is_measured))
