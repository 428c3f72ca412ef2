/* SPDX-License-Identifier: Apache-2.0 */
#include "box/supervisor.h"

#include "base/auto.h"
#include "base/report.h"
#include "box/box.h"
#include "box/door.h"
#include "box/job_signals.h"
#include "box/keeper.h"
#include "box/lead.h"
#include "box/notify/heard.h"
#include "box/pty.h"
#include "box/reach.h"
#include "box/relayed.h"
#include "box/space.h"
#include "box/state.h"
#include "box/status.h"
#include "box/terminal.h"
#include "box/turns.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

/* What who joined has before it is killed: more than it gives its command. */
#define GUESTS_MS 3000
/* What pid 1 has from its last word to its end. */
#define BURIAL_MS 1000

/* What happens when its time has come. */
enum due {
	DUE_LIMIT,  /* the box is asked to end, and then killed */
	DUE_STOP,   /* a command that was asked to end is killed */
	DUE_GUESTS, /* those who joined and did not leave are killed */
	DUE_BURIAL, /* it is looked whether the box is not over after all */
	DUE_LOOK,   /* it is looked whether the command is in front by now */
	DUE_SPACE,  /* it is looked whether there is room on disk */
	DUE_TURN,   /* another mark may be asked for from inside */
	DUE_RELAY,  /* a relay that died is started again */
	DUE_END	    /* one past the last */
};

/* What the loop works on. */
struct loop {
	struct box *box;
	struct terminal *terminal;
	bool has_lasted; /* and that was told */
	const struct hb_listener *listener;
	struct box_result *result;
	struct hb_error *err;
	int signals;
	pid_t child;
	int pidfd;	 /* its own: a keeper does not reap it, and so loses its
			  * number */
	bool has_status; /* the command's end was told */
	bool is_over;	 /* the box is gone */
	int failure;	 /* negated code: what init or the command told */
	struct door door;
	struct space space;
	struct heard heard;
	struct turns turns;
	bool is_halted;	      /* all of the box, for want of room */
	bool is_told;	      /* and the user knows */
	unsigned n_waking;    /* how often init has still to wake all of it */
	bool is_asked;	      /* to end all of it */
	bool is_keeper;	      /* the first command has ended: box/keeper.h */
	bool has_parted;      /* and the box is the keeper's */
	bool is_ending;	      /* no command is left, or it is to end */
	bool is_last;	      /* and init was told so */
	bool is_unburied;     /* over, but pid 1 is still there: box/door.h */
	int64_t due[DUE_END]; /* in ms, when; 0: never */
};

static void note_end(struct loop *l, int wait_status)
{
	l->has_status = true;
	l->result->status = supervise_exit_status(wait_status);
	l->result->death.signal = supervise_signal(wait_status);
}

/* While init holds the namespace, which has the box's own counters. */
static void look_for_network(struct loop *l)
{
	l->result->has_missed_network = l->result->status != 0 &&
					l->box->ns & PLAN_NS_NET &&
					reach_failures(l->child) > 0;
}

static void set_due(struct loop *l, enum due due, int64_t ms)
{
	l->due[due] = sys_now_ms() + ms;
}

/* No process is left that init would not end. */
static void tell_init(struct loop *l)
{
	if (l->is_last || door_count(&l->door) > 0)
		return;
	l->is_last = true;
	l->due[DUE_GUESTS] = 0;
	/* The last to hold the mounts has to wait until they are gone. */
	door_forget(&l->door);
	if (l->box->watch >= 0)
		sys_hang_up(l->box->watch);
}

static void begin_end(struct loop *l)
{
	if (l->is_ending)
		return;
	l->is_ending = true;
	l->due[DUE_STOP] = 0;
	set_due(l, DUE_GUESTS, GUESTS_MS);
	door_shut(&l->door);
	tell_init(l);
}

/*
 * What is left is the end of init, with its mounts, which takes as long as the
 * work of the caller.
 */
static void tell_emptied(struct loop *l)
{
	const struct plan *plan = l->box->plan;

	/* No process is left that could call, and this holds the mounts. */
	heard_done(&l->heard);
	if (plan->emptied && l->is_last && l->result->was_started &&
	    l->failure == 0 && l->door.n_guests == 0 &&
	    l->door.n_orphans == 0 && !l->door.was_lent)
		plan->emptied(plan->emptied_context);
}

