#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: unshare ip mount openssl curl strace
# timeout: 600
"""A relay that is killed at every stage, resolvers that fail, and clients that
misbehave: nothing leaks, nothing hangs, nothing is left."""

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from net_place import USUAL, Place, begin, gone, has, lacks, relay_of  # noqa: E402
from net_world import enter  # noqa: E402
from pty_shell import Failed, Tap, same, wait_until  # noqa: E402

SOAK = os.environ.get("HB_SOAK") == "1"
# What the relay does, and what shows that it is at it: a client inside, and words of the world.
# A client prints what it got, which must not be what only a server says.
DIAL = ("import socket\ns=socket.create_connection(('%s',%d))\n%s\n"
        "print('up',flush=True)\ninput()\n"
        "try: print('got',s.recv(99))\nexcept OSError as e: print('cut',e)")
STAGES = {
    "has a name looked up": ("silent.example.com", 80, "s.send(b'GET / HTTP/1.1\\r\\nHost: silent.example.com\\r\\n\\r\\n')", "silent.example.com"),
    "connects": ("stuck.example.com", 9999, "", "stuck.example.com"),
    "waits for the first bytes": ("www.example.com", 80, "s.send(b'GET')", ""),
    "relays": ("www.example.com", 2525, "s.recv(99)", ""),
    "refuses": ("evil.example", 80, "", ""),
    "speaks with the proxy": ("mute.example.com", 80, "", "CONNECT mute.example.com"),
}
# Calls of a relay that serves, and of one that starts.
CALLS = ("accept4", "getsockname", "setsockopt", "epoll_ctl", "recvfrom", "socket", "connect", "sendto", "sendmsg",
         "shutdown", "close", "epoll_pwait")
START_CALLS = ("epoll_create1", "landlock_restrict_self", "capset")


def end(box, typed="\n"):
    out, _ = box.communicate(typed, timeout=200)
    return out


def kill(relay):
    os.kill(relay, signal.SIGKILL)
    wait_until(lambda: gone(relay), "the relay is gone")


def stages(tap, p):
    """Each with a connection that the relay has in its hands."""
    def killed(host, port, more, sign):
        options = ("--net-proxy", "http://203.0.113.20:3130") if "mute" in host else ()
        script = f"{p.folder}/{host}.py"
        with open(script, "w", encoding="utf-8") as file:
            file.write(DIAL % (host, port, more))
        box, relay = begin(p, f"python3 {script}; curl -sS -m 100 http://www.example.com/z; echo end", *options)
        wait_until(lambda: any(sign in one for one in p.world.asked + p.world.seen), "the relay is at it")
        kill(relay)
        out = end(box)
        has(out, "it starts again", "end")
        has(out, "cut" if "got b''" not in out else "got b''")
        if not options:
            has(out, "you asked www.example.com for /z")
        lacks(out, "evil.example for", "220")
        same(relay_of(box.pid), None)

    with ThreadPoolExecutor(len(STAGES)) as pool:
        runs = {name: pool.submit(killed, *row) for name, row in STAGES.items()}
        for name, run in runs.items():
            tap.test(f"a relay that is killed while it {name} cuts the connection, and starts again", run.result)


def calls(tap, p):
    """Before the n-th call of each kind, until there are no more of them."""
    fetch = "curl -sS -m 100 http://www.example.com/one; curl -sS -m 100 --retry 9 --retry-all-errors http://www.example.com/two; echo end"

    def killed(call, n):
        box, relay = begin(p, f"echo up; read a; {fetch}")
        with subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={n}",
                               "-p", str(relay)], stderr=subprocess.DEVNULL) as tracer:
            def is_traced():
                if gone(relay):
                    return True  # by the call that it waited in
                with open(f"/proc/{relay}/status", encoding="utf-8") as file:
                    return f"TracerPid:\t{tracer.pid}\n" in file.read()
            wait_until(is_traced, "the relay is traced")
            out = end(box)
        has(out, "www.example.com for /two", "end")
        return "it starts again" in out

    def all_of(call):
        hits = 0
        for n in range(1, 40 if SOAK else 2):
            if not killed(call, n):
                break
            hits += 1
        return hits

    with ThreadPoolExecutor(4) as pool:
        hits = dict(zip(CALLS, pool.map(all_of, CALLS)))
    tap.test("a relay that is killed at any of its calls starts again", lambda: same(
        [call for call in CALLS if hits[call] == 0], []))


