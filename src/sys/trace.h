/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_TRACE_H
#define HB_SYS_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Threads that are held by ptrace(2); conventions of sys/file.h.
 *
 * The kernel lets every thread go when the process that holds it ends, in any
 * way.  Nothing here takes a thread's stop in by wait(2).  So a signal on whose
 * delivery a thread was held is not lost: it is delivered when the thread goes
 * on.
 */

/*
 * Takes hold of a thread and has it stop.  It has not stopped when this
 * returns.  -ESRCH: there is none; -EPERM: it ends, another process holds it,
 * or it may not be held.
 */
int sys_trace_hold(pid_t thread);

/* Whether a thread that we hold has stopped, or ended. */
bool sys_trace_has_stopped(pid_t thread);

/* The state of a thread as in proc(5); 0: it is not there. */
char sys_thread_state(pid_t process, pid_t thread);

/*
 * Tells all threads of our pid namespace but those of pid 1 and of ourselves,
 * in processes that have not ended.  The state is not looked at.  Ends with the
 * first that `fn` returns below 0.  -ENOENT if /proc is not of our namespace.
 */
typedef int (*sys_thread_fn)(void *ctx, pid_t process, pid_t thread);
int sys_each_thread(sys_thread_fn fn, void *ctx);

/* The number of the thread that was made last in our pid namespace. */
pid_t sys_last_thread(void);

/* The process that holds this one, 0: there is none, or not in our namespace.
 */
pid_t sys_tracer_of(pid_t process, pid_t thread);

/*
 * Whether a thread waits for a child that it made by vfork(): such a thread
 * cannot stop before that child goes on.
 */
bool sys_waits_for_vfork(pid_t process, pid_t thread);

#endif
