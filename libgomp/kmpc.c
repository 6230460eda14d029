/* SPDX-License-Identifier: MIT */
#include "libgomp/kmpc.h"

#include <errno.h>
#include <pthread.h>

#include "base/symbols.h"
#include "libgomp/real.h"

struct libgomp_kmpc libgomp_kmpc_table;
atomic_bool libgomp_kmpc_ready;

static const struct wanted { const char *name; size_t field; } wanted[] = {
#define FIELD(name) { #name, offsetof(struct libgomp_kmpc, name) },
#define KMPC_USE(type, name, parameters) FIELD(name)
#define KMPC_WORK(type, name, parameters, arguments, share) FIELD(name)
#define KMPC_LOOP(suffix, type, with_sign)                                                                     \
    FIELD(__kmpc_for_static_init_##suffix) FIELD(__kmpc_dispatch_init_##suffix)                                \
    FIELD(__kmpc_dispatch_next_##suffix)
#include "libgomp/kmpc_calls.def"
#undef FIELD
};

static void kmpc_find_all(void)
{
    const struct link_map *from = libgomp_real_behind();
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char *to = (char *)&libgomp_kmpc_table + wanted[i].field;
        void *found = base_symbols_first(from, wanted[i].name);
        if (found)
            *(void **)(void *)to = found;
        else
            *(void (**)(void))(void *)to = libgomp_real_missing;
    }
    (void)libgomp_real();
    libgomp_real_look_again();
    libgomp_kmpc_table.whole = atomic_load(&libgomp_real_is) != LIBGOMP_REAL_BOTH;
    atomic_store_explicit(&libgomp_kmpc_ready, true, memory_order_release);
}

void libgomp_kmpc_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int kept = errno;
    pthread_once(&once, kmpc_find_all);
    errno = kept;
}