static bool has_command(const struct loop *l)
{
	return l->box->plan->argv && !l->is_keeper;
}

/* For want of room: all of the box stops, and we do not. */
static void halt(struct loop *l)
{
	bool is_news = !l->is_halted;

	l->is_halted = true;
	if (is_news)
		door_tell(&l->door, DOOR_FULL, l->space.left);
	/* Said again each time: who joins meanwhile is to stop as well. */
	lead_tell(l->box->watch, LEAD_FULL);
	if (is_news)
		terminal_leave(l->terminal);
	if (l->is_told)
		return;
	l->is_told = true;
	(void)report_send(l->listener,
			  &(struct hb_report){ .kind = HB_REPORT_STOPPED,
					       .n = l->space.left });
}

static void go_on(struct loop *l, enum door_tidings why)
{
	if (!l->is_halted)
		return;
	l->is_halted = l->is_told = false;
	/* First, for who joined has its own terminal to give back. */
	door_tell(&l->door, why, 0);
	terminal_return(l->terminal);
	l->n_waking++;
	lead_tell(l->box->watch, LEAD_ROOM);
}

/* A signal asks the box to end. */
static void stop(struct loop *l)
{
	l->is_asked = true;
	if (l->is_ending || l->due[DUE_STOP] > 0)
		return;
	go_on(l, DOOR_ON);
	if (!has_command(l)) {
		begin_end(l);
		return;
	}
	set_due(l, DUE_STOP, BOX_GRACE_MS);
	terminal_pass_on(l->terminal, SIGTERM);
	terminal_pass_on(l->terminal, SIGCONT);
}

/* First it is asked to end; what is left after the grace is killed. */
static void on_limit(struct loop *l)
{
	if (l->result->has_timed_out) {
		/* Without a pid namespace only init can end the others. */
		if (is_set(l->box, PLAN_BARE))
			fd_closep(&l->box->watch);
		else
			(void)sys_pidfd_kill(l->pidfd, SIGKILL);
		return;
	}
	l->result->has_timed_out = true;
	go_on(l, DOOR_ON);
	set_due(l, DUE_LIMIT, BOX_GRACE_MS);
	if (has_command(l))
		terminal_signal(l->terminal,
				&(struct sys_signal){ .number = SIGTERM,
						      .code = SI_USER });
	else
		begin_end(l);
}

static void on_stop_over(struct loop *l)
{
	terminal_pass_on(l->terminal, SIGKILL);
}

static void on_guests_over(struct loop *l)
{
	door_clear(&l->door);
	tell_init(l);
}

/* All that ran in the box has ended, and its mounts are gone. */
static void on_burial(struct loop *l)
{
	l->is_unburied = door_has_unburied(&l->door);
	l->is_over = l->is_unburied;
}

static void on_look(struct loop *l)
{
	terminal_look(l->terminal);
}

static void on_guest(struct loop *l, size_t guest)
{
	struct door_request request;
	struct door_status status;
	int listener = -1;
	int r = door_hear(&l->door, guest, &request, &listener);

	if (listener >= 0 && request.word == DOOR_NET) {
		relayed_client(l->box->relayed, listener);
	} else if (listener >= 0) {
		heard_take(&l->heard, listener);
	} else if (r > 0 && request.word == DOOR_WHOSE) {
		door_own_up(&l->door, guest, l->is_halted || l->n_waking > 0);
	} else if (r > 0 && (request.word == DOOR_STATUS ||
			     request.word == DOOR_RESUME)) {
		status = (struct door_status){
			.supervisor = sys_getpid(),
			.init = l->child,
			.command = l->terminal->command,
			.is_full = l->is_halted,
		};
		door_answer(&l->door, guest, &status);
		if (request.word == DOOR_RESUME && l->is_halted) {
			space_waive(&l->space);
			go_on(l, DOOR_ON);
		}
	} else if (r > 0 && request.word == DOOR_LEND) {
		door_lend(&l->door, guest);
	} else if (r > 0 && request.word == DOOR_LEFT) {
		door_see_off(&l->door, guest);
	} else if (l->door.n_guests > guest && l->door.guests[guest].waits) {
		stop(l);
	}
	if (l->is_keeper && door_count_joined(&l->door) == 0)
		begin_end(l);
	if (l->is_ending)
		tell_init(l);
}

