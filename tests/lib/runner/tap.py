# SPDX-License-Identifier: Apache-2.0
"""Reads the TAP output of one test file and counts what it promised."""

import fnmatch
import re

PLAN = re.compile(r"^1\.\.(\d+)(?:\s+#\s*skip\b\s*(.*))?\s*$", re.I)
POINT = re.compile(r"^(not )?ok\b(?:\s+(\d+))?(?:\s+-)?\s*(.*)$")
SKIP = re.compile(r"\s*(?<!\\)#\s*skip\b\S*\s*(.*)$", re.I)
BAIL = re.compile(r"^Bail out!\s*(.*)$")


class Result:
    """What one run of one file amounts to."""

    def __init__(self):
        self.passed = 0
        self.failures = []  # one line each
        self.skips = []  # (test name, reason); "" names the whole file

    @property
    def failed(self):
        return len(self.failures)

    @property
    def skipped(self):
        return len(self.skips)

    def fail(self, why):
        self.failures.append(why)


def parse(text):
    """Returns the Result of a file's standard output alone."""
    result = Result()
    plan = None
    bailed = False
    seen = 0
    for line in text.splitlines():
        match = PLAN.match(line)
        if match:
            if plan is not None:
                result.fail("a second plan: " + line)
            plan = int(match[1])
            if plan == 0 and match[2] is not None:
                result.skips.append(("", match[2]))
            continue
        match = BAIL.match(line)
        if match:
            result.fail(line)
            bailed = True
            break
        match = POINT.match(line)
        if match:
            seen += 1
            count_point(result, match, seen)
    if not bailed:
        check_plan(result, plan, seen)
    return result


def count_point(result, match, seen):
    bad, number, name = match[1], match[2], match[3]
    if number is not None and int(number) != seen:
        result.fail(f"test {seen} calls itself {number}: {name}")
        return
    skip = SKIP.search(name)
    if bad:
        result.fail(match[0])
    elif skip:
        result.skips.append((name[: skip.start()], skip[1]))
    else:
        result.passed += 1


def check_plan(result, plan, seen):
    if plan is None:
        result.fail("no plan: it ended early or is no test")
    elif plan != seen:
        result.fail(f"planned {plan} tests and ran {seen}")
    elif seen == 0 and not result.skips:
        result.fail("it tests nothing")


class Exceptions:
    """The short list of skips that are let pass where everything must work.

    One per line: `file | pattern of the test's name | reason`.
    """

    def __init__(self, lines):
        self.rules = []
        for line in lines:
            if not line.strip() or line.startswith("#"):
                continue
            file, name, reason = (part.strip() for part in line.split("|", 2))
            if not reason:
                raise ValueError("an exception without a reason: " + line)
            self.rules.append((file, name))

    def allows(self, file, name):
        return any(
            fnmatch.fnmatchcase(file, f) and fnmatch.fnmatchcase(name, n)
            for f, n in self.rules
        )

    def forbid_skips(self, file, result):
        """Turns the skips that are not listed into failures."""
        kept = []
        for name, reason in result.skips:
            if self.allows(file, name):
                kept.append((name, reason))
            else:
                result.fail(f"skipped where it must work: {name or file}: {reason}")
        result.skips = kept
