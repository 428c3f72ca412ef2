/* SPDX-License-Identifier: Apache-2.0 */
#include "box/job_signals.h"

#include <signal.h>

bool job_signal_ends(int sig)
{
	return sig == SIGHUP || sig == SIGINT || sig == SIGQUIT ||
	       sig == SIGTERM;
}

bool job_signal_stops(int sig)
{
	return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}
