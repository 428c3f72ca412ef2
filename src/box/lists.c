/* SPDX-License-Identifier: Apache-2.0 */
#include "base/env.h"
#include "box/state.h"
#include "sys/caps.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is prepared for a command whether it makes its box or joins one: who it
 * is, its words, its environment.  Before there is a child, which may not
 * allocate.
 */

/*
 * root keeps its capabilities unless the plan takes them; other users have
 * none.
 */
static int decide_caps(struct box *box, struct hb_error *err)
{
	struct caps own = { 0 };
	uint64_t has = 0;
	int r;

	if (box->uid == 0) {
		r = sys_caps_get(&own);
		if (r < 0)
			return hb_fail(err, r, "cannot read our capabilities");
		has = own.effective;
	}
	box->caps = (has & box->plan->caps_keep) | box->plan->caps_add;
	return 0;
}

int box_identify(struct box *box, struct hb_error *err)
{
	const struct plan *plan = box->plan;

	box->uid = sys_getuid();
	box->gid = sys_getgid();
	box->in_uid = plan->uid >= 0 ? (uid_t)plan->uid : box->uid;
	box->in_gid = plan->gid >= 0 ? (gid_t)plan->gid : box->gid;
	box->ns = plan->ns;
	return decide_caps(box, err);
}

static int copy_lists(struct box *box, char *const *envp, struct hb_error *err)
{
	static char *const nothing[] = { NULL };
	char *const *argv = box->plan->argv ? box->plan->argv : nothing;
	size_t n_args = 0;

	while (envp[box->n_env])
		box->n_env++;
	while (argv[n_args])
		n_args++;
	box->envp = calloc(box->n_env + BOX_SPARE_ENV + 1, sizeof(char *));
	box->argv_room = calloc(n_args + 2, sizeof(char *));
	if (!box->envp || !box->argv_room)
		return hb_fail(err, -ENOMEM, "cannot keep the environment");
	box->argv = box->argv_room + 1;
	memcpy(box->envp, envp, box->n_env * sizeof(char *));
	memcpy(box->argv, argv, n_args * sizeof(char *));
	/* exec wants char *, and does not write. */
	if (box->plan->argv0)
		memcpy(&box->argv[0], &box->plan->argv0, sizeof(char *));
	box->path_list = env_get(envp, "PATH");
	box->home = env_get(envp, "HOME");
	return 0;
}

static int keep_cwd(struct box *box, struct hb_error *err)
{
	char cwd[BOX_CWD_SIZE];

	if (sys_getcwd(cwd, sizeof(cwd)) < 0)
		cwd[0] = '\0';
	box->cwd = strdup(cwd);
	if (!box->cwd)
		return hb_fail(err, -ENOMEM, "cannot keep the directory");
	return 0;
}

int box_lists_make(struct box *box, char *const *envp, struct hb_error *err)
{
	int r = keep_cwd(box, err);

	return r < 0 ? r : copy_lists(box, envp, err);
}

void box_lists_free(struct box *box)
{
	free(box->envp);
	free(box->cwd);
	free(box->argv_room);
}

static const int handled[] = { SIGHUP,	SIGINT,	 SIGQUIT,  SIGTERM,
			       SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP,
			       SIGTTIN, SIGTTOU, SIGCONT };

void box_handled_signals(sigset_t *set)
{
	(void)sigemptyset(set);
	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		(void)sigaddset(set, handled[i]);
}
