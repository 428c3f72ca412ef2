#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# timeout: 900
#
# What hostile-trees.py promises holds on a copy as it does over an overlay.
HB_STRATEGY=copy_on_write exec "$HB_TESTS/txn/hostile-trees.py"
