# SPDX-License-Identifier: Apache-2.0
"""The start-up times as bars, an SVG without any library."""

from html import escape

from table import PAYLOADS

BARS = {
    "bwrap": ("Debian's bwrap", "#9aa5b1"),
    "ours": ("our bwrap", "#2a78c6"),
    "floor": ("floor", "#c9d3dc"),
    "holdback run": ("holdback run", "#1d9a6c"),
    "bare": ("no sandbox", "#c9d3dc"),
}
WIDTH, LEFT, RIGHT = 680, 130, 190
TOP, BAR, STEP, GAP = 44, 18, 24, 34
STYLE = 'font-family="system-ui, sans-serif" font-size="13" fill="#1f2933"'


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" {STYLE}{more}>{escape(words)}</text>'


def label(name, times):
    words = f"{times[name].median / 1000:.2f} ms"
    if name not in ("bwrap", "bare"):
        words += f", {times['bwrap'].median / times[name].median:.1f} times as fast"
    return words


def group(times, payload, y, scale):
    parts = [text(LEFT, y - 8, f"/bin/true, {payload}", more=' font-weight="600"')]
    for name, (words, colour) in BARS.items():
        if name not in times:
            continue
        width = max(1, round(times[name].median * scale))
        parts.append(text(LEFT - 8, y + 14, words, "end"))
        parts.append(
            f'<rect x="{LEFT}" y="{y}" width="{width}" height="{BAR}" rx="2" fill="{colour}"/>'
        )
        parts.append(text(LEFT + width + 8, y + 14, label(name, times)))
        y += STEP
    return parts, y


def draw(start):
    """The whole picture, on white, so that it shows on any page."""
    longest = max(start[payload]["bwrap"].median for payload in PAYLOADS)
    scale = (WIDTH - LEFT - RIGHT) / longest
    parts, y = [], TOP
    for payload in PAYLOADS:
        more, y = group(start[payload], payload, y, scale)
        parts += more
        y += GAP
    height = y - GAP + 12
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img">\n'
        "<title>Start to finish of a sandboxed command, medians</title>\n"
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n'
    )
    return head + "\n".join(parts) + "\n</svg>\n"
