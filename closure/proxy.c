/*: base */
#define PLACE __attribute__((noinline)) static void /* one call stands in it, so that each place has its own address */

static int me, ranks = RANKS;
static long event;     /* of this rank: requests are found by how many events ago they began */
static char *out, *in; /* what is sent; what comes */
static long nth[NTH];  /* how often it was in a call */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double clock_ns; /* what a look at the clock takes */

static void calibrate(void)
{
    double begin = now();
    for (int i = 0; i < 1000; i++)
        now();
    clock_ns = (now() - begin) / 1001;
}

/* Computes for so many ns. */
static void spin(double ns)
{
    if (ns * TIME > 2 * clock_ns)
        for (double end = now() + ns * TIME - clock_ns; now() < end;)
            ;
}

static void fail(const char *what)
{
    fprintf(stderr, "rank %d, event %ld: %s\n", me, event, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}
/*: course */
/* Values of a call in the order of its events: one value, or with `back` the one so many events before, plus that. */
struct step {
    long value;
    int back;
    unsigned events;
};

static long course(const struct step *s, int count, long n, long absent)
{
    long from = 0, plus = 0;
    int k = 0;

    while (k + 1 < count && n - from >= (long)s[k].events)
        from += s[k++].events;
    while (s[k].back) {
        long times = (n - from) / s[k].back + 1;
        plus += times * s[k].value;
        n -= times * s[k].back;
        while (n < from)
            from -= s[--k].events;
    }
    return s[k].value == LONG_MIN ? absent : plus + s[k].value;
}
/* What one rank's value is on this one: as far away, or with the same bits; below 0 it is no rank. */
static long turned(long value, long away, long ranks_there)
{
    return value >= 0 ? (value + away + me) % ranks_there : value;
}

static long flipped(long value, long of)
{
    return value >= 0 ? value ^ of ^ me : value;
}
/*: peer */
static int who(long peer)
{
    return peer >= 0 ? (int)peer : peer == -1 ? MPI_ANY_SOURCE : MPI_PROC_NULL;
}

static int tagged(long tag)
{
    return tag < 0 ? MPI_ANY_TAG : (int)tag;
}

static int source; /* of the last receive from anyone */
static MPI_Status status;
/*: comm */
static MPI_Comm comm[COMMS];

static MPI_Comm on(int c)
{
    if (comm[c] == MPI_COMM_NULL)
        fail("its communicator is not there");
    return comm[c];
}
/*: size */
static int size_of(int c)
{
    int n;
    MPI_Comm_size(on(c), &n);
    return n;
}
/* Of what goes to all neighbours in a grid, the part of one. */
static int to_each(MPI_Comm c, int bytes)
{
    int dimensions;
    MPI_Cartdim_get(c, &dimensions);
    return bytes / (2 * dimensions);
}
/*: make */
/* Which of the recorded communicators it is that a call makes: of its parent and kind by number, which all of the
   parent's ranks count alike, or those that are in it; with the same number and other members, a variant. */
enum { NUMBERS = 64 };
struct kind {
    const char *name;
    int parent, calls;
    char whole[NUMBERS], live[NUMBERS]; /* a number that a call made parts with is no whole's any more */
    MPI_Group who[NUMBERS];
};
static struct kind kinds[MADE + 1];
static int kind_count;
static struct home {
    struct kind *kind;
    int number, part;
} home[COMMS];
static MPI_Group seen[MADE];

static struct kind *kind_of(int parent, const char *name)
{
    for (int i = 0; i < kind_count; i++)
        if (kinds[i].parent == parent && !strcmp(kinds[i].name, name))
            return &kinds[i];
    if (kind_count > MADE)
        fail("more kinds of communicators than were recorded");
    struct kind *k = &kinds[kind_count++];
    k->name = name;
    k->parent = parent;
    for (int i = 0; i < NUMBERS; i++)
        k->who[i] = MPI_GROUP_NULL;
    return k;
}

static int same(MPI_Group a, MPI_Group b)
{
    int how;
    MPI_Group_compare(a, b, &how);
    return how == MPI_IDENT;
}

static int named(struct kind *k, int number, MPI_Group who)
{
    for (int i = 0; i < MADE; i++)
        if (made[i].parent == k->parent && made[i].number == number && !strcmp(made[i].kind, k->name)) {
            if (seen[i] == MPI_GROUP_NULL)
                seen[i] = who;
            if (same(seen[i], who))
                return made[i].comm;
        }
    return -1;
}

static void adopt(int parent, const char *kind, MPI_Comm child)
{
    struct kind *k = kind_of(parent, kind);
    int call = k->calls++, number = 0, size, c;
    MPI_Group who;

    if (child != MPI_COMM_NULL)
        MPI_Comm_size(child, &size);
    int part = child == MPI_COMM_NULL || size < size_of(parent);
    if (part && call < NUMBERS)
        k->whole[call] = 1;
    if (child == MPI_COMM_NULL)
        return;
    MPI_Comm_group(child, &who);
    if (part) {
        while (number < NUMBERS &&
               (k->live[number] || k->who[number] == MPI_GROUP_NULL || !same(k->who[number], who)))
            number++;
        number = number < NUMBERS || call >= NUMBERS ? number : call;
        if (number < NUMBERS) {
            k->who[number] = who;
            k->live[number] = 1;
        }
    } else {
        while (number < NUMBERS - 1 && k->whole[number])
            number++;
        k->whole[number] = 1;
    }
    if ((c = named(k, number, who)) < 0)
        return;
    comm[c] = child;
    home[c] = (struct home){k, number, part};
}

static void give_back(int c)
{
    struct home *h = &home[c];
    if (h->kind && h->number < NUMBERS)
        (h->part ? h->kind->live : h->kind->whole)[h->number] = 0;
    h->kind = NULL;
}

/* Recorded members of what the next call makes, `child` where that is known, where their order is not the parent's: how
   many, 0: not recorded. */
static int members(int parent, const char *kind, int child, const int **list)
{
    struct kind *k = kind_of(parent, kind);
    int whole = 0;

    while (whole < NUMBERS - 1 && k->whole[whole])
        whole++;
    for (int i = 0; i < MADE; i++)
        if (made[i].parent == parent && !strcmp(made[i].kind, kind) && made[i].members &&
            (child >= 0 ? made[i].comm == child :
             (made[i].number == k->calls || made[i].number == whole) && comm[made[i].comm] == MPI_COMM_NULL))
            for (const int *m = made[i].members; *m; m += 1 + *m)
                for (int of = 1; of <= *m; of++)
                    if (m[of] == me) {
                        *list = m + 1;
                        return *m;
                    }
    return 0;
}

/* Extents of the grid that the next call makes; which of its dimensions stay in a part of it. */
static const int *grid(int parent, const char *kind)
{
    static int all[] = {1, 0};
    int number = kind_of(parent, kind)->calls;

    for (int i = 0; i < MADE; i++)
        if (made[i].parent == parent && made[i].number == number && !strcmp(made[i].kind, kind))
            return made[i].grid;
    all[1] = size_of(parent);
    return all;
}

static int key(int parent, const char *kind, int child)
{
    const int *list;
    int n = members(parent, kind, child, &list);

    for (int i = 0; i < n; i++)
        if (list[i] == me)
            return i;
    return 0;
}

static MPI_Group group(int parent, const char *kind, int child)
{
    MPI_Group all, some;
    const int *list;
    int n = members(parent, kind, child, &list), rank[RANKS];

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < n; i++)
        rank[i] = list[i];
    MPI_Group_incl(all, n, rank, &some);
    return some;
}
/*: counts */
/* Sizes that differ from rank to rank, as all of them must know: `sum` is the own one. */
static int counts[RANKS], places[RANKS], counts_out[RANKS], places_out[RANKS];
static MPI_Datatype types[RANKS];

