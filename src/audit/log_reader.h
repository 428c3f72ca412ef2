/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AUDIT_LOG_READER_H
#define HB_AUDIT_LOG_READER_H

#include "audit/log_lines.h"
#include "base/buf.h"

#include <stdbool.h>

struct hb_error;
struct hb_event;

/*
 * Reads records from the first segment to the last, while others write.  Lines
 * that are no record are left out; `log --verify` tells them.
 */
struct log_reader {
	int state; /* borrowed */
	int fd;
	unsigned segment; /* 0: there was none yet */
	struct log_lines lines;
	struct buf strings; /* of the last record */
};

void log_reader_init(struct log_reader *reader, int state);
void log_reader_done(struct log_reader *reader);

/* As hb_events_next(). */
int log_reader_next(struct log_reader *reader, struct hb_event *ret,
		    struct hb_error *err);

#endif
