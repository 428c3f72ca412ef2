/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/call_look.h"

#include "box/notify/call_path.h"
#include "box/notify/call_ring.h"
#include "box/notify/caller.h"
#include "box/state.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "sys/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

/* So much is written before the recorder is woken, and it waits so long. */
#define WAKE_BYTES 65536
#define WAKE_MS	   100

/* A ring without room: after so long a note is lost, and the call goes on. */
#define ROOM_MS 1000

/* O_TMPFILE without its O_DIRECTORY, as the kernel has it. */
#define NAMELESS  020000000
#define ANY_WRITE (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/* Where a call has its parts. */
enum manner {
	OPEN,	/* by its flags */
	OPEN2,	/* by those that lie in memory */
	CREATE, /* and nothing else */
	LINK,	/* a symbolic one */
	MODIFY,
	DELETE,
	MOVE,
	ATTRIB,
	EXEC,
	SOCKET, /* binds or connects */
	CHDIR,
	NAMESPACE,
};

#define NONE (-1)

/* Arguments, or NONE: of paths and their directories, and of flags. */
struct row {
	long nr;
	enum manner manner;
	signed char dir, path, to_dir, to, flags;
	bool is_followed; /* a link in the last place, if no flag says not */
};

static const struct row rows[] = {
	{ SYS_openat, OPEN, 0, 1, NONE, NONE, 2, true },
	{ SYS_openat2, OPEN2, 0, 1, NONE, NONE, 2, true },
	{ SYS_truncate, MODIFY, NONE, 0, NONE, NONE, NONE, true },
	{ SYS_renameat, MOVE, 0, 1, 2, 3, NONE, false },
	{ SYS_renameat2, MOVE, 0, 1, 2, 3, NONE, false },
	{ SYS_mkdirat, CREATE, 0, 1, NONE, NONE, NONE, false },
	{ SYS_mknodat, CREATE, 0, 1, NONE, NONE, NONE, false },
	{ SYS_linkat, CREATE, 2, 3, NONE, NONE, NONE, false },
	{ SYS_unlinkat, DELETE, 0, 1, NONE, NONE, NONE, false },
	{ SYS_symlinkat, LINK, 1, 2, NONE, NONE, NONE, false },
	{ SYS_fchmodat, ATTRIB, 0, 1, NONE, NONE, NONE, true },
	{ SYS_fchmodat2, ATTRIB, 0, 1, NONE, NONE, 3, true },
	{ SYS_fchownat, ATTRIB, 0, 1, NONE, NONE, 4, true },
	{ SYS_utimensat, ATTRIB, 0, 1, NONE, NONE, 3, true },
	{ SYS_setxattr, ATTRIB, NONE, 0, NONE, NONE, NONE, true },
	{ SYS_lsetxattr, ATTRIB, NONE, 0, NONE, NONE, NONE, false },
	{ SYS_removexattr, ATTRIB, NONE, 0, NONE, NONE, NONE, true },
	{ SYS_lremovexattr, ATTRIB, NONE, 0, NONE, NONE, NONE, false },
	{ SYS_execve, EXEC, NONE, 0, NONE, NONE, NONE, true },
	{ SYS_execveat, EXEC, 0, 1, NONE, NONE, 4, true },
	{ SYS_bind, SOCKET, NONE, 1, NONE, NONE, NONE, false },
	{ SYS_connect, SOCKET, NONE, 1, NONE, NONE, NONE, false },
	{ SYS_chdir, CHDIR, NONE, NONE, NONE, NONE, NONE, false },
	{ SYS_fchdir, CHDIR, NONE, NONE, NONE, NONE, NONE, false },
	{ SYS_unshare, NAMESPACE, NONE, NONE, NONE, NONE, NONE, false },
	{ SYS_clone, NAMESPACE, NONE, NONE, NONE, NONE, NONE, false },
#ifdef SYS_open
	{ SYS_open, OPEN, NONE, 0, NONE, NONE, 1, true },
	{ SYS_creat, OPEN, NONE, 0, NONE, NONE, NONE, true },
	{ SYS_rename, MOVE, NONE, 0, NONE, 1, NONE, false },
	{ SYS_mkdir, CREATE, NONE, 0, NONE, NONE, NONE, false },
	{ SYS_mknod, CREATE, NONE, 0, NONE, NONE, NONE, false },
	{ SYS_link, CREATE, NONE, 1, NONE, NONE, NONE, false },
	{ SYS_rmdir, DELETE, NONE, 0, NONE, NONE, NONE, false },
	{ SYS_unlink, DELETE, NONE, 0, NONE, NONE, NONE, false },
	{ SYS_symlink, LINK, NONE, 1, NONE, NONE, NONE, false },
	{ SYS_chmod, ATTRIB, NONE, 0, NONE, NONE, NONE, true },
	{ SYS_chown, ATTRIB, NONE, 0, NONE, NONE, NONE, true },
	{ SYS_lchown, ATTRIB, NONE, 0, NONE, NONE, NONE, false },
	{ SYS_utime, ATTRIB, NONE, 0, NONE, NONE, NONE, true },
	{ SYS_utimes, ATTRIB, NONE, 0, NONE, NONE, NONE, true },
	{ SYS_futimesat, ATTRIB, 0, 1, NONE, NONE, NONE, true },
#endif
};

