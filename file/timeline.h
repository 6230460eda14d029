/* SPDX-License-Identifier: MIT */
/* What is rounded in a file: series, extremes of blocks, own times. Private to file/. */
#pragma once

#include "file/pack.h"
#include "file/unpack.h"

void file_pack_series(struct file_packer *p);
void file_pack_extents(struct file_packer *p);
/* What a file says of own times: of nodes that matter, in their first bits. The caller frees the rows. 0 or
   PYTHIA_ENOMEM. */
int file_round_own(const struct job *j, struct job_own_list *said);
/* Series, extremes of the blocks of the streams; what has no section is empty. 0, or a negative PYTHIA_E… with a line
   in `why`. */
int file_unpack_timeline(struct file_reader *r);
