/* SPDX-License-Identifier: MIT */
#include "file/file.h"
#include "tests/unit/bytes.h"

#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>

#include "pythia.h"

struct bytes bytes_pack(const struct job *j)
{
    void *data;
    struct bytes b;
    ck_assert_int_eq(file_pack(j, NULL, &data, &b.size), 0);
    b.data = data;
    return b;
}

int bytes_unpack(const void *data, size_t size, struct job **j, char why[200])
{
    void *exact = malloc(size ? size : 1);
    *j = NULL;
    why[0] = 0;
    memcpy(exact, data, size);
    int error = file_unpack(exact, size, j, why, 200);
    free(exact);
    if (error) {
        ck_assert_ptr_null(*j);
        ck_assert_msg(*why && !strchr(why, '\n'), "one line: '%s'", why);
    }
    return error;
}

void bytes_refused(const void *data, size_t size, const char *what)
{
    struct job *j;
    char why[200];
    int error = bytes_unpack(data, size, &j, why);
    ck_assert_msg(error == PYTHIA_EFORMAT || error == PYTHIA_EVERSION, "%s: %d %s", what, error, why);
}

void bytes_fill_oracle(struct job *j)
{
    j->oracle.present = 1;
    j->oracle.ranks = 4;
    j->oracle.gain_seconds = 1.25;
    j->oracle.score.events = 77;
    j->oracle.score.peers = (struct oracle_score_peers){9, 8, 7};
    j->oracle.score.at[3].right[9] = 5;
    j->oracle.score.time_error[63] = 9;
    j->oracle.score.at[0].brier = 0.5;
}
