/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_BANNED_H
#define HB_SYS_BANNED_H

/*
 * The build puts this in front of every file outside of src/sys.  The names
 * below do not compile there, and the message names the replacement.  Paths are
 * resolved by src/sys alone, so that there is one place where a symbolic link
 * can be followed by mistake.
 *
 * The headers come first: once read, they are not read again behind the macros.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each becomes the use of an undeclared name that says what to use. */
#define open(...)	   use_sys_openat_or_sys_openat2
#define openat(...)	   use_sys_openat_or_sys_openat2
#define creat(...)	   use_sys_openat_or_sys_openat2
#define fopen(...)	   use_sys_openat_and_sys_read
#define freopen(...)	   use_sys_openat_and_sys_read
#define opendir(...)	   use_sys_openat
#define stat(path, st)	   use_sys_fstatat
#define lstat(...)	   use_sys_fstatat
#define fstatat(...)	   use_sys_fstatat
#define access(...)	   use_sys_faccessat
#define faccessat(...)	   use_sys_faccessat
#define chmod(...)	   use_sys_chmod_fd
#define fchmodat(...)	   use_sys_chmod_fd
#define chown(...)	   use_a_descriptor
#define lchown(...)	   use_a_descriptor
#define fchownat(...)	   use_a_descriptor
#define truncate(...)	   use_a_descriptor
#define link(...)	   use_a_descriptor
#define linkat(...)	   use_a_descriptor
#define symlink(...)	   use_sys_symlinkat
#define symlinkat(...)	   use_sys_symlinkat
#define readlink(...)	   use_sys_readlinkat
#define readlinkat(...)	   use_sys_readlinkat
#define unlink(...)	   use_sys_unlinkat
#define unlinkat(...)	   use_sys_unlinkat
#define remove(...)	   use_sys_unlinkat
#define rmdir(...)	   use_sys_unlinkat
#define rename(...)	   use_sys_renameat
#define renameat(...)	   use_sys_renameat
#define renameat2(...)	   use_sys_renameat
#define mkdir(...)	   use_sys_mkdirat
#define mkdirat(...)	   use_sys_mkdirat
#define mknod(...)	   use_sys_wrapper
#define mknodat(...)	   use_sys_wrapper
#define mkstemp(...)	   use_sys_openat_with_O_TMPFILE
#define mkdtemp(...)	   use_sys_mkdirat
#define realpath(...)	   use_sys_openat_and_compare_what_was_opened
#define getcwd(...)	   use_sys_getcwd
#define chdir(...)	   use_sys_chdir
#define chroot(...)	   use_sys_pivot_here
#define mount(...)	   use_sys_attach
#define umount2(...)	   use_sys_pivot_here
#define execv(...)	   use_sys_execve
#define execve(...)	   use_sys_execve
#define execvp(...)	   use_sys_execvpe
#define execvpe(...)	   use_sys_execvpe
#define fork(...)	   use_sys_clone
#define vfork(...)	   use_sys_vfork_with
#define system(...)	   argv_in_argv_out
#define popen(...)	   argv_in_argv_out
#define getenv(...)	   environment_comes_from_main
#define secure_getenv(...) environment_comes_from_main
#define setenv(...)	   environment_comes_from_main
#define putenv(...)	   environment_comes_from_main
#define strcpy(...)	   use_snprintf_or_buf
#define strcat(...)	   use_snprintf_or_buf
#define strncpy(...)	   use_snprintf_or_buf
#define strncat(...)	   use_snprintf_or_buf
#define sprintf(...)	   use_snprintf_or_buf
#define vsprintf(...)	   use_snprintf_or_buf
#define strtok(...)	   use_strcspn

#endif
