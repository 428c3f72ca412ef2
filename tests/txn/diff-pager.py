#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: bash git less
"""`holdback diff` on a terminal: the pager, the colours, and contents that would
like to speak to the terminal."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "lib"))
# pylint: disable=wrong-import-position
from pty_shell import PROMPT, Failed, Shell, Tap, same, wait_until  # noqa: E402

HOLDBACK = os.environ["HB_BIN"]
EVIL = b"title \x1b]0;gotcha\x07 clear \x1b[2J c1 \xc2\x9b31m raw \x9b bidi \xe2\x80\xae back \x08 cr \rx\n"
OURS = re.compile("\x1b\\[(?:1|36|31|32|7|27)?m")
WORK = tempfile.mkdtemp(dir=os.environ["TMPDIR"])
PROJECT, STATE = os.path.join(WORK, "p"), os.path.join(WORK, "state")
HOME = os.path.join(WORK, "home")


def hb(command, *words):
    return subprocess.run(
        [HOLDBACK, command, "--state-dir", STATE, *words],
        cwd=PROJECT, check=True, capture_output=True,
    ).stdout  # fmt: skip


def set_up():
    for folder in (PROJECT, HOME, os.path.join(HOME, ".config", "git")):
        os.makedirs(folder)
    with open(os.path.join(PROJECT, "a"), "w", encoding="utf-8") as file:
        file.write("one\ntwo\n")
    hb("create", "s", "--cow", PROJECT)
    script = "import sys; open('a', 'ab').write(b'three\\n'); open('evil', 'wb').write(%r)" % EVIL
    script += "; open('long', 'w').write('line\\n' * 200000)"
    hb("exec", "@s", "--", "/usr/bin/python3", "-c", script)


def config(text, *place):
    """The user's own configuration; none without words."""
    path = os.path.join(HOME, *(place or (".gitconfig",)))
    if os.path.exists(path):
        os.unlink(path)
    if text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def diff(words="", env=""):
    return f"env {env} '{HOLDBACK}' diff --state-dir '{STATE}' @s {words}"


def shown(shell, words="a", env=""):
    """What a diff prints on the terminal."""
    return shell.run(diff(words, env))


def mark(name):
    return f"'sed s/^/{name}:/'"


def expect_pager(shell, name, env="", words="a"):
    seen = shown(shell, words, env)
    if name and f"{name}:diff --git a/a b/a" not in seen:
        raise Failed(f"no {name} in {seen!r}")
    if not name and (":diff" in seen or "diff --git a/a b/a" not in seen):
        raise Failed(f"a pager in {seen!r}")


def test_order(shell):
    config("[core]\n\tpager = sed s/^/config:/ ; a comment\n")
    own, gits, pager = f"HOLDBACK_PAGER={mark('own')}", f"GIT_PAGER={mark('gits')}", f"PAGER={mark('pager')}"
    expect_pager(shell, "own", f"{own} {gits} {pager}")
    expect_pager(shell, "gits", f"{gits} {pager}")
    expect_pager(shell, "config", pager)
    config("")
    config('[core]\n\tpager = "sed s/^/xdg:/"\n', ".config", "git", "config")
    expect_pager(shell, "xdg", pager)
    config("", ".config", "git", "config")
    expect_pager(shell, "pager", pager)


def test_none(shell):
    pager = f"PAGER={mark('pager')}"
    expect_pager(shell, "", f"GIT_PAGER=cat {pager}")
    expect_pager(shell, "", f"GIT_PAGER= {pager}")
    expect_pager(shell, "", pager, "--no-pager a")
    expect_pager(shell, "", pager, "a | command cat")


def test_agents_config(shell):
    """Neither in the real directory nor in the session."""
    evil = "[core]\n\tpager = sed s/^/evil:/\n[color]\n\tui = always\n[diff]\n\texternal = false\n"
    os.mkdir(os.path.join(PROJECT, ".git"))
    for name, text in ((".git/config", evil), (".gitattributes", "* -diff\n"), (".gitconfig", evil)):
        with open(os.path.join(PROJECT, name), "w", encoding="utf-8") as file:
            file.write(text)
    hb("exec", "@s", "--", "sh", "-c", "mkdir -p .git; cp .gitconfig .git/config.worktree; echo '* -text' >>.gitattributes")
    seen = shown(shell, "--no-pager a")
    expect_pager(shell, "pager", f"PAGER={mark('pager')}")
    if "evil" in seen or "\x1b" in seen:
        raise Failed(f"the agent's settings are in force: {seen!r}")
    shutil.rmtree(os.path.join(PROJECT, ".git"))