def starts(tap, p):
    def fails(call, how):
        words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{how}"]
        done = subprocess.run([*words, *p.words("-q", *USUAL), "sh", "-c", "echo ran"], cwd=p.folder + "/p", env=p.env(),
                              capture_output=True, text=True, timeout=200, check=False)
        same(done.returncode, 125)
        lacks(done.stdout, "ran")
        return done.stderr

    for call in START_CALLS:
        tap.test(f"a relay that dies at {call} leaves no box", fails, call, "signal=KILL")
    # Slow, so that a command that did not wait would have run.
    tap.test("a relay that cannot serve is noticed before the command runs", lambda: has(
        fails("epoll_create1", "error=EMFILE:delay_enter=400000"), "cannot confine the relay"))
    tap.test("a relay that cannot confine itself is noticed before the command runs", lambda: has(
        p.run("echo ran", without=("landlock_restrict_self", "EPERM")), "125:"))


def again(tap, p):
    """Rests get longer: how many lines there are in a minute is unit/t_relay_rest's."""
    def three():
        box, relay = begin(p, "echo up; read a; curl -sS -m 100 http://www.example.com/z; echo end")
        for _ in range(3):
            kill(relay)
            wait_until(lambda old=relay: relay_of(box.pid) not in (None, old), "there is another relay")
            relay = relay_of(box.pid)
        out = end(box)
        has(out, "www.example.com for /z")
        same(out.count("it starts again"), 3)

    tap.test("a relay that is killed again and again starts each time", three)


def resolvers(tap, p):
    say = "curl -sS -m 100 http://%s/r"

    def with_servers(text, command):
        old = "nameserver 203.0.113.53\nsearch corp.example\n"
        p.world.write("resolv.conf", text)
        try:
            return p.run(command)
        finally:
            p.world.write("resolv.conf", old)

    def changes():
        """The file is looked at with each name that is looked up."""
        box, _ = begin(p, "echo up; read a; for i in 1 2 3 4 5 6 7 8 9; do curl -sS -m 100 http://n$i.example.com/; sleep 0.3; done; echo end")
        p.world.write("resolv.conf", "nameserver 203.0.113.11\nnameserver 203.0.113.53\nsearch corp.example\n")
        has(end(box), "you asked n9.example.com")

    hosts = {
        "a resolver that answers late is waited for": ("late.example.com", "late.example.com for /r"),
        "an answer that says 10000 records is one of a few": ("huge.example.com", "huge.example.com for /r"),
        "an answer with a wrong number is no answer": ("forged.example.com", "the name cannot be looked up"),
        "an answer without an end is no answer": ("cut.example.com", "the name cannot be looked up"),
    }
    with ThreadPoolExecutor(len(hosts)) as pool:
        for (name, row), out in zip(hosts.items(), pool.map(lambda row: p.run(say % row[0]), hosts.values())):
            tap.test(name, has, out, row[1])
    tap.test("without servers in resolv.conf a name cannot be looked up", lambda: has(
        with_servers("# none\n", say % "www.example.com"), "the name cannot be looked up"))
    tap.test("without resolv.conf a name of the host's own file is reached", lambda: has(
        with_servers("", say % "file.example.com"), "you asked file.example.com"))
    tap.test("servers that change are found while the box runs", changes)
    tap.test("a first server that is dead is passed over", lambda: has(
        with_servers("nameserver 203.0.113.11\nnameserver 203.0.113.53\n", say % "www.example.com"), "you asked www.example.com"))


