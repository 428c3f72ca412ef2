# SPDX-License-Identifier: Apache-2.0
"""Where agents log in: the part of the model server that gives them tokens."""

import base64
import json

# By these the model server tells a login from a variable.
TOKEN = "story-token"
YEAR_2099 = 4100000000


def part(document):
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


def signed(claims):
    """A token as agents read it; nothing here checks the signature."""
    return ".".join((part({"alg": "none", "typ": "JWT"}), part(claims), part({})))


ACCOUNT = {"chatgpt_account_id": "story", "chatgpt_plan_type": "pro", "chatgpt_user_id": "story"}
CODEX_TOKEN = signed(
    {
        "exp": YEAR_2099,
        "email": "story@example.org",
        "https://api.openai.com/auth": ACCOUNT,
    }
)


def opencode_provider(url, key):
    """The model server, as opencode's configuration names it."""
    return {"npm": "@ai-sdk/openai-compatible", "name": "Story",
            "models": {"story-1": {"name": "Story 1"}},
            "options": {"baseURL": f"{url}/v1", "apiKey": key}}  # fmt: skip


class Issuer:
    """OpenAI's login with a code that is typed elsewhere, and opencode's well-known file."""

    PATHS = {
        ("POST", r"/api/accounts/deviceauth/usercode"): "code",
        ("POST", r"/api/accounts/deviceauth/token"): "typed",
        ("POST", r"/oauth/token"): "tokens",
        ("GET", r"/\.well-known/opencode"): "opencode",
    }
    FIXED = {
        "code": {"device_auth_id": "story", "user_code": "STORY-1", "interval": "0"},
        "typed": {"authorization_code": "c", "code_challenge": "d", "code_verifier": "e"},
        "tokens": {
            "id_token": CODEX_TOKEN, "access_token": CODEX_TOKEN, "refresh_token": "r",
            "token_type": "Bearer", "expires_in": 3600,
        },
        "opencode": lambda url: {
            "auth": {"command": ["printf", TOKEN], "env": "STORY_TOKEN"},
            "config": {"provider": {"story": opencode_provider(url, "{env:STORY_TOKEN}")}},
        },
    }  # fmt: skip


def key_of(headers):
    """The key or token of a request; "": it has none."""
    for name in ("x-api-key", "x-goog-api-key"):
        if headers.get(name):
            return headers[name]
    return headers.get("Authorization", "").removeprefix("Bearer ")
