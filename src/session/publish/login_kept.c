/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/login_kept.h"

#include "agent/carried.h"
#include "base/buf.h"
#include "session/publish/carry_note.h"
#include "sys/file.h"
#include "sys/place.h"

#include <stdio.h>

int login_keep(int dir, const char *path, const char *text, size_t n,
	       mode_t mode, const struct buf *next, struct hb_error *err)
{
	struct carried c = { .class = STATE_LOGIN,
			     .type = text ? CARRIED_FILE : CARRIED_GONE,
			     .mode = mode & 0777,
			     .time = sys_now().tv_sec,
			     .size = n };

	(void)snprintf(c.path, sizeof(c.path), "%s", path);
	if (next)
		carry_text_digest(next->data, next->len, "", c.host);
	return carried_write(dir, &c, text, CARRIED_NEW "login", err);
}
