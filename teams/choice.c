/* SPDX-License-Identifier: MIT */
#include "teams/choice.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double free_ns = 5e6;    /* the account … */
static const double share = 0.03;     /* … and its share of the time */
static const double hopeless = 1.25;  /* times the best setting: a window is broken off … */
static const double stall = TEAMS_STALL; /* … ns later; a window is timed for twice that, at least */
static const float outlier = 4;       /* times the mean: more does not count */
enum { REMEMBERED = 8, GIVEN_UP = 2, SLOTS = TEAMS_ROUNDS * TEAMS_SETTINGS };

void teams_choice_start(struct teams_choice *c, uint32_t cores)
{
    memset(c, 0, sizeof *c);
    c->cores = cores;
    c->best = c->setting = TEAMS_MIXED;
    c->team = TEAMS_OWN;
}

/* --- The account --- */

/* What is left of it, when so much was spent. */
static double left(const struct teams_choice *c, double spent, uint64_t now)
{
    return free_ns + share * (double)(now - c->start) - spent;
}

/* --- Times --- */

/* Returns what of it is an outlier. The first time here takes the place of one that was only taken over. It has what
   comes once (threads that wake, pages) and maybe a stall: of the first two the lesser one counts. */
static float choice_add(struct teams_times *t, enum teams_size size, float took)
{
    float mean = t->time[size], kept = mean > 0 ? fminf(took, outlier * mean) : fmaxf(took, 1);
    uint8_t before = t->count[size];
    t->count[size] += before < REMEMBERED;
    t->time[size] = before == 1 ? fminf(mean, kept) : mean + (kept - mean) / (float)t->count[size];
    return before == 0 ? 0 : took - kept;
}

/* Its times at this place of the turn, which starts from what is known of it anywhere. */
static struct teams_times *times_here(struct teams_choice *c, struct teams_site *site)
{
    uint64_t at = c->turns.number - c->first;
    if (!c->turns.mark || at >= TEAMS_PLACES)
        return &site->times;
    if (c->place[at].site != site || c->place[at].own != site->own) {
        c->place[at].site = site;
        c->place[at].own = site->own;
        c->place[at].times = site->times;
        memset(c->place[at].times.count, 0, sizeof site->times.count);
        c->place[at].times.own.step = 0;
    }
    return &c->place[at].times;
}

/* --- One region --- */

/* Whether this run has seen what the program's team takes. */
static bool is_seen(const struct teams_choice *c, const struct teams_site *site)
{
    return c->proven || site->times.count[TEAMS_OWN];
}

/* A single time may be a stall's: it must not keep a place from that size for good. */
static bool is_single(const struct teams_choice *c, const struct teams_site *site, enum teams_size size)
{
    return (c->here->count[size] ? c->here : &site->times)->count[size] == 1;
}

/* Another size, where the account bears it: at first the worst case, then what may be lost against a team not seen, or
   is. */
static enum teams_size try_size(struct teams_choice *c, const struct teams_site *site, enum teams_size size,
                                uint64_t now)
{
    const struct teams_times *t = c->here;
    if (site->waited[size] >= TEAMS_WAITED)
        return TEAMS_OWN;
    double worst = (double)site->own / teams_choice_threads(c, size, site->own), took = t->time[size];
    double bound = t->time[TEAMS_OWN] > 0 ? (worst - 1) * t->time[TEAMS_OWN] : INFINITY, most = bound;
    if (took > 0)
        most = is_seen(c, site) ? took - t->time[TEAMS_OWN] : took * (1 - 1 / worst);
    if (is_single(c, site, size)) /* if it took more, it stalled */
        most = fmin(most, bound);
    c->trial = took <= 0;
    return most <= fmax(0, left(c, c->behind + c->doubt, now)) ? size : TEAMS_OWN;
}

static enum teams_size choose_here(struct teams_choice *c, const struct teams_site *site, uint64_t now)
{
    const struct teams_times *t = c->here;
    enum teams_size size = c->cores < site->own ? c->team : TEAMS_OWN;
    float one = t->time[TEAMS_ONE], team = t->time[size] > 0 ? t->time[size] : t->time[TEAMS_OWN];
    bool slower = one > 0 && !is_single(c, site, TEAMS_ONE) && team > 0 && team + c->late < one;
    return try_size(c, site, slower ? size : TEAMS_ONE, now);
}

