/* SPDX-License-Identifier: MIT */
#include "base/guard.h"

__thread int base_guard_depth;
