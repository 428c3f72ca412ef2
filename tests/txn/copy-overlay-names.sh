#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# What overlay-names.sh promises holds on a copy as it does over an overlay.
HB_STRATEGY=copy_on_write exec "$HB_TESTS/txn/overlay-names.sh"
