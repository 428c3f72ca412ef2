# SPDX-License-Identifier: Apache-2.0
"""What is particular to each agent: how it is pointed at the model and started.

Updates, telemetry, lists of models and downloads of language servers are off, by
the agents' own variables and settings.
"""

import json
import os


class Kind:
    """What most agents have in common."""

    @staticmethod
    def files(_):
        """Files of the project, before the agent is there."""
        return {}

    @classmethod
    def inside(cls, url, prompt):
        """The words inside, if there are others than outside."""
        return cls.first(url, prompt)

    @staticmethod
    def stand_in(home):
        """Files that the first screens would leave, where no test can pass them."""

    # What of its screens a file stands in for: a part of the test's name.
    STAND_IN = ""
    # Full-screen: words that a screen may show, and the keys that answer them.
    DIALOGS = {}
    # Keys that end it, one after another.
    QUIT = ("C-c", "C-c", "C-d")


class Claude(Kind):
    """Claude Code."""

    @staticmethod
    def variables(url):
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-ant-api03-story",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    @staticmethod
    def first(_, prompt):
        return ["-p", prompt, "--allowedTools", "Write Edit Bash"]

    @staticmethod
    def again(_, prompt):
        return ["-c", "-p", prompt, "--allowedTools", "Write Edit Bash"]

    @staticmethod
    def screen(_, prompt):
        return ["--permission-mode", "acceptEdits", "--allowedTools=Write,Edit,Bash", "--", prompt]

    @staticmethod
    def stand_in(home):
        """Its welcome asks a host of its maker whether there is a network."""
        path = os.path.join(home, ".claude.json")
        known = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                known = json.load(file)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(dict(known, hasCompletedOnboarding=True), file)

    STAND_IN = ", with a stand-in for its welcome,"
    DIALOGS = {
        "Choose the text style": ("Enter",),
        "Do you want to use this API key": ("Up", "Enter"),
        "Press Enter to continue": ("Enter",),
        "Yes, I trust": ("Down", "Enter"),
    }


class Codex(Kind):
    """Codex: the model's address is an option, as in its configuration."""

    @staticmethod
    def variables(_):
        return {"CODEX_API_KEY": "sk-story"}

    @staticmethod
    def options(url):
        return ["-c", f'openai_base_url="{url}/v1"', "-c", "check_for_update_on_startup=false",
                "-c", "analytics.enabled=false"]  # fmt: skip

    @classmethod
    def first(cls, url, prompt):
        return ["exec", *cls.options(url), "-s", "danger-full-access", prompt]

    @classmethod
    def inside(cls, url, prompt):
        """With a sandbox of its own, which cannot work there."""
        return ["exec", *cls.options(url), "-s", "workspace-write", prompt]

    @classmethod
    def again(cls, url, prompt):
        return ["exec", *cls.options(url), "-s", "danger-full-access", "resume", "--last", prompt]

    @classmethod
    def screen(cls, url, prompt):
        return [*cls.options(url), "-s", "danger-full-access", "-a", "never", prompt]

    DIALOGS = {
        "Sign in with ChatGPT": ("3",),
        "Paste or type your API key": ("sk-story", "Enter"),
        "Trust this folder?": ("Enter",),
        "Press Enter to continue": ("Enter",),
        "press enter to continue": ("Enter",),
    }


class Opencode(Kind):
    """OpenCode: a provider of its own, by the variable for configuration."""

    @staticmethod
    def variables(url):
        models = {"story-1": {"name": "Story 1"}}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "Story", "models": models,
                    "options": {"baseURL": f"{url}/v1", "apiKey": "sk-story"}}  # fmt: skip
        settings = {"model": "story/story-1", "small_model": "story/story-1", "autoupdate": False,
                    "share": "disabled", "provider": {"story": provider}}  # fmt: skip
        return {
            "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        }

    @staticmethod
    def first(_, prompt):
        return ["run", prompt]

    @staticmethod
    def again(_, prompt):
        return ["run", "-c", prompt]

    @staticmethod
    def screen(_, prompt):
        return ["--prompt", prompt]


class Gemini(Kind):
    """Gemini CLI: the project says how to log in, which no variable does."""

    @staticmethod
    def variables(url):
        return {
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_API_KEY": "sk-story",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        }

    @staticmethod
    def files(_):
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
        }
        return {".gemini/settings.json": json.dumps(settings)}

    @staticmethod
    def first(_, prompt):
        return ["--yolo", "-p", prompt]

    @staticmethod
    def again(_, prompt):
        return ["--yolo", "--resume", "latest", "-p", prompt]

    @staticmethod
    def screen(_, prompt):
        return ["--yolo", "-i", prompt]


ALL = {"claude": Claude, "codex": Codex, "opencode": Opencode, "gemini": Gemini}
