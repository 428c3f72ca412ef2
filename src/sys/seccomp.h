/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_SECCOMP_H
#define HB_SYS_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct k_sock_filter;
struct k_seccomp_notif;

/* Filters and their notifier; conventions of sys/file.h. */

/* Adds a filter to this thread; no_new_privs must be set. */
int sys_seccomp_load(const struct k_sock_filter *code, size_t n);

/*
 * The same for a filter with notify verdicts: returns the listener.  Calls
 * wait killably, so that a signal does not make one be reported twice, where
 * the kernel can (5.19).
 */
int sys_seccomp_load_notifying(const struct k_sock_filter *code, size_t n);

/* -EOPNOTSUPP without the notifier; 1: with synchronous wake-up, 0: without. */
int sys_seccomp_notif_probe(void);

/* Waits for the next notified call.  -ENOENT: its caller died meanwhile. */
int sys_seccomp_notif_recv(int listener, struct k_seccomp_notif *ret_notif);

/* Lets the call `id` go on, or makes it fail with `error` (positive errno). */
int sys_seccomp_notif_answer(int listener, uint64_t id, int error);

/* The call `id` returns 0 and is not carried out. */
int sys_seccomp_notif_done(int listener, uint64_t id);

/* Whether the caller of `id` still waits: its memory was really its own. */
bool sys_seccomp_notif_is_valid(int listener, uint64_t id);

/* Answers wake the caller on our CPU; -EINVAL before 6.6. */
int sys_seccomp_notif_sync_wake_up(int listener);

#endif