/* Of a program's sizes some may be so small that one thread a processor is no less. */
static enum teams_size decide(struct teams_choice *c, const struct teams_site *site, uint64_t now)
{
    switch (c->setting) {
    case TEAMS_ALL_ONE:
        return try_size(c, site, TEAMS_ONE, now);
    case TEAMS_ALL_CORES:
        return c->cores < site->own ? try_size(c, site, TEAMS_CORES, now) : TEAMS_OWN;
    case TEAMS_MIXED:
        return choose_here(c, site, now);
    default:
        return TEAMS_OWN;
    }
}

/* --- Windows --- */

static bool allowed(const struct teams_choice *c, enum teams_setting setting, uint32_t own)
{
    return setting != TEAMS_ALL_CORES || (!c->pinned && c->cores > 1 && c->cores < own);
}

/* Whether a window of this setting may be run. The program's own settings are looked at in any case, once. */
static bool affordable(const struct teams_choice *c, enum teams_setting setting, uint32_t own, uint64_t now)
{
    double most = (hopeless - 1) * c->usual + stall;
    if (setting == TEAMS_ALL_OWN && !c->proven)
        return c->given_up[setting] < GIVEN_UP;
    return allowed(c, setting, own) && c->given_up[setting] < GIVEN_UP && most <= left(c, c->tried, now) &&
           (setting == TEAMS_ALL_OWN || most <= left(c, c->behind, now));
}

static void begin_window(struct teams_choice *c, uint32_t own, uint64_t now)
{
    enum teams_setting setting = c->slot < SLOTS ? (enum teams_setting)(c->slot % TEAMS_SETTINGS) : c->best;
    c->setting = setting == c->best || affordable(c, setting, own, now) ? setting : c->best;
    c->broken = false;
    c->turn = 0;
    c->begin = c->timed = c->turned = now;
}

static double choice_median(const struct teams_choice *c, enum teams_setting setting)
{
    const double *t = c->took[setting];
    if (c->taken[setting] < 3)
        return c->taken[setting] == 2 && t[1] < t[0] ? t[1] : t[0];
    double low = t[0] < t[1] ? t[0] : t[1], high = t[0] < t[1] ? t[1] : t[0];
    return t[2] < low ? low : t[2] > high ? high : t[2];
}

/* A turn in this setting: as just compared, or, where that is more, on average while it was the best. */
static double time_of(const struct teams_choice *c, enum teams_setting setting)
{
    return fmax(choice_median(c, setting), c->mean[setting]);
}

static bool wins_each(const struct teams_choice *c, enum teams_setting setting, enum teams_setting other)
{
    for (uint32_t i = 0; i < c->taken[setting]; i++)
        for (uint32_t j = 0; j < c->taken[other]; j++)
            if (c->took[setting][i] >= c->took[other][j])
                return false;
    return true;
}

/* The best setting so far: with a main loop after each window, else when each setting had all of its windows. */
static void judge(struct teams_choice *c)
{
    enum teams_setting before = c->best;
    double least = c->taken[before] ? time_of(c, before) : c->usual;
    for (enum teams_setting setting = 0; setting < TEAMS_SETTINGS; setting++)
        if (setting != before && c->taken[setting] && !c->given_up[setting] && time_of(c, setting) < least &&
            (c->turns.mark || (c->taken[setting] == TEAMS_ROUNDS && wins_each(c, setting, before)))) {
            c->best = setting;
            least = time_of(c, setting);
        }
    if (c->taken[c->best])
        c->usual = choice_median(c, c->best);
    c->own = c->given_up[TEAMS_ALL_OWN] ? hopeless * c->usual
             : c->taken[TEAMS_ALL_OWN]  ? choice_median(c, TEAMS_ALL_OWN)
                                        : c->own;
}

static void end_comparison(struct teams_choice *c)
{
    if (c->taken[TEAMS_ALL_CORES] &&
        (!c->taken[TEAMS_ALL_OWN] || choice_median(c, TEAMS_ALL_CORES) < choice_median(c, TEAMS_ALL_OWN)))
        c->team = TEAMS_CORES;
    else if (c->taken[TEAMS_ALL_OWN] && c->taken[TEAMS_ALL_CORES])
        c->team = TEAMS_OWN;
    c->proven = c->proven || c->taken[TEAMS_ALL_OWN] == TEAMS_ROUNDS;
    for (enum teams_setting setting = 0; setting < TEAMS_SETTINGS; setting++)
        if (setting != c->best && c->taken[setting])
            c->mean[setting] = (c->mean[setting] + choice_median(c, setting)) / 2;
    c->judged = time_of(c, c->best);
    c->comparisons++;
    c->rest = c->distance;
    c->distance *= 2;
}