/*
 * Who said that it joins has to know before its command stops: it may have said
 * so after the last look at the door.
 */
static void hear_guests(struct loop *l)
{
	for (size_t i = l->door.n_guests; i-- > 0;)
		on_guest(l, i);
}

static bool is_to_end(const struct loop *l)
{
	return l->is_ending || l->is_asked || l->result->has_timed_out;
}

static void on_space(struct loop *l)
{
	if (is_to_end(l))
		return;
	set_due(l, DUE_SPACE, SPACE_LOOK_MS);
	if (!l->result->was_started)
		return;
	if (!l->has_lasted)
		(void)report_send(
			l->listener,
			&(struct hb_report){ .kind = HB_REPORT_LASTED });
	l->has_lasted = true;
	space_look(&l->space);
	if (l->space.is_full)
		hear_guests(l);
	if (l->space.is_full && !is_to_end(l)) {
		halt(l);
	} else if (l->is_halted) {
		go_on(l, DOOR_ROOM);
		(void)report_send(
			l->listener,
			&(struct hb_report){ .kind = HB_REPORT_RESUMED });
	}
}

static void on_rest_over(struct loop *l)
{
	(void)l;
}

static void on_relay_over(struct loop *l)
{
	int ms = relayed_restart(l->box->relayed);

	if (ms > 0)
		set_due(l, DUE_RELAY, ms);
}

static void (*const when_due[DUE_END])(struct loop *l) = {
	[DUE_LIMIT] = on_limit,	       [DUE_STOP] = on_stop_over,
	[DUE_GUESTS] = on_guests_over, [DUE_BURIAL] = on_burial,
	[DUE_LOOK] = on_look,	       [DUE_SPACE] = on_space,
	[DUE_TURN] = on_rest_over,     [DUE_RELAY] = on_relay_over,
};

static void on_started(struct loop *l, pid_t sender)
{
	l->result->was_started = true;
	heard_start(&l->heard);
	if (has_command(l))
		terminal_started(l->terminal, sender);
	(void)report_send(
		l->listener,
		&(struct hb_report){
			.kind = HB_REPORT_STARTED,
			.path = has_command(l) ? l->box->plan->argv[0] : "",
			.n = has_command(l) ? (uint64_t)sender : 0 });
	if (!has_command(l))
		sys_release_stack();
}

/* Asked for and not in force: nothing runs. */
static void fail_box(struct loop *l, int r)
{
	if (l->failure == 0)
		l->failure = r;
	(void)sys_pidfd_kill(l->pidfd, SIGKILL);
}

/* Only from an init that is still alone in the box. */
static void on_door(struct loop *l, unsigned ns, const int *fds, size_t n)
{
	bool has_user = ns & PLAN_NS_USER;
	bool is_early = !l->result->was_started;
	int r = is_early ? 0 : -HB_E_CHILD;

	/* The first is the root; box_namespaces has the order of the rest. */
	if (is_early && n >= (has_user ? 3 : 2))
		heard_enter(&l->heard, has_user ? fds[1] : -1,
			    fds[has_user ? 2 : 1]);
	if (is_early && has_door(l->box->plan))
		r = door_open(&l->door, l->box, ns, fds, n, l->child, l->err);
	else
		for (size_t i = 0; i < n; i++)
			sys_close(fds[i]);
	if (r < 0)
		fail_box(l, r);
}

/* Also from an init that is alone. */
static void on_net(struct loop *l, const struct message *message,
		   const int *fds, size_t n)
{
	struct relayed *net = l->result->was_started ? NULL : l->box->relayed;
	int r = relayed_take(net, message, fds, n, l->err);

	if (net && r < 0)
		fail_box(l, r);
}

/* The same from its command, which is not the caller's yet. */
static void on_listener(struct loop *l, const int *fds, size_t n)
{
	bool is_wanted = l->box->heard && !l->result->was_started &&
			 l->heard.n_listeners == 0 && n == 1;

	for (size_t i = 0; i < n && !is_wanted; i++)
		sys_close(fds[i]);
	if (is_wanted)
		heard_take(&l->heard, fds[0]);
}

