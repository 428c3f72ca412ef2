/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/scan/scan.h"
#include "gate/scan/scan_change.h"

#include "base/error.h"
#include "gate/scan/scan_pattern.h"
#include "secrets.h"
#include "tap.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#define DRAWS 3

static struct scan *scan;

/* What was found, in order. */
static struct {
	size_t count;
	char kinds[8][32];
	uint64_t lines[8];
	bool are_guesses; /* all of them */
} got;

static int note(void *ctx, const struct scan_finding *f, struct hb_error *err)
{
	(void)ctx;
	(void)err;
	got.are_guesses = f->kind->is_guess && (!got.count || got.are_guesses);
	if (got.count < COUNT(got.kinds)) {
		(void)snprintf(got.kinds[got.count], 32, "%s", f->kind->id);
		got.lines[got.count] = f->line;
	}
	got.count++;
	return 0;
}

static void look_in_parts(const char *text, size_t n, size_t part)
{
	got.count = 0;
	scan_begin(scan, note, NULL);
	for (size_t i = 0; i < n; i += part)
		CHECK_INT(scan_add(scan, text + i, n - i < part ? n - i : part,
				   NULL),
			  0);
	CHECK_INT(scan_end(scan, NULL), 0);
}

static void look_at(const char *text)
{
	look_in_parts(text, strlen(text), SIZE_MAX);
}

/* What nobody is to be stopped for. */
static bool is_guess(const char *kind)
{
	return strcmp(kind, "secret-assignment") == 0 ||
	       strcmp(kind, "address-password") == 0 ||
	       strcmp(kind, "stripe-test-key") == 0;
}

static void must_have(const char *text, const char *kind, uint64_t line)
{
	look_at(text);
	if (got.count == 1 && strcmp(got.kinds[0], kind) == 0 &&
	    got.lines[0] == line && got.are_guesses == is_guess(kind))
		return;
	printf("# wanted %s on line %llu, found %zu, %s on line %llu, in: %s\n",
	       kind, (unsigned long long)line, got.count,
	       got.count ? got.kinds[0] : "nothing",
	       got.count ? (unsigned long long)got.lines[0] : 0, text);
	CHECK(!"found once");
}

/* Nothing, or nothing of that kind. */
static void must_not_be(const char *text, const char *kind)
{
	look_at(text);
	for (size_t i = 0; i < got.count; i++) {
		if (kind && strcmp(got.kinds[i], kind) != 0)
			continue;
		printf("# found %s in: %.200s\n", got.kinds[i], text);
		CHECK(!"not found");
	}
}

static void must_not_have(const char *text)
{
	must_not_be(text, NULL);
}

static void start(void)
{
	draw_begin();
	CHECK_INT(scan_new(&scan, NULL), 0);
}

/* The places where a secret stands; each ends what is before and after it. */
static const char *const around[][2] = {
	{ "", "" },
	{ "", "\n" },
	{ "\n\n", "\n" },
	{ "\tcall(\"", "\"),\n" },
	{ "{\"a\":\"", "\"}" },
	{ "see '", "'.\n" },
	{ "<x>", "</x>\r\n" },
	{ "one\\n", "\\ntwo" },
	{ "t%3D", "&u=1" },
};

static void every_format_is_found(void)
{
	char text[8192];
	struct drawn d;

	for (size_t i = 0; i < COUNT(token_forms) * DRAWS; i++) {
		const struct form *form = &token_forms[i / DRAWS];

		draw_form(form->form, &d);
		for (size_t k = 0; k < COUNT(around); k++) {
			(void)snprintf(text, sizeof(text), "%s%s%s",
				       around[k][0], d.text, around[k][1]);
			must_have(text, form->kind, k == 2 ? 3 : 1);
		}
	}
}

static void one_byte_less_is_not(void)
{
	struct drawn d;

	for (size_t i = 0; i < COUNT(token_forms); i++) {
		draw_form(token_forms[i].form, &d);
		d.text[d.len - 1] = '\0';
		must_not_be(d.text, token_forms[i].kind);
	}
}

static void a_part_of_a_word_is_not(void)
{
	char text[8192];
	struct drawn d;

	for (size_t i = 0; i < COUNT(token_forms); i++) {
		const char *form = token_forms[i].form;

		if (strchr("?&/", *form) || strncmp(form, "http", 4) == 0)
			continue;
		draw_form(form, &d);
		(void)snprintf(text, sizeof(text), "Q%s\n", d.text);
		must_not_have(text);
	}
}