/* Turns that take so long each: powers of two, so that ranks agree. */
static uint32_t turns_in(double turn)
{
    uint32_t n = 1;
    while (n * turn < 2 * stall && n < 1u << 20)
        n *= 2;
    return n;
}

static void begin_comparison(struct teams_choice *c)
{
    if (c->rested > 0)
        c->mean[c->best] = (c->rested_ns + outlier * c->judged) / (c->rested + outlier);
    c->rested_ns = c->rested = 0;
    c->window = turns_in(c->usual);
    c->slot = 0;
    memset(c->taken, 0, sizeof c->taken);
    /* Of what was hopeless the last time one window is enough. */
    for (enum teams_setting setting = 0; setting < TEAMS_SETTINGS; setting++)
        c->given_up[setting] = c->given_up[setting] >= GIVEN_UP ? GIVEN_UP - 1 : 0;
}

/* The window's setting was run to the end. */
static void take_window(struct teams_choice *c, uint64_t now)
{
    double turn = (double)(now - c->timed) / c->window;
    if (c->setting == c->best)
        c->usual += c->usual > 0 ? (turn - c->usual) / REMEMBERED : turn;
    else
        c->tried += fmax(0, (double)(now - c->begin) - c->usual * (c->window + 1));
    if (c->slot >= SLOTS) {
        c->rested_ns += turn;
        c->rested++;
    } else if (c->taken[c->setting] < TEAMS_ROUNDS) {
        c->took[c->setting][c->taken[c->setting]++] = turn;
        judge(c);
    }
}

/* A window between comparisons ended; when the setting is no longer what it was judged by, the next one comes now. */
static void end_rest(struct teams_choice *c)
{
    bool moved = c->rested_ns > hopeless * c->judged * (c->rested + outlier);
    c->rest -= c->rest > 0;
    if (moved)
        c->distance = SLOTS;
    if (moved || c->rest == 0)
        begin_comparison(c);
}

static void end_window(struct teams_choice *c, uint32_t own, uint64_t now)
{
    if (!c->broken)
        take_window(c, now);
    if (c->slot < SLOTS && ++c->slot == SLOTS)
        end_comparison(c);
    else if (c->slot >= SLOTS)
        end_rest(c);
    begin_window(c, own, now);
}

/* This setting takes too long. */
static void break_off(struct teams_choice *c, uint64_t now)
{
    double took = (double)(now - c->begin);
    if (took <= hopeless * c->usual * (c->turn + 1) + stall)
        return;
    c->tried += fmax(0, took - c->usual * c->turn);
    c->given_up[c->setting] += took <= GIVEN_UP * hopeless * c->usual * (c->turn + 1) + GIVEN_UP * stall ? 1 : GIVEN_UP;
    c->proven = c->proven || c->setting == TEAMS_ALL_OWN;
    c->broken = true;
    c->setting = c->best;
}

/* --- Turns --- */

/* Turns of so many regions, which take that long. */
static void begin_turns(struct teams_choice *c, uint64_t length, double took, uint32_t own, uint64_t now)
{
    c->length = length;
    c->first = c->turns.number;
    c->usual = took;
    c->own = 0;
    c->distance = SLOTS;
    memset(c->place, 0, sizeof c->place);
    memset(c->mean, 0, sizeof c->mean);
    c->rested_ns = c->rested = 0;
    begin_comparison(c);
    begin_window(c, own, now);
}

static void lose_turns(struct teams_choice *c, uint64_t now)
{
    c->length = 0;
    c->own = 0;
    c->behind += c->doubt;
    c->doubt = 0;
    c->setting = c->best;
    c->since = c->turns.number;
    c->since_time = now;
}

/* Where no region comes back regularly: windows of so many regions. */
static void do_without(struct teams_choice *c, uint32_t own, uint64_t now)
{
    uint64_t regions = c->turns.number - c->since;
    if (c->length == 0 && regions >= TEAMS_PLACES) {
        double one = (double)(now - c->since_time) / (double)regions;
        begin_turns(c, turns_in(one), turns_in(one) * one, own, now);
    }
}

