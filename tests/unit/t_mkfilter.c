/* SPDX-License-Identifier: Apache-2.0 */
#include "tap.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A mistake in the policy stops the build, with file and line: a rule that is
 * dropped or read as something weaker is a hole nobody sees.
 */

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define HEAD	"last x86_64 469\nlast aarch64 469\n"
#define WHY	" V1: a test\n"
#define X16	"0123456789abcdef"
#define X128	X16 X16 X16 X16 X16 X16 X16 X16

struct run {
	int status;
	char out[256]; /* the beginning of stdout */
	char err[1024];
};

/* Writes TEXT to an unnamed file and has mkfilter read it as FILE. */
static struct run mkfilter(const char *text, char *file, size_t size)
{
	struct run run = { 0 };
	FILE *in = tmpfile();
	FILE *out = tmpfile();
	FILE *err = tmpfile();
	pid_t pid;

	CHECK(in && out && err);
	CHECK(fputs(text, in) >= 0 && fflush(in) == 0);
	(void)snprintf(file, size, "/proc/self/fd/%d", fileno(in));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		(void)dup2(fileno(out), 1);
		(void)dup2(fileno(err), 2);
		(void)execl(MKFILTER, "mkfilter", file, (char *)NULL);
		_exit(127);
	}
	CHECK_INT(waitpid(pid, &run.status, 0), pid);
	rewind(out);
	rewind(err);
	(void)fread(run.out, 1, sizeof(run.out) - 1, out);
	(void)fread(run.err, 1, sizeof(run.err) - 1, err);
	(void)fclose(in);
	(void)fclose(out);
	(void)fclose(err);
	return run;
}

static const struct {
	const char *text;
	int line;
	const char *message; /* how it begins */
} mistakes[] = {
	{ HEAD "nosuchcall EPERM * *" WHY, 3,
	  "unknown system call 'nosuchcall'" },
	{ HEAD "mount EWHAT * *" WHY, 3, "unknown error 'EWHAT'" },
	{ HEAD "mount EPERM * *\n", 3, "'mount' has no reason" },
	{ HEAD "mount EPERM * * because\n", 3, "'mount' has no reason" },
	{ HEAD "mount EPERM * * V: because\n", 3, "'mount' has no reason" },
	{ HEAD "mount EPERM * * V12:  \n", 3, "'mount' has no reason" },
	{ HEAD "mount EPERM\n", 3, "expected 'CALL ERRNO WHEN VARIANTS" },
	{ HEAD "# x\nmount EPERM * *" WHY "\nmount EPERM * *" WHY, 6,
	  "duplicate rule for 'mount', see line 4" },
	{ HEAD "mount EPERM * !nested" WHY "mount ENOSYS * *" WHY, 4,
	  "duplicate rule for 'mount', see line 3" },
	{ HEAD "ioctl EPERM arg1==1 *" WHY "ioctl EPERM arg1==0x1 *" WHY, 4,
	  "duplicate rule for 'ioctl', see line 3" },
	{ HEAD "ioctl EPERM * *" WHY "ioctl EPERM arg1==1 *" WHY, 4,
	  "duplicate rule for 'ioctl', see line 3" },
	{ HEAD "mount EPERM * nestled" WHY, 3, "unknown variant 'nestled'" },
	{ HEAD "mount EPERM * nested,!nested" WHY, 3, "a rule for no variant" },
	{ HEAD "ioctl EPERM arg1==TIOCSTI *" WHY, 3,
	  "unknown constant 'TIOCSTI'" },
	{ HEAD "ioctl EPERM arg6==1 *" WHY, 3, "'arg6==1' is not a condition" },
	{ HEAD "ioctl EPERM arg1=1 *" WHY, 3, "'arg1=1' is not a condition" },
	{ HEAD "ioctl EPERM arg11==1 *" WHY, 3, "'arg11' is not an argument" },
	{ HEAD "ioctl EPERM arg1==1,arg1==2 *" WHY, 3, "an argument twice" },
	{ HEAD "ioctl EPERM arg1==1|2 *" WHY, 3, "too many values" },
	{ HEAD "ioctl EPERM arg1&1==2 *" WHY, 3, "'arg1&1' can never hold" },
	{ HEAD "socket EPERM arg0!=1|99 *" WHY, 3, "a list of values above" },
	{ HEAD "socket EPERM arg0!=1|2,arg1!=1|2 *" WHY, 3, "two lists" },
	{ HEAD "let A 1\nlet A 2\n", 4, "a second 'let A'" },
	{ HEAD "let A x\n", 3, "'x' is not a number" },
	{ HEAD "new=470 EPERM * *" WHY, 3, "number 470 is above 'last" },
	{ HEAD "new=12 EPERM * *" WHY, 3, "'12' is not a number from 424" },
	{ HEAD "new=467 EPERM arg0==1 *" WHY, 3,
	  "a call given by number takes" },
	{ HEAD "a=467 EPERM * *" WHY "b=467 EPERM * *" WHY, 4,
	  "number 467 is 'a' in line 3" },
	{ HEAD "openat2=438 EPERM * *" WHY, 3, "'openat2' is 437 on x86_64" },
	{ HEAD "vm86 EPERM * *" WHY, 3, "'vm86' exists on no architecture" },
	{ "last x86_64 400\nlast aarch64 469\nclone3 EPERM * *" WHY, 3,
	  "'clone3' is 435, above 'last x86_64'" },
	{ "last x86_64 469\n", 1, "no 'last aarch64'" },
	{ HEAD "last x86_64 470\n", 3, "a second 'last x86_64'" },
	{ HEAD "last sparc 470\n", 3, "unknown architecture 'sparc'" },
	{ HEAD "last x86_64 many\n", 3, "'many' is not a call's number" },
	{ HEAD "mount EPERM * * V1: not ended", 3, "longer than 512 bytes" },
	{ HEAD "#" X128 X128 X128 X128 "\n", 3, "longer than 512 bytes" },
	{ HEAD X128 " EPERM * *" WHY, 3, "'" X16 },
	{ HEAD "notify mount\n", 3, "expected 'notify CALL WHEN'" },
	{ HEAD "mount EPERM * *" WHY "notify mount *\n", 4,
	  "'*' is not a condition" },
	{ HEAD "mount EPERM * *" WHY "notify mount arg0==1\n", 4, "a notif" },
	{ HEAD "mount EPERM * *" WHY "notify mount arg0&3==3\n", 4,
	  "a notification is of one bit" },
	{ HEAD "mount EPERM * *" WHY "notify mount arg0&1==0\n", 4,
	  "a notification is of one bit" },
	{ HEAD "mount EPERM * *" WHY
	       "notify mount arg0&0x100000000==0x100000000\n",
	  4, "a notification is of one bit" },
	{ HEAD "notify mount arg0&1==1\nmount EPERM * *" WHY, 3,
	  "no rule above refuses 'mount' with EPERM" },
	{ HEAD "mount ENOSYS * *" WHY "notify mount arg0&1==1\n", 4,
	  "no rule above refuses 'mount' with EPERM" },
	{ HEAD "mount EPERM arg0&2==2 *" WHY "notify mount arg0&1==1\n", 4,
	  "no rule above refuses 'mount' with EPERM" },
	{ HEAD "mount EPERM arg0&1==1,arg1==0 *" WHY "notify mount arg0&1==1\n",
	  4, "no rule above refuses 'mount' with EPERM" },
	{ HEAD "mount EPERM * *" WHY "notify mount arg0&1==1\n"
	       "notify mount arg0&1==1\n",
	  5, "a second 'notify mount'" },
	{ HEAD "hear renames mount *\nhear renames umount2 *\n"
	       "hear renames acct *\nhear renames link *\n"
	       "hear renames unlink *\nhear renames mkdir *\n"
	       "hear renames rmdir *\nhear renames open *\n",
	  10, "more than 7 calls to notify of" },
	{ HEAD "hear renames mount\n", 3, "expected 'hear CLASS CALL WHEN'" },
	{ HEAD "hear whispers mount *\n", 3, "unknown class 'whispers'" },
	{ HEAD "hear renames mount arg0==1\n", 3, "a notification is of" },
	{ HEAD "hear renames mount arg0&0x100000000==0\n", 3,
	  "a notification is of" },
	{ HEAD "hear renames mount *\nhear renames mount *\n", 4,
	  "a second 'notify mount'" },
	{ HEAD "watch calls mount\n", 3, "expected 'watch CLASS CALL WHEN'" },
	{ HEAD "watch renames mount *\n", 3, "unknown class 'renames'" },
	{ HEAD "watch calls mount arg0&1==1\n", 3, "expected argN&BITS!=0" },
	{ HEAD "watch calls mount arg0&0x100000000!=0\n", 3,
	  "expected argN&BITS!=0" },
	{ HEAD "watch calls mount *\nwatch calls mount *\n", 4,
	  "a second 'watch calls mount'" },
	{ HEAD "mount EPERM arg0&1!=0 *" WHY, 3,
	  "'!= 0' of a mask is for 'watch'" },
};

