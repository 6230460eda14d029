/* SPDX-License-Identifier: MIT */
/*
 * Values as they stand in a file: what a reader can find out is left out.
 *
 * A list of starts, or a course, has a name in memory, made of its content: that content tells the name, and where one
 * stood its number does, -2 for list 0, -3 for list 1, …; what names no list stays as it is. Extremes and sum of an
 * exact model follow from it, and are 0.
 * Private to file/.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "file/pack.h"
#include "file/unpack.h"

void file_pack_starts(struct file_packer *p);
/* Before any variant. 0, or a negative PYTHIA_E… with a line in `why`. */
int file_unpack_starts(struct file_reader *r);
/* A model as it stands in a file of this job, and back. */
void file_attr_leave(const struct job *j, struct grammar_attr *a);
void file_attr_enter(const struct job *j, struct grammar_attr *a);
