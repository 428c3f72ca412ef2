#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: unshare ip mount openssl curl git
# timeout: 400
"""Programs as they are, without a variable that tells them of a proxy, reach the
names of the rules, and show the reason for a refusal."""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))

# pylint: disable=wrong-import-position
from net_world import HOLDBACK, World, as_user, enter  # noqa: E402
from pty_shell import Failed, Tap  # noqa: E402

RULES = ("--allow", "*.example.com", "--allow", "example.com", "--allow", "github.com:22")
# With the key of an account of the world, which is the test's own user.
SSH = ("-F none -i %(f)s/user_key -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=no "
       "-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR")
FETCH = "fetch('https://%s/a').then(r=>r.text()).then(t=>console.log(t),e=>console.log(e.cause.code))"
MUSL = r"""
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *a;
	char text[2000];
	int fd, n;
	if (argc < 3 || getaddrinfo(argv[1], argv[2], &hints, &a) != 0)
		return 1;
	fd = socket(a->ai_family, a->ai_socktype, 0);
	if (connect(fd, a->ai_addr, a->ai_addrlen) < 0)
		return 2;
	n = snprintf(text, sizeof(text), "GET /a HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", argv[1]);
	write(fd, text, n);
	while ((n = read(fd, text, sizeof(text))) > 0)
		fwrite(text, 1, n, stdout);
	return 0;
}
"""
# name, the program it needs, the command, what it prints.  %(f)s is the world's directory.
CLIENTS = (
    ("curl", "curl", "curl -sS https://example.com/a", "you asked example.com"),
    ("curl is refused", "curl", "curl -sS https://evil.example/a", "alert access denied"),
    ("wget", "wget", "wget -qO- --ca-certificate=%(f)s/ca.pem https://example.com/a", "you asked example.com"),
    ("git over https", "git", "git clone -q https://example.com/repo.git c && cat c/file", "hello"),
    ("git pushes over https", "git", "git clone -q https://example.com/repo.git c && cd c && git -c user.name=a -c "
     "user.email=a@b commit -q --allow-empty -m x && git push -q origin HEAD:refs/heads/new && echo pushed", "pushed"),
    ("git is refused", "git", "git clone -q https://evil.example/repo.git c", "ccess"),
    ("ssh", "sshd", f"ssh {SSH} tester@github.com echo logged in", "logged in"),
    ("ssh is refused", "sshd", f"ssh {SSH} tester@evil.example echo logged in", "holdback: evil.example:22: no rule allows it"),
    ("git over ssh", "sshd", f"GIT_SSH_COMMAND='ssh {SSH}' git clone -q tester@github.com:%(f)s/repo.git c && cat c/file", "hello"),
    ("npm", "npm", "npm install --silent --cafile %(f)s/ca.pem --no-audit --no-fund --registry https://npm.example.com tiny && "
     "node -p 'require(\"tiny\")'", "42"),
    ("pip", "pip3", "pip3 --isolated install -q --no-cache-dir --break-system-packages --target t --trusted-host pypi.example.com "
     "--index-url https://pypi.example.com/simple tiny && cat t/tiny.py", "value = 42"),
    ("node fetches", "node", f"node -e \"{FETCH % 'example.com'}\"", "you asked example.com"),
    ("node is refused", "node", f"node -e \"{FETCH % 'evil.example'}\"", "ERR_SSL"),
    ("node resolves", "node", "node -e \"require('dns').resolve4('example.com',(e,a)=>console.log(a[0]))\"", "198.18."),
    ("python", "python3", "python3 -c \"import urllib.request as u; print(u.urlopen('https://example.com/a').read())\"",
     "you asked example.com"),
    ("python is refused", "python3", "python3 -c \"import urllib.request as u; u.urlopen('https://evil.example/a')\"",
     "access denied"),
    ("a static musl program", "musl-gcc", "%(f)s/static www.example.com 80", "no rule allows it"),
    ("a static musl program, allowed", "musl-gcc", "%(f)s/static plain.example.com 80", "you asked"),
    ("java", "java", "java -Djavax.net.ssl.trustStore=%(f)s/trust.p12 -Djavax.net.ssl.trustStorePassword=changeit "
     "%(f)s/Fetch.java https://example.com/a", "you asked example.com"),
)
JAVA = """import java.net.*; import java.net.http.*;
public class Fetch { public static void main(String[] a) throws Exception {
 System.out.println(HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(a[0])).build(),
  HttpResponse.BodyHandlers.ofString()).body()); } }
"""


