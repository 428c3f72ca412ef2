# SPDX-License-Identifier: Apache-2.0
"""Figures as tables that can be read on a terminal and as Markdown."""

import os
import platform
import subprocess
from datetime import datetime, timezone

# What a row of the first table is, in the words of a reader.
COMMANDS = {
    "bare": "no sandbox",
    "ours": "our bwrap",
    "ours again": "our bwrap again (A/A)",
    "bwrap": "Debian's bwrap",
    "floor": "floor: the same work, no questions asked",
    "floor, filter, slow end": "floor, filter, waits for the teardown",
    "ours, overlay": "our bwrap, overlay",
    "floor, overlay": "floor, overlay",
    "holdback run": "holdback run: overlay, filter, waits",
    "floor, overlay, filter, slow end": "floor, overlay, filter, waits",
}
DATABASE = {
    "commit": "commit of one row: three copies, and all pages",
    "backup": "sqlite3 .backup to a new file",
    "cp": "cp, sync, mv, sync",
    "cp again": "the same again (A/A)",
}
SESSIONS = {
    "create and exec": "create and exec of true, by files",
    "create and exec again": "the same again (A/A)",
    "create on a copy": "create --strategy copy_on_write, by files",
    "cp -a": "cp -a",
    "mark": "mark of 1000 changes, by files",
    "fork": "fork of them",
    "cp -a of the tree": "cp -a of the tree",
    "git worktree add": "git worktree add",
    "commit": "commit, by changes",
    "undo": "undo",
    "rsync": "rsync -a; sync -f",
    "cp": "cp -a; sync -f",
    "rollback": "rollback",
    "commit of git commits": "commit, by commits of git",
    "git fetch and merge": "git fetch; git merge --ff-only; sync -f",
    "first diff of edits": "diff --name-status, the first after a change",
    "diff of edits": "diff --name-status, the next one",
    "diff again of edits": "the same again (A/A)",
    "first diff of one-size": "the first, where no size has changed",
    "diff of one-size": "the next one",
    "diff again of one-size": "the same again (A/A)",
    "git status": "git status",
    "first line of text diff": "first line of diff, by changes",
    "first line of git diff": "first line of git diff",
    "text diff": "diff",
    "git diff": "git diff",
    "rsync -an": "rsync -an",
}
LIVE = {
    "bare": "no sandbox",
    "exec": "holdback exec, joins the box",
    "exec again": "holdback exec again (A/A)",
    "bwrap": "Debian's bwrap, a new sandbox",
    "kept": "holdback keep, without a command",
}
PAUSE = {
    "mark": "the box is still, mark --live",
    "nothing": "the same process without a mark (A/A)",
    "mark, in all": "mark --live, start to finish",
    "cp -a": "cp -a of as many files",
}
TERMINAL = {
    "bare": "no sandbox",
    "own": "holdback run, a terminal of its own",
    "own again": "the same again (A/A)",
    "real": "holdback run --tty real",
}
AGENT = {
    "bare": "claude --version",
    "later": "holdback claude --version, second run and later",
    "later again": "the same again (A/A)",
    "bare, new home": "claude --version, in a new home",
    "first": "holdback claude --version, first run in a new home",
}
PAYLOADS = ("dynamic", "static")
AT_LEAST, AT_MOST = ">=", "<="


class Goal:
    """A bound for a ratio."""

    def __init__(self, name, value, relation, bound):
        self.name, self.value, self.relation, self.bound = name, value, relation, bound

    def is_met(self):
        if self.relation == AT_LEAST:
            return self.value >= self.bound
        return self.value <= self.bound

    def verdict(self):
        if self.is_met():
            return "met"
        return f"MISSED by {abs(self.value - self.bound):.3f}"

    def row(self):
        return [self.name, f"{self.value:.3f}", f"{self.relation} {self.bound:g}", self.verdict()]


