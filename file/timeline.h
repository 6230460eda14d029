/* SPDX-License-Identifier: MIT */
/* Sections of how time goes by: series of ranks, extremes of terminals and of blocks of ranks. Private to file/. */
#ifndef PYTHIA_FILE_TIMELINE_H
#define PYTHIA_FILE_TIMELINE_H

#include "file/pack.h"
#include "file/unpack.h"

void file_pack_series(struct file_packer *p);
void file_pack_extremes(struct file_packer *p);
void file_pack_usual(struct file_packer *p);
void file_pack_own(struct file_packer *p);
void file_pack_extents(struct file_packer *p);
/* After the terminals; what has no section is empty. 0, or a negative PYTHIA_E… with a line in `why`. */
int file_unpack_timeline(struct file_reader *r);

#endif