/*
 * The command has ended.  If others go on, init makes ready for it, and says
 * so.
 */
static void on_command_end(struct loop *l, const struct message *message)
{
	note_end(l, message->value);
	look_for_network(l);
	if (!is_to_end(l)) {
		hear_guests(l);
		if (!is_to_end(l) && door_count_joined(&l->door) > 0) {
			l->due[DUE_STOP] = 0;
			lead_tell(l->box->watch, LEAD_STAY);
			return;
		}
	}
	begin_end(l);
	if (message->kind == MESSAGE_EMPTIED)
		tell_emptied(l);
}

/* Without a keeper the box ends with its first command. */
static void on_stays(struct loop *l)
{
	const struct keeper k = { l->box, l->terminal, &l->door, &l->heard,
				  &l->turns };
	size_t n = door_count_joined(&l->door);
	int r = -1;

	if (!l->has_status || l->is_keeper)
		return;
	if (n > 0 && !is_to_end(l))
		r = keeper_part(&k);
	if (r < 0)
		begin_end(l);
	if (r > 0) {
		l->result->n_staying = n;
		l->has_parted = l->is_over = true;
	}
	if (r == 0) {
		l->is_keeper = true;
		*l->result = (struct box_result){ .was_started = true,
						  .is_keeper = true };
	}
}

static void on_message(struct loop *l)
{
	int fds[SYS_RECORD_FDS];
	struct message message;
	pid_t sender = 0;
	size_t n = 0;
	int r;

	r = sys_recv_record_fds(l->box->watch, &message, sizeof(message),
				&sender, fds, &n);
	if (r > 0 && message.kind == MESSAGE_DOOR)
		on_door(l, (unsigned)message.value, fds, n);
	else if (r > 0 && message.kind == MESSAGE_LISTENER)
		on_listener(l, fds, n);
	else if (r > 0 && message.kind == MESSAGE_NET)
		on_net(l, &message, fds, n);
	else
		for (size_t i = 0; i < n; i++)
			sys_close(fds[i]);
	if (r <= 0) {
		/* init is going; its pidfd will say when it is gone. */
		fd_closep(&l->box->watch);
		return;
	}
	switch (message.kind) {
	case MESSAGE_ERROR:
		/* The first is the cause; init fails by it as well. */
		if (l->failure == 0)
			l->failure = message_adopt(&message, l->err);
		break;
	case MESSAGE_STARTED:
		on_started(l, sender);
		break;
	case MESSAGE_STOPPED:
		terminal_stopped(l->terminal, message.value, l->signals);
		break;
	case MESSAGE_EXITED:
	case MESSAGE_EMPTIED:
		on_command_end(l, &message);
		break;
	case MESSAGE_STAYS:
		on_stays(l);
		break;
	case MESSAGE_LEFTOVER:
		l->result->n_leftover = (unsigned)message.value;
		break;
	case MESSAGE_AWAKE:
		l->n_waking -= l->n_waking > 0;
		break;
	case MESSAGE_CROWDED:
	case MESSAGE_FULL:
		supervise_limit(l->box, &message, l->result);
		break;
	case MESSAGE_CONTINUED:
	case MESSAGE_DOOR:
	case MESSAGE_LISTENER:
	case MESSAGE_NET:
		break;
	}
}

/*
 * The box is stopped, and the terminal is ours: a ^Z is for us alone.  What
 * asks the command to end has to reach it, which takes that it goes on for a
 * while. True: there is nothing else to do.
 */
static bool take_while_halted(struct loop *l, int sig)
{
	if (job_signal_ends(sig)) {
		go_on(l, DOOR_ON);
		if (l->due[DUE_SPACE] > 0)
			set_due(l, DUE_SPACE, BOX_GRACE_MS);
		return false;
	}
	if (job_signal_stops(sig)) {
		(void)sys_raise_default(sig);
		l->is_told = false;
	}
	if (job_signal_stops(sig) || sig == SIGCONT)
		set_due(l, DUE_SPACE, 0);
	return job_signal_stops(sig) || sig == SIGCONT;
}

static void on_signal(struct loop *l)
{
	struct sys_signal signal;

	while (sys_signalfd_next(l->signals, &signal) > 0) {
		if (l->is_halted && take_while_halted(l, signal.number))
			continue;
		if (has_command(l))
			terminal_signal(l->terminal, &signal);
		else if (job_signal_ends(signal.number))
			stop(l);
		else if (job_signal_stops(signal.number))
			(void)sys_raise_default(signal.number);
	}
}

