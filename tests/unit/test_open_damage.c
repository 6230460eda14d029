/* SPDX-License-Identifier: MIT */
/* A job that is opened survives what becomes of its file while it is used, and of the threads that use it. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/file.h"
#include "file/format.h"
#include "pythia.h"
#include "tests/unit/opened.h"
#include "tests/unit/unit.h"

/* A class that was read is here, another one is refused. */
START_TEST(a_file_that_vanishes_while_it_is_used)
{
    uint32_t count;
    opened_write();
    struct job *whole = opened_whole();
    uint32_t *list = opened_events(whole, 4, 0, &count);
    struct opened f = opened_follow(opened_file(), 4, OPENED_MEMORY);
    struct job *late = opened_file();
    ck_assert_int_eq(truncate(opened_path, 100), 0);
    ck_assert_uint_eq(opened_right(&f, list, count), count);
    size_t size;
    ck_assert_ptr_null(file_bytes(f.job, &size));
    char why[256] = "";
    ck_assert_int_lt(file_open_class(late, 0, why, sizeof why), 0);
    ck_assert_msg(*why && !strchr(why, '\n'), "%s", why);
    job_destroy(late);
    free(list);
    job_destroy(whole);
    opened_end(&f);
    unlink(opened_path);
}
END_TEST

/* A byte of a block is wrong, also one with which its frame can be read: the class is refused, others are not. Who
   reads it all refuses it. */
START_TEST(a_damaged_block)
{
    size_t size;
    char why[256] = "";
    opened_write();
    for (int nodes = 0; nodes < 2; nodes++) {
        struct job *j = opened_file(), *refused = NULL;
        const unsigned char *bytes = file_bytes(j, &size);
        unsigned char *own = malloc(size);
        memcpy(own, bytes, size);
        job_destroy(j);
        own[opened_block(own, size, nodes ? SECTION_NODES : SECTION_STATS) + 7 + 13 * (size_t)_i] ^= 1;
        ck_assert_int_eq(file_unpack(own, size, &refused, why, sizeof why), PYTHIA_EFORMAT);
        ck_assert_msg(strstr(why, "checksum") != NULL, "%s", why);
        ck_assert_int_eq(file_open_bytes(own, size, &j, why, sizeof why), 0);
        uint32_t opened = 0;
        for (uint32_t c = 0; c < j->class_count; c++)
            opened += file_open_class(j, c, why, sizeof why) == 0;
        ck_assert_uint_lt(opened, j->class_count);
        ck_assert(nodes || opened > 0); /* others may share its rules */
        job_destroy(j);
    }
    unlink(opened_path);
}
END_TEST

/* Where a section begins, 0 without. */
static size_t section_at(const unsigned char *bytes, uint32_t type)
{
    for (uint32_t i = 0; i < file_get32(bytes + HEADER_SECTIONS); i++) {
        const unsigned char *entry = bytes + FORMAT_HEADER + (size_t)i * FORMAT_ENTRY;
        if (file_get32(entry + ENTRY_TYPE) == type)
            return (size_t)file_get64(entry + ENTRY_OFFSET);
    }
    return 0;
}

/* What a prediction does not need is not looked at: neither read nor verified. */
START_TEST(a_damaged_section_of_others)
{
    size_t size;
    char why[256] = "";
    uint32_t count, passed = 0;
    opened_write();
    struct job *whole = opened_whole();
    uint32_t *list = opened_events(whole, 0, 0, &count);
    for (uint32_t type = SECTION_GROUPS; type <= SECTION_OWN; type++) {
        struct job *j = opened_file(), *refused = NULL;
        const unsigned char *bytes = file_bytes(j, &size);
        unsigned char *own = malloc(size);
        memcpy(own, bytes, size);
        job_destroy(j);
        size_t at = section_at(own, type);
        own[at] ^= at ? 1 : 0;
        ck_assert_int_eq(file_unpack(own, size, &refused, why, sizeof why), at ? PYTHIA_EFORMAT : 0);
        job_destroy(refused);
        ck_assert_int_eq(file_open_bytes(own, size, &j, why, sizeof why), 0);
        struct opened f = opened_follow(j, 0, 0);
        ck_assert_uint_eq(opened_right(&f, list, count), count);
        opened_end(&f);
        passed += at != 0;
    }
    ck_assert_uint_gt(passed, 0);
    free(list);
    job_destroy(whole);
    unlink(opened_path);
}
END_TEST

