/* SPDX-License-Identifier: MIT */
/* Loops that may wait for another thread, and such that do not (teams/wait.h), in machine code. */
#include "code/insn.h"
#include "teams/wait.h"
#include "tests/unit/unit.h"

#ifdef __x86_64__

/* Each is a function of a place in memory (rdi) and a count (esi). */
#define LOOP(name, ...) \
    void name(void);    \
    __asm__(".pushsection .text\n.globl " #name "\n" #name ":\n" __VA_ARGS__ "\nret\n.popsection")

/* end by themselves */
LOOP(counts, "1: dec %esi; jnz 1b");
LOOP(counts_in_frame, "mov %esi, -8(%rsp); 1: subl $1, -8(%rsp); jnz 1b");
LOOP(follows_a_list, "1: mov (%rdi), %rdi; test %rdi, %rdi; jnz 1b");
LOOP(follows_an_index, "1: movslq %esi, %rax; mov (%rdi,%rax,4), %esi; test %esi, %esi; jns 1b");
LOOP(finds_in_a_list, "1: cmpl $7, 8(%rdi); je 2f; mov (%rdi), %rdi; test %rdi, %rdi; jnz 1b; 2:");
LOOP(gathers, "1: mov (%rdi), %rax; mov (%rdx,%rax,8), %ecx; add $8, %rdi; cmp %rdi, %rsi; jne 1b");
LOOP(sets_what_it_looks_at, "1: cmpl $0, (%rdi); jne 2f; mov %eax, (%rdi); dec %esi; jnz 1b; 2:");
LOOP(reads_its_bound, "1: inc %ecx; cmp (%rdi), %ecx; jl 1b");
LOOP(compares_what_moves, "1: add $4, %rdi; cmp (%rdx), %rdi; jne 1b");
LOOP(searches, "1: inc %rdi; cmpb $0, (%rdi); jne 1b");
LOOP(swaps_what_it_read, "mov (%rdi), %eax; 1: lea 1(%rax), %edx; lock cmpxchg %edx, (%rdi); jne 1b");
LOOP(swaps_and_compares, "mov (%rdi), %eax; 1: mov %eax, %ecx; lea 1(%rax), %edx; lock cmpxchg %edx, (%rdi); "
                         "cmp %eax, %ecx; jne 1b");
LOOP(decides_by_nothing_read, "1: test %esi, %esi; jnz 1b");
LOOP(inner_counts, "1: mov %esi, %ecx; 2: dec %ecx; jnz 2b; dec %edx; jnz 1b");
LOOP(chooses_and_counts, "1: cmpl $0, (%rdi); je 2f; inc %eax; 2: dec %esi; jnz 1b");
LOOP(counts_on_each_way, "1: inc %esi; cmpl $0, (%rdi); je 2f; cmp $99, %esi; jl 1b; ret; 2: cmp $50, %esi; jl 1b");
LOOP(enters_twice_and_counts, "test %esi, %esi; jz 2f; 1: mov (%rdi), %eax; add %eax, 4(%rdi); 2: dec %esi; jnz 1b");
LOOP(searches_an_array_found_anew, "xor %ecx, %ecx; 1: mov (%rdi), %rax; cmpl $7, (%rax,%rcx,4); je 2f; inc %rcx; "
                                   "cmp %ecx, %esi; jne 1b; 2:");
LOOP(ends_the_process, "1: cmpl $0, (%rdi); jne 2f; dec %esi; jnz 1b; ret; 2: ud2");
#define HALVES "lea (%rsi,%rdx), %eax; sar %eax; movslq %eax, %rcx; cmp %r8d, (%rdi,%rcx,4); "
LOOP(searches_a_table, "1: " HALVES "jl 2f; mov %eax, %esi; jmp 3f; 2: lea 1(%rax), %edx; 3: cmp %esi, %edx; jl 1b");
LOOP(searches_a_table_by_what_is_left, "1: lea -1(%rsi), %eax; sub %edx, %eax; mov %eax, %ecx; shr $31, %ecx; "
                                       "add %ecx, %eax; sar %eax; add %edx, %eax; movslq %eax, %rcx; "
                                       "cmp %r8d, (%rdi,%rcx,4); jl 2f; mov %eax, %esi; cmp %esi, %edx; jl 1b; "
                                       "jmp 3f; 2: lea 1(%rax), %edx; cmp %edx, %esi; jg 1b; 3:");
LOOP(finds_in_a_table, "lea (%rsi,%rdx), %eax; sar %eax; 1: lea -1(%rax), %ecx; movslq %ecx, %r9; "
                       "cmp (%rdi,%r9,4), %r8d; je 4f; jg 2f; mov %ecx, %esi; jmp 3f; 2: lea 1(%rax), %edx; "
                       "3: lea (%rsi,%rdx), %r10d; mov %r10d, %eax; sar %eax; cmp %esi, %eax; jg 4f; cmp %edx, %eax; "
                       "jge 1b; 4:");
LOOP(searches_in_its_frame, "mov %esi, -8(%rsp); mov %edx, -16(%rsp); 1: mov -8(%rsp), %eax; add -16(%rsp), %eax; "
                            "sar %eax; movslq %eax, %rcx; cmp %r8d, (%rdi,%rcx,4); jl 2f; mov %eax, -8(%rsp); jmp 3f; "
                            "2: inc %eax; mov %eax, -16(%rsp); 3: mov -16(%rsp), %eax; cmp %eax, -8(%rsp); jg 1b");
LOOP(searches_while_something_is_left, "jmp 3f; 1: " HALVES "jl 2f; mov %eax, %esi; jmp 3f; 2: mov %eax, %edx; "
                                       "3: mov %esi, %ecx; sub %edx, %ecx; cmp $1, %ecx; jg 1b");
#define ADDS "1: addsd %xmm1, %xmm0; comisd 9b(%rip), %xmm0; jae 2f; dec %esi; jnz 1b; 2:"
LOOP(adds_up_to_a_number, ".pushsection .rodata; 9: .double 1; .popsection; " ADDS);
#define CLEARS "xor %eax, %eax; mov $8, %ecx; rep stosq; cmpl $0, (%r8); je 2f; inc %r9d; 2: "
LOOP(counts_beside_what_it_clears, "mov %esi, -200(%rsp); 1: lea -128(%rsp), %rdi; " CLEARS
                                   "subl $1, -200(%rsp); jnz 1b");
LOOP(counts_and_clears_elsewhere, "mov %esi, -100(%rsp); mov %rdi, %rdx; 1: mov %rdx, %rdi; " CLEARS
                                  "subl $1, -100(%rsp); jnz 1b");
/* may wait */
LOOP(searches_without_an_end, "1: " HALVES "je 3f; jl 2f; mov %eax, %esi; jmp 1b; 2: lea 1(%rax), %edx; jmp 1b; 3:");
LOOP(searches_or_looks_again, "1: " HALVES "je 3f; jl 2f; mov %eax, %esi; jmp 3f; 2: lea 1(%rax), %edx; "
                              "3: cmp %esi, %edx; jl 1b");
LOOP(looks_at_the_middle, "1: " HALVES "jl 2f; mov %eax, %r9d; jmp 3f; 2: lea 1(%rax), %r10d; "
                          "3: cmp %esi, %edx; jl 1b");
LOOP(comes_closer_and_goes_back, "1: " HALVES "jl 2f; mov %eax, %esi; jmp 3f; 2: lea 1(%rax), %edx; "
                                 "3: inc %esi; dec %edx; cmp %esi, %edx; jl 1b");
LOOP(comes_close_to_one_bound, "1: " HALVES "jl 3f; mov %eax, %esi; cmp %esi, %edx; jl 1b; 3:");
LOOP(comes_close_to_one_bound_always, "1: " HALVES "mov %eax, %esi; jl 3f; cmp %esi, %edx; jl 1b; 3:");
LOOP(looks_and_comes_closer_by_steps, "1: cmp %r8d, (%rdi); jl 2f; dec %esi; jmp 3f; 2: inc %edx; "
                                      "3: cmp %esi, %edx; jl 1b");
LOOP(halves_on_some_turns, "1: cmpl $0, (%r9); je 3f; " HALVES "jl 2f; mov %eax, %esi; jmp 3f; 2: lea 1(%rax), %edx; "
                           "3: cmp %esi, %edx; jl 1b");
LOOP(steps_away_from_one_end, "1: movslq %edx, %rcx; cmp %r8d, (%rdi,%rcx,4); jl 2f; inc %esi; jmp 3f; 2: inc %edx; "
                              "3: cmp %esi, %edx; jl 1b");
LOOP(adds_up_to_what_may_change, ".pushsection .data; 9: .double 1; .popsection; " ADDS);
LOOP(goes_forth_and_back, "1: cmp %r8d, (%rdi); jl 2f; sub $1, %edx; jmp 3f; 2: add $1, %edx; "
                          "3: cmp %esi, %edx; jl 1b");
LOOP(goes_forth_and_back_in_its_frame, "mov %edx, -8(%rsp); 1: cmp %r8d, (%rdi); jl 2f; subl $1, -8(%rsp); jmp 3f; "
                                       "2: addl $1, -8(%rsp); 3: cmp %esi, -8(%rsp); jl 1b");
LOOP(looks_at_both_in_turn, "1: movslq %esi, %rcx; cmpl $0, (%rdi,%rcx,4); jne 3f; xchg %esi, %edx; "
                            "cmp %esi, %edx; jne 1b; 3:");
LOOP(searches_what_it_reads, "1: mov (%r9), %esi; " HALVES "jl 2f; mov %eax, %esi; jmp 3f; 2: lea 1(%rax), %edx; "
                             "3: cmp %esi, %edx; jl 1b");
LOOP(clears_what_it_counts, "mov %esi, -100(%rsp); 1: lea -128(%rsp), %rdi; " CLEARS "subl $1, -100(%rsp); jnz 1b");
LOOP(clears_what_it_counts_by_what_it_kept, "lea -128(%rsp), %rdi; mov %rdi, -208(%rsp); mov %esi, -100(%rsp); "
                                            "1: mov -208(%rsp), %rdi; " CLEARS "subl $1, -100(%rsp); jnz 1b");
LOOP(looks_in_an_array_found_anew, "1: mov (%rdi), %rax; cmpl $7, 4(%rax); je 2f; dec %esi; jne 1b; 2:");
LOOP(moves_an_array_back, "xor %ecx, %ecx; 1: mov (%rdi), %rax; cmpl $7, (%rax,%rcx,4); je 2f; inc %rcx; "
                          "subq $4, (%rdi); cmp %ecx, %esi; jne 1b; 2:");
LOOP(looks_and_counts, "1: cmpl $0, (%rdi); jne 2f; dec %esi; jnz 1b; 2:");
LOOP(looks_in_a_register, "1: mov (%rdi), %eax; test %eax, %eax; jne 2f; dec %esi; jnz 1b; 2:");
LOOP(goes_around_a_ring, "1: mov (%rdi), %rdi; cmpl $0, 8(%rdi); je 1b");
LOOP(goes_around_a_ring_first, "1: cmpl $0, 8(%rdi); jne 2f; mov (%rdi), %rdi; jmp 1b; 2:");
LOOP(goes_around_by_index, "1: movslq %esi, %rsi; mov (%rdi,%rsi,4), %esi; movslq %esi, %rsi; "
                           "cmpl $0, (%rdx,%rsi,4); je 1b");
LOOP(swaps_within_a_count, "xor %ecx, %ecx; mov $1, %edx; 1: mov %ecx, %eax; lock cmpxchg %edx, (%rdi); jne 1b; "
                           "inc %r8d; cmp %r8d, %esi; jne 1b");
LOOP(reads_what_it_lent, "lea -8(%rsp), %rax; mov %rax, (%rdi); movl $0, -8(%rsp); 1: cmpl $0, -8(%rsp); je 1b");
LOOP(counts_but_asks_first, "1: inc %esi; cmpl $0, (%rdi); je 1b; cmp $99, %esi; jl 1b");
LOOP(sees_half_of_it, "1: mov (%rdi), %eax; mov $0, %al; test %eax, %eax; jz 1b");
LOOP(enters_twice, "test %esi, %esi; jz 2f; 1: mov (%rdi), %eax; 2: test %eax, %eax; jz 1b");
LOOP(sets_it_anew_by_half, "1: movq $0, -16(%rsp); addl $1, -12(%rsp); mov (%rdi), %eax; cmp %eax, -12(%rsp); jne 1b");
LOOP(spins, "1: mov (%rdi), %eax; test %eax, %eax; jz 1b");
LOOP(never_ends, "1: jmp 1b");
LOOP(swaps_a_constant, "1: xor %eax, %eax; mov $1, %edx; lock cmpxchg %edx, (%rdi); jne 1b");
LOOP(waits_before_it_swaps, "1: mov (%rdi), %eax; test %eax, %eax; jne 1b; lea 1(%rax), %edx; "
                            "lock cmpxchg %edx, (%rdi); jne 1b");
LOOP(counts_what_it_saw, "1: cmpl $0, (%rdi); je 2f; dec %esi; 2: test %esi, %esi; jnz 1b");
LOOP(begins_anew, "1: mov $3, %ecx; dec %ecx; cmp %ecx, (%rdi); jne 1b");
LOOP(adds_up_what_it_saw, "xor %eax, %eax; 1: add (%rdi), %eax; cmp $5, %eax; jne 1b");
LOOP(adds_nothing, "1: add $0, %esi; cmp %esi, (%rdi); jne 1b");
LOOP(subtracts_what_it_saw, "1: sub (%rdi), %esi; jnz 1b");
LOOP(sees_it_on_some_turns, "1: test %esi, %esi; jz 2f; mov (%rdi), %eax; 2: test %eax, %eax; jz 1b");
LOOP(reads_at_the_end, "xor %eax, %eax; 1: test %eax, %eax; jnz 2f; mov (%rdi), %eax; jmp 1b; 2:");
LOOP(inner_spins, "1: cmpl $0, (%rdi); je 1b; dec %esi; jnz 1b");
LOOP(keeps_in_frame, "1: mov (%rdi), %eax; mov %eax, -8(%rsp); cmpl $0, -8(%rsp); je 1b");

static const struct {
    const char *name;
    void (*function)(void);
    bool waits;
} loops[] = {
    { "counts", counts, false },
    { "searches a table", searches_a_table, false },
    { "searches a table by what is left", searches_a_table_by_what_is_left, false },
    { "finds in a table", finds_in_a_table, false },
    { "looks, and comes closer by steps", looks_and_comes_closer_by_steps, true },
    { "halves on some turns", halves_on_some_turns, true },
    { "steps away from one end", steps_away_from_one_end, true },
    { "searches while something is left", searches_while_something_is_left, false },
    { "adds up to a number", adds_up_to_a_number, false },
    { "adds up to what may change", adds_up_to_what_may_change, true },
    { "searches in its frame", searches_in_its_frame, false },
    { "searches without an end", searches_without_an_end, true },
    { "searches, or looks again", searches_or_looks_again, true },
    { "looks at the middle", looks_at_the_middle, true },
    { "comes closer and goes back", comes_closer_and_goes_back, true },
    { "comes close to one bound", comes_close_to_one_bound, true },
    { "comes close to one bound, always", comes_close_to_one_bound_always, true },
    { "goes forth and back", goes_forth_and_back, true },
    { "goes forth and back in its frame", goes_forth_and_back_in_its_frame, true },
    { "looks at both in turn", looks_at_both_in_turn, true },
    { "searches what it reads", searches_what_it_reads, true },
    { "counts beside what it clears", counts_beside_what_it_clears, false },
    { "counts, and clears elsewhere", counts_and_clears_elsewhere, false },
    { "clears what it counts", clears_what_it_counts, true },
    { "clears what it counts, by an address it kept", clears_what_it_counts_by_what_it_kept, true },
    { "counts in its frame", counts_in_frame, false },
    { "follows a list", follows_a_list, false },
    { "follows an index", follows_an_index, false },
    { "finds in a list", finds_in_a_list, false },
    { "gathers", gathers, false },
    { "sets what it looks at", sets_what_it_looks_at, false },
    { "reads its bound", reads_its_bound, false },
    { "chooses and counts", chooses_and_counts, false },
    { "searches an array found anew", searches_an_array_found_anew, false },
    { "ends the process", ends_the_process, false },
    { "looks in an array found anew", looks_in_an_array_found_anew, true },
    { "moves an array back", moves_an_array_back, true },
    { "looks and counts", looks_and_counts, true },
    { "looks in a register", looks_in_a_register, true },
    { "goes around a ring", goes_around_a_ring, true },
    { "goes around a ring, tested first", goes_around_a_ring_first, true },
    { "goes around a ring by index", goes_around_by_index, true },
    { "compares what moves", compares_what_moves, false },
    { "searches", searches, false },
    { "swaps what it read", swaps_what_it_read, false },
    { "swaps and compares", swaps_and_compares, false },
    { "decides by nothing read", decides_by_nothing_read, false },
    { "inner one counts", inner_counts, false },
    { "spins", spins, true },
    { "never ends", never_ends, true },
    { "swaps a constant", swaps_a_constant, true },
    { "swaps within a count", swaps_within_a_count, true },
    { "reads what it lent", reads_what_it_lent, true },
    { "counts but asks first", counts_but_asks_first, true },
    { "sees half of it", sees_half_of_it, true },
    { "enters twice", enters_twice, true },
    { "counts on each way", counts_on_each_way, false },
    { "enters twice and counts", enters_twice_and_counts, false },
    { "sets it anew by half", sets_it_anew_by_half, true },
    { "waits before it swaps", waits_before_it_swaps, true },
    { "counts what it saw", counts_what_it_saw, true },
    { "begins anew", begins_anew, true },
    { "adds up what it saw", adds_up_what_it_saw, true },
    { "adds nothing", adds_nothing, true },
    { "subtracts what it saw", subtracts_what_it_saw, true },
    { "sees it on some turns", sees_it_on_some_turns, true },
    { "reads at the end", reads_at_the_end, true },
    { "inner one spins", inner_spins, true },
    { "keeps it in its frame", keeps_in_frame, true },
};

START_TEST(loops_that_wait)
{
    struct teams_reader *d = teams_reader_create();
    ck_assert_ptr_nonnull(d);
    struct base_arena room;
    ck_assert_int_eq(base_arena_open(&room, 1, 1 << 24), 0);
    struct teams_flow *f = teams_flow_read(d, (uintptr_t)loops[_i].function, &room);
    ck_assert_ptr_nonnull(f);
    ck_assert_msg(!f->unreadable, "%s: %s", loops[_i].name, f->unreadable);
    for (uint32_t k = 0; k < f->insns; k++)
        f->call[k].clobbers = code_convention()->clobbered;
    struct teams_frame *frame = teams_frame_find(f, &room);
    ck_assert_ptr_nonnull(frame);
    ck_assert_msg((teams_wait_find(frame) != 0) == loops[_i].waits, "%s", loops[_i].name);
    base_arena_close(&room);
    teams_reader_destroy(d);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = { UNIT_LOOP(loops_that_wait, UNIT_COUNT(loops)) };
    struct teams_reader *d = teams_reader_create();
    if (!d)
        return unit_skip("nothing here reads machine code");
    teams_reader_destroy(d);
    return unit_run("teams/wait", tests, UNIT_COUNT(tests));
}

#else

int main(void)
{
    return unit_skip("loops of another processor");
}

#endif
