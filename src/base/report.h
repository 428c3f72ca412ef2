/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_REPORT_H
#define HB_BASE_REPORT_H

#include "holdback/report.h"

/*
 * News travels to a listener that its sender does not know: a box does not know
 * the audit log, a transaction not the terminal. holdback/report.h has the
 * kinds.  Errors do not travel here.
 */

/* A listener that is NULL or zeroed hears nothing, and answers no. */
bool report_send(const struct hb_listener *listener,
		 const struct hb_report *report);

/* A report that is a text alone; it is cut at HB_TEXT_SIZE. */
void report_text(const struct hb_listener *listener, enum hb_report_kind kind,
		 const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