static void on_knock(struct loop *l)
{
	door_let_in(&l->door);
}

/* A client that asks while a mark is made waits in the kernel. */
static bool may_turn(const struct loop *l)
{
	return l->door.is_open && l->result->was_started && l->turns.work < 0 &&
	       l->due[DUE_TURN] == 0;
}

static void on_turn(struct loop *l)
{
	turns_begin(&l->turns, l->box->plan);
	if (l->turns.work < 0)
		set_due(l, DUE_TURN, TURNS_REST_MS);
}

static void on_turned(struct loop *l)
{
	set_due(l, DUE_TURN, turns_end(&l->turns));
}

static void on_end(struct loop *l)
{
	int status = 0;

	l->is_over = true;
	if (sys_waitpid(l->child, &status, 0) < 0)
		return;
	if (!l->has_status && (WIFSIGNALED(status) || l->result->has_timed_out))
		note_end(l, status);
	/* Its end was asked for. */
	if (!has_command(l) && l->is_last)
		l->has_status = true;
}

static int64_t ms_of(uint64_t seconds)
{
	const uint64_t most = UINT64_C(1) << 40; /* longer than anybody waits */

	return (int64_t)(seconds < most ? seconds : most) * 1000;
}

/* Does what is due, and says how long to wait for the next event. */
static int do_due(struct loop *l)
{
	int64_t now = sys_now_ms(), left = INT64_MAX;

	if (l->box->watch < 0 && l->door.n_orphans > 0 &&
	    l->due[DUE_BURIAL] == 0)
		set_due(l, DUE_BURIAL, BURIAL_MS);
	if (!l->is_halted && l->terminal->pty &&
	    pty_awaits_front(l->terminal->pty) && l->due[DUE_LOOK] == 0)
		set_due(l, DUE_LOOK, PTY_LOOK_MS);
	for (int i = 0; i < DUE_END; i++) {
		if (l->due[i] > 0 && l->due[i] <= now) {
			l->due[i] = 0;
			when_due[i](l);
		}
		if (l->due[i] > 0 && l->due[i] - now < left)
			left = l->due[i] - now;
	}
	if (left == INT64_MAX)
		return -1;
	return left < INT_MAX ? (int)left : INT_MAX;
}

/*
 * Reports come before the end: what init said in its last moment is still in
 * the socket when the pidfd says that it is gone.
 */
struct source {
	int fd;
	void (*ready)(struct loop *l);
};

enum {
	MESSAGES,
	SIGNALS,
	END,
	KNOCK,
	TURN,
	TURNED,
	SOURCES
};

/*
 * In what is polled: the sources, the two terminals, the listeners for calls,
 * the relay and its clients, then the guests.
 */
#define PTY    SOURCES
#define HEARD  (SOURCES + PTY_FDS)
#define RELAY  (HEARD + HEARD_FDS)
#define GUESTS (RELAY + RELAYED_FDS)

/* A relay that never served is a network that was not made. */
static void serve_relay(struct loop *l, const struct pollfd *fds)
{
	int r = relayed_serve(l->box->relayed, fds);

	if (r < 0)
		fail_box(l, hb_fail(l->err, r, "cannot confine the relay"));
	if (r > 0)
		set_due(l, DUE_RELAY, r);
}

/* Serves one of those that are ready: what to look at next may be another. */
static int serve_one(struct loop *l, const struct source *sources,
		     struct pollfd *fds, size_t n_guests, int wait)
{
	int r;

	r = sys_poll(fds, GUESTS + n_guests, wait);
	if (r < 0)
		return r;
	for (int i = 0; i < SOURCES; i++) {
		if (!fds[i].revents)
			continue;
		sources[i].ready(l);
		return 0;
	}
	for (size_t i = 0; i < n_guests; i++) {
		if (!fds[GUESTS + i].revents)
			continue;
		on_guest(l, i);
		return 0;
	}
	if (fds[PTY].revents || fds[PTY + 1].revents)
		terminal_serve(l->terminal, fds + PTY);
	/* Beside the terminal: neither may keep the other waiting. */
	heard_serve(&l->heard, fds + HEARD);
	serve_relay(l, fds + RELAY);
	return 0;
}

