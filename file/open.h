/* SPDX-License-Identifier: MIT */
/* What an opened job keeps of its file. Private to file/.  Threads: any.  Hook-safe: no. */
#ifndef PYTHIA_FILE_OPEN_H
#define PYTHIA_FILE_OPEN_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "file/unpack.h"

/* Attributes of a node: its variants, records of the class. */
struct file_node_values { uint32_t first, count; };

/* A class as far as it is open. */
struct file_page {
    struct grammar_pager pager; /* first: it is what the grammar knows */
    struct file_store *store;
    uint32_t class_index;
    bool open;
    struct grammar_time *before;
    /* Room for all variants and ranges, filled where they are asked for: memory that nobody touches costs nothing. */
    struct job_class values;  /* the grammar is the job's */
    struct file_node_values *node; /* of nodes */
    _Atomic uint8_t *seen;          /* of nodes: release when what there is of it is here */
    uint32_t *set;                  /* of ranges that are here: how many the set has that begins there, FILE_INSIDE
                                       one */
};

#define FILE_INSIDE UINT32_MAX

/* The grammar of a member whose exponents are not those of its class's grammar, or that has not all of its times. */
struct file_member {
    struct file_page *page;
    struct grammar_flat *grammar;
    struct file_member *next;
};

struct file_store {
    struct job_store base; /* first: it is what the job knows */
    struct file_reader reader;
    struct file_source source;
    struct file_parts *parts;
    struct file_page *page; /* of each class */
    pthread_mutex_t lock;    /* guards the reader; taken at first sight of a class, a block, a node's attributes */
    struct file_member *member; /* all of them */
    struct stat file;        /* what source.fd was opened as */
    char why[200];
};

/* The store of a job that was opened, NULL of any other. */
static inline struct file_store *file_store_of(const struct job *j)
{
    return (struct file_store *)j->store;
}

/* open_values.c: room for the attributes of a class whose rules are `g`. 0 or PYTHIA_ENOMEM, with a line. */
int file_values_open(struct file_page *page, struct grammar_flat *g);
void file_values_close(struct file_page *page);

/* file.c: a regular file, open for reading. */
int file_open_regular(const char *path, int *fd, uint64_t *size, char *why, size_t why_size);

#endif
