/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "box/door.h"
#include "box/knock.h"
#include "host/mountinfo.h"
#include "session/session.h"
#include "store/live.h"
#include "sys/file.h"
#include "sys/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What goes on inside of a live session, without going there.
 *
 * Nothing here is asked of a process of the box.  The supervisor says which
 * processes are in it.  The words of a command are those of the holdback that
 * started it, which is outside.  The kernel says what is mounted.  The numbers
 * that the supervisor gives are looked up only if it is in our pid namespace.
 */

/* As much of a command's words as fits into a line. */
#define WORDS_SIZE 256

/* A view that has more shows these. */
#define MOUNTS_MAX 4096

struct inside {
	struct hb_live live;
	struct hb_error silence;
	struct hb_live_command commands[1 + DOOR_NAMED];
	char words[1 + DOOR_NAMED][WORDS_SIZE];
	char view[48];
	char *mountinfo;
	struct hb_mount *mounts;
};

static void read_words(pid_t pid, char *ret)
{
	auto_fd int fd = -1;
	char path[32];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
	n = fd < 0 ? fd : sys_read(fd, ret, WORDS_SIZE - 1);
	/* Each word has a NUL behind it. */
	for (ssize_t i = 0; i + 1 < n; i++)
		if (ret[i] == '\0')
			ret[i] = ' ';
}

static void add_command(struct inside *in, pid_t pid, pid_t starter,
			bool has_joined)
{
	size_t n = in->live.n_commands++;

	if (starter > 0)
		read_words(starter, in->words[n]);
	in->commands[n] = (struct hb_live_command){ .pid = pid,
						    .has_joined = has_joined,
						    .words = in->words[n] };
}

static void add_mounts(struct inside *in, pid_t init)
{
	size_t room = 0;

	if (mountinfo_read(init, &in->mountinfo) < 0)
		return;
	for (const char *at = in->mountinfo; *at; at++)
		room += *at == '\n' && room < MOUNTS_MAX;
	in->mounts = calloc(room + 1, sizeof(*in->mounts));
	if (!in->mounts)
		return;
	for (char *at = in->mountinfo;
	     in->live.n_mounts < room &&
	     mountinfo_next(&at, &in->mounts[in->live.n_mounts]);)
		in->live.n_mounts++;
	in->live.mounts = in->mounts;
	in->live.has_mounts = in->live.n_mounts > 0;
}

static void fill(struct inside *in, const struct door_status *told,
		 bool is_near)
{
	struct hb_live *live = &in->live;

	live->is_kept = told->command == 0;
	live->is_full = told->is_full;
	live->n_joined = told->n_joined;
	live->commands = in->commands;
	if (!live->is_kept)
		add_command(in, told->command, is_near ? told->supervisor : 0,
			    false);
	for (size_t i = 0; i < told->n_joined && i < DOOR_NAMED; i++)
		add_command(in, told->joined[i].command,
			    is_near ? told->joined[i].client : 0, true);
	if (!is_near)
		return;
	live->pid = told->supervisor;
	live->init = told->init;
	(void)snprintf(in->view, sizeof(in->view), "/proc/%d/fd/%d",
		       (int)told->supervisor, told->root);
	live->view = in->view;
	add_mounts(in, told->init);
}

/* Any failure is silence, which is an answer as well. */
static int ask(const struct hb_session *s, struct inside *in,
	       struct hb_error *err)
{
	auto_fd int fd = live_connect(s->dir);
	struct door_status told = { 0 };
	struct sys_peer peer;
	int r;

	if (fd == -ENOENT)
		return hb_fail(err, fd, "it cannot be joined");
	r = fd < 0 ? fd : knock_status(fd, &told, err);
	if (r >= 0)
		r = sys_peer(fd, &peer);
	if (r == -EAGAIN || r == -ECONNREFUSED)
		return hb_fail(err, r, "it begins or ends just now");
	if (r < 0)
		return err->code ? r : hb_fail(err, r, "it cannot be reached");
	fill(in, &told, peer.pid == told.supervisor);
	return 0;
}

int hb_session_live(struct hb_session *session, struct hb_live **ret_live,
		    struct hb_error *err)
{
	struct inside *in;

	if (session->has_lock || session->record.state != SESSION_ACTIVE)
		return 0;
	in = calloc(1, sizeof(*in));
	if (!in)
		return hb_fail(err, -ENOMEM, "cannot look at the live session");
	in->live.pid = (pid_t)session->record.pid;
	in->live.since = session->record.used.tv_sec;
	if (ask(session, in, &in->silence) < 0)
		in->live.silence = in->silence.text;
	*ret_live = &in->live;
	return 1;
}

void hb_live_free(struct hb_live *live)
{
	struct inside *in = (struct inside *)live;

	if (!in)
		return;
	free(in->mountinfo);
	free(in->mounts);
	free(in);
}