def test_less_settings(shell):
    seen = shown(shell, "a", "-u LESS -u LV PAGER='echo LESS=$LESS LV=$LV; cat >/dev/null; true'")
    same(seen.strip(), "LESS=FRX LV=-c")
    seen = shown(shell, "a", "LESS=q LV=x PAGER='echo LESS=$LESS LV=$LV; cat >/dev/null; true'")
    same(seen.strip(), "LESS=q LV=x")


def test_quit(shell):
    """Who has seen enough makes no error."""
    same(shown(shell, "long", "PAGER='head -n 1'").strip(), "diff --git a/long b/long")
    same(shell.status(), 0)
    same(shown(shell, "long", "PAGER=true").strip(), "")
    same(shell.status(), 0)
    same(shown(shell, "--exit-code long", "PAGER=true").strip(), "")
    same(shell.status(), 1)
    if "not found" not in shown(shell, "a", "PAGER=no-such-pager"):
        raise Failed("a pager that is not there goes unnoticed")


def leave(shell):
    """After ^C less may throw a key away: again, until it is gone."""

    def is_gone():
        if shell.children():
            shell.type("q")
        return not shell.children()

    wait_until(is_gone, "less leaves")
    # What came too late is a line of the shell's now.
    shell.type("\x15echo status $?.\r")
    shell.expect(r"status 0\.\r\n" + re.escape(PROMPT))


def test_less(shell):
    """less itself: it is in front, ^C is its own, and q leaves."""
    shell.start(diff("long", "-u LESS -u PAGER TERM=xterm"), "\n:")
    shell.type("\x03")
    shell.expect("\x07")
    leave(shell)
    # What fits on the screen is left there at once.
    shell.start(diff("a", "-u LESS -u PAGER TERM=xterm"), "three")
    shell.expect(re.escape(PROMPT))


def wait_until_free():
    wait_until(
        lambda: subprocess.run(
            [HOLDBACK, "exec", "--state-dir", STATE, "@s", "--", "true"],
            cwd=PROJECT, capture_output=True, check=False,
        ).returncode == 0,
        "the session is free",
    )  # fmt: skip


def test_released(shell):
    """Others may have the session while the pager is open."""
    shell.start(diff("a", "PAGER='command cat >/dev/null; echo held; read x </dev/tty'"), "held")
    wait_until_free()
    shell.run("")


def test_released_unread(shell):
    """Also if it has not read what there is, which no pipe holds."""
    pager = "PAGER='echo held; read x </dev/tty; sed -n \"s/^+line$/x/p\" | uniq -c'"
    shell.start(diff("long", pager), "held")
    wait_until_free()
    shell.type("\r")
    shell.expect(r"200000 x")
    shell.expect(re.escape(PROMPT))


def check_harmless(seen, want):
    rest = OURS.sub("", seen)
    bad = [c for c in rest if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 or c == "\u202e"]
    if bad or "\ufffd" in rest:
        raise Failed(f"{bad!r} reaches the terminal: {seen!r}")
    if want not in rest:
        raise Failed(f"no {want!r} in {rest!r}")


def test_injection(shell):
    want = "+title ^[]0;gotcha^G clear ^[[2J c1 <U+009B>31m raw <9B> bidi <U+202E> back ^H cr ^Mx"
    for env in ("TERM=xterm", "TERM=xterm NO_COLOR=1", "TERM=dumb"):
        check_harmless(shown(shell, "--no-pager evil", env), want)
        check_harmless(shown(shell, "evil", env + " PAGER='command cat -u'"), want)
    reverse = "\x1b[7m^[\x1b[27m"
    if reverse not in shown(shell, "--no-pager evil", "TERM=xterm"):
        raise Failed("what stands in for a control character looks like text")
    piped = subprocess.run(
        [HOLDBACK, "diff", "--state-dir", STATE, "@s", "evil"],
        cwd=PROJECT, check=True, capture_output=True,
    ).stdout  # fmt: skip
    if b"+" + EVIL not in piped:
        raise Failed("in a pipe the bytes are not as they are")