static const struct row *find_row(int nr)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].nr == nr)
			return &rows[i];
	return NULL;
}

void call_wake(struct notifier *p)
{
	const struct notify_record record = { .word = NOTIFY_NOTES };

	if (!p->has_notes)
		return;
	p->has_notes = false;
	(void)sys_offer_record(p->wake, &record, sizeof(record));
}

int call_wake_in(const struct notifier *p)
{
	return p->has_notes ? WAKE_MS : -1;
}

static void put(struct notifier *p, const struct call_note *note)
{
	struct call_ring *ring = p->notify.page->ring;

	for (int i = 0; !call_ring_put(ring, note); i++) {
		/* Without a recorder not every call waits so long. */
		if (i == ROOM_MS || p->has_waited) {
			p->has_waited = true;
			__atomic_add_fetch(&ring->lost, 1, __ATOMIC_RELEASE);
			return;
		}
		p->has_notes = true;
		call_wake(p);
		sys_pause(1);
	}
	p->has_notes = true;
	p->has_waited = false;
	if (ring->written - p->woken_at > WAKE_BYTES) {
		p->woken_at = ring->written;
		call_wake(p);
	}
}

static void tell(struct notifier *p, const struct notify_call *call,
		 enum call_verb verb, const char *path, const char *to)
{
	pid_t pid = (pid_t)call->data.pid;
	const struct call_note note = {
		.verb = verb,
		.pid = pid,
		.when = sys_now(),
		.path = path,
		.to = to,
		.program = call_program(p->paths, pid),
	};

	put(p, &note);
}

static struct call_where where_of(const struct notify_call *call, int dir,
				  int path)
{
	const uint64_t *args = call->data.data.args;

	return (struct call_where){
		.pid = (pid_t)call->data.pid,
		.dir = dir == NONE ? AT_FDCWD : (int)args[dir],
		.word = args[path],
	};
}

/* The flags of an open; creat has none. */
static uint64_t open_flags(const struct notify_call *call,
			   const struct row *row)
{
	const uint64_t *args = call->data.data.args;
	uint64_t flags = 0;

	if (row->flags == NONE)
		return O_CREAT | O_WRONLY | O_TRUNC;
	if (row->manner == OPEN)
		return args[row->flags];
	return sys_read_memory((pid_t)call->data.pid, args[row->flags], &flags,
			       sizeof(flags)) == sizeof(flags)
		       ? flags
		       : 0;
}

static void look_open(struct notifier *p, const struct notify_call *call,
		      const struct row *row)
{
	uint64_t flags = open_flags(call, row);
	struct call_where where = where_of(call, row->dir, row->path);
	bool is_new = flags & O_CREAT && flags & O_EXCL;
	bool is_write = flags & ANY_WRITE;
	char path[PATH_MAX];
	unsigned mode;

	/* A file without a name: the link that gives it one is told. */
	if (flags & NAMELESS ||
	    (!is_write && !(p->notify.page->records & 1U << FILTER_LOOKS)))
		return;
	where.is_followed = !is_new && !(flags & O_NOFOLLOW);
	if (call_path(p->paths, &where, !is_new, path, &mode) < 0)
		return;
	/* Devices and pipes are no files that change. */
	if (mode != 0 && !S_ISREG(mode) && !S_ISDIR(mode))
		return;
	if (is_write)
		tell(p, call,
		     flags & O_CREAT && mode == 0 ? CALL_CREATE : CALL_MODIFY,
		     path, NULL);
	else if (mode == 0)
		tell(p, call, CALL_LOOK, path, NULL);
}