GO = """package main
import ("fmt"; "io"; "net/http"; "os")
func main() {
	r, err := http.Get(os.Args[1])
	if err != nil { fmt.Println(err); return }
	b, _ := io.ReadAll(r.Body)
	fmt.Print(string(b))
}
"""
CHROMIUM = ("chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --ignore-certificate-errors "
            "--virtual-time-budget=20000 --dump-dom")
# Large ones, in `make soak` alone.
LARGE = (
    ("a static go program", "go", "%(f)s/fetch https://example.com/a", "you asked example.com"),
    ("a static go program is refused", "go", "%(f)s/fetch https://evil.example/a", "tls: access denied"),
    ("java is refused", "java", "java -Djavax.net.ssl.trustStore=%(f)s/trust.p12 -Djavax.net.ssl.trustStorePassword=changeit "
     "%(f)s/Fetch.java https://evil.example/a", "access_denied"),
    ("Chromium loads an allowed page", "chromium", CHROMIUM + " https://example.com/a", "you asked example.com"),
    ("Chromium is refused another", "chromium", CHROMIUM + " https://evil.example/a 2>&1 | grep -o -e ERR_[A-Z_]* -e 'you asked'", "ERR_"),
)


def build_go(folder):
    """Without cgo it is static, and looks names up itself."""
    with open(f"{folder}/fetch.go", "w", encoding="utf-8") as file:
        file.write(GO)
    subprocess.run(["go", "build", "-o", f"{folder}/fetch", f"{folder}/fetch.go"], check=True, cwd=folder,
                   env=dict(os.environ, CGO_ENABLED="0", GOCACHE=f"{folder}/go-cache", GOPATH=f"{folder}/go", GOTOOLCHAIN="local",
                            GOFLAGS="-mod=mod", HOME=folder))


def run(folder, command):
    env = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    env.update(HOME=f"{folder}/home", XDG_RUNTIME_DIR=f"{folder}/run", XDG_STATE_HOME=f"{folder}/state")
    shown = [f"--env={name}={folder}/ca.pem" for name in (
        "CURL_CA_BUNDLE", "SSL_CERT_FILE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS")]
    done = subprocess.run([*as_user(), HOLDBACK, "run", "--ephemeral", "-q", *RULES, "--allow", "plain.example.com:80",
                           "--ro", folder, *shown, "--", "sh", "-c", command],
                          cwd=f"{folder}/p", env=env, capture_output=True, text=True, timeout=300, check=False)
    return done.stdout + done.stderr


def prepare(folder):
    for name in ("p", "home", "run"):
        os.makedirs(f"{folder}/{name}", mode=0o700)
    with open(f"{folder}/static.c", "w", encoding="utf-8") as file:
        file.write(MUSL)
    with open(f"{folder}/Fetch.java", "w", encoding="utf-8") as file:
        file.write(JAVA)
    if shutil.which("musl-gcc"):
        subprocess.run(["musl-gcc", "-static", "-w", "-o", f"{folder}/static", f"{folder}/static.c"], check=True)
    if shutil.which("keytool"):
        subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "w", "-file", f"{folder}/ca.pem", "-keystore",
                        f"{folder}/trust.p12", "-storepass", "changeit", "-storetype", "PKCS12"],
                       capture_output=True, check=False)


def server_log(folder):
    with open(f"{folder}/sshd.log", encoding="utf-8", errors="replace") as file:
        return file.read()


def expect(folder, command, word):
    out = run(folder, command.replace("%(f)s", folder))
    if word not in out:
        raise Failed(f"no {word!r} in: {out}\n{server_log(folder) if 'ssh' in command else ''}")


def main():
    enter()
    folder = tempfile.mkdtemp()
    tap = Tap()
    world = World(folder)
    try:
        prepare(folder)
        world.make_repository()
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        subprocess.run(["chmod", "600", f"{folder}/ca.key"], check=True)
        has_ssh = world.serve_ssh()  # behind that: its keys are for its user alone
        is_soak = os.environ.get("HB_SOAK") == "1"
        if is_soak and shutil.which("go"):
            build_go(folder)
        for name, program, command, word in (*CLIENTS, *(LARGE if is_soak else ())):
            point = f"an unmodified client: {name}"
            if program == "sshd" and not has_ssh or program != "sshd" and not shutil.which(program):
                tap.skip(point, f"there is no {program}")
                continue
            tap.test(point, expect, folder, command, word)
    finally:
        world.close()
        shutil.rmtree(folder, ignore_errors=True)
    return tap.done()


sys.exit(main())
