# SPDX-License-Identifier: Apache-2.0
"""usage: git_server.py DIRECTORY PASSWORD: repositories below it, over https on loopback.

Writes the certificate to DIRECTORY/cert.pem and, when it listens, the port to
DIRECTORY/port.  Each request has to have the password; refused ones are counted
in DIRECTORY/refused.
"""

import base64
import http.server
import os
import ssl
import subprocess
import sys

TOP, PASSWORD = sys.argv[1:]


class Server(http.server.BaseHTTPRequestHandler):
    """git-http-backend behind a password."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def is_known(self):
        words = self.headers.get("Authorization", "").split()
        if len(words) != 2:
            return False
        return base64.b64decode(words[1]).decode().endswith(":" + PASSWORD)

    def refuse(self):
        with open(os.path.join(TOP, "refused"), "a", encoding="ascii") as file:
            file.write(self.path + "\n")
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.is_known():
            self.refuse()
            return
        path, _, query = self.path.partition("?")
        env = {
            **os.environ, "GIT_PROJECT_ROOT": TOP, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": "user",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }  # fmt: skip
        done = subprocess.run(
            ["git", "-c", "http.receivepack=true", "-c", "safe.directory=*", "http-backend"],
            input=body, env=env, stdout=subprocess.PIPE, check=False,
        )  # fmt: skip
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
        status = next((value for name, value in headers if name == "Status"), "200")
        self.send_response(int(status.split()[0]))
        for name, value in headers:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = answer


def main():
    cert, key = os.path.join(TOP, "cert.pem"), os.path.join(TOP, "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost"],
        check=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with open(os.path.join(TOP, "port.new"), "w", encoding="ascii") as file:
        file.write(str(server.server_address[1]))
    os.rename(os.path.join(TOP, "port.new"), os.path.join(TOP, "port"))
    server.serve_forever()


main()
