#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of job files, written from doc/FORMAT.md alone: naive on purpose.

    read_job.py FILE             what each stream did: one line an event
    read_job.py --totals FILE    one line a stream

Lines are tab-separated. "stream RANK THREAD COUNT EVENTS WALL" for each record of the table of streams; "member RANK THREAD",
then for each event: its index, its terminal as text, and the values of the ten channels ("-" none, "*" not known). Then "group" for each group of each communicator, "message" for what each rank sent or
received, "starts" for each list of distances, "series" and "extremes".
"""
import ctypes
import ctypes.util
import struct
import sys

NONE = 0xFFFFFFFF
LOST = 0x7FFFFFFF
xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
xxhash.XXH64.restype = ctypes.c_uint64
xxhash.XXH64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


xxhash.XXH3_128bits_withSeed.restype = Hash128
xxhash.XXH3_128bits_withSeed.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def checksum(data):
    return xxhash.XXH64(data, len(data), 0)


def hash128(seed, data):
    h = xxhash.XXH3_128bits_withSeed(data, len(data), seed)
    return struct.pack("<QQ", h.low, h.high)


def fail(reason):
    raise SystemExit("read_job.py: " + reason)


LEAN = {13: 8 * "I", 14: "IIIIIIBBHI" + 16 * "Q"}  # fields of records that are lean columns


def lean(data, columns, at=0):
    """Lean columns from `at` on, of (field, count) each; and where they end."""
    out = []
    for field, count in columns:
        mode, before, column, bits = data[at], 0, [], 8 * struct.calcsize("<" + field)
        if mode > 1:
            fail("mode of a lean column")
        at += 1
        for _ in range(count):
            v = shift = 0
            while True:
                v |= (data[at] & 127) << shift
                shift, at = shift + 7, at + 1
                if data[at - 1] < 128:
                    break
            before = (v >> 1 ^ -(v & 1)) + mode * before
            column.append(before % 2**bits - (2**bits if field.islower() and before >> bits - 1 & 1 else 0))
        out.append(column)
    return out, at


class Job:
    def __init__(self, data):
        self.sections = {}
        self.blocks = {}  # records a block, of sections in blocks
        self.open(data)
        self.definitions()
        self.grammars()
        if 21 in self.sections:
            self.check_times()
        self.read_streams()
        self.read_lists()
        self.places = self.read_places()
        self.read_spots()

    def open(self, data):
        if data[:8] != b"PYTHIA\x1a\n":
            fail("not a job file")
        version, count, size, stated = struct.unpack_from("<IIQQ", data, 8)
        if version != 11 or size != len(data):
            fail("version or size")
        end = 64 + 48 * count
        if checksum(data[:24] + bytes(8) + data[32:end]) != stated:
            fail("checksum of the header")
        for i in range(count):
            kind, flags, offset, stored, raw, stated, records = struct.unpack_from("<IIQQQQQ", data, 64 + 48 * i)
            if offset != (end + 7) // 8 * 8 or any(data[end:offset]):
                fail("section %d is not where it should be" % kind)
            end = offset + stored
            body = data[offset:end]
            per, blocks = struct.unpack_from("<II", body) if flags & 4 else (0, 0)
            if checksum(body[: 8 + 12 * blocks] if flags & 4 else body) != stated:
                fail("checksum of section %d" % kind)
            if flags & 4:
                body = self.join_blocks(kind, body, per, blocks, raw, records)
            elif flags & 1:
                out = ctypes.create_string_buffer(raw)
                if zstd.ZSTD_decompress(out, raw, body, stored) != raw:
                    fail("section %d does not decompress" % kind)
                body = out.raw
            elif raw != stored:
                fail("sizes of section %d" % kind)
            self.sections[kind] = (body, records)
        if (end + 7) // 8 * 8 != len(data):
            fail("bytes after the end")

    def join_blocks(self, kind, body, per, blocks, raw, records):
        sizes = struct.unpack_from("<%dI" % blocks, body, 8)
        sums = struct.unpack_from("<%dQ" % blocks, body, 8 + 4 * blocks)
        at, out, size = 8 + 12 * blocks, [], raw // records
        if blocks != (records + per - 1) // per or size * records != raw or at + sum(sizes) != len(body):
            fail("blocks of section %d" % kind)
        for i, (length, stated) in enumerate(zip(sizes, sums)):
            frame, n = body[at : at + length], min(per, records - i * per)
            at += length
            if kind in LEAN:
                out.append(self.lean_block(frame, n, LEAN[kind], stated))
                continue
            words = ctypes.create_string_buffer(n * size)
            if checksum(frame) != stated or zstd.ZSTD_decompress(words, n * size, frame, length) != n * size:
                fail("block %d of section %d" % (i, kind))
            column = struct.unpack("<%dQ" % (n * size // 8), words.raw)
            for k in range(n):
                out.append(struct.pack("<%dQ" % (size // 8), *column[k::n]))
        self.blocks[kind] = per
        return b"".join(out)

    def lean_block(self, frame, n, layout, stated):
        room = len(layout) * (1 + 10 * n)
        data = ctypes.create_string_buffer(room)
        length = zstd.ZSTD_decompress(data, room, frame, len(frame))
        if checksum(frame) != stated or length > room:
            fail("a block of lean columns")
        columns, rest = lean(data.raw[:length], [(field, n) for field in layout])
        if rest != length:
            fail("bytes after the last lean column")
        return b"".join(struct.pack("<" + layout, *row) for row in zip(*columns))

    def records(self, kind, layout):
        body, count = self.sections[kind]
        size = struct.calcsize(layout)
        if len(body) != size * count:
            fail("size of section %d" % kind)
        return list(struct.iter_unpack(layout, body))

    def table(self, kind, layout):
        """Rows of a section by columns, of u8, u32 (i32), u64 as B, I (i), Q; none where there is no section."""
        body, count = self.sections.get(kind, (b"", 0))
        if struct.calcsize("<" + layout) * count != len(body):
            fail("size of section %d" % kind)
        return list(zip(*self.take(body, 0, count, layout)))

    def take(self, body, at, count, layout):
        for field in layout:
            yield struct.unpack_from("<%d%s" % (count, field), body, at)
            at += count * struct.calcsize("<" + field)

    # Definitions

    def definitions(self):
        self.info = self.table(1, "IIIIIIIIIQQ")[0]
        body, count = self.sections[2]
        self.strings = []
        for (offset,) in struct.iter_unpack("<I", body[: 4 * count]):
            self.strings.append(body[offset : body.index(b"\0", offset)])
        self.modules = self.table(3, "II")
        self.frames = self.table(4, "IQ")
        self.callsites = self.table(5, "II")
        self.comms = self.table(6, "II")
        self.terminals = self.table(7, "BBBBBIII")
        zero = bytes(16)
        string = [hash128(0, s) for s in self.strings]
        module = [hash128(1, string[p] + string[b] + bytes(8)) for p, b in self.modules]
        callsite = []
        for first, n in self.callsites:
            h = struct.pack("<QQ", 0, n)
            for m, address in self.frames[first : first + n]:
                h = hash128(2, h + module[m] + struct.pack("<Q", address))
            callsite.append(h)
        comm = [hash128(3, string[name] + zero + bytes(8)) for name, _ in self.comms]
        self.terminal_hash = []
        for kind, phase, group, peer, waits, function, place, c in self.terminals:
            bits = kind | phase << 8 | group << 16 | peer << 24 | waits << 32
            inner = hash128(4, (zero if place == NONE else callsite[place]) + (zero if c == NONE else comm[c]) + struct.pack("<Q", bits))
            self.terminal_hash.append(hash128(4, string[function] + inner + bytes(8)))

    def text(self, terminal):
        if terminal == LOST:
            return "(lost)"
        kind, phase, group, peer, waits, function, place, comm = self.terminals[terminal]
        text = "%d.%d.%d.%d.%d " % (kind, phase, group, peer, waits) + self.strings[function].decode()
        if comm != NONE:
            text += " on " + self.strings[self.comms[comm][0]].decode()
        if place != NONE:
            first, n = self.callsites[place]
            for module, address in self.frames[first : first + n]:
                text += " %s+0x%x" % (self.strings[self.modules[module][0]].decode(), address)
        return text

    # Rules and classes

    def grammars(self):
        store = self.records(8, "<II")
        nodes = self.records(9, "<IIQ")
        class_rules = [r for (r,) in self.records(11, "<I")]
        stats = self.records(12, "<Q3Qd3QdQQIIQQIId")
        ranges = self.records(13, "<8I")
        variants = self.records(14, "<6I3Bx I Q qqq 96s".replace(" ", ""))
        exponents = self.records(29, "<4IQ") if 29 in self.sections else []
        columns = self.sections[30][0] if 30 in self.sections else b""
        self.classes = []
        for low, high, flags, rule, rules, stat, count, rng, rngs, members, var, vars_, exp, exps, column in self.records(10, "<2Q12IQ"):
            c = {"rules": [], "first": {}, "nodes": [], "stats": stats[stat : stat + count]}
            for r in class_rules[rule : rule + rules]:
                first, n = store[r]
                c["first"][r] = len(c["nodes"])
                c["rules"].append(r)
                c["nodes"] += nodes[first : first + n]
            if len(c["nodes"]) != count or not flags & 1:
                fail("nodes of a class")
            own = ranges[rng : rng + rngs]
            c["members"] = self.members(own[:members])
            c["exponents"] = {}
            for node, first, n, width, exponent in exponents[exp : exp + exps]:
                if width:
                    for member in sorted(c["members"], key=lambda m: (m[1], m[0])):
                        c["exponents"][node, member] = int.from_bytes(columns[column : column + width], "little")
                        column += width
                for member in self.members(own[first : first + n]):
                    if (node, member) in c["exponents"]:
                        fail("two exponents for one member")
                    c["exponents"][node, member] = exponent
            c["variants"] = {}
            for v in variants[var : var + vars_]:
                for member in self.members(own[v[4] : v[4] + v[5]]):
                    if (v[0], v[6], member) in c["variants"]:
                        fail("two variants for one member")
                    c["variants"][v[0], v[6], member] = v
            c["length"] = {r: n for r, (_, n) in enumerate(store)}
            if self.rule_hash(c, c["rules"][0], {}) != struct.pack("<QQ", low, high):
                fail("structure hash of a class")
            self.classes.append(c)

    def check_times(self):
        """What a rule takes before the node of each block's first record."""
        per, record, times = self.blocks[12], 0, self.records(21, "<3d")
        if len(times) != (self.sections[12][1] + per - 1) // per:
            fail("times of other blocks")
        for c in self.classes:
            for rule in c["rules"]:
                before = [0.0, 0.0, 0.0]
                for node in range(c["first"][rule], c["first"][rule] + c["length"][rule]):
                    count, gap, _, _, gap2, duration, _, _, duration2 = c["stats"][node][:9]
                    if (record + node) % per == 0:
                        slack = 1e-12 * (before[0] + before[1]) ** 2
                        for told, own, more in zip(times[(record + node) // per], before, (0, 0, slack)):
                            if abs(told - own) > 1e-6 * (abs(told) + abs(own)) + 1e-3 + more:
                                fail("times of record %d" % (record + node))
                    variance = 0.0
                    for total, square in ((gap, gap2), (duration, duration2)):
                        if count > 1:
                            variance += max(square / count - (total / count) ** 2, 0)
                    one = gap / max(count, 1), duration / max(count, 1), variance
                    before = [b + c["nodes"][node][2] * o for b, o in zip(before, one)]
            record += len(c["nodes"])

    def members(self, ranges):
        return [
            (first + i * stride + k * row_stride + l * plane_stride, thread)
            for first, count, stride, thread, rows, row_stride, planes, plane_stride in ranges
            for l in range(planes + 1)
            for k in range(rows + 1)
            for i in range(count)
        ]

    def rule_hash(self, c, rule, known):
        if rule not in known:
            data = b""
            first = c["first"][rule]
            for symbol, _, _ in c["nodes"][first : first + c["length"][rule]]:
                if symbol >> 31:
                    data += self.rule_hash(c, symbol & LOST, known)
                elif symbol == LOST:
                    data += struct.pack("<QQ", LOST, LOST)
                else:
                    data += self.terminal_hash[symbol]
            known[rule] = hash128(0, data)
        return known[rule]

    def expand(self, c, rule, member):
        first = c["first"][rule]
        for node in range(first, first + c["length"][rule]):
            symbol, _, exponent = c["nodes"][node]
            for _ in range(c["exponents"].get((node, member), exponent)):
                if symbol >> 31:
                    yield from self.expand(c, symbol & LOST, member)
                else:
                    yield node, symbol

    def make_course(self, made, steps, length):
        """The first values of a course: those of a step are one value, or those that stand `back` before plus one."""
        del made[:]
        for i, (value, back, events) in enumerate(steps):
            end = length if i + 1 == len(steps) else min(length, len(made) + events)
            while len(made) < end:
                made.append((value + (made[-back] if back else 0) + 2**63) % 2**64 - 2**63)

    def name(self, number):
        return self.names[-2 - number] if -2 - len(self.names) < number <= -2 else number

    def value(self, c, node, channel, member, nth):
        v = c["variants"].get((node, channel, member))
        if v is None:
            return "-"
        _, relations, sample, modulus, _, _, _, kind = v[:8]
        if kind == 0:
            x = self.name(v[11]) if channel == 9 else v[11]
        elif kind == 1:
            name = self.name(struct.unpack_from("<q", v[14])[0])
            made = self.courses.setdefault(name, [])
            if name in self.lists and len(made) <= nth:
                self.make_course(made, self.lists[name], 2 * nth + 64)
            if nth >= len(made):
                return "*"
            x = made[nth]
            if x == -(2**63):
                return "-"
        else:
            return "*"
        if relations & 1 or x < 0:
            return str(x)
        if relations & 2:
            return str((x - sample + member[0]) % modulus)
        return str(x ^ sample ^ member[0])

    # Streams

    def read_streams(self):
        body, n = self.sections[15]
        means = struct.unpack("<%dQ" % (8 * n), body[: 64 * n])
        rest = struct.unpack("<%dI" % (8 * n), body[64 * n : 96 * n])
        words = struct.unpack("<%dI" % (4 * n), body[96 * n :])
        self.streams = []
        rank = 0
        for i in range(n):
            rank = (rank + words[i]) % 2**32
            count = words[3 * n + i]
            sums = [means[k * n + i] * count + rest[k * n + i] for k in range(8)]
            self.streams.append((rank, words[n + i], words[2 * n + i], count, sums))
        self.check_extremes(n)

    def check_extremes(self, n):
        """Each block's mean wall time lies between its extremes, which are of its ranks."""
        block = self.info[8]
        body, rows = self.sections.get(33, (b"", 0))
        if rows != (n if block > 1 else 0):
            fail("%d extremes of %d blocks" % (rows, n))
        for i in range(rows):
            least, most = (struct.unpack_from("<Q", body, 8 * (k * n + i))[0] for k in (0, 1))
            ranks = [struct.unpack_from("<I", body, 32 * n + 4 * (k * n + i))[0] for k in range(4)]
            _, _, _, count, sums = self.streams[i]
            if not least <= sums[3] // count <= most or max(ranks) >= block:
                fail("extremes of block %d" % i)

    def check_blocks(self):
        """Each member belongs to one class, and to the record of its block, which adds up its events."""
        block = self.info[8]
        count, events, classes = {}, {}, {}
        for number, c in enumerate(self.classes):
            for rank, thread in c["members"]:
                length = sum(1 for _ in self.expand(c, c["rules"][0], (rank, thread)))
                at = rank // block * block, thread
                count[at] = count.get(at, 0) + 1
                events[at] = events.get(at, 0) + length
                classes.setdefault(at, set()).add(number)
        for rank, thread, number, n, sums in self.streams:
            at = rank, thread
            own = classes.pop(at)
            if (n, sums[0]) != (count[at], events[at]) or own != ({number} if number != NONE else own):
                fail("the record of rank %d, thread %d does not fit the classes" % at)
            if number == NONE and len(own) < 2:
                fail("a block of one class that does not say so")
        if classes or len({m for c in self.classes for m in c["members"]}) != sum(count.values()):
            fail("members without a record, or of two classes")

    def print(self, totals):
        self.check_blocks()
        for rank, thread, number, count, sums in self.streams:
            print("stream", rank, thread, count, sums[0], sums[3], sep="\t")
        for c in self.classes:
            for rank, thread in c["members"] if not totals else []:
                print("member", rank, thread, sep="\t")
                events = {}
                for index, (node, terminal) in enumerate(self.expand(c, c["rules"][0], (rank, thread))):
                    nth = events.get(terminal, 0)
                    events[terminal] = nth + 1
                    values = [self.value(c, node, channel, (rank, thread), nth) for channel in range(10)]
                    print(index, self.text(terminal), *values, sep="\t")
        for number, c in enumerate(self.classes):
            first = c["stats"][: c["length"][c["rules"][0]]]
            print("class", number, len(c["members"]), len(c["nodes"]), sum(s[1] for s in first), sum(s[5] for s in first), sep="\t")
        for terminal, name, samples, total in self.table(17, "IIQQ"):
            print("sum", terminal, self.strings[name].decode(), samples, total, sep="\t")
        for terminal, before, samples, total in self.table(32, "IiQQ"):
            print("digram", terminal, before, samples, total, sep="\t")
        self.print_groups()
        self.print_messages()
        self.print_starts()
        self.print_series()
        self.print_extremes()
        self.print_own()
        for row in self.table(34, "iiII" + 11 * "Q"):
            print("threads", *row, sep="\t")
        for took in self.table(41, "I" + 10 * "Q"):
            print("took", *took, sep="\t")
        for samples in self.table(42, "iIiQQQ"):
            print("samples", *samples, sep="\t")
        for named in self.table(43, "iiII" + 8 * "Q" + "I" + 11 * "Q"):
            print("named", *named, sep="\t")
        for delay in self.table(31, "IQQQ"):
            print("delay", *delay, sep="\t")

    # Communicators, messages, starts: lists by columns

    def columns(self, body, at, n, width):
        return list(zip(*(struct.unpack_from("<%dI" % n, body, at + 4 * n * k) for k in range(width)))) if n else []

    def print_groups(self):
        if 22 not in self.sections:
            return
        body, n = self.sections[22]
        runs, ranges = struct.unpack_from("<II", body)
        groups = self.columns(body, 8, n, 5)
        run = self.columns(body, 8 + 20 * n, runs, 3)
        origin = self.columns(body, 8 + 20 * n + 12 * runs, ranges, 8)
        if len(body) != 8 + 20 * n + 12 * runs + 32 * ranges:
            fail("size of the groups")
        for comm, remote, size, own_runs, own_ranges in groups:
            name = self.strings[self.comms[comm][0]].decode()
            shape = [(first + i * stride) % 2**32 for first, count, stride in run[:own_runs] for i in range(count)]
            if len(shape) != size:
                fail("size of a group")
            for at, thread in self.members(origin[:own_ranges]):
                print("group", name, remote, *((at + offset) % 2**32 for offset in shape), sep="\t")
            if not size:
                print("group", name, "several", sep="\t")
            run, origin = run[own_runs:], origin[own_ranges:]

    def print_messages(self):
        if 23 not in self.sections:
            return
        body, n = self.sections[23]
        (ranges,) = struct.unpack_from("<I", body)
        rows = list(zip(*self.take(body, 4, n, "IBBBIIQQ")))
        sets = self.columns(body, 4 + 31 * n, ranges, 8)
        ranks = self.info[4]
        for terminal, receives, relation, mean, value, own, *sums in rows:
            members = self.members(sets[:own])
            sets = sets[own:]
            for k, (rank, thread) in enumerate(members):
                peer = value if value == NONE or relation == 1 else (rank + value) % ranks if relation == 2 else rank ^ value
                own = [s // len(members) + (k < s % len(members)) for s in sums] if mean else sums
                print("message", terminal, receives, rank, -1 if peer == NONE else peer, *own, mean, sep="\t")

    def read_lists(self):
        self.lists, self.courses, self.names = {}, {}, []
        if 24 not in self.sections:
            return
        body, n = self.sections[24]
        (runs,) = struct.unpack_from("<I", body)
        (counts, *run), end = lean(body, [("I", n), ("q", runs), ("i", runs), ("I", runs)], 4)
        if end != len(body) or sum(counts) != runs:
            fail("size of the starts")
        run = list(zip(*run))
        for count in counts:
            name = hash128(0x57A7, b"".join(struct.pack("<qiI", *r) for r in run[:count]))
            self.names.append(-(int.from_bytes(name[:8], "little") >> 2) - 1)
            self.lists[self.names[-1]] = run[:count]
            run = run[count:]

    def read_places(self):
        """(module, address, kind, function, file, line, within, in main, code, around, ways) of each, in order."""
        if 38 not in self.sections:
            return []
        body, n = self.sections[38]
        (ways,) = struct.unpack_from("<I", body)
        layout = "IQ" + 9 * "I"
        rows = list(zip(*self.take(body, 4, n, layout)))
        to = struct.unpack_from("<%dI" % ways, body, 4 + n * struct.calcsize("<" + layout))
        if len(body) != 4 + n * struct.calcsize("<" + layout) + 4 * ways or sum(row[10] for row in rows) != ways:
            fail("size of the places")
        if any(a[:3] >= b[:3] for a, b in zip(rows, rows[1:])) or any(place >= n for place in to):
            fail("order of the places")
        return rows

    def read_spots(self):
        body, n = self.sections.get(47, (b"", 0))
        layout = "IQ" + 5 * "I"
        rows = list(zip(*self.take(body, 0, n, layout)))
        if len(body) != n * struct.calcsize("<" + layout):
            fail("size of the spots")
        if any(a[:2] >= b[:2] for a, b in zip(rows, rows[1:])):
            fail("order of the spots")

    def print_starts(self):
        for name, runs in self.lists.items():
            print("starts", name, *("%d+%d*%d" % run for run in runs), sep="\t")

    def print_series(self):
        body, n = self.sections.get(25, (b"", 0))
        at = 0
        for _ in range(n):
            rank, ranks, steps, _, step = struct.unpack_from("<4IQ", body, at)
            layout = "<" + "%dI%dH" % (steps, 2 * steps) * 3 if ranks > 1 else "<%dH" % (3 * steps)
            print("series", rank, ranks, step, *struct.unpack_from(layout, body, at + 24), sep="\t")
            at += 24 + struct.calcsize(layout)
        if at != len(body):
            fail("size of the series")

    def print_extremes(self):
        for row in self.table(26, 5 * "I" + 93 * "Q"):
            print("extremes", *row, sep="\t")

    def print_own(self):
        for row in self.table(27, "IIIIIQQQQ"):
            print("own", *row, sep="\t")


if __name__ == "__main__":
    names = [a for a in sys.argv[1:] if a != "--totals"]
    if len(names) != 1:
        fail("usage: read_job.py [--totals] FILE")
    with open(names[0], "rb") as f:
        Job(f.read()).print("--totals" in sys.argv)
