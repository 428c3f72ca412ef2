#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# modes: user
# needs: node git bash script
# agent: gemini
# timeout: 300
"""The real gemini with a sandbox of its own, outside and through holdback."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "agents", "bed"))

# pylint: disable=wrong-import-position
import sandboxes  # noqa: E402

if __name__ == "__main__":
    sys.exit(sandboxes.run("gemini"))
