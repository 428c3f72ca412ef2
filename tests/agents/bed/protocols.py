# SPDX-License-Identifier: Apache-2.0
"""How agents talk to a model: requests to a conversation, and a reply back.

A protocol is a class with PATHS, FIXED answers, read(), whole() and stream().
A reply is ("words", text) or ("call", tool, arguments).
"""

import json
import re
import uuid

import issuer

# Dates far in the past: no agent takes anything for newer than what it has.
EPOCH = 1700000000


class Talk:
    """A conversation: ("user" | "model" | "result", text) in order; tool names."""

    def __init__(self):
        self.items = []
        self.tools = {}
        self.schema = None  # of the JSON that alone will do as an answer

    def add(self, kind, content):
        self.items.append((kind, text_of(content)))


def text_of(content):
    """All text in a content, which is a string, or nests parts of it."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(part) for part in content)
    for key in ("text", "output", "content", "response"):
        if key in content:
            return text_of(content[key])
    return json.dumps(content)


def instance_of(schema):
    """Something that a schema allows."""
    kind = schema.get("type", "object")
    kind = (kind[0] if isinstance(kind, list) else kind).lower()
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        parts = schema.get("properties", {})
        return {name: instance_of(part) for name, part in parts.items()}
    simple = {"array": [], "number": 1, "integer": 1, "boolean": False, "null": None}
    return simple.get(kind, "A quiet day")


def patch(*lines):
    return "\n".join(("*** Begin Patch",) + lines + ("*** End Patch",)) + "\n"


def lines_of(mark, text):
    return [mark + line for line in text.splitlines()]


def new_file(folder, path, text):
    return patch(f"*** Add File: {folder}/{path}", *lines_of("+", text))


def changed_file(folder, path, old, new):
    lines = ["@@", *lines_of("-", old), *lines_of("+", new)]
    return patch(f"*** Update File: {folder}/{path}", *lines)


def script(tool, words):
    """A call of a tool in the language that codex's `exec` runs."""
    return f"text(await tools.{tool}({json.dumps(words)}))"


# What a step is to each tool.  The first tool of a request that is here is used.
WRITE = {
    "Write": lambda d, p, t: {"file_path": f"{d}/{p}", "content": t},
    "write": lambda d, p, t: {"filePath": f"{d}/{p}", "content": t},
    "write_file": lambda d, p, t: {"file_path": f"{d}/{p}", "content": t},
    "apply_patch": new_file,
    "exec": lambda d, p, t: script("apply_patch", new_file(d, p, t)),
    "exec_command": lambda d, p, t: {"cmd": f"apply_patch <<'END'\n{new_file(d, p, t)}END\n"},
}
EDIT = {
    "Edit": lambda d, p, a, b: {"file_path": f"{d}/{p}", "old_string": a, "new_string": b},
    "edit": lambda d, p, a, b: {"filePath": f"{d}/{p}", "oldString": a, "newString": b},
    "replace": lambda d, p, a, b: {
        "file_path": f"{d}/{p}", "old_string": a, "new_string": b, "instruction": f"{b} for {a}",
    },
    "apply_patch": changed_file,
    "exec": lambda d, p, a, b: script("apply_patch", changed_file(d, p, a, b)),
    "exec_command": lambda d, p, a, b: {
        "cmd": f"apply_patch <<'END'\n{changed_file(d, p, a, b)}END\n",
    },
}  # fmt: skip
SHELL = {
    "Bash": lambda d, c: {"command": c, "description": "a step of the story"},
    "bash": lambda d, c: {"command": c, "description": "a step of the story"},
    "run_shell_command": lambda d, c: {"command": c, "description": "a step of the story"},
    "exec": lambda d, c: script("exec_command", {"cmd": c, "workdir": d}),
    "exec_command": lambda d, c: {"cmd": c, "workdir": d},
    "shell_command": lambda d, c: {"command": c, "workdir": d},
    "shell": lambda d, c: {"command": ["sh", "-c", c], "workdir": d},
}
STEPS = {"write": WRITE, "edit": EDIT, "shell": SHELL}


def call_for(tools, folder, step, *words):
    """(tool, arguments) for a step, or None if no tool of these does it."""
    for name, make in STEPS[step].items():
        if name in tools:
            return name, make(folder, *words)
    return None


def event(name, document):
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(document)}\n\n"