static void sizes(MPI_Comm c, int sum)
{
    int n;
    PMPI_Comm_size(c, &n);
    PMPI_Allgather(&sum, 1, MPI_INT, counts, 1, MPI_INT, c);
    for (int i = 0; i < n; i++)
        places[i] = i ? places[i - 1] + counts[i - 1] : 0;
}

/* The same of what goes from each to each: as much to everyone, the rest stays. */
static void shares(MPI_Comm c, int sum)
{
    int n, rank;
    PMPI_Comm_size(c, &n);
    PMPI_Comm_rank(c, &rank);
    sizes(c, sum);
    for (int i = 0; i < n; i++) {
        types[i] = MPI_BYTE;
        counts_out[i] = sum / n + (i == rank ? sum % n : 0);
        counts[i] = counts[i] / n + (i == rank ? counts[i] % n : 0);
        places[i] = i ? places[i - 1] + counts[i - 1] : 0;
        places_out[i] = i ? places_out[i - 1] + counts_out[i - 1] : 0;
    }
}

/* Of MPI_Scatterv, where the root's is the sum of all: what comes here. */
static int portion(MPI_Comm c, int bytes, int root)
{
    int n, rank, rest = bytes;
    PMPI_Comm_size(c, &n);
    PMPI_Comm_rank(c, &rank);
    sizes(c, rank == root ? 0 : bytes);
    for (int i = 0; i < n && rank == root; i++)
        rest -= counts[i];
    counts[root] = rest;
    for (int i = root + 1; i < n; i++)
        places[i] += rest;
    return rank == root ? rest : bytes;
}

