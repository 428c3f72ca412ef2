/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include "base/quote.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(struct hb_error *err, int r, const char *words)
{
	size_t used, room, add;

	assert(r < 0);

	if (err->code == 0) {
		err->code = -r;
		memcpy(err->text, words, strlen(words) + 1);
		return;
	}

	/*
	 * What is already there is nearer to the cause.  When the two do not
	 * fit together it is the new context which gives way.
	 */
	used = strlen(err->text);
	room = sizeof(err->text) - 1 - used;
	if (room < 3)
		return;
	add = strnlen(words, room - 2);
	memmove(err->text + add + 2, err->text, used + 1);
	memcpy(err->text, words, add);
	memcpy(err->text + add, ": ", 2);
}

void hb_record(struct hb_error *err, int r, const char *fmt, ...)
{
	char words[HB_TEXT_SIZE];
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	put(err, r, words);
}

void hb_record_at(struct hb_error *err, int r, const char *path,
		  const char *fmt, ...)
{
	char words[HB_TEXT_SIZE - QUOTE_SHOWN], all[HB_TEXT_SIZE];
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	(void)snprintf(all, sizeof(all), "%s %s", words,
		       quoted(*path ? path : "."));
	put(err, r, all);
}

void hb_fix(struct hb_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->fix[0] != '\0')
		return;
	va_start(ap, fmt);
	(void)vsnprintf(err->fix, sizeof(err->fix), fmt, ap);
	va_end(ap);
}

static const char *const reasons[] = {
	[0] = "not supported on this host",
	[HB_E_CONFLICT - HB_E_UNSUPPORTED] =
		"changed since the transaction began",
	[HB_E_CONFIG - HB_E_UNSUPPORTED] = "invalid configuration",
	[HB_E_CORRUPT - HB_E_UNSUPPORTED] = "stored state is corrupt",
	[HB_E_CHILD - HB_E_UNSUPPORTED] = "child died during set-up",
	[HB_E_USAGE - HB_E_UNSUPPORTED] = "invalid usage",
	[HB_E_DENIED - HB_E_UNSUPPORTED] = "denied by the gate",
	[HB_E_BUSY - HB_E_UNSUPPORTED] = "session is in use",
	[HB_E_NO_SESSION - HB_E_UNSUPPORTED] = "no such session",
	[HB_E_STATE - HB_E_UNSUPPORTED] = "session is in the wrong state",
	[HB_E_NOT_FOUND - HB_E_UNSUPPORTED] = "not found",
	[HB_E_NOT_EXECUTABLE - HB_E_UNSUPPORTED] = "cannot be executed",
};

static_assert(sizeof(reasons) / sizeof(reasons[0]) ==
		      HB_E_END - HB_E_UNSUPPORTED,
	      "every code of ours has words");

const char *hb_strerror(int code)
{
	if (code >= HB_E_UNSUPPORTED && code < HB_E_END)
		return reasons[code - HB_E_UNSUPPORTED];
	return strerror(code);
}

void hb_error_format(const struct hb_error *err, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s: %s", err->text, hb_strerror(err->code));
}
