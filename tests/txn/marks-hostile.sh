#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# timeout: 900
# soak-modes: userns
#
# What hostile-trees.py promises holds for what a mark has frozen.
HB_MARKS=1 exec "$HB_TESTS/txn/hostile-trees.py"
