/* SPDX-License-Identifier: MIT */
/* Job files on disk: written whole or not at all; what can't be written or read is refused with a line that names
   it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/file.h"
#include "file/lean.h"
#include "job/job.h"
#include "pythia.h"
#include "tests/unit/simulate.h"
#include "tests/unit/unit.h"

static char directory[] = "/tmp/pythia-job-XXXXXX";

static const char *in_directory(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int entries(const char *path)
{
    char command[300];
    int n = -1;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", path);
    FILE *p = popen(command, "r");
    ck_assert_int_eq(fscanf(p, "%d", &n), 1);
    pclose(p);
    return n;
}

static void remove_directory(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(test_files)
{
    struct job *j = simulate_job(SIMULATE_MASTER, 4), *back = NULL;
    char why[300] = "";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_msg(file_write(j, in_directory("a.pythia"), why, sizeof why) == 0, "%s", why);
    ck_assert_msg(file_write(j, in_directory("a.pythia"), why, sizeof why) == 0, "%s", why); /* over itself */
    ck_assert_int_eq(entries(directory), 1);
    ck_assert_msg(file_read(in_directory("a.pythia"), &back, why, sizeof why) == 0, "%s", why);
    ck_assert_uint_eq(back->stream_count, j->stream_count);
    job_destroy(back);
    ck_assert_int_eq(chdir(directory), 0); /* a name without a directory */
    ck_assert_int_eq(file_write(j, "b.pythia", why, sizeof why), 0);
    ck_assert_int_eq(file_read("b.pythia", &back, why, sizeof why), 0);
    job_destroy(back);
    ck_assert_int_eq(file_write(j, in_directory("missing/c"), why, sizeof why), PYTHIA_EIO);
    ck_assert_msg(strstr(why, "missing/c") && strstr(why, "No such file"), "%s", why);
    ck_assert_int_eq(mkdir(in_directory("d"), 0777), 0);
    ck_assert_int_eq(file_write(j, in_directory("d"), why, sizeof why), PYTHIA_EIO); /* a directory is in the way */
    ck_assert_int_eq(file_read(in_directory("nothing"), &back, why, sizeof why), PYTHIA_EIO);
    ck_assert_int_eq(file_read(directory, &back, why, sizeof why), PYTHIA_EFORMAT);
    ck_assert_int_eq(file_read("/dev/zero", &back, why, sizeof why), PYTHIA_EFORMAT);
    ck_assert_int_eq(mkfifo(in_directory("pipe"), 0666), 0);
    ck_assert_int_eq(file_read(in_directory("pipe"), &back, why, sizeof why), PYTHIA_EFORMAT); /* and does not wait */
    ck_assert_int_eq(entries(directory), 4);
    remove_directory();
    job_destroy(j);
}
END_TEST

/* The limit must not hold for Check's own files. */
static int write_limited(const struct job *j, const char *path, char *why, size_t size)
{
    struct rlimit old, tight;
    getrlimit(RLIMIT_FSIZE, &old);
    tight = (struct rlimit){ 512, old.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &tight);
    int error = file_write(j, path, why, size);
    setrlimit(RLIMIT_FSIZE, &old);
    return error;
}

/* Ranks of one node would compress at 0.2 GB/s what they copy at several. */
START_TEST(test_message_is_not_compressed)
{
    struct job *j = simulate_job(SIMULATE_MASTER, 64), *back = NULL;
    char why[300] = "";
    void *message, *file;
    size_t sent, written;
    ck_assert_int_eq(file_pack(j, NULL, &message, &sent), 0);
    ck_assert_int_eq(file_pack_for_file(j, &file, &written), 0);
    ck_assert_msg(sent > 2 * written, "message %zu bytes, file %zu", sent, written);
    ck_assert_msg(file_unpack(message, sent, &back, why, sizeof why) == 0, "%s", why);
    ck_assert_uint_eq(back->stream_count, j->stream_count);
    job_destroy(back);
    job_destroy(j);
    free(message);
    free(file);
}
END_TEST

START_TEST(test_run_delay)
{
    struct job *j = simulate_job(SIMULATE_RING, 4), *back = NULL;
    struct job_delay lies[] = { { 4, 11, 10, 3 }, { 4, 6, 10, 7 } };
    char why[300] = "";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_uint_eq(j->delay.ranks, 4);
    ck_assert_uint_eq(j->delay.ready_ns, 0 + 1 + 2 + 3);
    ck_assert_uint_eq(j->delay.wall_ns, 4006);
    ck_assert_uint_eq(j->delay.most_ns, 3);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        j->delay = lies[i];
        ck_assert_int_eq(file_write(j, in_directory("delay"), why, sizeof why), 0);
        ck_assert_int_eq(file_read(in_directory("delay"), &back, why, sizeof why), PYTHIA_EFORMAT);
        ck_assert_ptr_nonnull(strstr(why, "delay 0: out of range"));
    }
    remove_directory();
    job_destroy(j);
}
END_TEST