/* The words that examples have, and the bytes that forms are filled with. */
static void a_placeholder_is_not(void)
{
	struct drawn d;

	for (size_t i = 0; i < COUNT(token_forms); i++) {
		draw_form(token_forms[i].form, &d);
		if (d.last_len < 16)
			continue;
		memcpy(d.text + d.last + 2, "EXAMPLE", 7);
		must_not_have(d.text);
		memset(d.text + d.last, 'x', d.last_len);
		must_not_have(d.text);
		memset(d.text + d.last, '0', d.last_len);
		must_not_have(d.text);
	}
}

/* Each word by itself makes something harmless. */
static void words_of_examples_are_not(void)
{
	static const char *const words[] = {
		"Example",   "placeholder", "ChangeMe",	    "change-me",
		"change_me", "your-",	    "your_",	    "yourToken",
		"yourKey",   "yourSecret",  "yourPassword", "xxxxx",
		"REDACTED",  "dummy",	    "insert-",	    "insert_",
		"replace-",  "replace_",
	};
	struct drawn d;

	for (size_t i = 0; i < COUNT(words); i++) {
		draw_form("glagent-{50u}", &d);
		must_have(d.text, "gitlab-token", 1);
		memcpy(d.text + d.last + 20, words[i], strlen(words[i]));
		must_not_have(d.text);
	}
	draw_form("AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1{54b}==", &d);
	must_not_have(d.text);
}

static void a_wrong_sum_is_not(void)
{
	struct drawn d;

	for (size_t i = 0; i < COUNT(token_forms); i++) {
		const char *form = token_forms[i].form;
		size_t n = strlen(form);

		if (strcasecmp(form + n - 3, "{c}") != 0)
			continue;
		draw_form(form, &d);
		/* npm says no more than that a sum has a small first digit. */
		if (strncmp(form, "npm_", 4) == 0)
			d.text[d.last] = '5';
		else
			d.text[d.len - 1] =
				d.text[d.len - 1] == '0' ? '1' : '0';
		must_not_have(d.text);
	}
}

/* What letters and digits that take turns are is said here once more. */
static bool is_mixed(const struct drawn *d)
{
	size_t digits = 0, turns = 0;
	int before = 0;

	for (size_t i = d->last; i < d->last + d->last_len; i++) {
		char c = d->text[i];
		int set = c <= '9' ? 1 : c <= 'Z' ? 2 : 3;

		digits += set == 1;
		turns += set != before;
		before = set;
	}
	return digits >= 4 && turns * 2 >= d->last_len;
}

static void an_assigned_value_is_found(void)
{
	char text[8192];
	struct drawn d;

	for (size_t i = 0; i < COUNT(assigned_forms) * DRAWS; i++) {
		const struct form *form = &assigned_forms[i / DRAWS];

		do
			draw_form(form->form, &d);
		while (is_guess(form->kind) && !is_mixed(&d));
		must_have(d.text, form->kind, 1);
		(void)snprintf(text, sizeof(text), "\n%s\nmore\n", d.text);
		must_have(text, form->kind, 2);
	}
}

static void a_short_or_typed_value_is_not(void)
{
	struct drawn d;

	for (size_t i = 0; i < COUNT(assigned_forms); i++) {
		draw_form(assigned_forms[i].form, &d);
		memset(d.text + d.last, 'x', d.last_len);
		must_not_have(d.text);
		memcpy(d.text + d.last, "your_secret_here", 16);
		must_not_have(d.text);
		/* Much too short for any of them. */
		memmove(d.text + d.last + 8, d.text + d.last + d.last_len,
			d.len - d.last - d.last_len + 1);
		must_not_have(d.text);
	}
}

static void an_address_with_a_password_is_found(void)
{
	char text[8192];
	struct drawn d;

	for (size_t i = 0; i < COUNT(address_forms); i++) {
		const char *form = address_forms[i].form;

		draw_form(form, &d);
		must_have(d.text, "address-password", 1);
		/* Nobody's password, or the name of a variable. */
		(void)snprintf(text, sizeof(text), "%.*s%s%s", (int)d.last,
			       d.text, "password", d.text + d.last + 12);
		must_not_have(text);
		(void)snprintf(text, sizeof(text), "%.*s%s%s", (int)d.last,
			       d.text, "${DB_SECRET_1}", d.text + d.last + 12);
		must_not_have(text);
	}
}

