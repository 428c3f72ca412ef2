#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# A signal for the supervisor reaches the command, whoever sent it and when.
# shellcheck disable=SC2154 # set in lib/box.sh
. "$HB_TESTS/lib/box.sh"

# Says which signal came; gives up after a while.
cat >hear.py <<'PYTHON'
import signal, sys
wanted = {signal.SIGTERM, signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
print("up", flush=True)
heard = signal.sigtimedwait(wanted, 5)
print(signal.Signals(heard.si_signo).name if heard else "nothing", flush=True)
PYTHON

# A parent in the same process group, as scripts and build tools are.
cat >parent.py <<'PYTHON'
import signal, subprocess, sys
run = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, text=True)
run.stdout.readline()
run.terminate()
print(run.stdout.read().strip(), run.wait())
PYTHON
says 'a signal of the parent in our group' 'SIGTERM 0' \
	python3 parent.py "$HB_BIN" run --ephemeral -q -- python3 hear.py

# A signal that is there before the command is.  It waits, blocked, over the
# execution of the supervisor; its sender, in a session of its own, is gone.
cat >early.py <<'PYTHON'
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
child = os.fork()
if child == 0:
    os.setsid()
    os.kill(os.getppid(), signal.SIGTERM)
    os._exit(0)
os.waitpid(child, 0)
os.execv(sys.argv[1], sys.argv[1:])
PYTHON
says 'a signal from before the start' 'up
SIGTERM' python3 early.py "$HB_BIN" run --ephemeral -q -- python3 hear.py
done_testing
