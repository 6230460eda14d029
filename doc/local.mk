# SPDX-License-Identifier: MIT
EXTRA_DIST += %D%/EVENTS.md
