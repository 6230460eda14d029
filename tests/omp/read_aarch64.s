# SPDX-License-Identifier: MIT
# Regions for read_file as in read_x86_64.s, for aarch64: region_yes_NAME does the same with any number of threads,
# region_no_NAME tells what it knows of its number or its size, or of who came first. Never run.

    .arch armv8.5-a+sve
    .text
    .macro begin name
    .globl \name
    .type \name, %function
\name:
    .endm
    .macro end name
    .size \name, . - \name
    .endm
    .macro enter
    stp x29, x30, [sp, #-96]!
    stp x19, x20, [sp, #16]
    mov x20, x0
    .endm
    .macro leave
    ldp x19, x20, [sp, #16]
    ldp x29, x30, [sp], #96
    ret
    .endm
    .macro single
    bl GOMP_single_start
    tbz x0, #0, 1f
    str w19, [x20]
1:  leave
    .endm

# The code makes w19 of the thread's number in w0; one thread stores it.
    .macro told name, code
    begin region_no_\name
    enter
    bl omp_get_thread_num
    mov w19, #0
    mov w1, #0
    \code
    single
    end region_no_\name
    .endm
# Likewise with what one thread stores being plain.
    .macro plain name, code
    begin region_yes_\name
    enter
    mov w19, #0
    mov w1, #0
    \code
    single
    end region_yes_\name
    .endm
# The code leads to 2 or not, by the number in w0; there all threads that come do the same.
    .macro decides name, code
    begin region_no_\name
    enter
    mov w1, #0
    mov w2, #1
    bl omp_get_thread_num
    \code
    mov w1, #7
    str w1, [x20]
2:  leave
    end region_no_\name
    .endm

# The larger one of w3 and of what is at x2.
    .macro largest
    mov x21, x2
    mov w22, w3
    ldr w23, [x2]
3:  cmp w22, w23
    csel w1, w22, w23, ge
    mov w0, w23
    mov x2, x21
    bl swap_if
    cmp w0, w23
    mov w23, w0
    b.ne 3b
    .endm
    plain constant, "mov w19, #5"
    plain from_memory, "ldr w19, [x20]"
    plain own_places, "str x20, [sp, #48]; ldr w0, [x20]; str w0, [sp, #56]; ldr w19, [sp, #56]"
    plain pushed_and_popped, "ldr x0, [x20]; str x0, [sp, #-16]!; ldr x19, [sp], #16"
    plain pair, "ldp w1, w2, [x20]; stp w1, w2, [sp, #48]; ldr w19, [sp, #52]"
    plain chosen, "ldr w1, [x20]; cmp w1, #3; csel w19, w1, wzr, gt; cset w2, eq; add w19, w19, w2, lsl #2"
    plain fused, "ldp w1, w2, [x20]; madd w19, w1, w2, w1; msub w19, w1, w2, w19"
    plain vector, "ldr d0, [x20]; fmov d1, #1.0; fadd d0, d0, d1; fcvtzs w19, d0"
    plain compared_twice, "ldp w1, w2, [x20]; cmp w1, #3; ccmp w2, #4, #0, gt; cset w19, eq"
    plain bits_out_of_line, "mov w0, #1; add x1, x20, #4; bl fetch_and_or"
    plain extreme_out_of_line, "ldr w3, [x20, #8]; add x2, x20, #4; largest"
    plain byte_of_answer, "ldr w0, [x20]; and w19, w0, #0xff"
    plain global, "adrp x1, table; add x1, x1, :lo12:table; ldr w19, [x1, #4]"
# The compiler's share of 100 iterations from w4 on: w1 is the number of one, w3 counts the thread's own. The code makes
# w5, and each writes its own place.
    .macro iterate name, code
    begin region_\name
    enter
    bl omp_get_num_threads
    mov w19, w0
    bl omp_get_thread_num
    mov w1, #100
    sdiv w2, w1, w19
    msub w1, w2, w19, w1
    cmp w0, w1
    b.lt 4f
3:  madd w1, w2, w0, w1
    add w2, w2, w1
    cmp w1, w2
    b.ge 1f
    mov w4, w1
    mov w3, #0
5:  \code
    str w5, [x20, w1, sxtw #2]
    add w3, w3, #1
    add w1, w1, #1
    cmp w2, w1
    b.gt 5b
1:  leave
4:  add w2, w2, #1
    mov w1, #0
    b 3b
    end region_\name
    .endm
    iterate yes_share, "mov w5, #0"
    iterate yes_number, "mov w5, w1"
    iterate yes_counted_from_the_first, "add w5, w4, w3"
    iterate no_counted, "mov w5, w3"
    iterate no_counted_beside_the_number, "add w5, w1, w3"
    iterate no_counted_twice, "add w5, w4, w3; add w5, w5, w3"
    iterate no_counted_and_multiplied, "mul w5, w1, w3"
# The rest of another division.
    begin region_no_other_rest
    enter
    bl omp_get_num_threads
    mov w19, w0
    bl omp_get_thread_num
    ldp w1, w3, [x20]
    sdiv w2, w1, w19
    msub w1, w2, w19, w3
    cmp w0, w1
    b.lt 1f
    str wzr, [x20, #4]
1:  leave
    end region_no_other_rest
    begin region_no_rest_itself
    enter
    bl omp_get_num_threads
    mov w19, w0
    ldr w1, [x20]
    sdiv w2, w1, w19
    msub w19, w2, w19, w1
    single
    end region_no_rest_itself

# Compared otherwise than for being 0.
    decides greater_than_0, "cmp w0, #0; b.le 2f"
    decides tested_greater_than_0, "tst w0, w0; b.le 2f"
    decides at_least_1, "cmp w0, #1; b.lt 2f"
    decides unsigned_at_least_1, "cmp w0, #1; b.hs 2f"
    decides first_four, "cmp w0, #4; b.ge 2f"
    decides a_certain_one, "cmp w0, #1; b.ne 2f"
    decides as_memory_says, "ldr w1, [x20, #4]; cmp w0, w1; b.ne 2f"
    decides negative, "cmn w0, #3; b.eq 2f"
    decides scaled, "lsl w1, w0, #2; cmp w1, #4; b.ge 2f"
    decides scaled_on_the_way, "cmp w2, w0, lsl #2; b.ge 2f"
    decides extended, "cmp x2, w0, sxtw #2; b.ge 2f"
    decides extended_byte, "cmp x2, w0, uxtb; b.ge 2f"
    decides shifted_right, "cmp w2, w0, lsr #1; b.ge 2f"
    decides compared_with_itself_and_more, "and w1, w0, #1; cmp w1, w0; b.ne 2f"
    decides not_the_sign, "cmp w0, #0; b.mi 2f; b.vs 2f; b.gt 2f"
    decides counted_down, "subs w0, w0, #1; b.lo 2f"
    decides counted_down_to_0, "subs w0, w0, #1; b.eq 2f"
    decides counted_down_register, "sub w0, w0, #1; cbz w0, 2f"
    decides half, "lsr w0, w0, #1; cbz w0, 2f"
    decides bit_0, "tbz w0, #0, 2f"
    decides bit_1, "tbnz w0, #1, 2f"
    decides bits_tested, "tst w0, #6; b.eq 2f"
    decides bits_and, "ands w1, w0, #6; b.eq 2f"
    decides loop_by_number, "add w1, w0, #1; 3: subs w1, w1, #1; b.ne 3b; cbz w0, 2f; b.eq 2f; cmp w0, #3; b.hi 2f"
    decides compared_if, "cmp w1, #0; ccmp w0, #3, #0, eq; b.gt 2f"
    decides compared_if_number, "cmp w0, #3; ccmp w1, #3, #0, gt; b.eq 2f"
    decides flags_kept_by_branch, "cmp w0, #3; cbz w2, 3f; 3: b.gt 2f"
    decides flags_kept_by_bit, "cmp w0, #3; tbz w2, #1, 3f; 3: b.gt 2f"
    decides by_floating, "scvtf d0, w0; fcmpe d0, #0.0; b.gt 2f"
# 32 bits of a negative number in 64.
    told upper_half, "ldr w1, [x20]; sub w1, w1, w0; mov w0, w0; add x1, x1, x0; lsr x19, x1, #32"
    told upper_half_extended, "ldr w1, [x20]; sub w1, w1, w0; mov w0, w0; add x1, x0, w1, uxtw; lsr x19, x1, #32"
    told upper_half_of_a_product, "ldr w1, [x20]; sub w1, w1, w0; mov w2, #1; umaddl x1, w1, w2, x0; lsr x19, x1, #32"
    told upper_half_compared, "ldr w1, [x20]; sub x2, x1, w0, uxtw; sub w1, w1, w0; cmp x1, x2; cset w19, ne"
# The flags become data.
    told changed_address, "str w0, [sp, #64];add x0, sp, #64;eor x3, x0, xzr;mov x0, #0;ldr w19, [x3];mov x3, #0"
    told read_by_a_rotated_address, "str w0, [sp, #64]; add x9, sp, #64; ror x10, x9, #0; ldr w19, [x10]"
    told set_greater, "cmp w0, #3; cset w19, gt"
    told mask_greater, "cmp w0, #3; csetm w19, gt"
    told move_if_greater, "mov w1, #1; mov w2, #2; cmp w0, #3; csel w19, w1, w2, gt"
    told move_if_zero, "mov w1, #1; mov w2, #2; cmp w0, #0; csel w19, w1, w2, eq"
    told next_if_greater, "cmp w0, #3; csinc w19, w1, w1, gt"
    told cinc, "cmp w0, #3; cinc w19, w1, gt"
    told csneg, "mov w1, #1; cmp w0, #3; csneg w19, w1, w1, gt"
    told cneg, "mov w1, #1; cmp w0, #3; cneg w19, w1, gt"
    told csinv, "cmp w0, #3; csinv w19, w1, w1, gt"
    told borrow, "cmp w0, #1; sbc w19, w1, w1"
    told carry, "cmp w0, #1; adc w19, w1, w1"
    told no_carry, "cmp w0, #1; ngc w19, w1"
    told flags_read, "cmp w0, #1; mrs x19, nzcv"
    told flags_kept, "cmp w0, #3; cbz w1, 3f; 3: cset w19, gt"
    told flags_of_compared_if, "cmp w1, #0; ccmp w0, #3, #0, eq; cset w19, gt"
    told flags_of_a_side, "cmp w1, #1; cbz w0, 3f; cmp w1, #0; 3: cset w19, eq"
    told chosen_vector, "fmov s1, w1; fmov s0, wzr; cmp w0, #3; fcsel s0, s0, s1, gt; fmov w19, s0"
    told one_or_other, "cbz w0, 3f; mov w19, #1; 3:"
    told one_or_other_behind, "cbz w0, 3f; mov w1, #1; 3: mov w19, w1"
    told one_or_other_if_less, "cmp w0, #4; b.ge 3f; mov w19, #1; 3:"
    told one_or_other_in_place, "mov w1, #1; mov w2, #2; str w1, [sp]; cbz w0, 3f; str w2, [sp]; 3: ldr w19, [sp]"
    told address_or_other, "add x1, x20, #4; cbz w0, 3f; add x1, x20, #8; 3: ldr w19, [x1]"
    told place_or_other, "str w1, [sp, #48]; add x1, sp, #56; cbz w0, 3f; add x1, sp, #48; 3: ldr w19, [x1]"

# Parts of registers and places.
    told low_half_overwritten, "mov w19, w0; movk w19, #0"
    told high_half_overwritten, "mov w19, w0; movk w19, #0, lsl #16"
    told bits_inserted, "bfi w19, w0, #3, #4"
    told bits_inserted_into, "mov w19, w0; bfi w19, w1, #3, #4"
    told bits_inserted_low, "bfxil w19, w0, #1, #4"
    told bits_taken, "ubfx w19, w0, #1, #4"
    told bits_taken_signed, "sbfx w19, w0, #1, #4"
    told bits_moved_up, "ubfiz w19, w0, #3, #4"
    told bits_moved_up_wide, "sbfiz x19, x0, #3, #32"
    told byte, "uxtb w19, w0"
    told half_word, "sxth w19, w0"
    told word, "sxtw x19, w0"
    told byte_of_place_overwritten, "str w0, [sp, #48]; strb wzr, [sp, #48]; ldr w19, [sp, #48]"
    told half_of_place_overwritten, "str x0, [sp, #48]; str wzr, [sp, #48]; ldr w19, [sp, #52]"
    told middle_of_place, "stur wzr, [sp, #49]; str w0, [sp, #48]; ldur w19, [sp, #49]"
    told before_in_place, "str wzr, [sp, #48]; str w0, [sp, #52]; ldr x19, [sp, #48]; lsr x19, x19, #32"
    told wider_than_the_place, "strb w0, [sp, #52]; ldr w19, [sp, #52]"
    told read_by_words, "str x0, [sp, #48]; ldrh w19, [sp, #50]"
    told read_by_a_vector, "str xzr, [sp, #48]; str x0, [sp, #56]; ldr q0, [sp, #48]; fmov w19, s0"
    told stored_second, "stp w1, w0, [sp, #48]; ldr w19, [sp, #52]"
    told stored_first, "stp w0, w1, [sp, #48]; ldr w19, [sp, #48]"
    told loaded_second, "str w0, [sp, #52]; ldp w1, w19, [sp, #48]"
    told loaded_first, "str w0, [sp, #48]; ldp w19, w1, [sp, #48]"
    told loaded_over_its_base, "str x0, [sp, #56]; add x1, sp, #48; ldp x1, x19, [x1]"
    told base_moved_before, "str w0, [sp, #56]; add x1, sp, #48; ldr w2, [x1, #8]!; ldr w19, [x1]"
    told base_moved_behind, "str w0, [sp, #56]; add x1, sp, #48; ldr w2, [x1], #8; ldr w19, [x1]"
    told pair_moves_base, "str w0, [sp, #64]; add x1, sp, #48; ldp x2, x3, [x1], #16; ldr w19, [x1]"
    told pushed, "str x0, [sp, #-16]!; ldr x19, [sp], #16"
    told pushed_as_a_pair, "stp x1, x0, [sp, #-16]!; ldp x1, x19, [sp], #16"
    told below_the_stack, "stur w0, [sp, #-8]; ldur w19, [sp, #-8]"
    told by_an_index, "str w0, [sp, #48]; ldrsw x1, [x20]; add x2, sp, #48; ldr w19, [x2, x1, lsl #2]"
    told stored_by_an_index, "ldrsw x1, [x20]; add x2, sp, #48; str w0, [x2, x1, lsl #2]; ldr w19, [sp, #48]"
    told memory_at_its_number, "ldr x19, [x20, x0, lsl #3]"
    told memory_at_its_extended_number, "ldr w19, [x20, w0, sxtw #2]"
    told memory_moved_by_number, "add x1, x20, x0; ldr w19, [x1]"
    told read_by_address, "str w0, [sp, #48]; add x1, sp, #44; ldr w19, [x1, #4]"
    told product_high, "mov w1, #65536; umulh x19, x0, x1"
    told product_wide, "mov w1, #65536; smull x19, w0, w1"
    told product_and_sum, "mov w1, #3; madd w19, w0, w1, w1"
    told sum_of_product, "mov w1, #3; madd w19, w1, w1, w0"
    told difference_of_product, "mov w1, #3; msub w19, w1, w1, w0"
    told product_negated, "mov w1, #3; mneg w19, w0, w1"
    told divided, "mov w1, #2; udiv w19, w0, w1"
    told rest_of_division, "mov w1, #2; udiv w2, w0, w1; msub w19, w2, w1, w0"
    told divided_by_it, "mov w1, #2; udiv w19, w1, w0"
    told sign, "asr w19, w0, #31"
    told sign_of_what_it_made, "sub w0, w0, #1; lsr w19, w0, #31"
    told swapped_bytes, "rev w19, w0"
    told turned_bits, "rbit w19, w0"
    told counted_zeroes, "clz w19, w0"
    told spread_bits, "mov w1, #1; lsl w19, w1, w0"
    told shifted_wide, "extr w19, w1, w0, #8"
    told rotated, "ror w19, w0, #3"
    told negated, "neg w19, w0"
    told negated_shifted, "neg w19, w0, lsl #2"
    told inverted, "mvn w19, w0"
    told xored, "eor w19, w1, w0"
    told cleared, "mov w1, #7; bic w19, w1, w0"
    told ored, "orr w19, w1, w0"
    told ored_shifted, "orr w19, w1, w0, lsl #4"
    told added_shifted, "add w19, w1, w0, lsl #4"
    told added_shifted_right, "add w19, w1, w0, asr #1"
    told added_extended, "add x19, x1, w0, sxtw #2"
    told minus_itself_shifted, "lsl w19, w0, #1; sub w19, w19, w0"
# Vectors and floating point.
    told vector, "fmov s0, w0; fmov w19, s0"
    told vector_part, "fmov d0, xzr; mov v0.s[1], w0; mov w19, v0.s[1]"
    told vector_upper_half, "fmov d0, xzr; fmov v0.d[1], x0; fmov x19, v0.d[1]"
    told vector_part_kept, "dup v0.4s, w0; mov v0.s[0], w1; mov w19, v0.s[1]"
    told vector_broadcast, "dup v0.4s, w0; umov w19, v0.s[3]"
    told vector_moved, "dup v0.4s, w0; mov v1.16b, v0.16b; ext v1.16b, v1.16b, v1.16b, #4; fmov w19, s1"
    told vector_loaded_in_part, "dup v0.4s, w0; ld1 {v0.s}[1], [x20]; fmov w19, s0"
    told vector_loaded_to_all, "str w0, [sp, #48]; add x1, sp, #48; ld1r {v0.4s}, [x1]; fmov w19, s0"
    told vector_loaded, "str w0, [sp, #48]; add x1, sp, #48; ld1 {v0.4s}, [x1], #16; fmov w19, s0"
    told vectors_loaded, "str w0, [sp, #64]; add x1, sp, #48; ld1 {v0.4s, v1.4s}, [x1]; fmov w19, s1"
    told vectors_apart, "str w0, [sp, #52]; add x1, sp, #48; ld2 {v0.2s, v1.2s}, [x1]; fmov w19, s1"
    told vector_part_stored, "dup v0.4s, w0; add x1, sp, #48; st1 {v0.s}[2], [x1]; ldr w19, [sp, #48]"
    told vectors_stored, "dup v1.4s, w0; movi v0.4s, #0; add x1, sp, #48; st1 {v0.4s, v1.4s}, [x1]; ldr w19, [sp, #64]"
    told vector_stored, "fmov s0, w0; str q0, [sp, #48]; ldr w19, [sp, #48]"
    told vector_stored_apart, "dup v0.4s, w0; str q0, [sp, #48]; ldr w19, [sp, #56]"
    told vector_second_stored, "dup v0.2s, w0; movi d1, #0; stp d1, d0, [sp, #48]; ldr w19, [sp, #56]"
    told vector_compared, "fmov s0, w0; cmeq v0.4s, v0.4s, #0; fmov w19, s0"
    told vector_mixed, "dup v0.4s, w0; movi v1.4s, #0; bsl v1.16b, v0.16b, v1.16b; fmov w19, s1"
    told vector_mixed_in, "dup v0.4s, w0; movi v1.4s, #0; bit v0.16b, v1.16b, v1.16b; fmov w19, s0"
    told vector_narrowed_upper, "dup v0.2d, x0; movi v1.4s, #0; xtn2 v1.4s, v0.2d; mov w19, v1.s[2]"
    told vector_narrowed_into, "dup v0.4s, w0; movi v1.4s, #0; xtn2 v0.4s, v1.2d; fmov w19, s0"
    told vector_added, "dup v0.4s, w0; addv s0, v0.4s; fmov w19, s0"
    told vector_largest, "dup v0.4s, w0; smax v0.4s, v0.4s, v0.4s; fmov w19, s0"
    told floating, "scvtf d0, w0; fcvtzs w19, d0"
    told floating_fused, "scvtf d0, w0; fmov d1, #1.0; fmadd d0, d1, d1, d0; fcvtzs w19, d0"
    told floating_added_to, "scvtf d0, w0; fmov d1, #1.0; fmla v0.2d, v1.2d, v1.2d; fcvtzs w19, d0"
    told floating_compared, "scvtf d0, w0; fcmp d0, #0.0; cset w19, gt"
    told any_length, "mov z0.s, w0; fmov w19, s0"
    told any_length_counted, "cntw x1; mov w19, w0"
# Who is the single one.
    begin region_no_single_or_all
    enter
    bl GOMP_single_start
    orr w0, w0, #1
    cbz w0, 1f
    ldr w19, [x20]
    add w19, w19, #1
    str w19, [x20]
1:  leave
    end region_no_single_or_all
# By what it calls.
    told returned, "bl same; mov w19, w0"
    told returned_at_times, "bl at_times; mov w19, w0"
    told returned_in_a_vector_at_times, "fmov s0, w0; bl vector_at_times; fmov w19, s0"
    told left_by_the_call, "add x1, sp, #48; bl put; mov w19, w0"
    told returned_by_address, "add x1, sp, #48; bl put; ldr w19, [sp, #48]"
    told returned_by_result_address, "add x8, sp, #48; bl put_result; ldr w19, [sp, #48]"
    told handed_by_address, "str w0, [sp, #48]; add x0, sp, #48; bl get; mov w19, w0"
    told handed_behind_an_address, "str w0, [sp, #52]; add x0, sp, #48; bl get_behind; mov w19, w0"
    told handed_by_result_register, "mov x8, x0; bl take_result; mov w19, w0"
    told handed_as_the_eighth, "mov w7, w0; bl eighth; mov w19, w0"
    told handed_on_the_stack, "str x0, [sp, #-16]!; bl stack_argument; add sp, sp, #16; mov w19, w0"
    told handed_in_a_vector, "fmov s0, w0; bl in_vector; mov w19, w0"
    told handed_below_an_address, "str w0, [sp, #48]; add x0, sp, #52; bl get_below; mov w19, w0"
    told read_from_flags, "cmp w0, #1; mov w0, #0; bl by_flags; mov w19, w0"
    told left_in_flags, "cmp w0, #1; mov w0, #0; bl same; csetm w19, cc"
    told handed_through, "mov w1, w0; mov w0, #0; bl same; mov w19, w1"
    told handed_through_a_stub, "mov w1, w0; mov w0, #0; bl same_by_name; mov w19, w1"
    told handed_in_a_jump, "cmp w0, #0; b.gt 3f; b 4f; 3: mov w19, #1; 4:"
    told asked_by_another, "bl asks; mov w19, w0"
    told returned_elsewhere, "adr x1, 3f; ret x1; 3: mov w19, w0"
    told called_by_pointer, "ldr x1, [x20]; blr x1; mov w19, w0"
    told of_the_thread, "mrs x1, tpidr_el0; ldr w19, [x1, #16]"
    told of_the_rounding, "mrs x19, fpcr"
    told of_the_clock, "mrs x19, cntvct_el0"

# Who comes first.
    .macro first name, code
    begin region_no_\name
    enter
    mov w19, #0
    mov w2, #1
    add x3, x20, #4
    \code
    single
    end region_no_\name
    .endm
    first found_out_of_line, "mov w0, #1; mov x1, x3; bl fetch_and_add; mov w19, w0"
    first counted_out_of_line, "mov w0, #1; mov x1, x3; bl fetch_and_add"
    first toggled_out_of_line, "mov w0, #1; mov x1, x3; bl fetch_and_toggle"
    first swapped_out_of_line, "mov w0, #1; mov x1, x3; bl swap; mov w19, w0"
    first counted_by_swaps, "3: ldr w19, [x3];mov w0, w19;add w1, w0, #1;mov x2, x3;bl swap_if;cmp w0, w19;b.ne 3b"
    first waited_by_swaps, "3: mov w0, #0; mov w1, #1; mov x2, x3; bl swap_if; cbnz w0, 3b; mov w19, #0"
    first found_by_swap_out_of_line, "mov w0, #0; mov w1, #1; mov x2, x3; bl swap_if; mov w19, w0"
    told added_out_of_line, "mov x1, sp; str wzr, [x1, #48]; add x1, x1, #48; bl fetch_and_add; ldr w19, [sp, #48]"
    first found_by_exchange, "3: ldaxr w19, [x3]; stlxr w1, w2, [x3]; cbnz w1, 3b"
    first found_by_swp, "swpal w2, w19, [x3]"
    first found_by_ldadd, "ldaddal w2, w19, [x3]"
    first found_by_cas, "casal w19, w2, [x3]"
    first found_by_casp, "mov w4, w19; mov w5, w19; mov w6, w2; mov w7, w2; casp w4, w5, w6, w7, [x20]; mov w19, w4"
    first counted_by_stadd, "stadd w2, [x3]"
    first counted_by_exchange, "3: ldxr w1, [x3]; add w1, w1, #1; stxr w4, w1, [x3]; cbnz w4, 3b"
    first toggled, "3: ldxr w1, [x3]; eor w1, w1, #1; stxr w4, w1, [x3]; cbnz w4, 3b"
    first set_and_waited_for, "3: ldar w1, [x3]; cbz w1, 3b"
    first waited_for, "3: ldr w1, [x3]; cbz w1, 3b"
    first waited_politely, "3: yield; ldr w1, [x3]; cbz w1, 3b"

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
    out_of_line fetch_and_or, "ldsetal w0, w0, [x1]", [x1], "orr w17, w0, w16; stlxr w15, w17, [x1]"
    out_of_line fetch_and_toggle, "ldeoral w0, w0, [x1]", [x1], "eor w17, w0, w16; stlxr w15, w17, [x1]"
    out_of_line swap, "swpal w0, w0, [x1]", [x1], "stlxr w15, w16, [x1]"
    out_of_line swap_if, "casal w0, w1, [x2]", [x2], "cmp w0, w16; b.ne 3f; stlxr w15, w1, [x2]"
    .globl same_by_name
same_by_name:
same:
    ret
at_times:
    cbz w1, 1f
    mov w0, #1
1:  ret
vector_at_times:
    cbz w1, 1f
    fmov s0, #1.0
1:  ret
put:
    str w0, [x1]
    ret
put_result:
    str w0, [x8]
    ret
get:
    ldr w0, [x0]
    ret
get_below:
    ldur w0, [x0, #-4]
    ret
by_flags:
    csetm w0, cc
    ret
get_behind:
    ldr w0, [x0, #4]
    ret
take_result:
    mov w0, w8
    ret
eighth:
    mov w0, w7
    ret
stack_argument:
    ldr w0, [sp]
    ret
in_vector:
    fmov w0, s0
    ret
asks:
    stp x29, x30, [sp, #-16]!
    bl omp_get_thread_num
    ldp x29, x30, [sp], #16
    ret
    .data
table:
    .word 1, 2
have_instructions:
    .byte 0
    .section .note.GNU-stack, "", %progbits
