/* SPDX-License-Identifier: MIT */
/* A region's record (SECTION_REGIONS) as bytes and back. Private to file/.  Threads: any.  Hook-safe: yes. */
#ifndef PYTHIA_FILE_REGIONS_H
#define PYTHIA_FILE_REGIONS_H

#include "job/regions.h"

void file_region_pack(const struct job_region *region, unsigned char *at); /* RECORD_REGION bytes, zeroed */
void file_region_unpack(const unsigned char *at, struct job_region *r);

#endif