/* A key in the lines of a file, or of a string in a program. */
static void draw_key(char *out, const char *label, const char *head,
		     const char *end_of_line, size_t lines)
{
	out += sprintf(out, "-----BEGIN %s-----%s%s", label, end_of_line, head);
	for (size_t i = 0; i < lines; i++) {
		for (int k = 0; k < 64; k++)
			*out++ = draw_byte('b');
		out += sprintf(out, "%s", end_of_line);
	}
	(void)sprintf(out, "-----END %s-----%s", label, end_of_line);
}

static void a_private_key_is_found(void)
{
	static const char *const labels[] = {
		"PRIVATE KEY",		 "ENCRYPTED PRIVATE KEY",
		"RSA PRIVATE KEY",	 "EC PRIVATE KEY",
		"DSA PRIVATE KEY",	 "OPENSSH PRIVATE KEY",
		"PGP PRIVATE KEY BLOCK",
	};
	static const char *const ends[] = { "\n", "\r\n", "\\n",
					    "\\n\"\n  \"" };
	char text[16384];

	for (size_t i = 0; i < COUNT(labels); i++) {
		for (size_t k = 0; k < COUNT(ends); k++) {
			draw_key(text, labels[i], "", ends[k], 1);
			must_have(text, "private-key", k == 2 ? 1 : 2);
			draw_key(text, labels[i], "", ends[k], 100);
			must_have(text, "private-key", k == 2 ? 1 : 2);
		}
		draw_key(text, labels[i],
			 "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n", "\n",
			 20);
		must_have(text, "private-key", 5);
		/* Words about keys. */
		(void)snprintf(text, sizeof(text), "-----BEGIN %s-----\n",
			       labels[i]);
		must_not_have(text);
		(void)snprintf(text, sizeof(text),
			       "\"-----BEGIN %s-----\\nMIIE...\\n\"",
			       labels[i]);
		must_not_have(text);
		(void)snprintf(
			text, sizeof(text),
			"if (starts(s, \"-----BEGIN %s-----\")) {\n"
			"\treturn decode_the_private_key(s, length);\n}\n",
			labels[i]);
		must_not_have(text);
	}
	draw_key(text, "PUBLIC KEY", "", "\n", 10);
	must_not_have(text);
	draw_key(text, "CERTIFICATE", "", "\n", 10);
	must_not_have(text);
}

static void keys_of_other_programs_are_found(void)
{
	char text[2048], lines[256];

	for (size_t i = 0; i < 64; i++)
		lines[i] = draw_byte('b');
	lines[64] = '\0';
	(void)snprintf(text, sizeof(text),
		       "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n"
		       "Public-Lines: 1\n%s\nPrivate-Lines: 1\n%s\n"
		       "Private-MAC: 00\n",
		       lines, lines);
	must_have(text, "private-key", 5);
	*strstr(text, "Private-Lines") = 'X';
	must_not_have(text);
	(void)snprintf(text, sizeof(text),
		       "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n"
		       "Comment: \"x\"\n%s\n%s\n",
		       lines, lines);
	must_have(text, "private-key", 3);
	(void)snprintf(text, sizeof(text),
		       "---- BEGIN SSH2 PUBLIC KEY ----\n%s\n%s\n", lines,
		       lines);
	must_not_have(text);
}

static void look_alikes_are_not(void)
{
	static const char *const texts[] = {
		"AKIAIOSFODNN7EXAMPLE",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"token = \"{{ github_token }}\"",
		"token: ${{ secrets.GITHUB_TOKEN }}",
		"api_key = os.environ[\"MY_API_KEY_2_NAME\"]",
		"password = get_password_from_keyring(user, 12, 34)",
		"const tokenType = 'application/x-www-form-urlencoded';",
		"secret_name: projects/my-project-1234/secrets/db/versions/1",
		"SECRET_KEY_BASE=change-me-in-production-1a2b3c4d5e6f",
		"token_id: 123e4567-e89b-12d3-a456-426614174000",
		"password_reset_token_expiry_time_in_seconds = 86400",
		"if (token == 'a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6') x",
		"sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"hf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"hf_ababababababababababababababababab",
		"hf_abcabcabcabcabcabcabcabcabcabcabca",
		"npm_run_build_and_test_all_packages_now_ok_x",
		("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkw"
		 "IiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJ"),
		"eyJfoo1234567890123.eyJ1234567890.123456789012345678901234",
		"postgres://user:password@localhost/db",
		"https://user:${TOKEN}@host/",
		"https://user:store-pass-phrase-of-example@host/",
		"https://user:some-words-of-a-test@host/",
		"https://example.com:8080/@scope/package",
	};

	for (size_t i = 0; i < COUNT(texts); i++)
		must_not_have(texts[i]);
}

