# SPDX-License-Identifier: Apache-2.0
"""An internet of our own, in a network namespace of the test.

Public and private addresses on a loopback, a name server, HTTP, TLS, git, ssh,
registries.  A test calls enter() first.  Commands run in it as the user of the
test, who has no capability over it.
"""

import base64
import hashlib
import http.server
import io
import json
import os
import selectors
import shutil
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import tarfile
import threading
import zipfile

from pty_shell import Failed, wait_until

HOLDBACK = os.environ["HB_BIN"]
ADDRESSES = ("203.0.113.10", "203.0.113.11", "203.0.113.20", "203.0.113.53", "10.0.0.5",
             "169.254.169.254", "2001:db8::10")
ZONE = {
    "example.com": ["203.0.113.10"], "www.example.com": ["203.0.113.10"],
    "two.example.com": ["203.0.113.99", "203.0.113.10"],
    "dead.example.com": ["203.0.113.98"], "closed.example.com": ["203.0.113.53"],
    "six.example.com": ["2001:db8::10"], "long.example.com": ["203.0.113.10"],
    "npm.example.com": ["203.0.113.10"], "pypi.example.com": ["203.0.113.10"],
    "github.com": ["203.0.113.20"], "evil.example": ["203.0.113.10"],
    "cdn.example": ["203.0.113.10"], "rebind.example.com": ["127.0.0.1"],
    "private.example.com": ["10.0.0.5"], "meta.example.com": ["169.254.169.254"],
    "mapped.example.com": ["::ffff:127.0.0.1"],
    "both.example.com": ["10.0.0.5", "203.0.113.10"],
    "many.example.com": ["203.0.113.10"] * 2000,
    "intra.corp.example": ["203.0.113.10"], "plain.example.com": ["203.0.113.10"],
    "late.example.com": ["203.0.113.10"], "huge.example.com": ["203.0.113.10"] * 4000,
    "forged.example.com": ["203.0.113.10"], "cut.example.com": ["203.0.113.10"],
    "stuck.example.com": ["203.0.113.11"],
    **{f"n{i}.example.com": ["203.0.113.10"] for i in range(10)},
}
NO_ANSWER = {"silent.example.com"}
NAMES = ("example.com", "*.example.com", "github.com", "evil.example", "cdn.example")


def enter():
    """Goes on in the world: the first call does not return, the second does."""
    if os.environ.get("HB_WORLD"):
        for address in ADDRESSES:
            subprocess.run(["ip", "addr", "add", address, "dev", "lo"], check=True)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    os.environ["HB_WORLD"] = f"{os.getuid()} {os.getgid()}"
    own = ["--user", "--map-root-user"] if os.getuid() != 0 or os.environ["HB_MODE"] == "userns" else []
    os.execvp("unshare", ["unshare", *own, "--net", "--mount", sys.executable, *sys.argv])


def as_user():
    """The words before a command: it is to be the user of the test again."""
    uid, gid = os.environ["HB_WORLD"].split()
    if uid == "0" and os.environ["HB_MODE"] != "userns":
        return []
    return ["unshare", "--user", f"--map-user={uid}", f"--map-group={gid}"]


