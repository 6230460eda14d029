/* SPDX-License-Identifier: MIT */
/* What an opened job keeps of its file. Private to file/.  Threads: any.  Hook-safe: no. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "file/unpack.h"

/* The grammar of a member whose exponents are not those of its class's grammar, or that has not all of its times. */
struct file_member {
    uint32_t class_index;
    struct grammar_flat *grammar;
    struct file_member *next;
};

struct file_store {
    struct job_store base; /* first: it is what the job knows */
    struct file_reader reader;
    struct file_source source;
    struct file_parts *parts;
    struct job_class *was;  /* of each class that is open, which has a grammar here: what others saw before */
    pthread_mutex_t lock;   /* guards the reader; taken at first sight of a class */
    struct file_member *member; /* all of them */
    struct stat file;        /* what source.fd was opened as */
    char why[200];
};

/* The store of a job that was opened, NULL of any other. */
static inline struct file_store *file_store_of(const struct job *j)
{
    return (struct file_store *)j->store;
}

/* file.c: a regular file, open for reading. */
int file_open_regular(const char *path, int *fd, uint64_t *size, char *why, size_t why_size);
