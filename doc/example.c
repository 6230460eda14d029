/* SPDX-License-Identifier: MIT */
/*
 * Records a little program, then predicts it while it runs again.
 *     cc example.c $(pkg-config --cflags --libs pythia) && ./a.out
 */
#include <pythia.h>
#include <stdio.h>

enum { STEPS = 100 };

/* What the program does in a step: calls act(context, word, gap, duration) for each event. */
static void step(int i, void (*act)(void *, const char *, uint64_t, uint64_t), void *context)
{
    act(context, "exchange", 1000, 5000);
    for (int k = 0; k < 4; k++)
        act(context, "solve", 200, 30000);
    if (i % 10 == 9)
        act(context, "checkpoint", 0, 1000000);
}

static void record(void *recorder, const char *word, uint64_t gap, uint64_t duration)
{
    pythia_recorder_event(recorder, word, gap, duration);
}

static void follow(void *oracle, const char *word, uint64_t gap, uint64_t duration)
{
    pythia_oracle_follow(oracle, word, gap, duration);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "example.pythia";
    pythia_recorder_t *recorder = NULL;
    pythia_oracle_t *oracle = NULL;
    struct pythia_answer a;
    double progress;
    int error = pythia_recorder_create(&recorder);

    for (int i = 0; !error && i < STEPS; i++)
        step(i, record, recorder);
    if (error || (error = pythia_recorder_write(recorder, path)) ||
        (error = pythia_oracle_open(path, 0, 0, &oracle)))
        fprintf(stderr, "%s: %s\n", path, pythia_strerror(error));
    pythia_recorder_destroy(recorder);
    if (error)
        return 1;
    for (int i = 0; i < 25; i++)
        step(i, follow, oracle);
    if (pythia_oracle_predict(oracle, 1, &a) == 0)
        printf("next: %s in %.0f ns, for %.0f ns\n", a.word, a.until_ns, a.duration_ns);
    if (pythia_oracle_next(oracle, "checkpoint", &a) == 0)
        printf("%s: %ju events ahead, in %.0f us\n", a.word, (uintmax_t)a.distance, a.until_ns / 1000);
    if (pythia_oracle_remaining(oracle, NULL, NULL, &progress) == 0)
        printf("done: %.0f %%\n", 100 * progress);
    pythia_oracle_close(oracle);
    return 0;
}
