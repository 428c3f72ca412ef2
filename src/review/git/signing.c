/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/signing.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "host/git_user.h"
#include "host/look.h"
#include "session/session.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_EXECUTE 127
#define CREATED	       "[GNUPG:] SIG_CREATED "
#define WORDS_MAX      600 /* of what a program says when it fails */

/* The formats that git knows, one row each. */
static const struct format {
	const char *name;    /* gpg.format */
	const char *key;     /* gpg.FORMAT.program */
	const char *program; /* without that */
} formats[] = {
	{ "openpgp", "gpg.openpgp.program", "gpg" },
	{ "x509", "gpg.x509.program", "gpgsm" },
	{ "ssh", "gpg.ssh.program", "ssh-keygen" },
};
#define FORMATS	   (sizeof(formats) / sizeof(formats[0]))
#define FORMAT_SSH 2

/* The keys of git's configuration that count, in their last version. */
struct wishes {
	const struct hb_session *session;
	char format[64], key[4096], name[256], mail[256];
	char programs[FORMATS][PATH_MAX];
};

static int take(char *to, size_t size, const struct gitconfig_key *key)
{
	int n = snprintf(to, size, "%s", key->value ? key->value : "");

	return n < 0 || (size_t)n >= size ? -EFBIG : 0;
}

static int add_key(void *ctx, const struct gitconfig_key *key)
{
	struct wishes *w = ctx;

	if (strcmp(key->name, "gpg.format") == 0)
		return take(w->format, sizeof(w->format), key);
	if (strcmp(key->name, "user.signingkey") == 0)
		return take(w->key, sizeof(w->key), key);
	if (strcmp(key->name, "user.name") == 0)
		return take(w->name, sizeof(w->name), key);
	if (strcmp(key->name, "user.email") == 0)
		return take(w->mail, sizeof(w->mail), key);
	if (strcmp(key->name, "gpg.program") == 0)
		return take(w->programs[0], PATH_MAX, key);
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(key->name, formats[i].key) == 0)
			return take(w->programs[i], PATH_MAX, key);
	return 0;
}

/* Whether it lies in a directory of the session. */
static bool is_held_back(const struct hb_session *s, const char *path)
{
	for (size_t i = 0; i < s->record.n_resources; i++)
		if (path_is_beneath(path, s->record.resources[i].source))
			return true;
	return false;
}

static bool is_foreign(void *ctx, const char *path)
{
	return is_held_back(((const struct wishes *)ctx)->session, path);
}

static bool is_in_session(const void *ctx, const char *path)
{
	return is_held_back(ctx, path);
}

static int find_program(const struct wishes *w, size_t format,
			struct signing *ret, struct hb_error *err)
{
	const char *wanted = w->programs[format][0] ? w->programs[format]
						    : formats[format].program;
	char word[PATH_MAX], real[PATH_MAX];
	int r = git_user_expand(ret->envp, wanted, word, sizeof(word))
			? 0
			: -EINVAL;

	/* A relative path would lead into the project, if anywhere. */
	if (r >= 0 && strchr(word, '/') && word[0] != '/')
		r = -EINVAL;
	if (r >= 0)
		r = look_command(word, env_get(ret->envp, "PATH"), "/",
				 ret->program, real, NULL);
	if (r < 0) {
		hb_fix(err, "install it, or set %s to its path",
		       formats[format].key);
		return hb_fail(err, -HB_E_CONFIG,
			       "'%.200s', which signs commits, is not there",
			       wanted);
	}
	if (look_leads_through(ret->program, is_in_session, w->session)) {
		hb_fix(err, "set %s to a program elsewhere",
		       formats[format].key);
		return hb_fail(
			err, -HB_E_CONFIG,
			"'%.200s', which signs commits, is in a directory of the session",
			ret->program);
	}
	return 0;
}

/* A public key of ssh may stand in the configuration itself. */
static int find_ssh_key(const struct wishes *w, struct signing *ret,
			struct hb_error *err)
{
	const char *text = w->key;

	if (strncmp(text, "key::", 5) == 0)
		text += 5;
	ret->has_literal = text != w->key || strncmp(text, "ssh-", 4) == 0;
	if (ret->has_literal) {
		(void)snprintf(ret->key, sizeof(ret->key), "%s", text);
		return 0;
	}
	if (git_user_expand(ret->envp, text, ret->key, sizeof(ret->key)) &&
	    ret->key[0] == '/')
		return 0;
	hb_fix(err,
	       "set user.signingKey to an absolute path, or to a path in ~/");
	return hb_fail(
		err, -HB_E_CONFIG,
		"user.signingKey is neither a key nor a path that is absolute");
}

static int fail_keyless(struct hb_error *err)
{
	hb_fix(err, "git config --global user.signingKey KEY");
	return hb_fail(err, -HB_E_CONFIG,
		       "no key to sign with is in your git configuration");
}

