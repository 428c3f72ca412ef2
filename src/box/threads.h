/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_THREADS_H
#define HB_BOX_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hb_error;

/*
 * The threads of a pid namespace, held by the calling process: pid 1 and itself
 * are left out.  They go on when it ends.
 */
struct box_thread {
	pid_t process, id;
	bool has_stopped;
};

struct threads {
	struct box_thread *threads;
	size_t n;
	/* As of the last look: threads that run and are not ours to hold. */
	size_t n_others;
	pid_t other; /* the process of one of them */
	size_t n_fresh;
	pid_t last; /* the newest of the namespace, when all were held */
};

/*
 * Holds all of them, and returns when each has stopped.  -HB_E_BUSY with words:
 * one has not by `end` (sys_now_ms()).  -ENOENT: there is no /proc of our own.
 */
int threads_hold(struct threads *h, int64_t end, struct hb_error *err);

/* 1: those that were held are all there are, and none ran; 0: one did. */
int threads_check(struct threads *h, struct hb_error *err);

#endif
