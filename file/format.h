/* SPDX-License-Identifier: MIT */
/*
 * Layout of a packed job: the numbers of doc/FORMAT.md, where it is specified byte by byte.
 *
 *   header (64 bytes) | section table (48 bytes each) | sections, each 8-byte aligned, zeros between
 *
 * Private to file/.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define FORMAT_MAGIC "PYTHIA\x1a\n"

enum {
    FORMAT_VERSION = 11,
    FORMAT_HEADER = 64,
    FORMAT_ENTRY = 48,
    FORMAT_SECTIONS_MAX = 64,
    FORMAT_RATIO_MAX = 512,      /* a compressed section is at most so many times larger than stored */
    FORMAT_RATIO_SLACK = 1 << 16 /* plus this, bytes */
};

/* Header: offsets in bytes. */
enum { HEADER_VERSION = 8, HEADER_SECTIONS = 12, HEADER_SIZE = 16, HEADER_CHECKSUM = 24 };

/* Section table entry. */
enum { ENTRY_TYPE = 0, ENTRY_FLAGS = 4, ENTRY_OFFSET = 8, ENTRY_STORED = 16, ENTRY_RAW = 24, ENTRY_CHECKSUM = 32,
       ENTRY_COUNT = 40 };
enum { ENTRY_ZSTD = 1, ENTRY_OPTIONAL = 2, ENTRY_BLOCKS = 4 };

enum file_section_type {
    SECTION_INFO = 1,
    SECTION_STRINGS,
    SECTION_MODULES,
    SECTION_FRAMES,
    SECTION_CALLSITES,
    SECTION_COMMS,
    SECTION_TERMINALS,
    SECTION_RULES,
    SECTION_NODES,
    SECTION_CLASSES,
    SECTION_CLASS_RULES,
    SECTION_STATS,
    SECTION_RANGES,
    SECTION_VARIANTS,
    SECTION_STREAMS,
    SECTION_ORACLE,
    SECTION_SUMS,
    SECTION_REGIONS,
    SECTION_TASKS,
    SECTION_MACHINE,
    SECTION_UNUSED, /* once times by block of the statistics */
    SECTION_GROUPS, /* from here on: for who reads the whole job */
    SECTION_FLOWS,
    SECTION_STARTS,
    SECTION_SERIES,
    SECTION_EXTREMES,
    SECTION_OWN,
    SECTION_CLOCK,
    SECTION_TURNS, /* these two are no option: who does not know them would read other exponents */
    SECTION_COLUMNS,
    SECTION_DELAY,
    SECTION_DIGRAMS, /* for who reads the whole job, too */
    SECTION_EXTENTS,
    SECTION_THREADS,
    SECTION_LEARNED_REGIONS,
    SECTION_LEARNED_TASKS,
    SECTION_HOPS,
    SECTION_PLACES,
    SECTION_LEFT,
    SECTION_ENDS,
    SECTION_TOOK,
    SECTION_INSIDE,
    SECTION_NAMED,
    SECTION_BINDINGS,
    SECTION_HARDWARE,
    SECTION_HOSTS,
    SECTION_SPOTS,
    SECTION_TYPES
};

/* Bytes of a record of each that is no table (table.h). */
enum {
    RECORD_RULE = 8,
    RECORD_NODE = 16,
    RECORD_CLASS = 72,
    RECORD_CLASS_RULE = 4,
    RECORD_STATS = 128,
    RECORD_RANGE = 32,
    RECORD_VARIANT = 160,
    RECORD_STREAM = 112,
    RECORD_TURN = 24,
    RECORD_EXTENTS = 48
};

/* Records a block of the sections that are written in blocks. */
enum { BLOCK_NODES = 8192, BLOCK_STATS = 256, BLOCK_RANGES = 1024, BLOCK_VARIANTS = 256 };

enum { CLASS_BODY = 1 }; /* flag of a class: its rules are here */

static inline void file_put(unsigned char *at, uint32_t width, uint64_t v)
{
    for (uint32_t i = 0; i < width; i++)
        at[i] = (unsigned char)(v >> (8 * i));
}

static inline void file_put32(unsigned char *at, uint32_t v)
{
    file_put(at, 4, v);
}

static inline void file_put64(unsigned char *at, uint64_t v)
{
    file_put(at, 8, v);
}

static inline uint32_t file_get32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t file_get64(const unsigned char *at)
{
    return (uint64_t)file_get32(at) | (uint64_t)file_get32(at + 4) << 32;
}