static void mistakes_stop_the_build_with_file_and_line(void)
{
	for (size_t i = 0; i < N_OF(mistakes); i++) {
		char file[64];
		char want[256];
		struct run run = mkfilter(mistakes[i].text, file, sizeof(file));

		(void)snprintf(want, sizeof(want), "%s:%d: %s", file,
			       mistakes[i].line, mistakes[i].message);
		if (strncmp(run.err, want, strlen(want)) != 0)
			printf("# expected '%s'\n# found '%s'\n", want,
			       run.err);
		CHECK(strncmp(run.err, want, strlen(want)) == 0);
		CHECK(WIFEXITED(run.status));
		CHECK_INT(WEXITSTATUS(run.status), 1);
	}
}

static void a_policy_without_mistakes_gives_a_header(void)
{
	char file[64];
	struct run run = mkfilter(
		HEAD "let A 1\n"
		     "mount EPERM * nested" WHY "mount ENOSYS * !nested" WHY
		     "ioctl EPERM arg1==A *" WHY "ioctl EPERM arg1==2 *" WHY,
		file, sizeof(file));

	CHECK_INT(run.status, 0);
	CHECK(run.err[0] == '\0');
	CHECK(strncmp(run.out, "/* SPDX", 7) == 0);
}

static void a_missing_file_is_named(void)
{
	char file[64];
	struct run run = mkfilter("", file, sizeof(file));

	/* Nothing in it is a mistake as well: silence is no policy. */
	CHECK(strstr(run.err, "no 'last x86_64'") != NULL);
	CHECK_INT(system(MKFILTER " /nonexistent/policy 2>/dev/null"), 1 << 8);
	CHECK_INT(system(MKFILTER " 2>/dev/null"), 2 << 8);
}

TESTS(T(mistakes_stop_the_build_with_file_and_line),
      T(a_policy_without_mistakes_gives_a_header), T(a_missing_file_is_named))
