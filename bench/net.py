# SPDX-License-Identifier: Apache-2.0
"""The network by name beside the host's own and pasta, in one network namespace."""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time

ADDRESS, NAME, PORT = "203.0.113.10", "example.com", 7000
LOADS = {
    "connect, us": ("connect", PORT + 1, 1000),
    "round trip, us": ("rr", PORT, 5000),
    "down, MB/s": ("down", PORT, 1024),
    "up, MB/s": ("up", PORT, 1024),
    "1000 at once, ms": ("many", PORT + 2, 1000),
}
RULES = [word for port in range(PORT, PORT + 3) for word in ("--allow", f"{NAME}:{port}")]


def measure(stand, rounds, times):
    """{"loads": {what: {how: median}}, "start": {how: ms}, "idle": KiB, "left out": why}"""
    stand.run_compiler([shutil.which("musl-gcc") or "gcc", "-static", "-D_GNU_SOURCE", "-O2", "-o",
                        stand.path("work", "net_load"), os.path.join(os.path.dirname(__file__), "net_load.c")],
                       "net_load")
    shutil.copy(__file__, stand.path("net.py"))
    os.chmod(stand.path("net.py"), 0o755)
    out = stand.run("unshare", "--user", "--map-root-user", "--net", "--mount", "/usr/bin/python3", stand.path("net.py"),
                    stand.path("bin", "holdback"), stand.path("work", "net_load"), str(rounds), str(times))
    return json.loads(out.splitlines()[-1])


def set_up(folder):
    for words in (f"addr add {ADDRESS} dev lo", "link set lo up", "link add d0 type veth peer name d1", "link set d1 up",
                  "addr add 192.0.2.2/24 dev d0", "link set d0 up", "route add default via 192.0.2.1 dev d0"):
        subprocess.run(["ip", *words.split()], check=False, capture_output=True)
    with open(f"{folder}/hosts", "w", encoding="utf-8") as file:
        file.write(f"127.0.0.1 localhost\n{ADDRESS} {NAME}\n")
    subprocess.run(["mount", "--bind", f"{folder}/hosts", "/etc/hosts"], check=True)


def number(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return float(done.stdout.split()[-1])


def start_times(program, rounds):
    """None, none again and by name, one after the other."""
    ways = {"none": [], "none again": [], "allow": ["--allow", NAME]}
    found = {how: [] for how in ways}
    for _ in range(rounds):
        for how, options in ways.items():
            begin = time.perf_counter()
            subprocess.run([program, "run", "--ephemeral", "-q", *options, "--", "/bin/true"], check=True,
                           stderr=subprocess.DEVNULL)
            found[how].append((time.perf_counter() - begin) * 1000)
    return {how: statistics.median(all_times) for how, all_times in found.items()}


def idle(program):
    """Memory of a relay that rests, in KiB: its own pages."""
    box = subprocess.Popen([program, "run", "--ephemeral", "-q", *RULES, "--", "sh", "-c", "echo up; read a"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    box.stdout.readline()
    most = 0
    time.sleep(0.2)
    with open(f"/proc/{box.pid}/task/{box.pid}/children", encoding="utf-8") as file:
        pids = file.read().split()
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            status = dict(line.split(":", 1) for line in file)
        if status["Seccomp"].strip() == "2" and len(status["NSpid"].split()) == 1:
            most = int(status["RssAnon"].split()[0])
    box.communicate(b"\n")
    return most


def main():
    program, load, rounds, times = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    folder = os.path.dirname(load)
    set_up(folder)
    # A server that has our output would keep the caller waiting after a failure.
    server = subprocess.Popen([load, "serve", ADDRESS, str(PORT)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        print(json.dumps(measure_all(program, load, rounds, times)))
    finally:
        server.kill()
        server.wait()


def wait_for_server():
    for _ in range(1000):
        try:
            socket.create_connection((ADDRESS, PORT + 2)).close()
            return
        except OSError:
            time.sleep(0.01)
    raise SystemExit("the server does not start")


def measure_all(program, load, rounds, times):
    ways = {"host": ([load], ADDRESS), "holdback": ([program, "run", "--ephemeral", "-q", *RULES, "--", load], NAME)}
    found = {"left out": ""}
    if shutil.which("pasta") and os.access("/dev/net/tun", os.W_OK):
        ways["pasta"] = (["pasta", "--config-net", "-q", "--", load], ADDRESS)
    else:
        found["left out"] = "pasta: there is none, or /dev/net/tun is not for this user"
    wait_for_server()
    found["loads"] = {}
    for what, (mode, port, n) in LOADS.items():
        all_times = {how: [] for how in ways}
        for _ in range(times):
            for how, (words, host) in ways.items():
                all_times[how].append(number([*words, mode, host, str(port), str(n)]))
        found["loads"][what] = {how: statistics.median(one) for how, one in all_times.items()}
    found["start"] = start_times(program, rounds)
    found["idle"] = idle(program)
    return found


if __name__ == "__main__":
    main()