def test_names(shell):
    hb("exec", "@s", "--", "sh", "-c", 'echo x >"$(printf "n\\033[31m\\nm\\302\\233")"')
    for form in ("", "--stat", "--name-status"):
        # Two hundred thousand lines say nothing about names.
        words = "--no-pager --except long " + form
        check_harmless(shown(shell, f"{words} | command cat >/dev/null; " + diff(words), "TERM=xterm"), "\\033[31m\\012m\\302\\233")


def has_colour(shell, words="--no-pager a", env="TERM=xterm"):
    return "\x1b[32m+three\x1b[m" in shown(shell, words, env)


def test_colour(shell):
    rows = (
        (True, "", "--no-pager a", "TERM=xterm"),
        (True, "", "a", "TERM=xterm PAGER='command cat -u'"),
        (False, "", "--no-pager a", "TERM=dumb"),
        (False, "", "--no-pager a | command cat", "TERM=xterm"),
        (False, "", "--no-pager a", "TERM=xterm NO_COLOR=1"),
        (True, "", "--no-pager a", "TERM=xterm NO_COLOR="),
        (True, "", "--no-pager --color a", "TERM=xterm NO_COLOR=1"),
        (True, "", "--color=always a | command cat", "TERM=dumb"),
        (False, "", "--no-pager --color=never a", "TERM=xterm"),
        (True, "", "--no-pager --color=auto a", "TERM=xterm NO_COLOR=1"),
        (False, "[color]\n\tui = false\n", "--no-pager a", "TERM=xterm"),
        (True, "[color]\nui = never\ndiff = auto\n", "--no-pager a", "TERM=xterm"),
        (True, "[color]\n\tui = always\n", "--no-pager a | command cat", "TERM=xterm"),
        (True, '[color "diff"]\n\tui = never\n[Color]\n\tUI\n', "--no-pager a", "TERM=xterm"),
        (False, "[color]\n\tpager = no\n", "a", "TERM=xterm PAGER='command cat -u'"),
        (True, "[color\n\tui = never\n", "--no-pager a", "TERM=xterm"),
    )
    for want, text, words, env in rows:
        config(text)
        if has_colour(shell, words, env) != want:
            raise Failed(f"colour is not {want} with {text!r}, {words}, {env}")
    config("")
    config("[color]\n\tui = never\n", "other")
    place = os.path.join(HOME, "other")
    same(has_colour(shell, env=f"TERM=xterm GIT_CONFIG_GLOBAL='{place}'"), False)
    same(has_colour(shell, env=f"TERM=xterm GIT_CONFIG_SYSTEM='{place}'"), False)
    same(has_colour(shell, env=f"TERM=xterm GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_SYSTEM='{place}'"), True)


def main():
    tap = Tap()
    set_up()
    # A terminal narrower than a line would put line ends of its own into it.
    shell = Shell(f"export HOME='{HOME}' GIT_CONFIG_NOSYSTEM= LC_ALL=C.UTF-8; "
                  f"unset XDG_CONFIG_HOME GIT_PAGER PAGER NO_COLOR; stty cols 250; cd '{PROJECT}'")
    tap.after_failure = shell.restart
    tap.test("HOLDBACK_PAGER, GIT_PAGER, core.pager, PAGER", test_order, shell)
    tap.test("no pager", test_none, shell)
    tap.test("not the agent's settings", test_agents_config, shell)
    tap.test("what less is told", test_less_settings, shell)
    tap.test("leaving before the end", test_quit, shell)
    tap.test("less", test_less, shell)
    tap.test("the session is free while somebody reads", test_released, shell)
    tap.test("also of what is not read yet", test_released_unread, shell)
    tap.test("contents cannot speak to the terminal", test_injection, shell)
    tap.test("names cannot speak to the terminal", test_names, shell)
    tap.test("colours", test_colour, shell)
    shell.close()
    hb("cleanup", "-y", "@s")
    shutil.rmtree(WORK)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
