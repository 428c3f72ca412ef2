/* SPDX-License-Identifier: Apache-2.0 */
#include "box/knock.h"

#include "base/auto.h"
#include "base/error.h"
#include "box/door.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <errno.h>

/* How long a supervisor may be silent before it is looked at. */
#define SILENCE_MS 1000

static int is_silent(pid_t supervisor, struct hb_error *err)
{
	if (supervisor <= 0 || !sys_is_stopped(supervisor))
		return 0;
	hb_fix(err, "let process %d go on, as 'fg' in its terminal does",
	       (int)supervisor);
	return hb_fail(err, -HB_E_BUSY,
		       "the command that holds the session is stopped");
}

int knock_await(int fd, unsigned looks, struct hb_error *err)
{
	struct pollfd word = { .fd = fd, .events = POLLIN };
	struct sys_peer peer;
	int r;

	r = sys_peer(fd, &peer);
	if (r < 0)
		return hb_fail(err, r, "cannot identify the supervisor");
	if (peer.uid != sys_geteuid()) {
		hb_fix(err, "join the session as user %u", (unsigned)peer.uid);
		return hb_fail(err, -HB_E_STATE,
			       "the supervisor of the session belongs to user "
			       "%u, not to you",
			       (unsigned)peer.uid);
	}
	while ((r = sys_poll(&word, 1, SILENCE_MS)) == 0) {
		r = is_silent(peer.pid, err);
		if (r < 0)
			return r;
		if (looks > 0 && --looks == 0)
			return hb_fail(err, -HB_E_BUSY,
				       "the supervisor of the session does not "
				       "answer");
	}
	return r < 0 ? hb_fail(err, r, "cannot wait for the box") : 0;
}

int knock_greeting(int fd, unsigned looks, struct door_greeting *ret_greeting,
		   int *fds, size_t *ret_n, struct hb_error *err)
{
	int r;

	r = knock_await(fd, looks, err);
	if (r < 0)
		return r;
	r = sys_recv_record_fds(fd, ret_greeting, sizeof(*ret_greeting), NULL,
				fds, ret_n);
	if (r == 0 || r == -ECONNRESET)
		return -EAGAIN;
	if (r < 0 || ret_greeting->magic != DOOR_MAGIC || *ret_n < 2) {
		for (size_t i = 0; r > 0 && i < *ret_n; i++)
			sys_close(fds[i]);
		*ret_n = 0;
		hb_fix(err, "end its first command");
		return hb_fail(
			err, -HB_E_STATE,
			"the box was made by another version of holdback");
	}
	return 0;
}

/* Who only asks does not need what it is greeted with. */
static int ask_with(int fd, enum door_word word, unsigned looks,
		    const int *sent, struct hb_error *err)
{
	const struct door_request request = { .magic = DOOR_MAGIC,
					      .word = word };
	struct door_greeting greeting;
	int fds[SYS_RECORD_FDS];
	size_t n = 0;
	int r;

	r = knock_greeting(fd, looks, &greeting, fds, &n, err);
	for (size_t i = 0; i < n; i++)
		sys_close(fds[i]);
	if (r < 0)
		return r;
	r = sent ? sys_send_record_fds(fd, &request, sizeof(request), sent, 1)
		 : sys_send_record(fd, &request, sizeof(request));
	if (r == -EPIPE || r == -ECONNRESET)
		return -EAGAIN;
	return r < 0 ? hb_fail(err, r,
			       "cannot ask the supervisor of the session")
		     : 0;
}

static int ask(int fd, enum door_word word, unsigned looks,
	       struct hb_error *err)
{
	return ask_with(fd, word, looks, NULL, err);
}

static int ask_status(int fd, enum door_word word,
		      struct door_status *ret_status, struct hb_error *err)
{
	int r;

	r = ask(fd, word, KNOCK_LOOKS, err);
	if (r >= 0)
		r = knock_await(fd, KNOCK_LOOKS, err);
	if (r < 0)
		return r;
	r = sys_recv_record(fd, ret_status, sizeof(*ret_status), NULL);
	if (r == 0 || r == -ECONNRESET)
		return -EAGAIN;
	if (r < 0 || ret_status->magic != DOOR_MAGIC) {
		hb_fix(err, "end the session's first command");
		return hb_fail(err, r < 0 ? r : -HB_E_STATE,
			       "the supervisor of the session gave no answer "
			       "that this version understands");
	}
	return 0;
}

int knock_status(int fd, struct door_status *ret_status, struct hb_error *err)
{
	return ask_status(fd, DOOR_STATUS, ret_status, err);
}

int knock_resume(int fd, struct hb_error *err)
{
	struct door_status status = { 0 };
	int r = ask_status(fd, DOOR_RESUME, &status, err);

	return r < 0 ? r : status.is_full != 0;
}

static int take_loan(int fd, struct hb_error *err)
{
	struct door_loan loan = { 0 };
	int fds[SYS_RECORD_FDS];
	size_t n = 0;
	int r;

	r = knock_await(fd, KNOCK_LOOKS, err);
	if (r < 0)
		return r;
	r = sys_recv_record_fds(fd, &loan, sizeof(loan), NULL, fds, &n);
	if (r == 0 || r == -ECONNRESET)
		return -EAGAIN;
	if (r > 0 && loan.magic == DOOR_MAGIC && loan.verdict == DOOR_LENT &&
	    n == 1)
		return fds[0];
	for (size_t i = 0; r > 0 && i < n; i++)
		sys_close(fds[i]);
	if (r > 0 && loan.verdict == DOOR_LENT_NEVER)
		return -EAGAIN;
	hb_fix(err, "try again when it has ended");
	return hb_fail(err, -HB_E_BUSY,
		       "another command takes changes from the session");
}

int knock_lend(int fd, struct door_greeting *ret_greeting, int *fds,
	       size_t *ret_n, struct hb_error *err)
{
	const struct door_request request = { .magic = DOOR_MAGIC,
					      .word = DOOR_LEND };
	int r;

	r = knock_greeting(fd, KNOCK_LOOKS, ret_greeting, fds, ret_n, err);
	if (r < 0)
		return r;
	r = sys_send_record(fd, &request, sizeof(request));
	r = r < 0 ? -EAGAIN : take_loan(fd, err);
	for (size_t i = 0; r < 0 && i < *ret_n; i++)
		sys_close(fds[i]);
	if (r < 0)
		*ret_n = 0;
	return r;
}

int knock_net(int fd, int *ret_line, struct hb_error *err)
{
	auto_fd int ours = -1;
	auto_fd int theirs = -1;
	int r;

	r = sys_socket_pair(&ours, &theirs);
	if (r < 0)
		return hb_fail(err, r, "cannot speak with the network");
	r = ask_with(fd, DOOR_NET, KNOCK_LOOKS, &theirs, err);
	if (r >= 0)
		*ret_line = take_fd(&ours);
	return r;
}

int knock_stop(int fd, struct hb_error *err)
{
	int r;

	r = ask(fd, DOOR_STOP, 0, err);
	return r < 0 ? r : knock_await(fd, 0, err);
}