static void next_turn(struct teams_choice *c, uint32_t own, uint64_t now)
{
    c->first = c->turns.number;
    c->behind += c->own > 0 ? (double)(now - c->turned) - c->own : c->doubt;
    c->doubt = 0;
    c->turned = now;
    if (++c->turn == 1)
        c->timed = now;
    if (c->turn == c->window + 1)
        end_window(c, own, now);
}

static void pass_turns(struct teams_choice *c, struct teams_site *site, uint32_t own, uint64_t now)
{
    switch (teams_turns_next(&c->turns, &site->returns, now)) {
    case TEAMS_FOUND:
        begin_turns(c, c->turns.period, (double)c->turns.took, own, now);
        break;
    case TEAMS_BEGINS:
        next_turn(c, own, now);
        break;
    case TEAMS_LOST:
        lose_turns(c, now);
        break;
    case TEAMS_INSIDE:
        if (!c->turns.mark && c->length && c->turns.number - c->first == c->length)
            next_turn(c, own, now);
        else if (!c->turns.mark)
            do_without(c, own, now);
        break;
    }
}

/* --- A region --- */

enum teams_size teams_choice_begin(struct teams_choice *c, struct teams_site *site, uint32_t own, bool may,
                                   uint64_t now)
{
    if (c->start == 0)
        c->start = c->since_time = now;
    if (site->own != own) {
        memset(&site->times.count, 0, sizeof site->times.count);
        site->own = own;
    }
    pass_turns(c, site, own, now);
    c->trial = false;
    c->size = TEAMS_OWN;
    c->here = may && own > 1 ? times_here(c, site) : NULL;
    if (!c->here)
        return TEAMS_OWN;
    if (c->setting != c->best)
        break_off(c, now);
    c->size = decide(c, site, now);
    c->trial = c->trial && c->size != TEAMS_OWN;
    c->trials += c->trial;
    return c->size;
}

/* What it may have lost against the program's team, or has. The whole turn will tell. */
static void choice_settle(struct teams_choice *c, const struct teams_site *site, double took)
{
    double threads = teams_choice_threads(c, c->size, site->own);
    double lost = is_seen(c, site) ? took - c->here->time[TEAMS_OWN] : took * (1 - threads / site->own);
    c->doubt += fmax(0, lost);
}

/* What the program's size usually takes here; 0: not known. */
static double usual_own(const struct teams_times *t)
{
    enum { FEW = 5 };
    return t->count[TEAMS_OWN] < FEW ? t->time[TEAMS_OWN] : t->own.gap;
}

static void note_wait(struct teams_choice *c, struct teams_site *site, double took)
{
    double threads = teams_choice_threads(c, c->size, site->own), own = c->here->time[TEAMS_OWN];
    uint8_t *waited = &site->waited[c->size];
    if (c->size == TEAMS_OWN || own <= 0 || *waited >= TEAMS_WAITED)
        return;
    *waited = took > 2 * own * site->own / threads + stall ? *waited + 1 : 0;
}

double teams_choice_end(struct teams_choice *c, struct teams_site *site, double took)
{
    struct teams_times *t = c->here;
    if (!t)
        return 0;
    note_wait(c, site, took);
    if (c->size != TEAMS_OWN)
        choice_settle(c, site, took);
    if (c->size == TEAMS_OWN)
        oracle_gap_learn(&t->own, (uint64_t)took);
    float late = choice_add(t, c->size, (float)took);
    if (t != &site->times)
        (void)choice_add(&site->times, c->size, (float)took);
    if (c->size != TEAMS_ONE)
        c->late += (late - c->late) / (REMEMBERED * REMEMBERED);
    return c->size != TEAMS_OWN && t->time[TEAMS_OWN] > 0 ? usual_own(t) - took : 0;
}

double teams_choice_expected(const struct teams_choice *c)
{
    const struct teams_times *t = c->here;
    if (!t || c->setting != TEAMS_ALL_OWN || c->best == TEAMS_ALL_OWN)
        return 0;
    float other = c->best == TEAMS_ALL_ONE     ? t->time[TEAMS_ONE]
                  : c->best == TEAMS_ALL_CORES ? t->time[TEAMS_CORES]
                                               : fminf(t->time[TEAMS_ONE], t->time[TEAMS_OWN]);
    return other;
}
