#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent in a world whose names lead to the model: no URL, no proxy, no flag.

    named.py AGENT DIRECTORY

The hosts of the agent's maker are the model's, with certificates of the test.
Prints what was said; the status is 0 if the story came to its end.
"""

import contextlib
import http.client
import http.server
import os
import re
import ssl
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
import net_world  # noqa: E402
from pty_shell import Failed  # noqa: E402
import kinds  # noqa: E402
import model  # noqa: E402
from sides import HOLDBACK, Side  # noqa: E402

ADDRESS = "203.0.113.30"
# Of each agent the host that it talks to if it is not told of another.
HOSTS = {"claude": "api.anthropic.com", "codex": "api.openai.com", "opencode": "api.openai.com",
         "gemini": "generativelanguage.googleapis.com"}  # fmt: skip
# Where codex logs in, and the port of this host to which the browser comes back.
ISSUER = "auth.openai.com"
PORT = 1455
# Programs of Node and Bun add to their list, codex replaces it.
AUTHORITY = {"codex": "CODEX_CA_CERTIFICATE"}


class Named(Side):
    """A home whose agent knows nothing of the model but its name."""

    def environment(self):
        env = super().environment()
        for name in ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "HTTPS_PROXY", "NO_PROXY"):
            env.pop(name, None)
        env[AUTHORITY.get(self.name, "NODE_EXTRA_CA_CERTS")] = self.authority
        return env

    name = authority = ""


def serve(world, one):
    """The model, as the host on the port of https."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(world.path("server.pem"), world.path("server.key"))
    server = http.server.ThreadingHTTPServer((ADDRESS, 443), model.Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    server.model = one
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def words(side):
    """As its user would type them: codex has no option with an address."""
    said = side.kind.inside("", side.prompt("first"))
    at = next((at for at, word in enumerate(said) if word.startswith("openai_base_url")), None)
    return said if at is None else said[: at - 1] + said[at + 1 :]


def log_in(side):
    """codex login, by a browser of ours that comes back to the port of this host."""
    login = subprocess.Popen([*net_world.as_user(), HOLDBACK, "codex", "login"], cwd=side.project,
                             env=side.environment(), stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    with login:
        printed = state = ""
        for line in login.stdout:
            printed += line
            found = re.search(r"[?&]state=([\w-]+)", line)
            if found and not state:
                state = found[1]
                try:
                    browse(f"/auth/callback?code=c&state={state}")
                except OSError as why:
                    login.terminate()
                    printed += f"the port does not answer: {why}\n"
    if login.returncode != 0 or "holdback state codex --publish" not in printed:
        raise Failed(f"status {login.returncode}, state {state!r}\n{printed}\n{side.told()}")
    print(printed)


def browse(path):
    """One page of the port, and the page that it leads to."""
    for _ in range(3):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)) as line:
            line.request("GET", path)
            answer = line.getresponse()
            answer.read()
            place = answer.headers.get("Location", "")
        path = place.partition(f":{PORT}")[2]
        if not path:
            return


def tell(name, directory, folder):
    side = Named(kinds.ALL[name], "named", directory)
    world = net_world.World(folder)
    side.name, side.authority = name, os.path.join(side.home, "ca.pem")
    # Where every agent finds it; the world's own directory is closed.
    with open(world.path("ca.pem"), encoding="utf-8") as ours, \
            open(side.authority, "w", encoding="utf-8") as theirs:  # fmt: skip
        theirs.write(ours.read())
    if name == "opencode":
        side.model.url = f"https://{HOSTS[name]}"
    serve(world, side.model)
    try:
        done = side.call([*net_world.as_user(), HOLDBACK, name, *words(side)])
        steps = [request["step"] for request in side.model.steps("first")]
        print(done.stdout)
        if done.returncode != 0 or steps != list(range(len(model.STORIES["first"]) + 1)):
            raise Failed(f"status {done.returncode}, steps {steps}\n{side.told()}")
        kept = side.call([*net_world.as_user(), HOLDBACK, "commit", "-y"])
        print(kept.stdout)
        if side.tree().get("hello.txt", ("", ""))[1] != "two\n":
            raise Failed("the commit has no hello.txt")
        if name == "codex":
            log_in(side)
    finally:
        side.call([*net_world.as_user(), HOLDBACK, "cleanup", "-y", "--all"])
        world.close()
        side.remove()


def main():
    name, directory = sys.argv[1:]
    net_world.ADDRESSES += (ADDRESS,)
    hosts = (*HOSTS.values(), ISSUER)
    net_world.NAMES += hosts
    net_world.ZONE.update({host: [ADDRESS] for host in hosts})
    net_world.enter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            tell(name, directory, folder)
        except Failed as why:
            print(why)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
