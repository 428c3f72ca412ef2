/* SPDX-License-Identifier: Apache-2.0 */
#include "box/info.h"

#include "base/buf.h"
#include "box/state.h"
#include "sys/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#define TEXT_LIMIT 4096

/* In the order of the names, as bubblewrap prints them; mnt is always new. */
static const struct {
	unsigned ns;
	const char *file;
} spaces[] = {
	{ PLAN_NS_CGROUP, "cgroup" },
	{ PLAN_NS_IPC, "ipc" },
	{ ~0U, "mnt" },
	{ PLAN_NS_NET, "net" },
	{ PLAN_NS_PID, "pid" },
	{ PLAN_NS_UTS, "uts" },
};

static int render(const struct box *box, pid_t child, const char *open,
		  const char *between, const char *close, struct buf *out,
		  struct hb_error *err)
{
	(void)buf_add_fmt(out, "%s\"child-pid\": %d", open, (int)child);
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		char path[64];
		struct stat st;
		int r;

		if (!((box->ns | 1U << 31) & spaces[i].ns))
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)child,
			       spaces[i].file);
		r = sys_fstatat(AT_FDCWD, path, &st, 0);
		if (r < 0)
			return hb_fail(err, r, "cannot look at '%s'", path);
		(void)buf_add_fmt(out, "%s\"%s-namespace\": %" PRIu64, between,
				  spaces[i].file, (uint64_t)st.st_ino);
	}
	if (buf_add_str(out, close) < 0)
		return hb_fail(err, out->error, "cannot format the info");
	return 0;
}

static int write_to(const struct box *box, pid_t child, enum plan_fd which,
		    const char *const form[3], struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(TEXT_LIMIT);
	int fd = box->plan->fds[which];
	int r;

	if (fd < 0)
		return 0;
	r = render(box, child, form[0], form[1], form[2], &text, err);
	if (r < 0)
		return r;
	r = sys_write_all(fd, text.data, text.len);
	if (r < 0)
		return hb_fail(err, r, "Write to info fd");
	return 0;
}

int info_write_start(const struct box *box, pid_t child, struct hb_error *err)
{
	static const char *const pretty[3] = { "{\n    ", ",\n    ", "\n}\n" };
	static const char *const line[3] = { "{ ", ", ", " }\n" };
	int r;

	r = write_to(box, child, PLAN_FD_INFO, pretty, err);
	if (r < 0)
		return r;
	if (box->plan->fds[PLAN_FD_INFO] >= 0)
		sys_close(box->plan->fds[PLAN_FD_INFO]);
	return write_to(box, child, PLAN_FD_JSON_STATUS, line, err);
}

void info_write_exit(const struct box *box, int status)
{
	int fd = box->plan->fds[PLAN_FD_JSON_STATUS];
	char text[48];
	int n;

	if (fd < 0)
		return;
	n = snprintf(text, sizeof(text), "{ \"exit-code\": %d }\n", status);
	(void)sys_write_all(fd, text, (size_t)n);
}