QUESTIONS = r"""
import socket, struct
def ask(name, labels=None, raw=None):
    q = raw if raw is not None else struct.pack('>HHHHHH', 7, 0x100, 1, 0, 0, 0) + b''.join(
        bytes([len(l)]) + l for l in labels or name.split(b'.')) + b'\0\0\1\0\1'
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(60 if raw is None else 1)
    s.sendto(q, ('127.0.0.1', 53))
    try:
        a = s.recv(2000)
        return 'code%d answers%d' % (a[3] & 15, a[7])
    except socket.timeout:
        return 'silent'
print('long', ask(b'', labels=[b'a' * 63] * 3 + [b'b' * 61]))
print('longer', ask(b'', labels=[b'a' * 63] * 3 + [b'b' * 62]))
print('byte', ask(b'', raw=b'x'), ask(b'', raw=b''))
s = socket.create_connection(('127.0.0.1', 53)); s.sendall(b'\0\1x')
try: print('stream', s.recv(9))
except OSError: print('stream reset')
print('after', ask(b'www.example.com'))
"""

ENDLESS = r"""
import socket
for first, port in ((b'G' * 65536, 80), (b'\x16\3\1\x40\0' + b'\1\0\xff\xff' + b'x' * 65536, 443), (b'\r\n' * 32768, 80)):
    s = socket.create_connection(('www.example.com', port)); n = 0
    try:
        while n < 1 << 40: n += s.send(first)
    except OSError:
        print('ended')
s = socket.create_connection(('evil.example', 80)); n = 0
try:
    while n < 1 << 40: n += s.send(b'x' * 65536)
except OSError:
    print('ended')
"""

EACH = """
import socket
for i in range(400):
    s = socket.create_connection(('www.example.com', 2526)); s.recv(4); s.close()
print(i + 1)
"""

AT_ONCE = r"""
import resource, selectors, socket
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
count = min(5000, hard - 200)
wait, left, bad = selectors.EpollSelector(), 0, 0
address = socket.getaddrinfo('www.example.com', 2526, socket.AF_INET)[0][4]
kept = []
for i in range(count):
    s = socket.socket(); s.setblocking(False); s.connect_ex(address); wait.register(s, selectors.EVENT_READ); left += 1
while left:
    for key, _ in wait.select():
        try:
            bad += key.fileobj.recv(4) != b'220 '
        except OSError:
            bad += 1
        wait.unregister(key.fileobj); kept.append(key.fileobj); left -= 1
    if left == 0 or len(kept) >= 3000 or not wait.select(1):
        for s in kept: s.close()
        kept = []
print(count, 'opened,', bad, 'failed')
"""


def clients(tap, p):
    def script(text):
        path = f"{p.folder}/inside.py"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return f"python3 {path}"

    def questions():
        out = p.run(script(QUESTIONS))
        has(out, "long code0 answers1", "longer code1 answers0", "byte silent silent", "stream reset", "after code0 answers1")

    def at_once():
        count = min(5000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 200)
        same(p.run(script(AT_ONCE), timeout=500), f"{count} opened, 0 failed")

    def unheard():
        """While the supervisor does not listen connections go on, and the log says that it has a gap."""
        box, _ = begin(p, f"echo up; read a; {script(EACH)}; echo done; read a", session="unheard")
        os.kill(box.pid, signal.SIGSTOP)
        box.stdin.write("\n")
        box.stdin.flush()
        line = box.stdout.readline()
        while line and "done" not in line:
            same(line.strip(), "400")
            line = box.stdout.readline()
        os.kill(box.pid, signal.SIGCONT)
        end(box)
        has(p.log(), '"verdict":"gap"', '"verdict":"end"')

    tap.test("names of 253 bytes, of 254, and questions of a byte have their answers", questions)
    tap.test("greetings without an end are ended", lambda: same(p.run(script(ENDLESS)), "ended\nended\nended\nended"))
    tap.test("5000 connections at once are all served", at_once)
    tap.test("a supervisor that does not listen keeps no connection waiting", unheard)


def fill_stuck(world):
    """A server whose queue is full: further connections get no answer at all."""
    server = socket.socket()
    server.bind(("203.0.113.11", 9999))
    server.listen(0)
    held = []
    for _ in range(4):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(("203.0.113.11", 9999))
        held.append(s)
    return server, held


def main():
    enter()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    folder = tempfile.mkdtemp()
    tap = Tap()
    place = Place(folder)
    stuck = fill_stuck(place.world)
    try:
        for part in (stages, starts, calls, again, resolvers, clients):
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(tap, place)
    finally:
        place.world.close()
        shutil.rmtree(folder, ignore_errors=True)
    del stuck
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
