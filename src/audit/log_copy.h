/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AUDIT_LOG_COPY_H
#define HB_AUDIT_LOG_COPY_H

struct hb_error;

/*
 * Opens a file of the user's choice that gets the lines of the log, to append
 * to it; makes it with mode 0600.  A link is not followed.
 *
 * -HB_E_CONFIG: others could write to the file or replace it: they have rights
 * on it or on its directory, or could move a directory above.  -HB_E_USAGE: it
 * is no file.
 */
int log_copy_open(const char *path, struct hb_error *err);

#endif