/* What projects are full of, drawn anew. */
static void drawn_look_alikes_are_not(void)
{
	static const char *const forms[] = {
		"{32h}  file\n",
		"commit {40h}\n",
		"sha256:{64h}\n",
		"  \"integrity\": \"sha512-{86b}==\",\n",
		"integrity sha512-{86b}==\n",
		"\"{8h}-{4h}-{4h}-{4h}-{12h}\"\n",
		"eyJ{20w}.eyJ{40w}.{20u}\n",
		"glpat-{20u}-\n",
		"if (token == \"{32w}\")\n",
		"token::{32w}\n",
		"token = \"{32w} and more\"\n",
		"aB3{38b}/1//0{60w}\n",
		"aB3{38b}+AKIA{16U}\n",
		"h1:{43b}=\n",
		"--hash=sha256:{64h} \\\n",
		"index {7h}..{7h}\n",
		"data:image/png;base64,{2000b}\n",
		"src: url(data:font/woff2;base64,{2000b})\n",
		"!function(e,t){{3w}=e.{2w},t[{1d}]=\"{8w}\"}(this);",
		"//# sourceMappingURL=data:application/json;base64,{2000b}\n",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{43b} a@b\n",
		"etag: \"{32h}\"\n",
		"\"checksum\": \"{64h}\",\n",
		"id: {24h}\n",
		"version = \"{2d}.{2d}.{3d}\"\n",
	};
	struct drawn d;

	for (size_t i = 0; i < COUNT(forms) * 50; i++) {
		draw_form(forms[i / 50], &d);
		must_not_have(d.text);
	}
}

static void a_format_beats_a_guess(void)
{
	char text[8192];
	struct drawn d;

	draw_form("ghp_{30w}{C}", &d);
	(void)snprintf(text, sizeof(text), "api_key_token = \"%s\"\n", d.text);
	must_have(text, "github-token", 1);
	(void)snprintf(text, sizeof(text), "\"secret\": \"%s\",\n\"b\": 1\n",
		       d.text);
	must_have(text, "github-token", 1);
	/* Nor is the same told twice. */
	draw_form("//host/:_authToken=npm_{30w}{C}", &d);
	must_have(d.text, "npm-token", 1);
}

static char *filler(size_t n)
{
	char *text = malloc(n + 1);

	CHECK(text);
	for (size_t i = 0; i < n; i++)
		text[i] = i % 61 == 60 ? '\n' : ' ';
	text[n] = '\0';
	return text;
}

static void must_have_in_parts(const char *text, size_t n, size_t part,
			       const char *kind)
{
	look_in_parts(text, n, part);
	CHECK_INT(got.count, 1);
	CHECK(strcmp(got.kinds[0], kind) == 0);
}

/* Wherever the window ends, and however the bytes come. */
static void every_boundary(void)
{
	static const struct form forms[] = {
		{ "github-token", " ghp_{30w}{C}\n" },
		{ "azure-key", " {52w}JQQJ99{1w}B{16w}A{7w}\n" },
		{ "jwt", " eyJhbGciOiJIUzI1NiJ9.eyJ{40w}.{20u}\n" },
		{ "aws-secret-key", " aws_secret_access_key = \"{40b}\"\n" },
		{ "telegram-token", " {10d}:AA{33u}\n" },
	};
	size_t most = SCAN_WINDOW + 4096;
	char *text = filler(most);
	struct drawn d;

	for (size_t i = 0; i < COUNT(forms); i++) {
		const char *kind = forms[i].kind;
		char saved[4096];

		draw_form(forms[i].form, &d);
		for (size_t at = SCAN_WINDOW - d.len - 80;
		     at < SCAN_WINDOW + 80; at++) {
			memcpy(saved, text + at, d.len);
			memcpy(text + at, d.text, d.len);
			must_have_in_parts(text, most, SIZE_MAX, kind);
			memcpy(text + at, saved, d.len);
		}
		for (size_t part = 1; part < d.len + 3; part++)
			must_have_in_parts(d.text, d.len, part, kind);
	}
	free(text);
}