static void look_path(struct notifier *p, const struct notify_call *call,
		      const struct row *row, enum call_verb verb)
{
	struct call_where where = where_of(call, row->dir, row->path);
	const uint64_t *args = call->data.data.args;
	char path[PATH_MAX], to[PATH_MAX];
	unsigned mode;

	where.is_followed =
		row->is_followed &&
		!(row->flags != NONE && args[row->flags] & AT_SYMLINK_NOFOLLOW);
	if (call_path(p->paths, &where, false, path, &mode) < 0)
		return;
	/* A shell that looks for a program tries each place. */
	if (verb == CALL_EXEC && mode == 0 && path[0] != '\0' &&
	    !(row->flags != NONE && args[row->flags] & AT_EMPTY_PATH))
		return;
	if (row->to != NONE) {
		where = where_of(call, row->to_dir, row->to);
		if (call_path(p->paths, &where, false, to, &mode) < 0)
			return;
	}
	tell(p, call, verb, path, row->to != NONE ? to : NULL);
}

/* "ADDRESS port N"; false: it is none of a network outside. */
static bool name_address(const void *raw, ssize_t n, char *ret, size_t size)
{
	const struct sockaddr_in *in = raw;
	const struct sockaddr_in6 *in6 = raw;
	char text[INET6_ADDRSTRLEN];

	if (n >= (ssize_t)sizeof(*in) && in->sin_family == AF_INET) {
		if (ntohl(in->sin_addr.s_addr) >> 24 == 127 ||
		    !inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)))
			return false;
		(void)snprintf(ret, size, "%s port %u", text,
			       ntohs(in->sin_port));
		return true;
	}
	if (n < (ssize_t)sizeof(*in6) || in6->sin6_family != AF_INET6 ||
	    IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ||
	    !inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text)))
		return false;
	(void)snprintf(ret, size, "%s port %u", text, ntohs(in6->sin6_port));
	return true;
}

static void look_socket(struct notifier *p, const struct notify_call *call,
			const struct row *row)
{
	const uint64_t *args = call->data.data.args;
	struct sockaddr_un address = { 0 };
	struct call_where where = { .pid = (pid_t)call->data.pid,
				    .dir = AT_FDCWD };
	size_t size = args[2] < sizeof(address) ? args[2] : sizeof(address);
	char path[PATH_MAX];
	unsigned mode;
	ssize_t n = sys_read_memory(where.pid, args[row->path], &address, size);

	if (row->nr == SYS_connect) {
		/* Where a relay decides, it tells: net/relay.h. */
		if (p->box->ns & PLAN_NS_NET && !p->box->plan->net &&
		    name_address(&address, n, path, sizeof(path)))
			tell(p, call, CALL_CONNECT, path, NULL);
		return;
	}
	where.word = args[row->path] + offsetof(struct sockaddr_un, sun_path);
	/* Abstract ones are no files. */
	if (n > (ssize_t)offsetof(struct sockaddr_un, sun_path) &&
	    address.sun_family == AF_UNIX && address.sun_path[0] != '\0' &&
	    call_path(p->paths, &where, false, path, &mode) >= 0)
		tell(p, call, CALL_CREATE, path, NULL);
}

static void look(struct notifier *p, const struct notify_call *call,
		 const struct row *row)
{
	pid_t pid = (pid_t)call->data.pid;

	switch (row->manner) {
	case OPEN:
	case OPEN2:
		look_open(p, call, row);
		break;
	case CREATE:
		call_paths_made(p->paths);
		look_path(p, call, row, CALL_CREATE);
		break;
	case LINK:
		look_path(p, call, row, CALL_CREATE);
		call_paths_moved(p->paths);
		break;
	case MODIFY:
		look_path(p, call, row, CALL_MODIFY);
		break;
	case DELETE:
		look_path(p, call, row, CALL_DELETE);
		break;
	case MOVE:
		look_path(p, call, row, CALL_MOVE);
		call_paths_moved(p->paths);
		break;
	case ATTRIB:
		look_path(p, call, row, CALL_ATTRIB);
		break;
	case EXEC:
		look_path(p, call, row, CALL_EXEC);
		call_paths_drop(p->paths, pid);
		break;
	case SOCKET:
		look_socket(p, call, row);
		break;
	case CHDIR:
		call_paths_moved(p->paths);
		break;
	case NAMESPACE:
		tell(p, call, CALL_NAMESPACE, "", NULL);
		break;
	}
}

enum notify_answer call_look(struct notify *n, const struct notify_call *call)
{
	struct notifier *p = n->process;
	const struct row *row;

	/* What comes before is our own. */
	if (!n->page->records || !n->page->is_started)
		return NOTIFY_GO_ON;
	row = find_row(call->data.data.nr);
	if (!row)
		return NOTIFY_GO_ON;
	if (!p)
		return NOTIFY_FORK;
	if (p->paths && call->data.pid > 0)
		look(p, call, row);
	return NOTIFY_GO_ON;
}