int signing_find(const struct hb_session *s, const char *git_dir,
		 char *const *envp, struct signing *ret, struct hb_error *err)
{
	struct wishes w = { .session = s };
	const struct git_user user = { .envp = envp,
				       .git_dir = git_dir,
				       .is_foreign = is_foreign,
				       .add = add_key,
				       .ctx = &w };
	size_t format = 0;
	int r = git_user_read(&user, err);

	if (r < 0)
		return r;
	*ret = (struct signing){ .envp = envp };
	while (w.format[0] && format < FORMATS &&
	       strcmp(w.format, formats[format].name) != 0)
		format++;
	if (format == FORMATS) {
		hb_fix(err, "git config --global gpg.format openpgp");
		return hb_fail(err, -HB_E_CONFIG,
			       "gpg.format is '%.60s', which is not known",
			       w.format);
	}
	ret->is_ssh = format == FORMAT_SSH;
	if (w.key[0] && ret->is_ssh)
		r = find_ssh_key(&w, ret, err);
	else if (w.key[0])
		(void)snprintf(ret->key, sizeof(ret->key), "%s", w.key);
	else if (!ret->is_ssh && w.name[0] && w.mail[0])
		(void)snprintf(ret->key, sizeof(ret->key), "%s <%s>", w.name,
			       w.mail);
	else
		r = fail_keyless(err);
	return r < 0 ? r : find_program(&w, format, ret, err);
}

/* The files of a program: its input, its output and its words. */
struct files {
	int in, out, words;
};

/* In the child.  Not in the project: its files are not to be found. */
static void become(const struct signing *s, const struct files *f, char **argv)
{
	if (sys_chdir("/") >= 0 && sys_dup_to(f->in, STDIN_FILENO) >= 0 &&
	    sys_dup_to(f->out, STDOUT_FILENO) >= 0 &&
	    sys_dup_to(f->words, STDERR_FILENO) >= 0)
		(void)sys_execve(s->program, argv, s->envp);
	sys_exit(CANNOT_EXECUTE);
}

static int run(const struct signing *s, const struct files *f, char **argv)
{
	int status = 0;
	pid_t pid = sys_clone(0, NULL);
	int r;

	if (pid == 0)
		become(s, f, argv);
	if (pid < 0)
		return (int)pid;
	r = sys_waitpid(pid, &status, 0);
	if (r < 0)
		return r;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -HB_E_CHILD;
}

static int read_all(int fd, struct buf *out)
{
	char block[4096];
	uint64_t at = 0;
	ssize_t n;

	while ((n = sys_pread_full(fd, block, sizeof(block), at)) > 0) {
		(void)buf_add(out, block, (size_t)n);
		at += (uint64_t)n;
	}
	return n < 0 ? (int)n : out->error;
}

/* The line of git for gpg, or for ssh-keygen, which reads its input as well. */
static int run_program(const struct signing *s, const struct files *f,
		       struct hb_error *err)
{
	union {
		const char *in;
		char *out; /* exec wants char *, and does not write */
	} program = { s->program }, key = { s->key };
	static char status[] = "--status-fd=2", sign[] = "-bsau";
	static char y[] = "-Y", word[] = "sign", n[] = "-n", git[] = "git",
		    file[] = "-f", agent[] = "-U";
	char *gpg[] = { program.out, status, sign, key.out, NULL };
	char *ssh[] = {
		program.out, y, word, n, git, file, key.out, NULL, NULL
	};
	char path[64];
	auto_fd int literal = -1;

	if (!s->is_ssh)
		return run(s, f, gpg);
	if (s->has_literal) {
		literal = sys_sealed_file(s->key, strlen(s->key));
		if (literal < 0)
			return hb_fail(err, literal, "cannot keep the key");
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d",
			       (int)sys_getpid(), literal);
		ssh[6] = path;
		/* The private half is in the agent. */
		ssh[7] = agent;
	}
	return run(s, f, ssh);
}

static int fail(const struct signing *s, const struct buf *words,
		struct hb_error *err)
{
	const char *text = buf_str(words);
	size_t n = words->len;
	char shown[WORDS_MAX];

	while (n > 0 && text[n - 1] == '\n')
		n--;
	if (n >= sizeof(shown)) {
		text += n - sizeof(shown) + 1;
		n = sizeof(shown) - 1;
	}
	(void)snprintf(shown, sizeof(shown), "%.*s", (int)n, text);
	hb_fix(err,
	       "try the key: git commit -S outside; or commit without --sign");
	return hb_fail(err, -HB_E_STATE, "'%.200s' did not sign: %s",
		       s->program, quoted(shown));
}

int signing_run(const struct signing *signing, const char *text, size_t n,
		struct buf *out, struct hb_error *err)
{
	auto_buf struct buf words = BUF_INIT((size_t)1 << 20);
	auto_fd int in = sys_sealed_file(text, n);
	auto_fd int answer = sys_memory_file();
	auto_fd int said = sys_memory_file();
	const struct files files = { in, answer, said };
	int r;

	if (in < 0 || answer < 0 || said < 0)
		return hb_fail(err,
			       in < 0	    ? in
			       : answer < 0 ? answer
					    : said,
			       "cannot sign");
	r = sys_seek(in, 0);
	if (r >= 0)
		r = run_program(signing, &files, err);
	if (r < 0 && r != -HB_E_CHILD)
		return hb_fail(err, r, "cannot run '%.200s'", signing->program);
	(void)read_all(said, &words);
	if (r >= 0 && read_all(answer, out) < 0)
		r = -HB_E_CHILD;
	/* gpg may end well without a signature. */
	if (r >= 0 && (out->len == 0 ||
		       (!signing->is_ssh && !strstr(buf_str(&words), CREATED))))
		r = -HB_E_CHILD;
	return r < 0 ? fail(signing, &words, err) : 0;
}