class World:
    """The servers, and a directory for what they need."""

    def __init__(self, folder):
        self.folder = folder
        self.asked = []
        self.flips = 0
        self.sshd = None
        self.seen = []  # first lines of requests
        self.make_keys()
        self.write("resolv.conf", "nameserver 203.0.113.53\nsearch corp.example\n")
        self.write("hosts", "127.0.0.1 localhost\n203.0.113.11 file.example.com\n")
        for name in ("resolv.conf", "hosts"):
            subprocess.run(["mount", "--bind", self.path(name), os.path.realpath("/etc/" + name)], check=True)
        self.serve_names()
        for address in ("203.0.113.10", "203.0.113.11", "203.0.113.20", "10.0.0.5", "169.254.169.254",
                        "127.0.0.1", "2001:db8::10"):
            self.serve(address, 443, True)
            self.serve(address, 80, False)
        self.serve("203.0.113.10", 8080, False)
        self.serve("127.0.0.1", 5432, False)
        self.serve_lines("203.0.113.10", 2525)
        self.serve_many("203.0.113.10", 2526)
        self.serve_proxy("203.0.113.20", 3128, None)
        self.serve_proxy("203.0.113.20", 3130, None)
        self.serve_proxy("203.0.113.20", 3129, "Basic " + base64.b64encode(b"me:p@ss").decode())

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def make_keys(self):
        names = ",".join("DNS:" + name for name in NAMES) + ",IP:203.0.113.10"
        self.write("ext", f"subjectAltName={names}\n")
        for words in (
                "req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=world -keyout ca.key -out ca.pem",
                "req -newkey rsa:2048 -nodes -subj /CN=server -keyout server.key -out server.csr",
                "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -days 9 -CAcreateserial -extfile ext -out server.pem"):
            subprocess.run(["openssl", *words.split()], cwd=self.folder, check=True, capture_output=True)

    # -- names --

    def answer(self, question, is_stream):
        at, labels = 12, []
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode("latin1"))
            at += 1 + question[at]
        kind = struct.unpack(">H", question[at + 1:at + 3])[0]
        name = ".".join(labels).lower()
        self.asked.append(name)
        if name in NO_ANSWER or name == "late.example.com" and self.asked.count(name) <= 2:
            return None
        addresses, code, flags, head = ZONE.get(name), 0, 0x8180, b""
        if name == "flip.example.com":
            self.flips += 1
            addresses = ["203.0.113.10"] if self.flips <= 2 else ["127.0.0.1"]
        if name == "alias.example.com":
            target = b"\x04evil\x07example\x00"
            head = b"\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x3c" + struct.pack(">H", len(target)) + target
            addresses = ZONE["evil.example"]
        if name == "lying.example.com":  # about another name
            question = question[:12] + b"\x04evil\x07example\x00" + question[at + 1:at + 5]
            at, addresses = 12 + 13, ["203.0.113.10"]
        if addresses is None:
            code = 3
        records = []
        for one in addresses or []:
            if ":" in one and kind == 28:
                records.append(socket.inet_pton(socket.AF_INET6, one))
            if ":" not in one and kind == 1:
                records.append(socket.inet_aton(one))
        if name in ("long.example.com", "many.example.com", "huge.example.com") and not is_stream and kind == 1:
            records, flags = [], flags | 0x0200
        ttl = 0 if name.startswith("flip") else 60
        number = question[:2] if name != "forged.example.com" else bytes((question[0] ^ 1, question[1]))
        count = 10000 if name == "huge.example.com" and kind == 1 else len(records) + bool(head)
        out = number + struct.pack(">HHHHH", flags | code, 1, count, 0, 0)
        out += question[12:at + 5] + head
        for one in records:
            out += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, ttl, len(one)) + one
        return out[:14] if name == "cut.example.com" else out

    def serve_names(self):
        def datagrams():
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            s.bind(("203.0.113.53", 53))
            ready.set()
            while True:
                question, client = s.recvfrom(4096)
                out = self.answer(question, False)
                if out:
                    s.sendto(out, client)

        def streams():
            s = socket.create_server(("203.0.113.53", 53))
            while True:
                client, _ = s.accept()
                with client:
                    data = client.recv(4096)
                    while len(data) >= 2:
                        size = struct.unpack(">H", data[:2])[0]
                        out = self.answer(data[2:2 + size], True)
                        client.sendall(struct.pack(">H", len(out)) + out)
                        data = data[2 + size:] or client.recv(4096)

        ready = threading.Event()
        for serve in (datagrams, streams):
            threading.Thread(target=serve, daemon=True).start()
        ready.wait()

    # -- servers --

    def serve(self, address, port, is_tls):
        world = self

        class Handler(Requests):
            """One that knows its world."""
            here = world

        class Server(http.server.ThreadingHTTPServer):
            """Quiet, and of either family."""
            address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
            daemon_threads = True
            request_queue_size = 4096

            def handle_error(self, request, client_address):
                pass

        server = Server((address, port), Handler)
        if is_tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.path("server.pem"), self.path("server.key"))
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()

    @staticmethod
    def serve_lines(address, port):
        """Speaks first, and says how much it got when its peer is done."""
        class Lines(socketserver.BaseRequestHandler):
            """Counts."""
            def handle(self):
                self.request.sendall(b"220 ready\n")
                n = 0
                try:
                    while data := self.request.recv(65536):
                        n += len(data)
                    self.request.sendall(b"got %d\n" % n)
                except OSError:
                    pass  # reset

        class Server(socketserver.ThreadingTCPServer):
            """A queue that is long enough."""
            allow_reuse_address = daemon_threads = True
            request_queue_size = 4096

        threading.Thread(target=Server((address, port), Lines).serve_forever, daemon=True).start()

    @staticmethod
    def serve_many(address, port):
        """Speaks first, to thousands, by one thread."""
        def serve():
            while True:
                for key, _ in wait.select():
                    if key.fileobj is listener:
                        try:
                            client, _ = listener.accept()
                            client.sendall(b"220 ready\n")
                            wait.register(client, selectors.EVENT_READ)
                        except OSError:
                            pass  # it is gone, or there is no room just now
                        continue
                    try:
                        is_over = not key.fileobj.recv(65536)
                    except OSError:
                        is_over = True
                    if is_over:
                        wait.unregister(key.fileobj)
                        key.fileobj.close()

        listener = socket.create_server((address, port), backlog=4096)
        wait = selectors.EpollSelector()
        wait.register(listener, selectors.EVENT_READ)
        threading.Thread(target=serve, daemon=True).start()

    def serve_proxy(self, address, port, login):
        world = self

        class Proxy(socketserver.StreamRequestHandler):
            """CONNECT, to the world's own front end."""
            def handle(self):
                line = self.rfile.readline().decode()
                heads = {}
                while head := self.rfile.readline().decode().strip():
                    heads[head.partition(":")[0].lower()] = head.partition(":")[2].strip()
                world.seen.append(line.strip())
                if heads.get("proxy-authorization") != login:
                    self.wfile.write(b"HTTP/1.1 407 who\r\n\r\n")
                    return
                if "mute" in line:
                    self.rfile.read(1)
                    return
                if "evil" in line:
                    self.wfile.write(b"HTTP/1.1 403 no\r\n\r\n")
                    return
                out = socket.create_connection(("203.0.113.10", int(line.split()[1].rsplit(":", 1)[1])))
                self.wfile.write(b"HTTP/1.1 200 yes\r\n\r\n")

                def pump(source, sink):
                    try:
                        while data := source.recv(65536):
                            sink.sendall(data)
                        sink.shutdown(socket.SHUT_WR)
                    except OSError:
                        pass
                other = threading.Thread(target=pump, args=(out, self.request), daemon=True)
                other.start()
                pump(self.request, out)
                other.join()

        class Server(socketserver.ThreadingTCPServer):
            """Ends with us."""
            allow_reuse_address = daemon_threads = True

        threading.Thread(target=Server((address, port), Proxy).serve_forever, daemon=True).start()

    def serve_ssh(self):
        """False: there is no sshd here."""
        program = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
        if not program:
            return False
        for key in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(key)], check=True)
        shutil.copy(self.path("user_key.pub"), self.path("authorized_keys"))
        self.write("sshd_config", f"Port 22\nListenAddress 203.0.113.20\nHostKey {self.path('host_key')}\n"
                   f"AuthorizedKeysFile {self.path('authorized_keys')}\nStrictModes no\nUsePAM no\nPidFile none\n"
                   "PermitRootLogin yes\nLogLevel VERBOSE\n")
        # An account that is not locked, as those of tests are.  All of /etc is another's: a mount on one
        # file of it goes when the file is replaced outside.
        uid, gid = os.environ["HB_WORLD"].split()
        subprocess.run(["cp", "-a", "--no-preserve=ownership", "/etc", self.path("etc")], check=False, capture_output=True)
        for name in ("passwd", "shadow"):
            if os.path.lexists(self.path("etc/" + name)):
                os.unlink(self.path("etc/" + name))
        self.write("etc/passwd", f"tester:NP:{uid}:{gid}::{self.path('home')}:/bin/sh\nsshd:x:9999:9999::/:/bin/false\n")
        self.write("etc/shadow", "tester:NP:1::::::\n")
        subprocess.run(["mount", "--bind", self.path("etc"), "/etc"], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        os.makedirs("/run/sshd")
        with open("/proc/sys/net/ipv4/ip_unprivileged_port_start", "w", encoding="utf-8") as file:
            file.write("0")
        self.sshd = subprocess.Popen([*as_user(), program, "-D", "-f", self.path("sshd_config"),
                                      "-E", self.path("sshd.log")])
        wait_until(self.is_listening, "sshd listens")
        return True

    def is_listening(self):
        if self.sshd.poll() is not None:
            raise Failed("sshd has ended")
        try:
            socket.create_connection(("203.0.113.20", 22)).close()
            return True
        except OSError:
            return False

    def make_repository(self):
        def git(*words, cwd=self.folder):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "safe.directory=*", *words],
                           cwd=cwd, check=True, capture_output=True)
        git("init", "-q", "--bare", "repo.git")
        git("config", "http.receivepack", "true", cwd=self.path("repo.git"))
        git("clone", "-q", "repo.git", "seed")
        with open(self.path("seed/file"), "w", encoding="utf-8") as file:
            file.write("hello\n")
        git("add", "file", cwd=self.path("seed"))
        git("commit", "-qm", "one", cwd=self.path("seed"))
        git("push", "-q", "origin", "HEAD:refs/heads/main", cwd=self.path("seed"))
        git("symbolic-ref", "HEAD", "refs/heads/main", cwd=self.path("repo.git"))

    def close(self):
        if self.sshd:
            self.sshd.terminate()
            self.sshd.wait()


