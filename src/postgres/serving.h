/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_POSTGRES_SERVING_H
#define HB_POSTGRES_SERVING_H

struct hb_error;
struct place;

/*
 * In the box of a command: fills the server if its data are of another archive
 * than the picture's, starts it, runs the command, and stops it.
 *
 * `*ret_status` is the status of the command, as a shell tells it.  A failure
 * means that the command did not run.
 */
int serving_run(const struct place *place, char **argv, int *ret_status,
		struct hb_error *err);

#endif
