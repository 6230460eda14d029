/* SPDX-License-Identifier: MIT */
#include "base/hot.h"

struct base_hot base_hot = { .epoch = 1 /* no thread has seen it */ };
__thread struct base_here base_here;