def npm_package():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, text in (("package.json", '{"name":"tiny","version":"1.0.0","main":"i.js"}'),
                           ("i.js", "module.exports=42\n")):
            info = tarfile.TarInfo("package/" + name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return data.getvalue()


def wheel():
    data, info = io.BytesIO(), "tiny-1.0.dist-info/"
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("tiny.py", "value = 42\n")
        archive.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: w\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(info + "RECORD", "".join(f"{name},,\n" for name in (
            "tiny.py", info + "METADATA", info + "WHEEL", info + "RECORD")))
    return data.getvalue()


NPM, WHEEL = npm_package(), wheel()


class Requests(http.server.BaseHTTPRequestHandler):
    """What the web servers say."""
    protocol_version = "HTTP/1.1"
    here = None

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        self.here.seen.append(f"{self.headers.get('Host')} {self.path}" if hasattr(self, "headers") else "?")

    def say(self, body, kind="text/plain", code=200):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):  # pylint: disable=invalid-name
        self.do_GET()

    def do_GET(self):  # pylint: disable=invalid-name
        path = self.path.split("?")[0]
        if path.startswith("/big/"):
            self.say(b"x" * (int(path[5:]) << 20))
        elif path.startswith("/bytes/"):
            self.say(b"x" * int(path[7:]))
        elif path == "/tiny":
            integrity = "sha512-" + base64.b64encode(hashlib.sha512(NPM).digest()).decode()
            self.say(json.dumps({"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
                "name": "tiny", "version": "1.0.0", "dist": {
                    "tarball": "https://npm.example.com/tiny/-/tiny-1.0.0.tgz", "integrity": integrity}}}}).encode(),
                "application/json")
        elif path.endswith(".tgz"):
            self.say(NPM, "application/octet-stream")
        elif path == "/simple/tiny/":
            self.say(b'<a href="https://pypi.example.com/tiny-1.0-py3-none-any.whl">tiny-1.0-py3-none-any.whl</a>', "text/html")
        elif path.endswith(".whl"):
            self.say(WHEEL, "application/octet-stream")
        elif path.startswith("/repo.git"):
            self.git()
        else:
            self.say(f"you asked {self.headers.get('Host')} for {path}\n".encode())

    def do_POST(self):  # pylint: disable=invalid-name
        if self.path.startswith("/repo.git"):
            self.git()
        else:
            self.say(b"%d bytes\n" % len(self.rfile.read(int(self.headers.get("Content-Length", 0)))))

    def git(self):
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        env = dict(os.environ, GIT_PROJECT_ROOT=self.here.folder, GIT_HTTP_EXPORT_ALL="1", PATH_INFO=path,
                   QUERY_STRING=query, REQUEST_METHOD=self.command, REMOTE_USER="a", REMOTE_ADDR="203.0.113.1",
                   CONTENT_TYPE=self.headers.get("Content-Type", ""), CONTENT_LENGTH=str(len(body)),
                   HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""), GIT_CONFIG_COUNT="1",
                   GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*",
                   GIT_PROTOCOL=self.headers.get("Git-Protocol", ""))
        out = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False).stdout
        head, _, rest = out.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        self.say(rest, fields.get("Content-Type", "text/plain"), int(fields.get("Status", "200").split()[0]))
