#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: strace
# timeout: 900
# soak-modes: userns
#
# What crash.py promises holds on a copy as it does over an overlay.
HB_STRATEGY=copy_on_write exec "$HB_TESTS/txn/crash.py"
