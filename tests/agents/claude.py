#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# modes: user
# needs: node git bash openssl
# agent: claude
# timeout: 300
"""The real claude, against a model of ours, outside and through holdback."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["HB_TESTS"], "agents", "bed"))

# pylint: disable=wrong-import-position
import bed  # noqa: E402

if __name__ == "__main__":
    sys.exit(bed.run("claude"))
