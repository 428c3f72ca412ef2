/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_TAIL_H
#define HB_BOX_TAIL_H

#include <stddef.h>

struct hb_error;
struct plan;

/*
 * The part of a plan that the stages of a command need.  So a command that
 * joins later has the restrictions of the first, even if the configuration has
 * changed since.  The supervisor sends it to the client as a sealed file in
 * memory.  The two need not be of one version of the program; if they are not,
 * reading it fails.
 */

/* A descriptor of the file; *ret_size is its size. */
int tail_make(const struct plan *plan, size_t *ret_size, struct hb_error *err);

/*
 * Fills `plan`, which the caller has initialized and frees: settings,
 * namespaces, environment, places, and the operations that landlock has rules
 * for.  It has no command and no descriptors.  -HB_E_STATE: another version of
 * the program made the box; -HB_E_CORRUPT.
 */
int tail_read(int fd, size_t size, struct plan *plan, struct hb_error *err);

#endif
