/* SPDX-License-Identifier: MIT */
/*
 * Names that programs give to TALP (DLB_MonitoringRegionRegister, _Start, _Stop) and to Caliper (cali_begin_region,
 * cali_end_region, the same of phases and communication) are regions: linked in their libraries' place, or preloaded.
 *
 *   mpirun -n 4 env LD_PRELOAD=…/pythia/marks.so pythia record ./app
 *
 * Where the library itself is there, too, it is told the same. Without it, and where TALP is off there, a region of
 * TALP is ours, of which only the name counts.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "plugins/names.h"

/* The next function of that name, looked for once; NULL: there is none. */
#define NEXT(type, name)                                             \
    static __typeof__(type) *next;                                   \
    static int looked;                                               \
    if (!looked) {                                                   \
        next = (__typeof__(type) *)dlsym(RTLD_NEXT, name);           \
        looked = 1;                                                  \
    }

/* --- TALP: the name is what a region begins with --- */

typedef struct dlb_monitor { const char *name; char rest[512]; } dlb_monitor;
enum { DLB_SUCCESS = 0, DLB_ERR_UNKNOWN = -1 };
#define DLB_GLOBAL ((dlb_monitor *)0)
#define DLB_LAST_OPEN ((dlb_monitor *)1)

static dlb_monitor own[NAMES_MOST];

static int is_own(const dlb_monitor *region)
{
    return region >= own && region < own + NAMES_MOST;
}

/* Without a name each is another one, as there. */
static dlb_monitor *own_region(const char *name)
{
    static _Atomic int anonymous;
    char text[32];
    if (!name || !*name)
        snprintf(text, sizeof text, "Anonymous Region %d", ++anonymous);
    uint32_t number = names_number(name && *name ? name : text);
    if (!number)
        return NULL;
    own[number - 1].name = names_of(number);
    return &own[number - 1];
}

/* The library has none where TALP is off, which it is where nobody asks for it. */
NAMES_EXPORT dlb_monitor *DLB_MonitoringRegionRegister(const char *name);
NAMES_EXPORT dlb_monitor *DLB_MonitoringRegionRegister(const char *name)
{
    NEXT(dlb_monitor *(const char *), "DLB_MonitoringRegionRegister")
    dlb_monitor *its = next ? next(name) : NULL;
    return its ? its : own_region(name);
}

NAMES_EXPORT int DLB_MonitoringRegionStart(dlb_monitor *region);
NAMES_EXPORT int DLB_MonitoringRegionStart(dlb_monitor *region)
{
    NEXT(int(dlb_monitor *), "DLB_MonitoringRegionStart")
    if (region != DLB_LAST_OPEN)
        pythia_region_begin(region == DLB_GLOBAL ? "Global" : region->name);
    return next && !is_own(region) ? next(region) : region == DLB_LAST_OPEN ? DLB_ERR_UNKNOWN : DLB_SUCCESS;
}

NAMES_EXPORT int DLB_MonitoringRegionStop(dlb_monitor *region);
NAMES_EXPORT int DLB_MonitoringRegionStop(dlb_monitor *region)
{
    NEXT(int(dlb_monitor *), "DLB_MonitoringRegionStop")
    pythia_region_end(region == DLB_LAST_OPEN ? NULL : region == DLB_GLOBAL ? "Global" : region->name);
    return next && !is_own(region) ? next(region) : DLB_SUCCESS;
}

/* What else a program that marks regions calls, and what there is to say without the library: nothing. */
NAMES_EXPORT int DLB_MonitoringRegionReset(dlb_monitor *region);
NAMES_EXPORT int DLB_MonitoringRegionReset(dlb_monitor *region)
{
    NEXT(int(dlb_monitor *), "DLB_MonitoringRegionReset")
    return next && !is_own(region) ? next(region) : DLB_SUCCESS;
}

NAMES_EXPORT int DLB_MonitoringRegionReport(const dlb_monitor *region);
NAMES_EXPORT int DLB_MonitoringRegionReport(const dlb_monitor *region)
{
    NEXT(int(const dlb_monitor *), "DLB_MonitoringRegionReport")
    return next && !is_own(region) ? next(region) : DLB_SUCCESS;
}

/* --- Caliper --- */

#define MARK(name, call)                                             \
    NAMES_EXPORT void name(const char *region);                      \
    NAMES_EXPORT void name(const char *region)                       \
    {                                                                \
        NEXT(void(const char *), #name)                              \
        call(region);                                                \
        if (next)                                                    \
            next(region);                                            \
    }

MARK(cali_begin_region, pythia_region_begin)
MARK(cali_end_region, pythia_region_end)
MARK(cali_begin_phase, pythia_region_begin)
MARK(cali_end_phase, pythia_region_end)
MARK(cali_begin_comm_region, pythia_region_begin)
MARK(cali_end_comm_region, pythia_region_end)
