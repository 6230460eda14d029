# SPDX-License-Identifier: MIT
# Regions for read_file as in read_x86_64.s, for aarch64. Never run.

    .arch armv8.5-a+sve
    .text
    .macro region name, code
    .globl region_\name
    .type region_\name, %function
region_\name:
    stp x29, x30, [sp, #-96]!
    stp x19, x20, [sp, #16]
    mov x20, x0
    \code
    ldp x19, x20, [sp, #16]
    ldp x29, x30, [sp], #96
    ret
    .size region_\name, . - region_\name
    .endm

    region no_thread_data, "mrs x1, tpidr_el0; ldr w19, [x1, #16]"
    region no_thread_rounding, "mrs x1, fpcr"
    region no_thread_rounding_set, "msr fpcr, x1"
    region no_thread_flags, "mrs x1, fpsr"
    region no_thread_of_the_system, "mov x8, #178; svc #0"
    region no_thread_errno, "bl __errno_location; ldr w0, [x0]"
    region no_loop_on_memory, "1: ldr w1, [x20]; cbz w1, 1b"
    region no_loop_in_order, "1: ldar w1, [x20]; cbz w1, 1b"
    region no_loop_politely, "1: yield; ldr w1, [x20]; cbz w1, 1b"
    region no_loop_on_exclusive, "1: ldaxr w1, [x20]; cbnz w1, 1b; stlxr w2, w3, [x20]; cbnz w2, 1b"
    region no_loop_on_swap, "1: mov w0, #0; mov w1, #1; mov x2, x20; bl swap_if; cbnz w0, 1b"
    region no_loop_on_exchange, "1: mov w0, #1; mov x1, x20; bl swap; cbnz w0, 1b"
    region no_loop_on_its_own_place, "add x1, sp, #48; str x1, [x20]; 1: ldr w1, [sp, #48]; cbz w1, 1b"
    region no_call_of_a_loop, "bl waits"
    region yes_lock, "bl omp_set_lock; bl omp_unset_lock"
    region no_nested_lock, "bl omp_set_nest_lock"
    region no_lock_in_critical, "bl GOMP_critical_start; bl omp_set_lock; bl GOMP_critical_end"
    region no_order, "bl GOMP_ordered_start"
    region no_pointer, "ldr x1, [x20]; blr x1"
    region no_jump_by_pointer, "br x1"
    region no_unknown_name, "bl pthread_self"
    region no_team_inside, "bl GOMP_parallel"
    region no_message, "bl MPI_Barrier"
    region no_other_vectors, "ptrue p0.b; ld1w {z0.s}, p0/z, [x20]"

    region yes_number, "bl omp_get_thread_num; str w0, [x20, w0, sxtw #2]"
    region yes_size_by_another, "bl asks; str w0, [x20]"
    region yes_constructs, "bl GOMP_barrier; bl GOMP_single_start; bl GOMP_loop_end_nowait"
    region yes_count, "mov w1, #9; 1: str w1, [x20]; subs w1, w1, #1; b.ne 1b"
    region yes_count_in_its_frame, "mov w1, #9; str w1, [sp, #48]; 1: ldr w1, [sp, #48]; sub w1, w1, #1; str w1, [sp, #48]; cbnz w1, 1b"
    region yes_count_around_a_call, "mov w19, #9; 1: bl reads; sub w19, w19, #1; cbnz w19, 1b"
    region yes_list, "1: ldr x20, [x20]; cbnz x20, 1b"
    region yes_shared_loop, "1: add x0, sp, #48; add x1, sp, #56; bl GOMP_loop_dynamic_next; tbnz x0, #0, 1b"
    region yes_swap, "ldr w19, [x20]; 1: mov w0, w19; add w1, w19, #1; mov x2, x20; bl swap_if; mov w3, w19; mov w19, w0; cmp w0, w3; b.ne 1b"
    region yes_count_out_of_line, "mov w0, #1; mov x1, x20; bl fetch_and_add"
    region yes_pair, "ldp w1, w2, [x20]; stp w1, w2, [sp, #48]; ldr w19, [sp, #52]"
    region yes_vector, "ldr d0, [x20]; fmov d1, #1.0; fadd d0, d0, d1; fcvtzs w19, d0; fmax d2, d1, d0"
    region yes_chosen, "ldr w1, [x20]; cmp w1, #3; csel w19, w1, wzr, gt; cset w2, eq; add w19, w19, w2, lsl #2"
    region yes_name, "bl sin"
    region yes_end, "bl abort"

reads:
    ldr w0, [x20]
    ret
waits:
    ldr w1, [x0]
    cbz w1, waits
    ret
asks:
    stp x29, x30, [sp, #-16]!
    bl omp_get_num_threads
    ldp x29, x30, [sp], #16
    ret
# What gcc calls for an atomic access: libgcc's functions of this shape.
    .macro out_of_line name, instruction, from, operation
\name:
    bti c
    adrp x16, have_instructions
    ldrb w16, [x16, :lo12:have_instructions]
    cbz w16, 1f
    \instruction
    ret
1:  mov w16, w0
2:  ldaxr w0, \from
    \operation
    cbnz w15, 2b
3:  ret
    .endm
    out_of_line fetch_and_add, "ldaddal w0, w0, [x1]", [x1], "add w17, w0, w16; stlxr w15, w17, [x1]"
    out_of_line swap, "swpal w0, w0, [x1]", [x1], "stlxr w15, w16, [x1]"
    out_of_line swap_if, "casal w0, w1, [x2]", [x2], "cmp w0, w16; b.ne 3f; stlxr w15, w1, [x2]"
    .data
have_instructions:
    .byte 0
    .section .note.GNU-stack, "", %progbits