static void lines_are_counted_over_windows(void)
{
	size_t n = 3 * SCAN_WINDOW;
	char *text = filler(n);
	struct drawn d;
	uint64_t line = 1;

	draw_form("\nAKIA{16U}\n", &d);
	memcpy(text + n - 1000, d.text, d.len);
	memcpy(text + 700, d.text, d.len);
	for (size_t i = 0; i < n - 999; i++)
		line += text[i] == '\n';
	look_in_parts(text, n, 4093);
	CHECK_INT(got.count, 2);
	CHECK_INT(got.lines[0], 1 + 700 / 61 + 1);
	CHECK_INT(got.lines[1], line);
	free(text);
}

static int file_of(const void *bytes, size_t n)
{
	int fd = memfd_create("secret", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(pwrite(fd, bytes, n, 0), n);
	return fd;
}

static void holes_are_skipped(void)
{
	const off_t size = (off_t)100 << 30;
	struct drawn d;
	int fd;

	draw_form("\nAKIA{16U}\n", &d);
	fd = file_of(d.text, d.len);
	CHECK_INT(ftruncate(fd, size), 0);
	CHECK_INT(pwrite(fd, d.text, d.len, size - 4096), d.len);
	CHECK_INT(pwrite(fd, d.text, d.len, size / 2 + 4090), d.len);
	got.count = 0;
	CHECK_INT(scan_fd(scan, fd, note, NULL, NULL), 0);
	CHECK_INT(got.count, 3);
	CHECK_INT(got.lines[0], 2);
	CHECK_INT(got.lines[1], 4);
	CHECK_INT(got.lines[2], 6);
	(void)close(fd);
}

static void nothing_goes_over_a_hole(void)
{
	struct drawn d;

	draw_form("AKIA{16U}", &d);
	got.count = 0;
	scan_begin(scan, note, NULL);
	CHECK_INT(scan_add(scan, d.text, 10, NULL), 0);
	CHECK_INT(scan_skip(scan, 1, NULL), 0);
	CHECK_INT(scan_add(scan, d.text + 10, d.len - 10, NULL), 0);
	CHECK_INT(scan_skip(scan, 1 << 20, NULL), 0);
	CHECK_INT(scan_add(scan, d.text, d.len, NULL), 0);
	CHECK_INT(scan_skip(scan, 1, NULL), 0);
	CHECK_INT(scan_add(scan, "x", 1, NULL), 0);
	CHECK_INT(scan_end(scan, NULL), 0);
	CHECK_INT(got.count, 1);
}

static void look_at_utf16(const char mark[2], size_t low)
{
	char wide[256] = { mark[0], mark[1] };
	struct drawn d;

	draw_form("\nk: ghp_{30w}{C}\n", &d);
	for (size_t i = 0; i < d.len; i++)
		wide[2 + 2 * i + low] = d.text[i];
	for (size_t part = 1; part < 8; part++) {
		must_have_in_parts(wide, 2 + 2 * d.len, part, "github-token");
		CHECK_INT(got.lines[0], 2);
	}
	look_in_parts(wide + 2, 2 * d.len, SIZE_MAX);
	CHECK_INT(got.count, 0);
}

static void utf16_is_read(void)
{
	look_at_utf16("\xff\xfe", 0);
	look_at_utf16("\xfe\xff", 1);
}

static void binaries_are_read(void)
{
	char bytes[4096];
	struct drawn d;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 37);
	draw_form("AKIA{16U}", &d);
	memset(bytes + 1000, 0, d.len + 2);
	memcpy(bytes + 1001, d.text, d.len);
	look_in_parts(bytes, sizeof(bytes), SIZE_MAX);
	CHECK_INT(got.count, 1);
}

/* What costs most for each byte; the runner ends what takes too long. */
static void hostile_bytes_cost_little(void)
{
	static const char *const parts[] = {
		"eyJ",
		".eyJ",
		"-----BEGIN PRIVATE KEY-----\n",
		"token",
		"token=",
		"secret: \"",
		"PuTTY-User-Key-File-3: ",
		"x",
		"https://a:",
		"-----BEGIN PRIVATE KEY-----\nA: b\n",
		"1:AA",
		"eyJhbGciOiJIUzI1N.eyJhbGciOiJIUzI1N.",
	};
	size_t n = (size_t)1 << 20;
	char *text = malloc(n);

	CHECK(text);
	for (size_t i = 0; i < COUNT(parts); i++) {
		size_t len = strlen(parts[i]);

		for (size_t k = 0; k < n; k++)
			text[k] = parts[i][k % len];
		look_in_parts(text, n, SIZE_MAX);
		CHECK_INT(got.count, 0);
	}
	free(text);
}