def aligned(header, rows):
    """A Markdown table; columns but the first are numbers to the right."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(cells):
        first = cells[0].ljust(widths[0])
        others = [c.rjust(w) for c, w in zip(cells[1:], widths[1:])]
        return "| " + " | ".join([first, *others]) + " |"

    rule = ["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]
    return "\n".join([line(header), line(rule), *map(line, rows)]) + "\n"


def goals_of(figures):
    goals = sandbox_goals(figures) if "start" in figures else []
    goals += run_goals(figures["run"]) if "run" in figures else []
    goals += live_goals(figures["live"]) if "live" in figures else []
    goals += pause_goals(figures["pause"]) if "pause" in figures else []
    goals += heard_goals(figures["heard"]) if "heard" in figures else []
    goals += terminal_goals(figures["terminal"]) if "terminal" in figures else []
    goals += net_goals(figures["net"]) if "net" in figures else []
    goals += scan_goals(figures["scan"]) if "scan" in figures else []
    return goals + (session_goals(figures["sessions"]) if "sessions" in figures else [])


def run_goals(seconds):
    def goal(name, above, below, relation, bound):
        return Goal(name, seconds[above] / seconds[below], relation, bound)

    work = (("make", 1.05), ("git checkout", 1.15), ("tar -x", 1.35), ("git status", 1.9))
    return [
        goal("bwrap, the same view / holdback run", "bwrap, the same view", "run", AT_LEAST, 1.2),
        *(
            goal(f"{name}, inside / native", f"{name}, inside", f"{name}, native", AT_MOST, bound)
            for name, bound in work
        ),
    ]


def live_goals(live):
    start, memory = live["start"]["dynamic"], live["memory"]
    bwrap, bare, join = (start[name].median for name in ("bwrap", "bare", "exec"))
    return [
        Goal("live, bwrap / exec", bwrap / join, AT_LEAST, 3),
        Goal("live, exec / the bare command", join / bare, AT_MOST, 1.6),
        Goal("PSS of a kept session / bwrap", memory["kept"].pss / memory["bwrap"].pss, AT_MOST, 0.6),
    ]  # fmt: skip


def pause_goals(found):
    return [Goal("pause of a box with 1000 changes, ms", found[1000]["mark"], AT_MOST, 50)]


def heard_goals(found):
    goals = []
    for name, ways in found["audit"].items():
        base = ways["changes"][0]
        goals.append(Goal(f"{name}, --audit calls / changes", ways["calls"][0] / base, AT_MOST, 1.3))
    for name, ways in found["rename-directories"].items():
        most = 2.1 if "renames" in name else 1.03
        goals.append(Goal(f"{name}, --rename-directories yes / no", ways["yes"][0] / ways["no"][0], AT_MOST, most))
    return goals


def heard_tables(found):
    tables = []
    for key, works in found.items():
        ways = list(next(iter(works.values()), {}))
        header = [f"processor ms (ms that passed), by --{key}", *ways]
        rows = [
            [name, *(f"{1000 * used:.0f} ({1000 * passed:.0f})" for used, passed in times.values())]
            for name, times in works.items()
        ]
        tables.append(aligned(header, rows))
    return tables


def pause_table(found):
    header = ["ms, by changed files", *(str(size) for size in found)]
    rows = [
        [words, *(f"{times[name]:.1f}" for times in found.values())]
        for name, words in PAUSE.items()
    ]
    return aligned(header, rows)


def database_table(found):
    header = ["s, 100 MB, by journal mode", *found]
    rows = [
        [words, *(f"{times[way]:.2f}" for times in found.values())]
        for way, words in DATABASE.items()
    ]
    rows.append(
        ["commit / cp and rename", *(f"{t['commit'] / t['cp']:.1f}" for t in found.values())]
    )
    rows.append(
        ["commit / .backup", *(f"{t['commit'] / t['backup']:.1f}" for t in found.values())]
    )
    return aligned(header, rows)


def terminal_goals(found):
    def more(times):
        return (times["own"].median - times["real"].median) / 1000

    return [
        *(
            Goal(f"terminal, {how}, own - --tty real, ms", more(times), AT_MOST, 0.3)
            for how, times in found["start"].items()
        ),
        *(
            Goal(f"terminal, speed of {text} output, own / bare",
                 times["bare"].median / times["own"].median, AT_LEAST, 0.7)
            for text, times in found["shown"].items()
        ),
    ]  # fmt: skip


def net_goals(found):
    loads = found["loads"]

    def ratio(what, other):
        return loads[what]["holdback"] / loads[what][other]

    goals = [
        Goal("net, start, allow - none, ms", found["start"]["allow"] - found["start"]["none"], AT_MOST, 0.3),
        Goal("net, connect, holdback / host", ratio("connect, us", "host"), AT_MOST, 3),
        Goal("net, round trip, holdback / host", ratio("round trip, us", "host"), AT_MOST, 3),
        Goal("net, down, holdback / host", ratio("down, MB/s", "host"), AT_LEAST, 0.5),
        Goal("net, up, holdback / host", ratio("up, MB/s", "host"), AT_LEAST, 0.5),
        Goal("net, 1000 at once, holdback / host", ratio("1000 at once, ms", "host"), AT_MOST, 3),
        Goal("net, a relay that rests, MB", found["idle"] / 1024, AT_MOST, 0.3),
    ]
    if "pasta" in loads["connect, us"]:
        goals += [
            Goal("net, connect, holdback / pasta", ratio("connect, us", "pasta"), AT_MOST, 0.8),
            Goal("net, down, holdback / pasta", ratio("down, MB/s", "pasta"), AT_LEAST, 1),
            Goal("net, up, holdback / pasta", ratio("up, MB/s", "pasta"), AT_LEAST, 1),
        ]
    return goals


def net_tables(found):
    ways = list(next(iter(found["loads"].values())))
    rows = [[what, *(f"{by[how]:.0f}" for how in ways)] for what, by in found["loads"].items()]
    starts = [[how, f"{ms:.2f}"] for how, ms in found["start"].items()]
    tables = [aligned(["network by name", *ways], rows), aligned(["start with --net", "ms"], starts)]
    return tables + ([found["left out"] + "\n"] if found["left out"] else [])


def terminal_tables(found):
    tables = []
    for how, times in found["start"].items():
        rows = [
            [TERMINAL[name], *(f"{t:.0f}" for t in (one.median, one.p25, one.minimum))]
            for name, one in times.items()
        ]
        tables.append(aligned([f"at a terminal, {how}", "us", "p25", "min"], rows))
    for text, times in found["shown"].items():
        rows = [
            [
                TERMINAL[name],
                *(f"{t / 1000:.0f}" for t in (one.median, one.p25, one.minimum)),
                f"{times['bare'].median / one.median:.2f}",
            ]
            for name, one in times.items()
        ]
        header = [f"cat of 100 MB, {text}", "ms", "p25", "min", "speed / bare"]
        tables.append(aligned(header, rows))
    return tables


def agent_table(times):
    """The new home is made inside of its two rows, so they have a peer of their own."""
    peers = {"first": "bare, new home"}
    rows = []
    for name, one in times.items():
        bare = times[peers.get(name, "bare")]
        words = [f"{t / 1000:.1f}" for t in (one.median, one.p25, one.minimum)]
        rows.append([AGENT[name], *words, f"{one.median / bare.median:.2f}"])
    return aligned(["start of an agent", "ms", "p25", "min", "/ bare"], rows)


def scan_goals(seconds):
    return [
        Goal(f"{grep}, the same formats / our scan", seconds[grep] / seconds["scan"], AT_LEAST, 1)
        for grep in ("grep -E", "grep -aE")
    ]


def session_goals(seconds):
    def goal(above, below, relation, bound):
        value = seconds[above] / seconds[below]
        return Goal(f"{above} / {below}", value, relation, bound)

    return [
        goal("create and exec, 100000", "create and exec, 1000", AT_MOST, 1.1),
        goal("git status", "first diff of edits", AT_LEAST, 20),
        goal("git status", "diff of edits", AT_LEAST, 20),
        goal("git status", "first diff of one-size", AT_LEAST, 20),
        goal("rsync -an", "first diff of edits", AT_LEAST, 100),
        goal("rsync -an", "diff of edits", AT_LEAST, 100),
        goal("rsync -an", "first diff of one-size", AT_LEAST, 100),
        goal("first line of git diff, 20000", "first line of text diff, 20000", AT_LEAST, 1),
        goal("rsync, 1000", "commit, 1000", AT_LEAST, 3),
        goal("cp, 1000", "commit, 1000", AT_LEAST, 1.3),
        goal("cp, 20000", "commit, 20000", AT_LEAST, 2),
        goal("rollback, 20000", "rollback, 10", AT_MOST, 2),
    ]


def sandbox_goals(figures):
    start, called = figures["start"], figures["calls"]["static"]
    ours, theirs = figures["memory"]["ours"], figures["memory"]["bwrap"]

    def ratio(payload, above, below):
        return start[payload][above].median / start[payload][below].median

    goals = [
        Goal("start, bwrap / our bwrap, dynamic", ratio("dynamic", "bwrap", "ours"), AT_LEAST, 1.8),
        Goal("start, bwrap / our bwrap, static", ratio("static", "bwrap", "ours"), AT_LEAST, 2.3),
    ]
    for payload in PAYLOADS:
        for name, above, below in (
            ("our bwrap / floor", "ours", "floor"),
            ("our bwrap / floor with filter, waits", "ours", "floor, filter, slow end"),
            ("our bwrap, overlay / floor", "ours, overlay", "floor, overlay"),
        ):
            value = ratio(payload, above, below)
            goals.append(Goal(f"start, {name}, {payload}", value, AT_MOST, 1.15))
    return goals + [
        Goal("system calls, our bwrap / bwrap, static", called["ours"] / called["bwrap"], AT_MOST, 0.4),
        Goal("RSS of the supervisor, our bwrap / bwrap", ours.supervisor / theirs.supervisor, AT_MOST, 0.1),
        Goal("memory of an idle sandbox, our bwrap / bwrap", ours.total / theirs.total, AT_MOST, 0.6),
    ]  # fmt: skip


def live_tables(live, options):
    rows = []
    for name in live["start"]["dynamic"]:
        row = [LIVE[name]]
        for payload in PAYLOADS:
            one, peer = live["start"][payload][name], live["start"][payload]["bwrap"]
            row += [f"{t:.0f}" for t in (one.median, one.p25, one.minimum)]
            row.append(f"{peer.median / one.median:.2f}")
        rows.append(row)
    header = ["in a live session"]
    for payload in PAYLOADS:
        header += [f"{payload}, us", "p25", "min", "bwrap /"]
    abreast = sorted({n for _, n in live["many"]})
    many = [
        [LIVE[name], *(f"{live['many'][name, n] * 1000:.0f}" for n in abreast)]
        for name in dict.fromkeys(name for name, _ in live["many"])
    ]
    words = [f"{options.joins} commands, ms", *(f"{n} at a time" for n in abreast)]
    return [
        aligned(header, rows),
        aligned(words, many),
        memory_table(live["memory"], options.crowd, LIVE),
    ]


def start_table(start):
    header = ["start to finish"]
    for payload in PAYLOADS:
        header += [f"{payload}, us", "p25", "min", "all gone", "bwrap /"]
    rows = []
    for name, words in COMMANDS.items():
        if name not in start["dynamic"]:
            continue
        row = [words]
        for payload in PAYLOADS:
            one, peer = start[payload][name], start[payload]["bwrap"]
            row += [f"{t:.0f}" for t in (one.median, one.p25, one.minimum, one.gone)]
            row.append(f"{peer.median / one.median:.2f}")
        rows.append(row)
    return aligned(header, rows)


def noise_line(start):
    parts = []
    for payload in PAYLOADS:
        times = start[payload]
        noise = times["ours again"].median / times["ours"].median - 1
        parts.append(f"{payload} {noise:+.1%}")
    return "A/A, the same command twice: " + ", ".join(parts) + "\n"


def calls_table(calls):
    rows = [
        [COMMANDS[who], calls["dynamic"][who], calls["static"][who]]
        for who in calls["static"]
    ]  # fmt: skip
    return aligned(["system calls, all processes", "dynamic", "static"], rows)


def memory_table(memory, size, words=COMMANDS):
    rows = []
    for who, m in memory.items():
        cells = [f"{kb:.0f}" for kb in (m.supervisor, m.pss, m.kernel, m.total)]
        rows.append([words[who], *cells, f"{m.processes:.1f}"])
    header = [f"{size} at rest, kB", "supervisor's RSS", "each: PSS", "kernel", "all", "processes"]
    return aligned(header, rows)


def traces_table(traces, runs):
    kinds = list(next(iter(traces.values())))
    rows = [
        [COMMANDS[name], *(len(new[kind]) or "nothing" for kind in kinds)]
        for name, new in traces.items()
    ]
    return aligned([f"left behind by {runs} runs", *kinds], rows)


def sessions_table(seconds):
    """Figures `what, how many` as a line for each what."""
    plain = {name: t for name, t in seconds.items() if "," not in name}
    counted = {}
    for name, time in seconds.items():
        if name not in plain:
            what, count = name.split(", ")
            counted.setdefault(what, {})[int(count)] = time
    counts = sorted({count for row in counted.values() for count in row})
    rows = [
        [SESSIONS[what], *(f"{row[n] * 1000:.1f}" if n in row else "" for n in counts)]
        for what, row in counted.items()
    ]
    many = aligned(["sessions, ms", *map(str, counts)], rows)
    rows = [[SESSIONS[name], f"{time * 1000:.1f}"] for name, time in plain.items()]
    return many + "\n" + aligned(["1000 changes in 100000 files", "ms"], rows)


def gate_table(seconds):
    """The same for the gate, with its share of a commit."""
    counts = sorted({int(name.split(", ")[1]) for name in seconds})
    names = list(dict.fromkeys(name.split(", ")[0] for name in seconds))
    rows = [[name, *(f"{seconds[f'{name}, {n}'] * 1000:.1f}" for n in counts)] for name in names]
    shares = [1 - seconds[f"commit without the gate, {n}"] / seconds[f"commit, {n}"] for n in counts]
    rows.append(["the gate's share of a commit", *(f"{share:.2f}" for share in shares)])
    return aligned(["changes, ms", *map(str, counts)], rows)


def machine_line():
    version = subprocess.run(["bwrap", "--version"], capture_output=True, text=True)
    return (
        f"Linux {platform.release()} {platform.machine()}, {os.cpu_count()} cpus, "
        f"{version.stdout.strip()}, {datetime.now(timezone.utc):%Y-%m-%d}\n"
    )


def document(figures, options):
    """Everything, as one text."""
    goals = [g.row() for g in goals_of(figures)]
    parts = [
        f"{machine_line()}\n"
        f"Medians of interleaved rounds by an ordinary user: {options.rounds} of the sandbox,\n"
        f"{options.sessions} of sessions. Times are of this machine; ratios are the result. The\n"
        "machine was otherwise idle if its load average before,\n"
        f"{options.load:.1f}, is near 0.\n"
    ]
    if "start" in figures:
        parts += [
            start_table(figures["start"]),
            noise_line(figures["start"]),
            calls_table(figures["calls"]),
            memory_table(figures["memory"], options.crowd),
            traces_table(figures["traces"], options.runs),
        ]
    if "run" in figures:
        rows = [[name, f"{time * 1000:.1f}"] for name, time in figures["run"].items()]
        parts.append(aligned(["runs with sessions, and work in them", "ms"], rows))
    if "live" in figures:
        parts += live_tables(figures["live"], options)
    if "pause" in figures:
        parts.append(pause_table(figures["pause"]))
    if "database" in figures:
        parts.append(database_table(figures["database"]))
    if "heard" in figures:
        parts += heard_tables(figures["heard"])
    if "terminal" in figures:
        parts += terminal_tables(figures["terminal"])
    if "net" in figures:
        parts += net_tables(figures["net"])
    if "agent" in figures:
        parts.append(agent_table(figures["agent"]))
    if "scan" in figures:
        rows = [[name, f"{time * 1000:.1f}"] for name, time in figures["scan"].items()]
        parts.append(aligned(["secrets in /usr/include", "ms"], rows))
    if "gate" in figures:
        parts.append(gate_table(figures["gate"]))
    if "sessions" in figures:
        parts.append(sessions_table(figures["sessions"]))
    if goals:
        parts.append(aligned(["goal", "is", "wanted", ""], goals))
    return "\n".join(parts)