/* The places between the sources and the guests. */
static void fill_own(const struct loop *l, struct pollfd *fds)
{
	if (l->terminal->pty)
		pty_wants(l->terminal->pty, fds + PTY);
	heard_wants_fds(&l->heard, fds + HEARD);
	relayed_wants(l->box->relayed, fds + RELAY);
}

static void run_loop(struct loop *l)
{
	auto_free struct pollfd *fds = NULL;
	size_t room = GUESTS;
	int r = 0;

	fds = calloc(room, sizeof(*fds));
	while (fds && r >= 0 && !l->is_over) {
		const struct door *d = &l->door;
		int wait = do_due(l);
		bool is_open =
			d->is_open && !d->is_full && l->result->was_started;
		const struct source sources[SOURCES] = {
			[MESSAGES] = { l->box->watch, on_message },
			[SIGNALS] = { l->signals, on_signal },
			[END] = { l->pidfd, on_end },
			[KNOCK] = { is_open ? d->listener : -1, on_knock },
			[TURN] = { may_turn(l) ? l->turns.listener : -1,
				   on_turn },
			[TURNED] = { l->turns.work, on_turned },
		};
		size_t n = GUESTS + d->n_guests;

		if (l->is_over)
			return;
		if (!fds || n > room) {
			struct pollfd *grown =
				reallocarray(fds, 2 * n, sizeof(*fds));

			if (!grown)
				return;
			fds = grown;
			room = 2 * n;
		}
		for (size_t i = 0; i < n; i++)
			fds[i] = (struct pollfd){
				.fd = i < SOURCES  ? sources[i].fd
				      : i < GUESTS ? -1
						   : d->guests[i - GUESTS].fd,
				.events = POLLIN
			};
		fill_own(l, fds);
		r = serve_one(l, sources, fds, n - GUESTS, wait);
	}
}

/* What became of the command, which is the caller's. */
static int tell_result(struct loop *l)
{
	if (!l->is_over)
		return hb_fail(l->err, -HB_E_CHILD, "cannot watch the box");
	if (l->failure < 0)
		return l->failure;
	if (l->is_unburied && !l->has_status && has_command(l))
		note_end(l, SIGKILL);
	if (!l->has_status && !l->is_unburied)
		return hb_fail(l->err, -HB_E_CHILD, "cannot enter the sandbox");
	(void)report_send(
		l->listener,
		&(struct hb_report){ .kind = HB_REPORT_ENDED,
				     .n = (uint64_t)l->result->status });
	return 0;
}

int supervise(struct box *box, struct terminal *terminal, pid_t child,
	      int pidfd, int signals, const struct hb_listener *listener,
	      struct box_result *ret_result, struct hb_error *err)
{
	struct loop l = {
		.box = box,
		.terminal = terminal,
		.listener = listener,
		.result = ret_result,
		.err = err,
		.signals = signals,
		.child = child,
		.pidfd = pidfd,
		.turns = TURNS_NONE,
	};

	l.turns.listener = box->plan->fds[PLAN_FD_TURNS];
	heard_init(&l.heard, box, listener);
	if (box->plan->limits.seconds)
		set_due(&l, DUE_LIMIT, ms_of(box->plan->limits.seconds));
	space_init(&l.space, box->plan);
	if (l.space.n > 0)
		set_due(&l, DUE_SPACE, SPACE_LOOK_MS);
	run_loop(&l);
	space_done(&l.space);
	if (!l.has_parted)
		door_await_return(&l.door, listener);
	ret_result->was_lent = l.door.was_lent;
	/* Before the layers are looked at: these keep the mounts there. */
	door_done(&l.door);
	turns_done(&l.turns);
	heard_done(&l.heard);
	if (!l.is_over)
		(void)sys_pidfd_kill(pidfd, SIGKILL);
	if (!l.is_over && !l.is_keeper)
		(void)sys_waitpid(child, NULL, 0);
	/* The command's end was told by the process that is its own. */
	if (l.is_keeper)
		return 0;
	ret_result->is_nested_counted = l.heard.is_counted;
	ret_result->n_nested = l.heard.notify.page->n_refused;
	return tell_result(&l);
}
