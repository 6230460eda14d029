/* SPDX-License-Identifier: MIT */
/*
 * Names of the program's own: regions, kernels, phases. What runs under Pythia has every figure by them.
 *
 *     pythia_region_begin("solve");                 void solve()
 *     …                                             {
 *     pythia_region_end("solve");                       pythia_region here("solve");    // C++: ends with its block
 *
 * There is nothing to link, and without Pythia each is a test of an address. Regions of a thread nest. One that is left
 * without an end is closed by the end of what is around it (a region, the parallel region that its thread entered, the
 * thread itself), and counted; an end without a begin does nothing. Before MPI_Init and after MPI_Finalize nothing is
 * recorded.
 *
 * Threads: any, each has its own regions.  Hook-safe: yes, but for a name's first begin in a thread.
 */
#ifndef PYTHIA_REGION_H
#define PYTHIA_REGION_H

#ifdef __cplusplus
extern "C" {
#endif

/* The library's function, NULL without it: a weak reference. In code for a fixed place (-no-pie) the linker would take
   a plain one for 0 for good, so there it is asked for as code for any place does. */
typedef void pythia_region_call(const char *name);
#if defined __x86_64__ && !defined __PIC__
#define PYTHIA_REGION_CALL(function)                                                                                   \
    __extension__({                                                                                                    \
        pythia_region_call *call_;                                                                                     \
        __asm__(".weak " #function "\n\tmovq " #function "@GOTPCREL(%%rip), %0" : "=r"(call_));                        \
        call_;                                                                                                         \
    })
#else
extern pythia_region_call pythia_region_begin __attribute__((weak)), pythia_region_end __attribute__((weak));
#define PYTHIA_REGION_CALL(function) function
#endif

/* `name`: not empty; copied when new, so that it may be made anew each time. Names are few: no numbers of steps. */
static inline void pythia_region_do_begin(const char *name)
{
    pythia_region_call *call = PYTHIA_REGION_CALL(pythia_region_begin);
    if (call)
        call(name);
}

/* The innermost open one of that name ends; NULL: whichever is innermost. Those inside that are open end, too. */
static inline void pythia_region_do_end(const char *name)
{
    pythia_region_call *call = PYTHIA_REGION_CALL(pythia_region_end);
    if (call)
        call(name);
}

#define pythia_region_begin pythia_region_do_begin
#define pythia_region_end pythia_region_do_end

#ifdef __cplusplus
}

class pythia_region {
public:
    explicit pythia_region(const char *name) : named(name) /* which lives as long as the block */
    {
        pythia_region_begin(named);
    }
    ~pythia_region()
    {
        pythia_region_end(named);
    }

private:
    pythia_region(const pythia_region &);
    pythia_region &operator=(const pythia_region &);
    const char *named;
};
#endif

#endif