class Messages:
    """Anthropic's Messages."""

    PATHS = {
        ("POST", r"/v1/messages"): "talk",
        ("POST", r"/v1/messages/count_tokens"): "count",
        ("GET", r"/v1/models"): "models",
        ("HEAD", r"/(v1/models)?"): "models",
    }
    FIXED = {
        "count": {"input_tokens": 100},
        "models": {
            "object": "list", "has_more": False, "first_id": None, "last_id": None,
            "data": [{"id": "story-1", "type": "model", "object": "model", "owned_by": "story",
                      "created": EPOCH, "display_name": "Story 1",
                      "created_at": "2023-11-14T22:13:20Z"}],
        },
    }  # fmt: skip

    @staticmethod
    def read(asked):
        talk = Talk()
        talk.tools = {tool["name"]: tool for tool in asked.get("tools", [])}
        for message in asked["messages"]:
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for part in parts:
                if part["type"] == "tool_result":
                    talk.add("result", part.get("content"))
                elif part["type"] == "text":
                    talk.add("user" if message["role"] == "user" else "model", part["text"])
        return talk

    @staticmethod
    def parts(reply):
        if reply[0] == "words":
            return {"type": "text", "text": reply[1]}, "end_turn"
        return {"type": "tool_use", "id": fresh("toolu"), "name": reply[1], "input": reply[2]}, "tool_use"

    @classmethod
    def whole(cls, asked, reply):
        part, reason = cls.parts(reply)
        return cls.message(asked, [part], reason)

    @staticmethod
    def message(asked, content, reason):
        return {
            "id": fresh("msg"), "type": "message", "role": "assistant", "model": asked["model"],
            "content": content, "stop_reason": reason, "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }  # fmt: skip

    @classmethod
    def stream(cls, asked, reply):
        part, reason = cls.parts(reply)
        yield event("message_start", {"type": "message_start", "message": cls.message(asked, [], None)})
        if part["type"] == "text":
            start, delta = dict(part, text=""), {"type": "text_delta", "text": part["text"]}
        else:
            start = dict(part, input={})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(part["input"])}
        yield event("content_block_start", {"type": "content_block_start", "index": 0, "content_block": start})
        yield event("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta})
        yield event("content_block_stop", {"type": "content_block_stop", "index": 0})
        yield event("message_delta", {
            "type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 10},
        })  # fmt: skip
        yield event("message_stop", {"type": "message_stop"})


class Responses:
    """OpenAI's Responses."""

    PATHS = {("POST", r"/v1/responses"): "talk"}
    FIXED = {}

    @staticmethod
    def read(asked):
        talk = Talk()
        items = asked["input"]
        if isinstance(items, str):
            items = [{"type": "message", "role": "user", "content": items}]
        talk.tools = Responses.tools(asked, items)
        talk.schema = asked.get("text", {}).get("format", {}).get("schema")
        for item in items:
            kind = item.get("type", "message")
            if kind == "message":
                role = {"user": "user", "assistant": "model"}.get(item["role"], "system")
                talk.add(role, item["content"])
            elif kind.endswith("_output"):
                talk.add("result", item["output"])
        return talk

    @staticmethod
    def tools(asked, items):
        """By name: (the namespace, its kind).  Some come as items of the input."""
        lists = [asked.get("tools", [])]
        lists += [item["tools"] for item in items if item.get("type") == "additional_tools"]
        found = {}
        for tool in (tool for each in lists for tool in each):
            if tool["type"] == "namespace":
                found.update((t["name"], (tool["name"], t["type"])) for t in tool["tools"])
            else:
                found[tool.get("name", tool["type"])] = (None, tool["type"])
        return found

    @classmethod
    def item(cls, asked, reply):
        if reply[0] == "words":
            text = {"type": "output_text", "text": reply[1], "annotations": [], "logprobs": []}
            return {"id": fresh("msg"), "type": "message", "role": "assistant", "status": "completed",
                    "content": [text]}  # fmt: skip
        _, name, words = reply
        space, kind = cls.tools(asked, asked["input"])[name]
        call = {"id": fresh("item"), "call_id": fresh("call"), "name": name, "status": "completed"}
        if space:
            call["namespace"] = space
        if kind == "custom":
            return dict(call, type="custom_tool_call", input=words)
        return dict(call, type="function_call", arguments=json.dumps(words))

    @classmethod
    def whole(cls, asked, reply):
        return cls.response(asked, "completed", [cls.item(asked, reply)])

    @staticmethod
    def response(asked, status, output):
        return {
            "id": fresh("resp"), "object": "response", "created_at": EPOCH, "status": status,
            "model": asked["model"], "output": output, "error": None, "incomplete_details": None,
            "parallel_tool_calls": False, "tools": [], "usage": {
                "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 110,
            },
        }  # fmt: skip

    @classmethod
    def stream(cls, asked, reply):
        item = cls.item(asked, reply)
        events = [("response.created", {"response": cls.response(asked, "in_progress", [])})]
        events.append(("response.output_item.added", {"output_index": 0, "item": cls.begun(item)}))
        where = {"item_id": item["id"], "output_index": 0}
        if item["type"] == "message":
            text = item["content"][0]["text"]
            part = dict(where, content_index=0)
            empty = {"type": "output_text", "text": "", "annotations": []}
            events.append(("response.content_part.added", dict(part, part=empty)))
            events.append(("response.output_text.delta", dict(part, delta=text, logprobs=[])))
            events.append(("response.output_text.done", dict(part, text=text, logprobs=[])))
            events.append(("response.content_part.done", dict(part, part=item["content"][0])))
        elif item["type"] == "function_call":
            words = item["arguments"]
            events.append(("response.function_call_arguments.delta", dict(where, delta=words)))
            events.append(("response.function_call_arguments.done", dict(where, arguments=words)))
        events.append(("response.output_item.done", {"output_index": 0, "item": item}))
        events.append(("response.completed", {"response": cls.response(asked, "completed", [item])}))
        for number, (name, document) in enumerate(events):
            yield event(name, dict(document, type=name, sequence_number=number))

    @staticmethod
    def begun(item):
        begun = dict(item, status="in_progress")
        for key, empty in (("content", []), ("arguments", ""), ("input", "")):
            if key in begun:
                begun[key] = empty
        return begun


class Completions:
    """OpenAI's chat completions."""

    PATHS = {("POST", r"/v1/chat/completions"): "talk"}
    FIXED = {}

    @staticmethod
    def read(asked):
        talk = Talk()
        talk.tools = {tool["function"]["name"]: tool for tool in asked.get("tools", [])}
        kinds = {"user": "user", "assistant": "model", "tool": "result"}
        for message in asked["messages"]:
            talk.add(kinds.get(message["role"], "system"), message.get("content"))
        return talk

    @staticmethod
    def message(reply):
        if reply[0] == "words":
            return {"role": "assistant", "content": reply[1]}, "stop"
        call = {"name": reply[1], "arguments": json.dumps(reply[2])}
        calls = [{"index": 0, "id": fresh("call"), "type": "function", "function": call}]
        return {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"

    @classmethod
    def whole(cls, asked, reply):
        message, reason = cls.message(reply)
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return cls.document(asked, "chat.completion", choice)

    @staticmethod
    def document(asked, kind, choice):
        return {
            "id": fresh("chat"), "object": kind, "created": EPOCH, "model": asked["model"],
            "choices": [choice],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }  # fmt: skip

    @classmethod
    def stream(cls, asked, reply):
        message, reason = cls.message(reply)
        for delta, end in ((message, None), ({}, reason)):
            choice = {"index": 0, "delta": delta, "finish_reason": end}
            yield event(None, cls.document(asked, "chat.completion.chunk", choice))
        yield "data: [DONE]\n\n"


class Gemini:
    """Google's generateContent."""

    PATHS = {
        ("POST", r"/v1(beta)?/models/[^/:]+:streamGenerateContent"): "stream",
        ("POST", r"/v1(beta)?/models/[^/:]+:generateContent"): "whole",
        ("POST", r"/v1(beta)?/models/[^/:]+:countTokens"): "count",
        ("GET", r"/v1beta/models"): "models",
    }
    FIXED = {
        "count": {"totalTokens": 100},
        "models": {"models": [{"name": "models/story-1", "displayName": "Story 1"}]},
    }

    @staticmethod
    def read(asked):
        talk = Talk()
        for tool in asked.get("tools", []):
            for one in tool.get("functionDeclarations", []):
                talk.tools[one["name"]] = one
        setup = asked.get("generationConfig", {})
        talk.schema = setup.get("responseJsonSchema") or setup.get("responseSchema")
        for content in asked["contents"]:
            for part in content.get("parts", []):
                if "functionResponse" in part:
                    talk.add("result", part["functionResponse"].get("response"))
                elif "text" in part:
                    talk.add("user" if content.get("role") == "user" else "model", part["text"])
        return talk

    @staticmethod
    def whole(_, reply):
        if reply[0] == "words":
            part = {"text": reply[1]}
        else:
            part = {"functionCall": {"id": fresh("call"), "name": reply[1], "args": reply[2]}}
        return {
            "candidates": [{"index": 0, "finishReason": "STOP",
                            "content": {"role": "model", "parts": [part]}}],
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10,
                              "totalTokenCount": 110},
            "modelVersion": "story-1", "responseId": fresh("resp"),
        }  # fmt: skip

    @classmethod
    def stream(cls, asked, reply):
        yield event(None, cls.whole(asked, reply))


ALL = (Messages, Responses, Completions, Gemini, issuer.Issuer)


def fresh(kind):
    """An id that no other has, also in a conversation that goes on later."""
    return f"{kind}_{uuid.uuid4().hex[:24]}"


def find(method, path):
    """The protocol and the action of a request; (None, None): unknown."""
    for protocol in ALL:
        for (wanted, pattern), action in protocol.PATHS.items():
            if method == wanted and re.fullmatch(pattern, path):
                return protocol, action
    return None, None