static const int *parts(MPI_Comm c, int sum)
{
    int n;
    PMPI_Comm_size(c, &n);
    for (int i = 0; i < n; i++)
        counts[i] = sum / n + (i < sum % n);
    return counts;
}
/*: requests */
/* A request is in slot[]; begun[] has it by the number of the event that began it, modulo RING. Those of persistent
   requests stay, behind RING. */
enum { KEPT = 1024, SLOTS = RING + KEPT, ANYONE = 1, RECEIVES = 2, CANCELLED = -1 };
#define NONE LONG_MAX
static MPI_Request slot[SLOTS], scratch[SLOTS], *batch;
static char live[SLOTS], how[SLOTS];
static long whom[SLOTS];
static MPI_Status statuses[SLOTS];
static int picked[SLOTS], indices[SLOTS], picks, open, next, kept, found, flag;
static struct begun {
    long event;
    int first, count;
} begun[RING];

static MPI_Request *begin(int of, long peer)
{
    int s = next;
    next = (next + 1) % RING;
    begun[event % RING] = (struct begun){event, s, 1};
    open += !live[s]; /* else nobody completed the one that lay here */
    live[s] = 1;
    how[s] = (char)of;
    whom[s] = peer;
    return &slot[s];
}

static void pick(int s)
{
    live[s] = 0;
    picked[picks++] = s;
}

/* The one that began so many events ago; where it is taken (MPI shares a handle of sends that are done at once, so that
   a recording may name the last of them twice), the one before it. */
static void pick_begun(long back)
{
    for (; back > 0 && back <= event && back < RING; back++) {
        struct begun *b = &begun[(event - back) % RING];
        for (int s = b->first; b->event == event - back && s < b->first + b->count; s++)
            if (live[s]) {
                pick(s);
                return;
            }
    }
}

/* The receive that is open longest: it is not recorded which one was cancelled. */
static void pick_receive(void)
{
    for (int i = 0; i < SLOTS && !picks; i++) {
        int s = i < RING ? (next + i) % RING : i;
        if (live[s] && how[s] & RECEIVES)
            pick(s);
    }
}

/* The oldest one with that peer: it is not recorded which. */
static void pick_with(long peer)
{
    for (int i = 0; i < SLOTS && !picks; i++) {
        int s = i < RING ? (next + i) % RING : i;
        if (live[s] && whom[s] == peer)
            pick(s);
    }
}

/* So many of what is open, whichever are complete first: it is not recorded which. */
static void pick_complete(int most)
{
    while (picks < most && picks < open)
        for (int s = 0; s < SLOTS && picks < most; s++) {
            flag = 0;
            if (live[s])
                MPI_Request_get_status(slot[s], &flag, MPI_STATUS_IGNORE);
            if (flag)
                pick(s);
        }
}

/* The requests of a completion: which began so many events ago; of a list, CANCELLED, NONE, or, 0, so many of what is
   open, with that peer if one is known. They are passed where they lie, if that is in a row. */
static void choose(long starts, int most, long peer)
{
    picks = 0;
    if (!starts && peer >= 0)
        pick_with(peer);
    if (starts == CANCELLED)
        pick_receive();
    else if (!starts)
        pick_complete(most);
    else if (starts > 0)
        pick_begun(starts);
    else
        for (const struct run *r = lists[-2 - starts]; r->count; r++)
            for (int i = 0; i < r->count; i++)
                pick_begun(r->distance + (long)i * r->step);
    int row = picks > 0;
    for (int i = 0; i < picks; i++)
        row &= picked[i] == picked[0] + i;
    batch = row ? &slot[picked[0]] : scratch;
    scratch[0] = MPI_REQUEST_NULL;
    for (int i = 0; i < picks && !row; i++)
        scratch[i] = slot[picked[i]];
    if (starts == CANCELLED && picks)
        MPI_Cancel(batch);
}