/* The bytes between the frames of the blocks become wrong: they were verified, and are not read again. */
START_TEST(a_file_that_is_written_over_while_it_is_used)
{
    size_t size, at;
    opened_write();
    struct job *whole = opened_whole(), *j = opened_file();
    int fd = open(opened_path, O_RDWR);
    struct stat st;
    ck_assert_int_eq(fstat(fd, &st), 0);
    unsigned char *was = malloc((size_t)st.st_size), *wrong = malloc((size_t)st.st_size);
    ck_assert_int_eq(pread(fd, was, (size_t)st.st_size, 0), st.st_size);
    memset(wrong, 0xff, (size_t)st.st_size);
    for (int type = SECTION_NODES; type <= SECTION_VARIANTS; type++)
        if (type == SECTION_NODES || type == SECTION_STATS || type == SECTION_RANGES || type == SECTION_VARIANTS) {
            struct file_container c;
            char why[200] = "";
            ck_assert_int_eq(file_container_open(&c, was, (size_t)st.st_size, why, sizeof why), 0);
            const struct file_blocks *b = &c.section[type].blocks;
            at = b->count ? (size_t)(b->frames - was) : 0;
            memcpy(wrong + at, was + at, b->count ? b->at[b->count] : 0);
            file_container_close(&c);
        }
    ck_assert_int_eq(pwrite(fd, wrong, (size_t)st.st_size, 0), st.st_size);
    const unsigned char *bytes = file_bytes(j, &size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(size, (size_t)st.st_size);
    ck_assert_mem_eq(bytes, was, FORMAT_HEADER + SECTION_STREAMS * FORMAT_ENTRY);
    struct opened f = opened_follow(j, 3, 0);
    uint32_t count, *list = opened_events(whole, 3, 0, &count);
    ck_assert_uint_eq(opened_right(&f, list, count), count);
    opened_end(&f);
    close(fd);
    free(list);
    free(was);
    free(wrong);
    job_destroy(whole);
    unlink(opened_path);
}
END_TEST

/* The number of our file, found by its name; -1: none. */
static int number_of_file(void)
{
    char link[64], target[256];
    for (int fd = 3; fd < 1024; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (!strcmp(target, opened_path))
            return fd;
    }
    return -1;
}

/* As programs do that become daemons. What is read then is not what was expected, and the program's own file is not
   ours to close. */
START_TEST(a_program_that_closes_all_files)
{
    uint32_t count;
    opened_write();
    struct job *whole = opened_whole();
    uint32_t *list = opened_events(whole, 2, 0, &count);
    struct opened f = opened_follow(opened_file(), 2, 0);
    int fd = number_of_file();
    ck_assert_int_ge(fd, 100); /* out of the way */
    close(fd);
    ck_assert_int_eq(dup2(STDERR_FILENO, fd), fd);
    ck_assert_uint_eq(opened_right(&f, list, count), count);
    opened_end(&f);
    ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
    free(list);
    job_destroy(whole);
    unlink(opened_path);
}
END_TEST

static void *ask_while_cancelled(void *given)
{
    struct opened *f = given;
    struct oracle_answer a;
    int64_t value;
    pthread_cancel(pthread_self()); /* waits for the next cancellation point */
    (void)oracle_predict(f->oracle, 1000, &a);
    (void)job_attr_value(f->job, &f->job->classes[f->class_index], 0, GRAMMAR_PEER, 1, 0, JOB_SOMEWHERE, &value);
    pthread_testcancel();
    return NULL;
}

/* A thread that is cancelled while it reads would leave the others waiting for its lock. */
START_TEST(a_thread_that_is_cancelled)
{
    pthread_t id;
    void *result;
    uint32_t count;
    opened_write();
    struct job *whole = opened_whole();
    uint32_t *list = opened_events(whole, 1, 0, &count);
    struct opened f = opened_follow(opened_file(), 1, 0);
    ck_assert_int_eq(pthread_create(&id, NULL, ask_while_cancelled, &f), 0);
    ck_assert_int_eq(pthread_join(id, &result), 0);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    ck_assert_uint_eq(opened_right(&f, list, count), count);
    opened_end(&f);
    free(list);
    job_destroy(whole);
    unlink(opened_path);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(a_file_that_vanishes_while_it_is_used),
        UNIT_LOOP(a_damaged_block, 8), UNIT_TEST(a_damaged_section_of_others),
        UNIT_TEST(a_file_that_is_written_over_while_it_is_used),
        UNIT_TEST(a_program_that_closes_all_files),
        UNIT_TEST(a_thread_that_is_cancelled),
    };
    return unit_run("file/open_damage", tests, UNIT_COUNT(tests));
}
