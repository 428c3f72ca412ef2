#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: unshare ip mount openssl curl
# timeout: 400
"""A box reaches the names of its rules, and nothing else: looked at from inside,
in a world of the test's own."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from net_place import NO_TABLES, NO_TPROXY, NO_V6, USUAL, Place, begin, gone, has, lacks  # noqa: E402
from net_world import HOLDBACK, as_user, enter  # noqa: E402
from pty_shell import Tap, same, wait_until  # noqa: E402


def names(tap, p):
    tap.test("a name of a rule is reached over TLS", lambda: has(
        p.curl("https://example.com/a"), "you asked example.com for /a"))
    tap.test("a name below a wildcard is reached on any port of the rule", lambda: has(
        p.curl("http://www.example.com:8080/b"), "you asked www.example.com:8080 for /b"))
    tap.test("a name that has IPv6 alone is reached", lambda: has(
        p.curl("http://six.example.com/c"), "six.example.com for /c"))
    tap.test("a name of the host's own file is reached", lambda: has(
        p.curl("http://file.example.com/d"), "file.example.com for /d"))
    tap.test("a name of one label is looked up with the search list", lambda: has(
        p.curl("http://intra:80/e", rules=("--allow", "intra:80")), "you asked intra"))
    tap.test("an answer that was cut is asked for over a stream", lambda: has(
        p.curl("http://long.example.com/f"), "long.example.com for /f"))
    tap.test("an answer of 2000 records is one of a few", lambda: has(
        p.curl("http://many.example.com/g"), "many.example.com for /g"))
    tap.test("a dead address is passed over", lambda: has(
        p.curl("http://two.example.com/h"), "two.example.com for /h"))
    tap.test("an alias counts by the name that was asked for", lambda: has(
        p.curl("http://alias.example.com/i"), "alias.example.com for /i"))
    tap.test("an address of a rule is reached", lambda: has(
        p.curl("http://203.0.113.10:8080/", rules=("--allow", "203.0.113.0/24:8080")), "you asked 203.0.113.10:8080"))
    tap.test("a server that speaks first and a half that is closed work", lambda: same(
        p.run("head -c 3000000 /dev/zero | python3 -c '" + COUNTS + "'", rules=("--allow", "example.com:2525")),
        "220 ready got 3000000"))
    tap.test("a large body comes whole", lambda: same(
        p.run("curl -sS -m 60 http://www.example.com/big/20 | wc -c"), str(20 << 20)))


LOGIN = "bWU6cEBzcw=="
COUNTS = ("import socket,sys; s=socket.create_connection((\"example.com\",2525)); a=s.recv(99).decode().strip(); "
          "s.sendall(sys.stdin.buffer.read()); s.shutdown(1); print(a, s.recv(99).decode().strip())")


def refusals(tap, p):
    def silent_outside():
        p.world.asked.clear()
        p.curl("https://evil.example/")
        p.run("getent hosts secret-in-a-name.evil.example")
        lacks(" ".join(p.world.asked), "evil")

    tap.test("TLS to a name without a rule ends by an alert", lambda: has(
        p.curl("https://evil.example/"), "35:", "access denied"))
    tap.test("HTTP to a name without a rule is told the fix", lambda: has(
        p.curl("http://evil.example/"), "no rule allows it", "holdback net allow evil.example:80"))
    tap.test("a port without a rule is refused", lambda: has(
        p.curl("http://example.com/"), "no rule allows it"))
    tap.test("a name without a rule is asked of no server", silent_outside)
    tap.test("a rule that denies beats a rule that allows", lambda: has(
        p.curl("http://www.example.com/", "--deny", "www.example.com"), "a rule denies it"))
    tap.test("a rule that denies an address beats a name that leads there", lambda: has(
        p.curl("http://www.example.com/", "--deny", "203.0.113.10"), "it leads to an address that a rule denies"))
    tap.test("an address without a rule is refused", lambda: has(
        p.curl("http://203.0.113.10/"), "no rule allows it"))
    tap.test("a name that leads to loopback is refused", lambda: has(
        p.curl("http://rebind.example.com/"), "it leads to a loopback address"))
    tap.test("a name that leads to mapped loopback is refused", lambda: has(
        p.curl("http://mapped.example.com/"), "it leads to a loopback address"))
    tap.test("a name that leads to a private address is refused", lambda: has(
        p.curl("http://private.example.com/"), "it leads to a private address"))
    tap.test("a private address is reached if the rule says so", lambda: has(
        p.curl("http://private.example.com/", rules=("--allow", "private.example.com:80=private")), "you asked private"))
    tap.test("a name that leads to the metadata service is refused", lambda: has(
        p.curl("http://meta.example.com/", rules=("--allow", "meta.example.com:80=private")), "link-local"))
    tap.test("of a private and a public address the public is taken", lambda: has(
        p.curl("http://both.example.com/"), "you asked both.example.com"))
    tap.test("an answer that changes is checked each time", lambda: has(
        p.run("curl -sS -m 60 http://flip.example.com/; curl -sS -m 60 http://flip.example.com/"),
        "you asked flip", "leads to a loopback"))
    tap.test("the name inside of TLS is compared", lambda: has(
        p.run(f"curl -sS -m 60 --cacert {p.folder}/ca.pem --connect-to evil.example:443:example.com:443 https://evil.example/"),
        "35:", "access denied"))
    tap.test("the host inside of HTTP is compared", lambda: has(
        p.run("curl -sS -m 60 -H 'Host: evil.example' http://www.example.com/"), "it asks for evil.example inside"))
    tap.test("with --net-loose the host inside does not count", lambda: has(
        p.run("curl -sS -m 60 -H 'Host: evil.example' http://www.example.com/", "--net-loose"), "you asked evil.example"))
    tap.test("port 443 is for TLS", lambda: has(
        p.run("curl -sS -m 60 http://example.com:443/"), "port 443 is for TLS"))
    tap.test("an answer about another name is no answer", lambda: has(
        p.curl("http://lying.example.com/"), "the name cannot be looked up"))
    tap.test("a name that does not exist is said so", lambda: has(
        p.curl("http://nowhere.example.com/"), "there is no such name"))
    tap.test("a server that does not listen is said so", lambda: has(
        p.curl("http://closed.example.com/"), "there is no connection"))
    tap.test("ssh is told why", lambda: has(
        p.run("ssh -o BatchMode=yes -o StrictHostKeyChecking=no -F none evil.example", rules=("--allow", "example.com")),
        "holdback: evil.example:22: no rule allows it"))


SHARES = ("python3 -m http.server 8080 --bind 0.0.0.0 >/dev/null 2>&1 & s=$!; "
          "until curl -s http://127.0.0.1:8080/ >/dev/null; do :; done; "
          "curl -sS -m 60 http://www.example.com:8080/x; kill $s")


def ports(tap, p):
    serve = "python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1"

    def published(option, bind, url):
        box = subprocess.Popen([*p.words("-q", "--net", "allow", *option), "sh", "-c", serve.replace("127.0.0.1", bind)],
                               cwd=p.folder + "/p", env=p.env())
        try:
            def reached():
                got = subprocess.run(["curl", "-sS", "-m", "5", url], capture_output=True, text=True, check=False)
                return "Directory listing" in got.stdout
            wait_until(reached, "the port is published")
        finally:
            box.terminate()
            box.wait()

    tap.test("a published port leads to a server of the box", published, ("--port", "8123"), "127.0.0.1",
             "http://127.0.0.1:8123/")
    tap.test("a published port leads to a server on IPv6 alone", published, ("--port", "9000:8123"), "::1",
             "http://127.0.0.1:9000/")
    tap.test("a port that is taken is a failure before anything runs", lambda: has(
        p.run("true", "--port", "5432:80"), "125:", "cannot listen on port 5432"))
    tap.test("a port of the host is reached, and no other", lambda: has(
        p.run("curl -sS -m 60 http://127.0.0.1:5432/; curl -sS -m 60 http://127.0.0.1:443/", "--host-port", "5432"),
        "you asked 127.0.0.1:5432", "7:"))
    tap.test("a server of the box and a server outside share a port", lambda: has(
        p.run(SHARES), "you asked www.example.com:8080"))
    tap.test("an HTTP proxy of the host is asked for names", lambda: has(
        p.curl("https://example.com/p", "--net-proxy", "http://203.0.113.20:3128"), "you asked example.com for /p"))
    tap.test("the proxy was asked to connect, by name", lambda: has("\n".join(p.world.seen), "CONNECT example.com:443"))
    with_login = {"HTTPS_PROXY": "http://me:p%40ss@203.0.113.20:3129"}
    tap.test("a proxy that wants a login gets the one of HTTPS_PROXY", lambda: has(
        p.curl("https://example.com/p", env=with_login), "you asked example.com for /p"))
    p.world.seen.clear()
    direct = {"HTTPS_PROXY": "http://203.0.113.20:3128", "NO_PROXY": "a.b, .example.com"}
    tap.test("a host of NO_PROXY is reached", lambda: has(
        p.curl("https://www.example.com/p", env=direct), "you asked www.example.com for /p"))
    tap.test("the proxy was not asked for a host of NO_PROXY", lambda: same(
        [line for line in p.world.seen if line.startswith("CONNECT")], []))
    tap.test("another login is refused by the proxy, and said so", lambda: has(
        p.run("curl -sS -m 60 http://www.example.com/p", env={"HTTPS_PROXY": "http://me:no@203.0.113.20:3129"}),
        "the proxy wants another login"))
    tap.test("the command does not see the login", lambda: lacks(
        p.run("env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; curl -sS -m 60 http://www.example.com/p", env=with_login,
              session="login"), "p%40ss", "p@ss", LOGIN))
    tap.test("the log has the connection through the proxy, and no login", lambda: (
        has(p.log(), '"host":"www.example.com"', "203.0.113.20"), lacks(p.log(), "p%40ss", "p@ss", LOGIN)))


def ways(tap, p):
    listed = ("--allow", "www.example.com:8080", "--allow", "example.com:80")
    for name, without in (("nf_tables", NO_TABLES), ("TPROXY", NO_TPROXY), ("IPv6", NO_V6),
                          ("IPv6 and TPROXY", NO_TPROXY + NO_V6), ("IPv6 and nf_tables", NO_TABLES + NO_V6)):
        tap.test(f"without {name} a port of a rule is reached", lambda w=without: has(
            p.run("curl -sS -m 60 http://www.example.com:8080/a", rules=listed, without=w), "you asked www.example.com:8080"))
        tap.test(f"without {name} a name without a rule is refused", lambda w=without: has(
            p.run("curl -sS -m 60 http://evil.example/a", rules=listed, without=w), "no rule allows it"))
        tap.test(f"without {name} another port is refused", lambda w=without: lacks(
            p.run("curl -sS -m 60 http://example.com:2525/a; curl -sS -m 60 http://203.0.113.10:443/", rules=listed, without=w), "220", "you asked"))
    for name, without, words in (("nothing", (), "all ports (nf_tables, tproxy)"), ("TPROXY", NO_TPROXY, "all ports (nf_tables, redirect)"),
                                 ("nf_tables", NO_TABLES, "ports 8080 80 only: this kernel has no nf_tables")):
        tap.test(f"without {name} the start says how connections are caught", lambda w=without, words=words: has(
            p.told("true", rules=listed, without=w), words))
    tap.test("without TPROXY a name that has IPv6 alone is reached", lambda: has(
        p.run("curl -sS -m 60 http://six.example.com/c", without=NO_TPROXY), "six.example.com for /c"))
    tap.test("without TPROXY a rule of all ports catches all", lambda: has(
        p.run("curl -sS -m 60 http://www.example.com:8080/; curl -sS -m 60 http://example.com:8080/", "--require", without=NO_TPROXY),
        "you asked www.example.com:8080", "example.com:8080: no rule allows it"))
    tap.test("without TPROXY a server of the box and a server outside share a port", lambda: has(
        p.run(SHARES, without=NO_TPROXY), "you asked www.example.com:8080"))
    tap.test("without nf_tables the box itself is not the host", lambda: lacks(
        p.run("curl -sS -m 60 http://127.0.0.1:80/; curl -sS -m 60 http://127.0.0.1:5432/", rules=listed, without=NO_TABLES), "you asked"))
    tap.test("without nf_tables --require refuses a rule of all ports", lambda: has(
        p.run("true", "--require", rules=("--allow", "example.com:*"), without=NO_TABLES), "125:", "cannot catch every port"))


def kills(tap, p):
    def killed():
        box, relay = begin(p, "echo up; read a; curl -sS -m 60 http://www.example.com/z; echo end")
        os.kill(relay, signal.SIGKILL)
        wait_until(lambda: gone(relay), "the relay is gone")
        out, _ = box.communicate("\n", timeout=60)
        has(out, "you asked www.example.com for /z", "it starts again", "end")

    def cut():
        """While the relay is stopped nothing gets through; no other listens."""
        box, relay = begin(p, "echo up; read a; curl -sS -m 2 http://www.example.com/z; echo $?")
        os.kill(relay, signal.SIGSTOP)
        out, _ = box.communicate("\n", timeout=60)
        lacks(out, "you asked")
        has(out, "28")
        wait_until(lambda: gone(relay), "the relay is gone with the box")

    def supervisor_killed():
        box, relay = begin(p, "echo up; read a; sleep 1000")
        os.kill(box.pid, signal.SIGKILL)
        wait_until(lambda: gone(relay), "the relay ends with the supervisor")
        box.stdin.close()
        box.wait()

    tap.test("a relay that is killed starts again", killed)
    tap.test("without a relay that runs nothing gets through", cut)
    tap.test("a relay ends with its supervisor", supervisor_killed)


def kept(tap, p):
    """In one user namespace: a box is joined from the one that it was made in."""
    f = p.folder
    rules = " ".join(f"'{word}'" for word in USUAL)
    script = f"""mkfifo {f}/go {f}/go2
        {HOLDBACK} run -q -s kept {rules} -- sh -c 'echo up; cat' <{f}/go >{f}/up 2>{f}/err &
        exec 3>{f}/go
        until grep -q up {f}/up; do sleep 0.05; done
        {HOLDBACK} exec @kept -- sh -c 'echo second; read a; curl -sS -m 60 http://www.example.com/kept
            curl -sS -m 60 http://evil.example/' <{f}/go2 >{f}/out 2>&1 3>&- &
        exec 4>{f}/go2
        until grep -q second {f}/out; do sleep 0.05; done
        exec 3>&-
        wait %1
        echo go >&4
        exec 4>&-
        wait
        cat {f}/out"""

    def goes_on():
        done = subprocess.run([*as_user(), "sh", "-c", script], cwd=f + "/p", env=p.env(), capture_output=True, text=True,
                              timeout=90, check=False)
        has(done.stdout, "you asked www.example.com for /kept", "evil.example:80: no rule allows it")

    tap.test("a command that joined has the network after the first has ended", goes_on)


UNREAD = ("import socket\n"
          "a=[socket.create_connection((\"www.example.com\",80)) for i in range(64)]\n"
          "for i,s in enumerate(a):\n"
          " s.sendall(b\"GET /bytes/%d HTTP/1.0\\r\\nHost: www.example.com\\r\\n\\r\\n\" % (i*100000)); s.shutdown(1)\n"
          "for s in a: s.recv(1)\n"
          "print(\"up\", flush=True); input()\n"
          "n=0\n"
          "for s in a:\n"
          " while d:=s.recv(1<<20): n+=len(d)\n"
          "print(\"whole\" if n>sum(range(64))*100000 else n)")


def ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[11:13]


def loads(tap, p):
    def unread():
        """Answers that are whole, from servers that are gone, to clients that do not read."""
        def quiet():
            before = ticks(relay)
            time.sleep(0.5)
            return ticks(relay) == before
        box, relay = begin(p, f"python3 -c '{UNREAD}'")
        wait_until(quiet, "the relay waits")
        out, _ = box.communicate("\n", timeout=60)
        has(out, "whole")

    def many():
        count = 5000
        script = (f"import socket,resource\nresource.setrlimit(resource.RLIMIT_NOFILE,(resource.getrlimit(resource.RLIMIT_NOFILE)[1],)*2)\n"
                  f"n=ok=0\nfor k in range(10):\n a=[socket.create_connection(('www.example.com',2525)) for i in range({count}//10)]\n"
                  " for s in a:\n  ok+=s.recv(4)==b'220 '\n for s in a: s.close()\nprint(ok)")
        same(p.run(f"python3 -c \"{script}\"", timeout=200), str(count))

    def half_open():
        script = ("import socket\na=[socket.create_connection(('example.com',443)) for i in range(200)]\n"
                  "for s in a: s.sendall(b'\\x16\\3\\1')\n"
                  "for s in a[:50]: s.sendall(b'A')\n"
                  "b=socket.create_connection(('www.example.com',2525)); print(b.recv(9).decode())")
        same(p.run(f"python3 -c \"{script}\""), "220 ready")

    def garbage():
        script = ("import socket,os\nfor i in range(300):\n s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); "
                  "s.sendto(os.urandom(i),('127.0.0.1',53))\n"
                  "for i in range(60):\n s=socket.create_connection(('127.0.0.1',53)); s.sendall(os.urandom(i)); s.close()\n"
                  "for i in range(60):\n s=socket.create_connection(('www.example.com',2525)); s.sendall(os.urandom(i*50)); s.close()\n"
                  "b=socket.create_connection(('www.example.com',2525)); print(b.recv(9).decode())")
        same(p.run(f"python3 -c \"{script}\""), "220 ready")

    tap.test("bytes that are not read cost no time", unread)
    tap.test("5000 connections are served", many)
    tap.test("slow and half open greetings keep no other waiting", half_open)
    tap.test("garbage ends nothing", garbage)


def main():
    enter()
    folder = tempfile.mkdtemp()
    tap = Tap()
    place = Place(folder)
    try:
        for part in (names, refusals, ports, ways, kills, kept, loads):
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(tap, place)
    finally:
        place.world.close()
        shutil.rmtree(folder, ignore_errors=True)
    return tap.done()


sys.exit(main())
