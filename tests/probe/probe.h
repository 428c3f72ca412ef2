/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PROBE_H
#define HB_PROBE_H

/*
 * A program that says what it can see and do where it is started.  Static, so
 * that it runs in a view with nothing in it.  A check prints one word,
 * "allowed" or the name of an errno, and ends with 0 or 1 accordingly; those
 * that look print what they see.  2 is for a call that makes no sense.
 *
 * Everything it tries is harmless where it is allowed: that is how a test shows
 * that it would have worked without the box.
 */
struct check {
	const char *name;
	const char *arguments; /* for the usage; "" if there are none */
	int (*run)(int argc, char **argv);
};

/* Prints the word for RESULT, which is -1 with errno set, or a success. */
int answer(long result);

/* "EPERM"; the number if it is none that tests look for.  0 is "allowed". */
const char *errno_name(int code);

/* The errno of that name; "OK" is 0.  -1 if there is no such name. */
int errno_number(const char *name);

/* calls.c */
int check_calls(int argc, char **argv);
int check_clone(int argc, char **argv);
int check_clone3(int argc, char **argv);
int check_foreign(int argc, char **argv);

/* look.c */
int look_privileges(int argc, char **argv);
int look_fds(int argc, char **argv);
int look_root(int argc, char **argv);
int look_ids(int argc, char **argv);
int look_pids(int argc, char **argv);
int look_limits(int argc, char **argv);

/* acts.c */
int act_open(int argc, char **argv);
int act_unlink(int argc, char **argv);
int act_mknod(int argc, char **argv);
int act_ioctl(int argc, char **argv);
int act_connect(int argc, char **argv);
int act_ptrace(int argc, char **argv);
int act_ptrace_child(int argc, char **argv);
int act_kill(int argc, char **argv);
int act_shm(int argc, char **argv);
int act_queue(int argc, char **argv);
int act_socket(int argc, char **argv);
int act_signals(int argc, char **argv);
int act_linger(int argc, char **argv);
int act_leave(int argc, char **argv);

/* rename.c */
int act_rename(int argc, char **argv);
int act_rename_at(int argc, char **argv);
int act_rename_open(int argc, char **argv);
int act_rename_landlocked(int argc, char **argv);

/* nested.c */
int act_nested(int argc, char **argv);
int act_overrule(int argc, char **argv);

/* deny.c: this one executes a command and does not come back. */
int deny_main(int argc, char **argv);

/* cut.c */
int cut_main(int argc, char **argv);

#endif