static int stop(void *ctx, const struct scan_finding *f, struct hb_error *err)
{
	(void)f;
	++*(int *)ctx;
	return hb_fail(err, -HB_E_DENIED, "enough");
}

static void the_caller_ends_it(void)
{
	struct hb_error err = { 0 };
	struct drawn d, e;
	static char text[16384];
	int told = 0, fd;

	draw_form("AKIA{16U}", &d);
	draw_form("AKIA{16U}", &e);
	fd = file_of(text, (size_t)sprintf(text, "%s\n%s\n", d.text, e.text));
	CHECK_INT(scan_fd(scan, fd, stop, &told, &err), -HB_E_DENIED);
	CHECK_INT(told, 1);
	CHECK_INT(scan_change(scan, fd, -1, stop, &told, NULL), -HB_E_DENIED);
	CHECK_INT(told, 2);
	(void)close(fd);
	/* And begins anew. */
	must_have(d.text, "aws-key", 1);
}

static void an_unreadable_file_is_an_error(void)
{
	int fds[2];

	CHECK_INT(pipe(fds), 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
	CHECK_INT(scan_fd(scan, fds[0], note, NULL, NULL), -EBADF);
	CHECK_INT(scan_change(scan, fds[0], -1, note, NULL, NULL), -EBADF);
}

static void news_of(const char *new, const char *old)
{
	int a = file_of(new, strlen(new));
	int b = old ? file_of(old, strlen(old)) : -1;

	got.count = 0;
	CHECK_INT(scan_change(scan, a, b, note, NULL, NULL), 0);
	(void)close(a);
	if (b >= 0)
		(void)close(b);
}

static void only_news_are_told(void)
{
	static char old[8192], new[32768];
	struct drawn d, e;

	draw_form("ghp_{30w}{C}", &d);
	draw_form("ghp_{30w}{C}", &e);
	(void)sprintf(old, "a\n%s\n", d.text);
	news_of(old, NULL);
	CHECK_INT(got.count, 1);
	news_of(old, old);
	CHECK_INT(got.count, 0);
	(void)sprintf(new, "moved\n\n\nx = '%s';\n", d.text);
	news_of(new, old);
	CHECK_INT(got.count, 0);
	(void)sprintf(new, "%s\n\n%s %s\n%s\n", d.text, e.text, e.text, d.text);
	news_of(new, old);
	CHECK_INT(got.count, 1);
	CHECK_INT(got.lines[0], 3);
	/* Gone, and nothing new. */
	news_of("nothing\n", old);
	CHECK_INT(got.count, 0);
}

static void too_many_news_are_told_all(void)
{
	size_t n = SCAN_NEWS_MAX + 10, len = 0;
	char *text = malloc(n * 32);
	struct drawn d;

	CHECK(text);
	for (size_t i = 0; i < n; i++) {
		draw_form("AKIA{16U}\n", &d);
		memcpy(text + len, d.text, d.len + 1);
		len += d.len;
	}
	news_of(text, NULL);
	CHECK_INT(got.count, n);
	news_of(text, text);
	CHECK_INT(got.count, 10);
	free(text);
	scan_free(scan);
}

TESTS(T(start), T(every_format_is_found), T(one_byte_less_is_not),
      T(a_part_of_a_word_is_not), T(a_placeholder_is_not),
      T(words_of_examples_are_not), T(a_wrong_sum_is_not),
      T(an_assigned_value_is_found), T(a_short_or_typed_value_is_not),
      T(an_address_with_a_password_is_found), T(a_private_key_is_found),
      T(keys_of_other_programs_are_found), T(look_alikes_are_not),
      T(drawn_look_alikes_are_not), T(a_format_beats_a_guess),
      T(every_boundary), T(lines_are_counted_over_windows),
      T(holes_are_skipped), T(nothing_goes_over_a_hole), T(utf16_is_read),
      T(binaries_are_read), T(hostile_bytes_cost_little), T(the_caller_ends_it),
      T(an_unreadable_file_is_an_error), T(only_news_are_told),
      T(too_many_news_are_told_all))
