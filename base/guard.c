/* SPDX-License-Identifier: MIT */
#include "base/guard.h"

__thread struct base_frame base_guard_holder;
