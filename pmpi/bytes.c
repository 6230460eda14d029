/* SPDX-License-Identifier: MIT */
/* Payload of a call on this rank, in bytes. */
#include "pmpi/again.h"
#include "pmpi/near.h"

/* Predefined datatypes that programs use: they may be asked about at any time. */
static bool bytes_predefined(MPI_Datatype type)
{
    static const MPI_Datatype list[] = {
        MPI_BYTE, MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED,
        MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE,
        MPI_WCHAR, MPI_PACKED, MPI_C_BOOL, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T,
        MPI_UINT32_T, MPI_UINT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET, MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX,
        MPI_C_DOUBLE_COMPLEX, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_INTEGER,
        MPI_REAL, MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_LOGICAL, MPI_CHARACTER};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i] == type)
            return true;
    return false;
}

/* Sizes of predefined datatypes, which keep theirs; most calls of a thread have few. */
enum { KNOWN = 8 };
static _Thread_local struct { MPI_Datatype type; int size; } bytes_known[KNOWN]
    __attribute__((tls_model("initial-exec")));

static unsigned bytes_place(MPI_Datatype type)
{
    return (unsigned)((uint64_t)(uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15) >> 61);
}

/* Bytes of an element, 0: not known. A datatype is asked about only where it counts: an undefined argument could hold
   anything, and where MPI_PROC_NULL is the peer nothing is transferred, and MPI need not have looked at it. */
static __attribute__((noinline)) int bytes_ask(const struct pmpi_hook_call *call, MPI_Datatype type)
{
    bool predefined = bytes_predefined(type);
    int size;
    if (type == MPI_DATATYPE_NULL || !(call->accepted || predefined) || PMPI_Type_size(type, &size) != MPI_SUCCESS ||
        size < 0)
        return 0;
    if (predefined) {
        bytes_known[bytes_place(type)].type = type;
        bytes_known[bytes_place(type)].size = size;
    }
    return size;
}

int pmpi_hook_fixed_size(MPI_Datatype type)
{
    unsigned at = bytes_place(type);
    return bytes_known[at].type == type ? bytes_known[at].size : 0;
}

static int64_t bytes_times(struct pmpi_hook_call *call, int64_t count, MPI_Datatype type)
{
    unsigned at = bytes_place(type);
    if (count <= 0 || call->key.peer_class == JOB_PEER_NULL)
        return 0;
    int size = __builtin_expect(bytes_known[at].type == type, 1) ? bytes_known[at].size : 0;
    if (__builtin_expect(!size, 0) && !(size = bytes_ask(call, type)))
        return 0;
    call->element = size;
    return count * size;
}

static int64_t bytes_count(const struct pmpi_hook_call *call, struct pmpi_hook_counts counts, int i)
{
    return call->accepted && counts.at ? pmpi_hook_count(counts, i) : 0;
}

static int64_t bytes_counts(const struct pmpi_hook_call *call, struct pmpi_hook_counts counts, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += bytes_count(call, counts, i);
    return sum;
}

static int64_t bytes_types(struct pmpi_hook_call *call, struct pmpi_hook_counts counts, struct pmpi_hook_handles types,
                           int n)
{
    int64_t sum = 0;
    for (int i = 0; call->accepted && types.at && i < n; i++)
        sum += bytes_times(call, bytes_count(call, counts, i), pmpi_hook_type_at(types, i));
    call->element = 1;
    return sum;
}

static int bytes_fan(const struct pmpi_hook_call *call)
{
    return call->comm ? call->comm->fan : 0;
}

/* Of a rooted collective, which arguments this rank has to fill in. */
enum bytes_role { BYTES_ROOT, BYTES_LEAF, BYTES_BYSTANDER };

static enum bytes_role bytes_role(const struct pmpi_hook_call *call, int root)
{
    if (root == MPI_PROC_NULL)
        return BYTES_BYSTANDER;
    if (root == MPI_ROOT)
        return BYTES_ROOT;
    return call->comm && !call->comm->inter && call->comm->rank == root ? BYTES_ROOT : BYTES_LEAF;
}

int64_t pmpi_hook_bytes_of(struct pmpi_hook_call *call, int64_t count, MPI_Datatype type)
{
    return bytes_times(call, count, type);
}

int64_t pmpi_hook_bytes_size(struct pmpi_hook_call *call, int64_t bytes)
{
    call->element = 1;
    return bytes;
}

int64_t pmpi_hook_bytes_parts(struct pmpi_hook_call *call, int64_t parts, int64_t count, MPI_Datatype type)
{
    return parts * bytes_times(call, count, type);
}

int64_t pmpi_hook_bytes_either(struct pmpi_hook_call *call, const void *sendbuf, int64_t sendcount,
                               MPI_Datatype sendtype, int64_t recvcount, MPI_Datatype recvtype)
{
    return sendbuf == MPI_IN_PLACE ? bytes_times(call, recvcount, recvtype) : bytes_times(call, sendcount, sendtype);
}

