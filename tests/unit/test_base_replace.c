/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/replace.h"
#include "tests/unit/unit.h"

static char directory[] = "/tmp/pythia-replace-XXXXXX";

static void enter(void)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    umask(022);
}

static void leave(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

/* Names in the directory, hidden ones too. */
static int entries(void)
{
    int n = -1;
    FILE *p = popen("ls -A | wc -l", "r");
    ck_assert_int_eq(fscanf(p, "%d", &n), 1);
    pclose(p);
    return n;
}

static void put(const char *path, const char *text)
{
    struct base_replace r;
    ck_assert_msg(base_replace_open(&r, path, false) == 0, "%s: %s: %m", path, r.what);
    ck_assert_int_eq(base_io_write(r.fd, text, strlen(text)), 0);
    ck_assert_msg(base_replace_commit(&r) == 0, "%s: %s: %m", path, r.what);
}

static const char *text_of(const char *path)
{
    static char text[100];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    text[n < 0 ? 0 : n] = '\0';
    close(fd);
    return text;
}

static struct stat status_of(const char *path)
{
    struct stat st;
    ck_assert_int_eq(lstat(path, &st), 0);
    return st;
}

START_TEST(mode_and_owner_stay)
{
    enter();
    put("new", "1");
    ck_assert_int_eq(status_of("new").st_mode & 07777, 0644); /* as fopen would have made it */
    ck_assert_int_eq(chmod("new", 0640), 0);
    bool root = geteuid() == 0;
    if (root)
        ck_assert_int_eq(chown("new", 12345, 54321), 0);
    put("new", "2");
    struct stat st = status_of("new");
    ck_assert_str_eq(text_of("new"), "2");
    ck_assert_int_eq(st.st_mode & 07777, 0640);
    ck_assert_int_eq(st.st_uid, root ? 12345 : geteuid());
    ck_assert(!root || st.st_gid == 54321);
    ck_assert_int_eq(entries(), 1);
    leave();
}
END_TEST

START_TEST(what_a_link_names_is_replaced)
{
    enter();
    ck_assert_int_eq(mkdir("sub", 0777), 0);
    put("sub/file", "old");
    ck_assert_int_eq(symlink("second", "first"), 0);
    ck_assert_int_eq(symlink("sub/file", "second"), 0);
    ck_assert_int_eq(symlink("sub/none", "dangling"), 0);
    ck_assert_int_eq(symlink("loop", "loop"), 0);
    put("first", "new");
    ck_assert(S_ISLNK(status_of("first").st_mode) && S_ISLNK(status_of("second").st_mode));
    ck_assert_str_eq(text_of("sub/file"), "new");
    put("dangling", "made");
    ck_assert(S_ISLNK(status_of("dangling").st_mode));
    ck_assert_str_eq(text_of("sub/none"), "made");
    struct base_replace r;
    ck_assert_int_eq(base_replace_open(&r, "loop", false), -1);
    ck_assert_int_eq(errno, ELOOP);
    leave();
}
END_TEST

START_TEST(what_is_no_regular_file_stays)
{
    enter();
    ck_assert_int_eq(mkfifo("pipe", 0666), 0);
    struct base_replace r;
    ck_assert_int_eq(base_replace_open(&r, "pipe", false), -1); /* nobody reads it: no hang */
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    put("pipe", "through");
    char text[20] = "";
    ck_assert_int_eq(read(reader, text, sizeof text - 1), 7);
    ck_assert_str_eq(text, "through");
    ck_assert(S_ISFIFO(status_of("pipe").st_mode));
    put("/dev/null", "nothing");
    ck_assert(S_ISCHR(status_of("/dev/null").st_mode));
    ck_assert_int_eq(base_replace_open(&r, ".", false), -1);
    ck_assert_int_eq(errno, EISDIR);
    leave();
}
END_TEST

START_TEST(given_up_the_old_file_stays)
{
    struct base_replace r;
    enter();
    put("file", "old");
    ck_assert_int_eq(base_replace_open(&r, "file", false), 0);
    ck_assert_int_eq(base_io_write(r.fd, "new", 3), 0);
    ck_assert_int_eq(entries(), 2);
    errno = EDOM;
    base_replace_abandon(&r);
    ck_assert_int_eq(errno, EDOM);
    ck_assert_str_eq(text_of("file"), "old");
    ck_assert_int_eq(entries(), 1);
    leave();
}
END_TEST

START_TEST(possible_or_not)
{
    char name[300];
    enter();
    ck_assert_int_eq(base_replace_possible("file"), 0);
    ck_assert_int_eq(base_replace_possible("none/file"), -1);
    ck_assert_int_eq(errno, ENOENT);
    put("file", "");
    ck_assert_int_eq(base_replace_possible("file/x"), -1);
    ck_assert_int_eq(errno, ENOTDIR);
    ck_assert_int_eq(base_replace_possible("."), -1);
    ck_assert_int_eq(errno, EISDIR);
    ck_assert_int_eq(base_replace_possible("/dev/null"), 0);
    memset(name, 'x', sizeof name);
    name[255] = '\0';
    ck_assert_int_eq(base_replace_possible(name), 0); /* the longest that there is */
    put(name, "long");
    name[255] = 'x';
    name[256] = '\0';
    ck_assert_int_eq(base_replace_possible(name), -1);
    ck_assert_int_eq(errno, ENAMETOOLONG);
    ck_assert_int_eq(entries(), 2);
    leave();
}
END_TEST

/* A child that dies in between, and what the next one makes of it. */
START_TEST(what_the_dead_left_is_swept)
{
    struct base_replace r, mine;
    enter();
    pid_t child = fork();
    if (child == 0) {
        if (base_replace_open(&r, "file", false))
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(base_replace_open(&mine, "file", false), 0); /* of a living one */
    put(".file.1.2.tmp", "somebody's");
    ck_assert_int_eq(entries(), 3);
    base_replace_sweep("other");
    ck_assert_int_eq(entries(), 3);
    base_replace_sweep("file");
    ck_assert_int_eq(entries(), 2);
    ck_assert_int_eq(base_replace_commit(&mine), 0);
    leave();
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(mode_and_owner_stay),
        UNIT_TEST(what_a_link_names_is_replaced),
        UNIT_TEST(what_is_no_regular_file_stays),
        UNIT_TEST(given_up_the_old_file_stays),
        UNIT_TEST(possible_or_not),
        UNIT_TEST(what_the_dead_left_is_swept),
    };
    return unit_run("base/replace", tests, UNIT_COUNT(tests));
}
