# SPDX-License-Identifier: Apache-2.0
"""A proxy that stands for hosts of an agent's maker, which no test can reach.

It has a certificate of its own.  The agent trusts it by its own variable, as
behind the proxy of a company.
"""

import os
import socketserver
import ssl
import subprocess
import threading

AUTHORITY = ["-addext", "basicConstraints=critical,CA:TRUE",
             "-addext", "keyUsage=critical,keyCertSign"]  # fmt: skip
KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip


def make_certificates(folder, hosts):
    """ca.pem, which is to be trusted, and host.pem of all hosts."""
    names = "subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts)
    openssl(folder, "req", "-x509", *KEY, "-days", "2", "-subj", "/CN=story", *AUTHORITY,
            "-keyout", "ca.key", "-out", "ca.pem")  # fmt: skip
    openssl(folder, "req", "-x509", *KEY, "-days", "2", "-subj", "/CN=host", "-addext", names,
            "-addext", "basicConstraints=critical,CA:FALSE",
            "-CA", "ca.pem", "-CAkey", "ca.key", "-keyout", "host.key", "-out", "host.pem")  # fmt: skip


class Gateway:
    """The proxy, in a thread; `note` is told what it was asked."""

    def __init__(self, folder, answers, note):
        os.makedirs(folder)
        make_certificates(folder, sorted({host for host, _ in answers}))
        self.authority = os.path.join(folder, "ca.pem")
        self.answers, self.note = answers, note
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(os.path.join(folder, "host.pem"), os.path.join(folder, "host.key"))
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection)
        self.server.daemon_threads = True
        self.server.gateway = self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def variables(self):
        port = self.server.server_address[1]
        return {"HTTPS_PROXY": f"http://127.0.0.1:{port}", "NO_PROXY": "127.0.0.1",
                "NODE_EXTRA_CA_CERTS": self.authority}  # fmt: skip

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Connection(socketserver.StreamRequestHandler):
    """CONNECT, and then one host's requests."""

    def handle(self):
        method, target = self.request_line(self.rfile)
        host = target.partition(":")[0]
        if method != "CONNECT":
            return self.wfile.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
        self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            with self.server.gateway.context.wrap_socket(self.connection, server_side=True) as secure:
                stream = secure.makefile("rwb")
                while self.answer(stream, host):
                    pass
        except OSError:
            pass  # the agent has hung up
        return None

    @staticmethod
    def request_line(stream):
        words = stream.readline().decode(errors="replace").split()
        size = 0
        while (line := stream.readline().strip().lower()) != b"":
            if line.startswith(b"content-length:"):
                size = int(line.partition(b":")[2])
        stream.read(size)
        return (words + ["", ""])[:2]

    def answer(self, stream, host):
        """Whether there was a request."""
        method, path = self.request_line(stream)
        if not method:
            return False
        gateway = self.server.gateway
        body = gateway.answers.get((host, path.partition("?")[0]))
        known = {} if body is not None else {"unknown": True}
        gateway.note({"method": method, "path": f"https://{host}{path}", "answer": "gateway", **known})
        status = "200 OK" if body is not None else "404 Not Found"
        data = (body or "{}").encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        stream.write(head.encode() + data)
        stream.flush()
        return True
