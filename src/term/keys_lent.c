/* SPDX-License-Identifier: Apache-2.0 */
#include "term/keys_lent.h"

#include "base/auto.h"
#include "sys/signal.h"

int keys_lend(struct keys_lent *keys)
{
	(void)sigemptyset(&keys->set);
	(void)sigaddset(&keys->set, SIGPIPE);
	(void)sigaddset(&keys->set, SIGINT);
	(void)sigaddset(&keys->set, SIGQUIT);
	return sys_block_signals(&keys->set, &keys->old);
}

void keys_return(struct keys_lent *keys)
{
	auto_fd int fd = sys_signalfd(&keys->set);
	struct sys_signal signal;

	while (fd >= 0 && sys_signalfd_next(fd, &signal) == 1)
		;
	(void)sys_restore_signals(&keys->old);
}