int64_t pmpi_hook_bytes_own(struct pmpi_hook_call *call, const void *sendbuf, int64_t sendcount,
                            MPI_Datatype sendtype, struct pmpi_hook_counts recvcounts, MPI_Datatype recvtype)
{
    if (sendbuf != MPI_IN_PLACE)
        return bytes_times(call, sendcount, sendtype);
    return call->comm ? bytes_times(call, bytes_count(call, recvcounts, call->comm->rank), recvtype) : 0;
}

int64_t pmpi_hook_bytes_fan(struct pmpi_hook_call *call, const void *sendbuf, int64_t sendcount,
                            MPI_Datatype sendtype, int64_t recvcount, MPI_Datatype recvtype)
{
    return bytes_fan(call) * pmpi_hook_bytes_either(call, sendbuf, sendcount, sendtype, recvcount, recvtype);
}

int64_t pmpi_hook_bytes_sum(struct pmpi_hook_call *call, const void *sendbuf, struct pmpi_hook_counts sendcounts,
                            MPI_Datatype sendtype, struct pmpi_hook_counts recvcounts, MPI_Datatype recvtype)
{
    if (sendbuf == MPI_IN_PLACE)
        return bytes_times(call, bytes_counts(call, recvcounts, bytes_fan(call)), recvtype);
    return bytes_times(call, bytes_counts(call, sendcounts, bytes_fan(call)), sendtype);
}

int64_t pmpi_hook_bytes_each(struct pmpi_hook_call *call, const void *sendbuf, struct pmpi_hook_counts sendcounts,
                             struct pmpi_hook_handles sendtypes, struct pmpi_hook_counts recvcounts,
                             struct pmpi_hook_handles recvtypes)
{
    if (sendbuf == MPI_IN_PLACE)
        return bytes_types(call, recvcounts, recvtypes, bytes_fan(call));
    return bytes_types(call, sendcounts, sendtypes, bytes_fan(call));
}

int64_t pmpi_hook_bytes_total(struct pmpi_hook_call *call, struct pmpi_hook_counts counts, MPI_Datatype type)
{
    return call->comm ? bytes_times(call, bytes_counts(call, counts, call->comm->size), type) : 0;
}

int64_t pmpi_hook_bytes_block(struct pmpi_hook_call *call, int64_t count, MPI_Datatype type)
{
    return call->comm ? call->comm->size * bytes_times(call, count, type) : 0;
}

int64_t pmpi_hook_bytes_near(struct pmpi_hook_call *call, int64_t count, MPI_Datatype type)
{
    return pmpi_hook_near_count(call, false) * bytes_times(call, count, type);
}

int64_t pmpi_hook_bytes_near_sum(struct pmpi_hook_call *call, struct pmpi_hook_counts counts, MPI_Datatype type)
{
    return bytes_times(call, bytes_counts(call, counts, pmpi_hook_near_count(call, false)), type);
}

int64_t pmpi_hook_bytes_near_each(struct pmpi_hook_call *call, struct pmpi_hook_counts counts,
                                  struct pmpi_hook_handles types)
{
    return bytes_types(call, counts, types, pmpi_hook_near_count(call, false));
}

int64_t pmpi_hook_bytes_bcast(struct pmpi_hook_call *call, int root, int64_t count, MPI_Datatype type)
{
    return bytes_role(call, root) == BYTES_BYSTANDER ? 0 : bytes_times(call, count, type);
}

/* Of a scatter, too: its root takes part only with what it sends where that is in place. */
int64_t pmpi_hook_bytes_gather(struct pmpi_hook_call *call, int root, const void *buffer, int64_t count,
                               MPI_Datatype type, int64_t rootcount, MPI_Datatype roottype)
{
    enum bytes_role role = bytes_role(call, root);
    if (role == BYTES_BYSTANDER)
        return 0;
    if (role == BYTES_ROOT && (buffer == MPI_IN_PLACE || root == MPI_ROOT))
        return bytes_times(call, rootcount, roottype);
    return bytes_times(call, count, type);
}

int64_t pmpi_hook_bytes_gatherv(struct pmpi_hook_call *call, int root, const void *sendbuf, int64_t sendcount,
                                MPI_Datatype sendtype, struct pmpi_hook_counts recvcounts, MPI_Datatype recvtype)
{
    enum bytes_role role = bytes_role(call, root);
    if (role == BYTES_BYSTANDER)
        return 0;
    if (role == BYTES_ROOT && root == MPI_ROOT)
        return bytes_times(call, bytes_counts(call, recvcounts, bytes_fan(call)), recvtype);
    if (role == BYTES_ROOT && sendbuf == MPI_IN_PLACE)
        return bytes_times(call, bytes_count(call, recvcounts, root), recvtype);
    return bytes_times(call, sendcount, sendtype);
}

int64_t pmpi_hook_bytes_scatterv(struct pmpi_hook_call *call, int root, const void *recvbuf, int64_t recvcount,
                                 MPI_Datatype recvtype, struct pmpi_hook_counts sendcounts, MPI_Datatype sendtype)
{
    enum bytes_role role = bytes_role(call, root);
    (void)recvbuf;
    if (role == BYTES_BYSTANDER)
        return 0;
    if (role == BYTES_ROOT)
        return bytes_times(call, bytes_counts(call, sendcounts, bytes_fan(call)), sendtype);
    return bytes_times(call, recvcount, recvtype);
}