/* Waits until all that were recorded as complete here are. */
static void settle(void)
{
    for (int i = 0; i < picks; i += flag)
        MPI_Request_get_status(batch[i], &flag, MPI_STATUS_IGNORE);
}

static void finished(void)
{
    for (int i = 0; i < picks; i++) {
        if (batch == scratch)
            slot[picked[i]] = scratch[i];
        if (how[picked[i]] & ANYONE)
            source = statuses[i].MPI_SOURCE;
    }
    open -= picks;
    if (!open)
        next = 0;
}
/*: persistent */
static struct kept {
    long peer, bytes, tag;
    int comm;
} keeps[KEPT];

static MPI_Request *keep(int of, long peer, long bytes, long tag, int c)
{
    if (kept == KEPT)
        fail("more persistent requests at once than there is room for");
    keeps[kept] = (struct kept){peer, bytes, tag, c};
    how[RING + kept] = (char)of;
    whom[RING + kept] = peer;
    return &slot[RING + kept++];
}

static MPI_Request *starts(int first, int count)
{
    for (int s = first; s < first + count; s++)
        live[s] = 1;
    begun[event % RING] = (struct begun){event, first, count};
    open += count;
    return &slot[first];
}

static int idle(int k)
{
    return !live[RING + k] && slot[RING + k] != MPI_REQUEST_NULL;
}

/* The first idle one that was made so. */
static MPI_Request *start(long peer, long bytes, long tag, int c)
{
    for (int k = 0; k < kept; k++)
        if (idle(k) && keeps[k].peer == peer && keeps[k].bytes == bytes && keeps[k].tag == tag && keeps[k].comm == c)
            return starts(RING + k, 1);
    fail("no such persistent request is idle");
    return NULL;
}

/* The first idle ones in a row with so many bytes in all. */
static MPI_Request *start_all(int count, long bytes)
{
    for (int k = 0, i; k + count <= kept; k++) {
        long sum = 0;
        for (i = k; i < k + count && idle(i); i++)
            sum += keeps[i].bytes;
        if (i == k + count && sum == bytes)
            return starts(RING + k, count);
    }
    fail("no such row of persistent requests is idle");
    return NULL;
}

static void release(long starts)
{
    choose(starts ? starts : NONE, 1, -3);
    for (int k = 0; k < kept && !picks; k++)
        if (idle(k)) {
            batch = &slot[RING + k];
            break;
        }
    if (*batch != MPI_REQUEST_NULL)
        MPI_Request_free(batch);
    for (int i = 0; i < picks; i++)
        slot[picked[i]] = MPI_REQUEST_NULL;
    open -= picks;
}
/*: message */
static MPI_Message message;
/*: window */
static MPI_Win window[COMMS];
static void *window_at[COMMS];

static void open_window(int c)
{
    if (window[c] != MPI_WIN_NULL)
        fail("a second window at once on its communicator");
}
/*: file */
static MPI_File file;

static void open_file(void)
{
    if (file != MPI_FILE_NULL)
        fail("a second file at once");
}

static const char *temporary(int c)
{
    static char name[4096];
    const char *dir = getenv("TMPDIR");
    int pid = (int)getpid();
    PMPI_Bcast(&pid, 1, MPI_INT, 0, on(c));
    snprintf(name, sizeof name, "%s/proxy-%d-%d", dir ? dir : "/tmp", pid, c);
    return name;
}

/* One to delete. */
static const char *spare(void)
{
    static char name[4096];
    const char *dir = getenv("TMPDIR");
    snprintf(name, sizeof name, "%s/proxy-%d-spare", dir ? dir : "/tmp", (int)getpid());
    FILE *f = fopen(name, "w");
    if (f)
        fclose(f);
    return name;
}
/*: named */
/* Regions by name, which only who watches the program has. */
extern void pythia_region_begin(const char *name) __attribute__((weak));
extern void pythia_region_end(const char *name) __attribute__((weak));
