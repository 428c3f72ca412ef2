#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model that agents talk to, on the loopback.

It knows three protocols (protocols.py) and one conversation: a prompt that says
`story NAME in DIRECTORY:` is answered with the steps of that story, one tool call
at a time.  Which step is next follows from the tool results behind the prompt in
the request itself, never from the order of requests, because agents ask for
titles and the like at the same time.  A request without such a prompt, or one
that brings no tool for the step, gets a sentence.

    model.py STORIES.json LOG

serves until its standard input ends, and prints its port first.  Each request is
one line of JSON in the log.
"""

import http.server
import json
import os
import re
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
import issuer  # noqa: E402
import protocols  # noqa: E402

PROMPT = re.compile(r"\bstory (\w+) in (\S+):")
BODY_MAX = 64 << 20

# A story is a list of steps: what to do, and the words for it.  Paths are
# relative to the directory of the prompt.
STORIES = {
    "first": [
        ["write", "hello.txt", "one\n"],
        ["edit", "hello.txt", "one", "two"],
        ["shell", "printf 'three\\n' >shell.txt && cat hello.txt >>shell.txt"],
    ],
    "second": [
        ["edit", "hello.txt", "two", "four"],
        ["shell", "cat hello.txt shell.txt >again.txt"],
    ],
    "screen": [
        ["write", "screen.txt", "five\n"],
        ["shell", "cat screen.txt screen.txt >screen2.txt"],
    ],
    "twice": [
        ["write", "twice.txt", "six\n"],
    ],
    "outside": [
        ["write", "outside.txt", "seven\n"],
    ],
}


class Model:
    """The server, in a thread; `requests` is what it was asked so far."""

    def __init__(self, stories=None, log=None):
        self.stories = STORIES if stories is None else stories
        self.requests = []
        self.lock = threading.Lock()
        self.log = log
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.model = self
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def note(self, fact):
        with self.lock:
            self.requests.append(fact)
            if self.log:
                self.log.write(json.dumps(fact) + "\n")
                self.log.flush()

    def unknown(self):
        """The requests that this server does not know."""
        with self.lock:
            return [f"{r['method']} {r['path']}" for r in self.requests if r.get("unknown")]

    def steps(self, story):
        """The requests for a step of a story, in the order of the steps."""
        with self.lock:
            found = [r for r in self.requests if r.get("story") == story and r["answer"] != "words"]
        return sorted(found, key=lambda r: r["step"])

    def reply(self, talk):
        """What the model says: ("call", name, arguments) or ("words", text)."""
        if talk.schema:
            return ("words", json.dumps(protocols.instance_of(talk.schema))), {"answer": "words"}
        told = []
        for number, (kind, text) in enumerate(talk.items):
            match = PROMPT.search(text) if kind == "user" else None
            if match and match[1] in self.stories:
                told.append((number, match[1], match[2]))
        if not told:
            return ("words", "A quiet day"), {"answer": "words"}
        start, story, folder = told[-1]
        results = [text for kind, text in talk.items[start:] if kind == "result"]
        fact = {
            "story": story,
            "step": len(results),
            "results": results,
            "told": [name for _, name, _ in told],
            "answer": "words",
        }
        steps = self.stories[story]
        if not talk.tools or len(results) > len(steps):
            return ("words", "A quiet day"), fact
        if len(results) == len(steps):
            fact["answer"] = "end"
            return ("words", f"The story {story} is at its end."), fact
        call = protocols.call_for(talk.tools, folder, *steps[len(results)])
        if call is None:
            fact["lacks"] = steps[len(results)][0]
            fact["tools"] = sorted(talk.tools)
            return ("words", "A quiet day"), fact
        fact["answer"] = call[0]
        return ("call", *call), fact


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):  # pylint: disable=arguments-differ
        """Nothing on stderr: it is the test's."""

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data
        return self.rfile.read(min(int(self.headers.get("Content-Length", 0)), BODY_MAX))

    def answer(self, status, data, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def answer_json(self, document, status=200):
        self.answer(status, json.dumps(document).encode())

    def serve(self):
        """One request: noted, then answered."""
        path = self.path.partition("?")[0]
        fact = {"method": self.command, "path": path, "key": issuer.key_of(self.headers)}
        if self.headers.get("Upgrade", "").lower() == "websocket":
            self.server.model.note(dict(fact, answer="no websocket"))
            self.close_connection = True
            return self.answer_json({"error": {"message": "no WebSocket here"}}, 426)
        body = self.body()
        protocol, action = protocols.find(self.command, path)
        if protocol is None:
            self.server.model.note(dict(fact, unknown=True, body=body[:2000].decode(errors="replace")))
            return self.answer_json({"error": {"message": "unknown path"}}, 404)
        if action in protocol.FIXED:
            self.server.model.note(dict(fact, answer=action))
            fixed = protocol.FIXED[action]
            return self.answer_json(fixed(self.server.model.url) if callable(fixed) else fixed)
        try:
            asked = json.loads(body)
            talk = protocol.read(asked)
        except (ValueError, KeyError, TypeError, AttributeError) as why:
            self.server.model.note(dict(fact, unknown=True, body=f"{type(why).__name__}: {why}"))
            return self.answer_json({"error": {"message": "not understood"}}, 400)
        reply, more = self.server.model.reply(talk)
        self.server.model.note(dict(fact, **more))
        if action != "stream" and not asked.get("stream"):
            return self.answer_json(protocol.whole(asked, reply))
        data = "".join(protocol.stream(asked, reply)).encode()
        return self.answer(200, data, "text/event-stream")

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_PATCH = serve


def main():
    stories = STORIES
    if os.path.exists(sys.argv[1]):
        with open(sys.argv[1], encoding="utf-8") as file:
            stories = json.load(file)
    with open(sys.argv[2], "a", encoding="utf-8") as log, Model(stories, log) as model:
        print(model.port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
