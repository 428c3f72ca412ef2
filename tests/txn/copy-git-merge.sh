#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# The same with a copy instead of an overlay.
HB_STRATEGY=copy_on_write exec "$HB_TESTS/txn/git-merge.sh"
