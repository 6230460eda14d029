/* SPDX-License-Identifier: MIT */
/* Sections of who talks to whom: communicators' members, messages by peer, what completions complete. Private to
   file/. */
#ifndef PYTHIA_FILE_TRAFFIC_H
#define PYTHIA_FILE_TRAFFIC_H

#include "file/pack.h"
#include "file/unpack.h"

void file_pack_groups(struct file_packer *p);
void file_pack_flows(struct file_packer *p);
void file_pack_hops(struct file_packer *p);
void file_pack_starts(struct file_packer *p);
/* After the terminals; what has no section is empty. 0, or a negative PYTHIA_E… with a line in `why`. */
int file_unpack_traffic(struct file_reader *r);

#endif
