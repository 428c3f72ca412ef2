# SPDX-License-Identifier: Apache-2.0
"""What is particular to each agent: how it is pointed at the model and started.

Updates, telemetry, lists of models and downloads of language servers are off, by
the agents' own variables and settings.
"""

import json
import os

import issuer


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
    def login_variables(_):
        """Variables of the story of a login."""
        return {}

    @staticmethod
    def stand_in(home):
        """Files that the first screens would leave, where no test can pass them."""

    # Whether a variable that its profile names has the model's URL; else its settings have the port.
    URL_IN_VARIABLE = False
    PROFILE = ""
    # What it asks of hosts of its maker: (host, path) and the answer, by a proxy of ours.
    GATEWAY = {}
    # Variables that would answer a question of the screen.
    NOT_ON_SCREEN = ()
    # Full-screen: words that a screen may show, and the keys that answer them.
    DIALOGS = {}
    # What it shows where a prompt can be typed; "": the prompt is among its words.
    READY = ""
    # The same for its tools, if it may ask about them; it depends on its speed.
    APPROVALS = {}
    # Of DIALOGS the ones that the first screen shows in any case.
    MUST_ASK = ()
    # The file of its login below the home; "": no story of a login.
    LOGIN = ""
    LOGIN_STAND_IN = ""
    # On its screen, and what that shows after it.
    LOGIN_DIALOGS = {}
    LOGIN_DONE = ""
    # What the model sees of it, and the variables that would stand in for it.
    TOKEN = ""
    KEYS = ()
    # Whether its conversations go on outside, and the words that go on inside.
    SHARED = False
    RESUME = ""
    # Keys that end it, one after another.
    QUIT = ("C-c", "C-c", "C-d")


class Claude(Kind):
    """Claude Code."""

    URL_IN_VARIABLE = True

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
        return ["--dangerously-skip-permissions", "--", prompt]

    # Its welcome asks both whether there is a network.
    GATEWAY = {
        ("api.anthropic.com", "/api/hello"): '{"message": "hello"}',
        ("platform.claude.com", "/v1/oauth/hello"): '{"message": "hello"}',
    }
    CHOSEN = r"?❯ (\d\. )?Yes"
    DIALOGS = {
        "Choose the text style": ("Enter",),
        "Do you want to use this API key": ("Up", CHOSEN, "Enter"),
        "Press Enter to continue": ("Enter",),
        "Yes, I trust": ("Down", CHOSEN, "Enter"),
        "Yes, I accept": ("Down", CHOSEN, "Enter"),
    }
    MUST_ASK = ("Choose the text style", "Do you want to use this API key", "Yes, I trust",
                "Yes, I accept")  # fmt: skip

    @classmethod
    def login(cls, _):
        """A process inside writes the file as the documents have it."""
        tokens = {"accessToken": cls.TOKEN, "refreshToken": "sk-ant-ort01-story",
                  "expiresAt": issuer.YEAR_2099 * 1000, "scopes": ["user:inference"],
                  "subscriptionType": "max"}  # fmt: skip
        text = json.dumps({"claudeAiOauth": tokens})
        return ["run", "--profile", "claude", "--", "sh", "-ec",
                f"umask 077; mkdir -p ~/.claude; printf %s '{text}' >~/{cls.LOGIN}"]  # fmt: skip

    LOGIN = ".claude/.credentials.json"
    LOGIN_STAND_IN = ", with a stand-in for its login,"
    TOKEN = "sk-ant-oat01-story"
    KEYS = ("ANTHROPIC_API_KEY",)
    SHARED = True
    RESUME = "holdback -c claude -c"


class Codex(Kind):
    """Codex: the model's address is an option, as in its configuration."""

    PROFILE = "codex"

    @staticmethod
    def variables(_):
        return {"CODEX_API_KEY": "sk-story"}

    @staticmethod
    def options(url):
        return ["-c", f'openai_base_url="{url}/v1"', "-c", "check_for_update_on_startup=false",
                "-c", "analytics.enabled=false", "-c", "features.apps=false",
                "-c", "features.plugins=false",
                "-c", "features.enable_request_compression=false"]  # fmt: skip

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
    MUST_ASK = ("Sign in with ChatGPT", "Paste or type your API key")

    @staticmethod
    def login(url):
        """With a code that its user would type at the issuer."""
        return ["codex", "login", "--device-auth", "--experimental_issuer", url]

    LOGIN = ".codex/auth.json"
    TOKEN = issuer.CODEX_TOKEN
    KEYS = ("CODEX_API_KEY",)
    RESUME = "holdback codex resume --last"


class Opencode(Kind):
    """OpenCode: a provider of its own, by the variable for configuration."""

    PROFILE = "opencode"

    SETTINGS = {"model": "story/story-1", "small_model": "story/story-1", "autoupdate": False,
                "share": "disabled"}  # fmt: skip

    @classmethod
    def variables(cls, url):
        provider = issuer.opencode_provider(url, "sk-story")
        return {
            "OPENCODE_CONFIG_CONTENT": json.dumps(dict(cls.SETTINGS, provider={"story": provider})),
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

    @classmethod
    def login_variables(cls, _):
        """The provider comes with the login, from the server."""
        return {"OPENCODE_CONFIG_CONTENT": json.dumps(cls.SETTINGS)}

    @staticmethod
    def login(url):
        return ["opencode", "auth", "login", url]

    LOGIN = ".local/share/opencode/auth.json"
    TOKEN = issuer.TOKEN
    RESUME = "holdback opencode -c"


class Gemini(Kind):
    """Gemini CLI: the project says how to log in, which no variable does."""

    URL_IN_VARIABLE = True

    @staticmethod
    def variables(url):
        return {
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_API_KEY": "sk-story",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        }

    SETTINGS = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
    }

    @classmethod
    def files(cls, _):
        return {".gemini/settings.json": json.dumps(cls.SETTINGS)}

    @classmethod
    def stand_in(cls, home):
        """Those of a project that is not trusted yet do not count."""
        path = os.path.join(home, ".gemini", "settings.json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(cls.SETTINGS, file)

    @staticmethod
    def first(_, prompt):
        return ["--yolo", "-p", prompt]

    @staticmethod
    def inside(_, prompt):
        """With a sandbox of its own, which cannot work there."""
        return ["--yolo", "--sandbox", "-p", prompt]

    @staticmethod
    def again(_, prompt):
        return ["--yolo", "--resume", "latest", "-p", prompt]

    @staticmethod
    def screen(*_):
        """A prompt among its words would be worked on behind the question of trust."""
        return ["--yolo"]

    READY = "Type your message"
    NOT_ON_SCREEN = ("GEMINI_CLI_TRUST_WORKSPACE",)
    DIALOGS = {"Do you trust": ("Enter",)}
    # On a slow machine it goes on without a restart, and without --yolo.
    APPROVALS = {"1. Allow once": ("Enter",)}
    MUST_ASK = ("Do you trust",)

    @staticmethod
    def login_variables(_):
        """No keyring of the machine."""
        return {"GEMINI_FORCE_FILE_STORAGE": "true"}

    @staticmethod
    def login(_):
        return ["gemini"]

    LOGIN = ".gemini/gemini-credentials.json"
    TOKEN = issuer.TOKEN
    LOGIN_DIALOGS = {"Enter Gemini API Key": (TOKEN, "Enter")}
    LOGIN_DONE = READY
    KEYS = ("GEMINI_API_KEY",)
    SHARED = True
    RESUME = "holdback -c gemini --resume latest"


ALL = {"claude": Claude, "codex": Codex, "opencode": Opencode, "gemini": Gemini}