START_TEST(test_took)
{
    struct job *j = simulate_job(SIMULATE_RING, 4), *back = NULL;
    char why[300] = "";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_uint_eq(j->took.ranks, 4);
    ck_assert_uint_eq(j->took.sum[JOB_TOOK_START], 0 + 1 + 2 + 3);
    ck_assert_uint_eq(j->took.most[JOB_TOOK_START], 3);
    ck_assert_int_eq(file_write(j, in_directory("took"), why, sizeof why), 0);
    ck_assert_int_eq(file_read(in_directory("took"), &back, why, sizeof why), 0);
    ck_assert_mem_eq(&back->took, &j->took, sizeof j->took);
    job_destroy(back);
    j->took.most[JOB_TOOK_END] = j->took.sum[JOB_TOOK_END] + 1;
    ck_assert_int_eq(file_write(j, in_directory("took"), why, sizeof why), 0);
    ck_assert_int_eq(file_read(in_directory("took"), &back, why, sizeof why), PYTHIA_EFORMAT);
    ck_assert_ptr_nonnull(strstr(why, "took 0: out of range"));
    remove_directory();
    job_destroy(j);
}
END_TEST

START_TEST(test_disk_full)
{
    struct job *j = simulate_job(SIMULATE_MASTER, 4), *other = simulate_job(SIMULATE_RING, 2), *back = NULL;
    char why[300] = "";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(file_write(j, in_directory("a"), why, sizeof why), 0);
    ck_assert_int_eq(write_limited(other, in_directory("a"), why, sizeof why), PYTHIA_EIO);
    ck_assert_msg(strstr(why, "can't write") != NULL, "%s", why);
    ck_assert_int_eq(write_limited(other, in_directory("b"), why, sizeof why), PYTHIA_EIO);
    ck_assert_int_eq(entries(directory), 1);
    ck_assert_int_eq(file_read(in_directory("a"), &back, why, sizeof why), 0); /* the old one */
    ck_assert_uint_eq(back->stream_count, j->stream_count);
    remove_directory();
    job_destroy(back);
    job_destroy(other);
    job_destroy(j);
}
END_TEST

/* Root may write anywhere: as somebody else. */
START_TEST(test_directory_not_writable)
{
    struct job *j = simulate_job(SIMULATE_RING, 2);
    char why[300] = "";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(file_write(j, in_directory("a"), why, sizeof why), 0);
    ck_assert_int_eq(chmod(directory, 0555), 0);
    if (geteuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
    ck_assert_int_eq(file_write(j, in_directory("a"), why, sizeof why), PYTHIA_EIO);
    ck_assert_msg(strstr(why, "ermission denied") != NULL, "%s", why);
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    chmod(directory, 0755);
    ck_assert_int_eq(entries(directory), 1);
    remove_directory();
    job_destroy(j);
}
END_TEST

START_TEST(test_damaged_file_is_named)
{
    char why[300] = "";
    struct job *back = NULL;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    FILE *f = fopen(in_directory("x"), "w");
    fputs("hello, world\n", f);
    fclose(f);
    ck_assert_int_eq(file_read(in_directory("x"), &back, why, sizeof why), PYTHIA_EFORMAT);
    ck_assert_msg(strstr(why, "/x: not a Pythia job file") != NULL, "%s", why);
    remove_directory();
}
END_TEST

/* Any numbers come back, whatever their width; equal and growing ones are a byte each; what is cut short is refused. */
START_TEST(test_lean_columns)
{
    enum { COUNT = 50 };
    unsigned char column[COUNT * 8], back[COUNT * 8], out[1 + COUNT * FILE_LEAN_LONGEST];
    uint64_t seed = 1;
    for (int turn = 0; turn < 400; turn++) {
        struct file_lean_column c = { 1u << turn % 4, 1u << turn % 4, COUNT };
        uint64_t before = (uint64_t)turn << 60;
        for (int i = 0; i < COUNT; i++) {
            before += turn % 3 == 0 ? 3 : turn % 3 == 1 ? 0 : simulate_random(&seed) << simulate_random(&seed) % 64;
            memcpy(column + i * c.stride, &before, c.width); /* on little-endian machines: any bytes will do */
        }
        size_t size = file_lean_put(out, column, c);
        ck_assert(turn % 3 == 2 || size <= COUNT + FILE_LEAN_LONGEST + 4);
        ck_assert_ptr_eq(file_lean_get(out, out + size, back, c), out + size);
        ck_assert_mem_eq(back, column, COUNT * c.stride);
        ck_assert_ptr_null(file_lean_get(out, out + size - 1, back, c));
    }
    out[0] = 2;
    ck_assert_ptr_null(file_lean_get(out, out + sizeof out, back, (struct file_lean_column){ 1, 1, 1 }));
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_TEST(test_files),
    UNIT_TEST(test_message_is_not_compressed),
    UNIT_TEST(test_run_delay),
    UNIT_TEST(test_took),
    UNIT_TEST(test_disk_full),
    UNIT_TEST(test_directory_not_writable),
    UNIT_TEST(test_damaged_file_is_named),
    UNIT_TEST(test_lean_columns),
};

int main(void)
{
    return unit_run("file/job_files", tests, UNIT_COUNT(tests));
}
