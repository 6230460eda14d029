# SPDX-License-Identifier: MIT
# Regions as a compiler or a program's author could write them, for read_file: region_yes_NAME does the same with any
# number of threads, region_no_NAME tells what it knows of its number or its size, or of who came first. Never run.

    .text
    .macro begin name
    .globl \name
    .type \name, @function
\name:
    .endm
    .macro end name
    .size \name, . - \name
    .endm

# The code makes %ebx of the thread's number in %eax; one thread stores it.
    .macro told name, code
    begin region_no_\name
    push %rbx
    sub $64, %rsp
    mov %rdi, %rbp
    call omp_get_thread_num@PLT
    xor %ebx, %ebx
    xor %ecx, %ecx
    \code
    call GOMP_single_start@PLT
    test %al, %al
    je 1f
    mov %ebx, (%rbp)
1:  add $64, %rsp
    pop %rbx
    ret
    end region_no_\name
    .endm
# Likewise with what one thread stores being plain.
    .macro plain name, code
    begin region_yes_\name
    push %rbx
    sub $64, %rsp
    mov %rdi, %rbp
    xor %ebx, %ebx
    xor %ecx, %ecx
    \code
    call GOMP_single_start@PLT
    test %al, %al
    je 1f
    mov %ebx, (%rbp)
1:  add $64, %rsp
    pop %rbx
    ret
    end region_yes_\name
    .endm
# The code leads to 2 or not, by the number in %eax; there all threads that come do the same.
    .macro decides name, code
    begin region_no_\name
    push %rbx
    sub $64, %rsp
    mov %rdi, %rbx
    call omp_get_thread_num@PLT
    \code
    movl $7, (%rbx)
2:  add $64, %rsp
    pop %rbx
    ret
    end region_no_\name
    .endm

    plain constant, "mov $5, %ebx"
    plain from_memory, "mov (%rbp), %ebx"
    plain own_places, "mov %rbp, 8(%rsp); mov (%rbp), %eax; mov %eax, 16(%rsp); mov 16(%rsp), %ebx"
    plain pushed_and_popped, "push (%rbp); pop %rbx"

# Compared otherwise than for being 0.
    decides greater_than_0, "test %eax, %eax; jle 2f"
    decides compared_greater_than_0, "cmp $0, %eax; jle 2f"
    decides at_least_1, "cmp $1, %eax; jl 2f"
    decides unsigned_at_least_1, "cmp $1, %eax; jae 2f"
    decides first_four, "cmp $4, %eax; jge 2f"
    decides a_certain_one, "cmp $1, %eax; jne 2f"
    decides as_memory_says, "cmp 4(%rbx), %eax; jne 2f"
    decides scaled, "lea (,%rax,4), %ecx; cmp $4, %ecx; jge 2f"
    decides scaled_unsigned, "lea 4(,%rax,4), %rcx; cmp $4, %rcx; jbe 2f"
    decides compared_with_itself_and_more, "mov %eax, %ecx; and $1, %ecx; cmp %ecx, %eax; jne 2f"
    decides not_the_sign, "test %eax, %eax; js 2f; jo 2f; jg 2f"
    decides counted_down, "sub $1, %eax; jc 2f"
    decides counted_down_to_0, "dec %eax; jz 2f"
    decides half, "shr %eax; jc 2f"
    decides bit, "bt $0, %eax; jc 2f"
    decides loop_by_number, "mov %eax, %ecx; inc %ecx; 3: dec %ecx; jnz 3b; mov %eax, %ecx; jrcxz 2f"
    decides parity, "test %eax, %eax; jp 2f"
# Only the difference to another number, or to one's own, plain as it looks.
    decides sum_of_two, "mov %eax, %edx;mov 4(%rbx), %ecx;add %eax, %ecx;cmp %eax, %ecx;je 2f;cmp %ecx, %edx;jl 2f"
# 32 bits of a negative number in 64.
    told upper_half, "mov 4(%rbp), %ecx; sub %eax, %ecx; mov %eax, %eax; add %rax, %rcx; shr $32, %rcx; mov %ecx, %ebx"
    told upper_half_of_a_copy, "neg %rax;lea 1(%rax), %rcx;mov %ecx, %ecx;sub %rax, %rcx;shr $32, %rcx;mov %ecx, %ebx"
    told upper_half_by_address, "mov 4(%rbp), %ecx;sub %eax, %ecx;lea (%rcx,%rax), %rdx;shr $32, %rdx;mov %edx, %ebx"
    told upper_half_compared, "mov (%rbp), %ecx;mov %rcx, %rdx;sub %eax, %ecx;sub %rax, %rdx;cmp %rcx, %rdx;setne %bl"
# The flags become data.
    told set_greater, "cmp $3, %eax; setg %bl"
    told move_if_greater, "mov $1, %ebx; mov $2, %ecx; cmp $3, %eax; cmovg %ecx, %ebx"
    told move_if_zero, "mov $1, %ebx; mov $2, %ecx; test %eax, %eax; cmovz %ecx, %ebx"
    told one_or_another, "mov %eax, %ecx; cmpl $0, (%rbp); je 3f; mov $5, %ecx; 3: sub %eax, %ecx; mov %ecx, %ebx"
    told carry_of_nothing, "xor %ecx, %ecx; sub %eax, %ecx; add %eax, %ecx; sbb %ebx, %ebx"
    told borrow, "cmp $1, %eax; sbb %ebx, %ebx"
    told carry, "cmp $1, %eax; adc $0, %ebx"
    told carry_rotated, "cmp $1, %eax; rcl %ebx"
    told flags_pushed, "cmp $1, %eax; pushfq; pop %rbx"
    told flags_loaded, "mov %eax, %ecx; cmp $1, %ecx; lahf; mov %eax, %ebx"
    told bit_tested, "bt %eax, %ecx; setc %bl"
    told bit_set, "bts %eax, %ebx"
    told one_or_other, "test %eax, %eax; je 3f; mov $1, %ebx; 3:"
    told one_or_other_behind, "test %eax, %eax; je 3f; mov $1, %ecx; 3: mov %ecx, %ebx"
    told one_or_other_if_less, "cmp $4, %eax; jge 3f; mov $1, %ebx; 3:"
    told one_or_other_in_place, "movl $1, 8(%rsp); test %eax, %eax; je 3f; movl $2, 8(%rsp); 3: mov 8(%rsp), %ebx"
    told address_or_other, "lea 4(%rbp), %rcx; test %eax, %eax; je 3f; lea 8(%rbp), %rcx; 3: mov (%rcx), %ebx"
    told place_or_other, "movl $2, (%rsp);lea 8(%rsp), %rcx;test %eax, %eax;je 3f;mov %rsp, %rcx;3: mov (%rcx), %ebx"

# What writes no flags, or only some.
    told kept_by_a_vector, "cmp $3, %eax; pxor %xmm0, %xmm0; setg %bl"
    told kept_by_a_wide_vector, "cmp $3, %eax; vpand %xmm0, %xmm1, %xmm1; setg %bl"
    told carry_kept, "cmp $1, %eax; inc %ecx; sbb %ebx, %ebx"
    told zero_kept, "test %eax, %eax; bt $0, %ecx; sete %bl"
    told kept_by_the_direction, "test %eax, %eax; cld; sete %bl"
    told kept_by_a_shift, "cmp $3, %eax; shl %cl, %edx; setg %bl"
    told kept_by_a_rotation, "cmp $3, %eax; ror $3, %edx; setg %bl"
    told kept_by_an_exchange, "cmp $3, %eax; cmpxchg16b (%rsp); setg %bl"

# Parts of registers and places.
    told low_byte_overwritten, "mov %eax, %ebx; mov $0, %bl"
    told high_byte_overwritten, "mov %eax, %ebx; mov $0, %bh"
    told low_word_overwritten, "mov %eax, %ebx; mov $0, %bx"
    told low_byte_set, "mov %eax, %ebx; test %ecx, %ecx; sete %bl"
    told byte_of_itself_cleared, "mov %eax, %ebx; xor %bl, %bl"
    told byte_of_place_overwritten, "mov %eax, 8(%rsp); movb $0, 8(%rsp); mov 8(%rsp), %ebx"
    told half_of_place_overwritten, "mov %rax, 8(%rsp); movl $0, 8(%rsp); mov 12(%rsp), %ebx"
    told middle_of_place, "movl $0, 9(%rsp); mov %eax, 8(%rsp); mov 9(%rsp), %ebx"
    told behind_in_place, "movl $0, 12(%rsp); mov %rax, 8(%rsp); mov 12(%rsp), %ebx"
    told before_in_place, "movl $0, 8(%rsp); mov %eax, 12(%rsp); mov 8(%rsp), %rbx; shr $32, %rbx"
    told wider_than_the_place, "movb %al, 12(%rsp); mov 12(%rsp), %ebx"
    told read_by_words, "mov %rax, 8(%rsp); movzwl 10(%rsp), %ebx"
    told read_by_a_vector, "movq $0, 8(%rsp); mov %rax, 16(%rsp); movdqu 8(%rsp), %xmm0; movd %xmm0, %ebx"
    told by_an_index, "mov %eax, 8(%rsp); movslq (%rbp), %rcx; mov (%rsp,%rcx,4), %ebx"
    told stored_by_an_index, "movslq (%rbp), %rcx; mov %eax, (%rsp,%rcx,4); mov 8(%rsp), %ebx"
    told pushed, "push %rax; pop %rbx"
    told pushed_from_memory, "mov %eax, 8(%rsp); push 8(%rsp); pop %rbx"
    told popped_into_memory, "push %rax; pop 16(%rsp); mov 16(%rsp), %ebx"
    told memory_at_its_number_pushed, "push (%rbp,%rax,8); pop %rbx"
    told memory_at_its_number, "mov (%rbp,%rax,8), %ebx"
    told below_the_stack, "mov %eax, -8(%rsp); mov -8(%rsp), %ebx"
    told stack_moved_back, "push %rax; add $8, %rsp; mov -8(%rsp), %ebx"
    told copied_by_string, "mov %eax, 8(%rsp); lea 8(%rsp), %rsi; lea 16(%rsp), %rdi; movsl; mov 16(%rsp), %ebx"
    told filled_by_string, "lea 16(%rsp), %rdi; mov $2, %ecx; rep stosl; mov 20(%rsp), %ebx"
    told loaded_by_string, "mov %eax, 8(%rsp); lea 8(%rsp), %rsi; lodsl; mov %eax, %ebx"
    told compared_by_string, "mov %eax, 8(%rsp); lea 8(%rsp), %rsi; lea 16(%rsp), %rdi; cmpsl; sete %bl"
    told exchanged_registers, "xchg %eax, %ebx"
    told exchanged_place, "mov %eax, 8(%rsp); mov $0, %ebx; xchg %ebx, 8(%rsp)"
    told exchanged_into_place, "xchg %eax, 8(%rsp); mov 8(%rsp), %ebx"
    told added_and_exchanged, "mov %eax, 8(%rsp); xadd %ebx, 8(%rsp)"
    told compared_and_exchanged, "mov %eax, 8(%rsp); mov %ecx, %eax; cmpxchg %ecx, 8(%rsp); mov %eax, %ebx"
    told read_by_address, "mov %eax, 8(%rsp); lea 4(%rsp), %rcx; mov 4(%rcx), %ebx"
    told product_high, "mov $0x10000, %ecx; mul %ecx; mov %edx, %ebx; mov %eax, %ebx"
    told divided, "mov $2, %ecx; xor %edx, %edx; div %ecx; mov %eax, %ebx"
    told rest_of_division, "mov $2, %ecx; xor %edx, %edx; div %ecx; mov %edx, %ebx"
    told sign, "cltd; mov %edx, %ebx"
    told sign_of_what_it_made, "sub $1, %eax; cltd; mov %edx, %ebx"
    told wide_sign, "movslq %eax, %rax; sub $1, %rax; cqto; mov %edx, %ebx"
    told byte_table, "lea 8(%rsp), %rbx; xlat; mov %eax, %ebx"
    told swapped_bytes, "bswap %eax; mov %eax, %ebx"
    told counted_zeroes, "bsf %eax, %ebx"
    told spread_bits, "mov %eax, %ecx; mov $1, %ebx; shl %cl, %ebx"
    told shifted_wide, "shld $8, %eax, %ebx"
    told negated, "neg %eax; mov %eax, %ebx"
    told inverted, "not %eax; mov %eax, %ebx"
    told xored, "xor %eax, %ebx"
    told multiplied, "imul $7, %eax, %ebx"
    told minus_itself_shifted, "mov %eax, %ebx; shl %ebx; sub %eax, %ebx"
    told high_half_divided, "mov %eax, %edx; xor %eax, %eax; mov $0x10000, %ecx; div %ecx; mov %eax, %ebx"
    told high_byte_moved, "shl $8, %eax; mov $0, %al; mov %ah, %bl; movzbl %bl, %ebx"
    told word_popped, "mov %eax, %ebx; shl $16, %ebx; push $0; pop %bx; add $6, %rsp"
    told word_of_signs, "mov %eax, %edx; shl $16, %edx; xor %eax, %eax; cwd; mov %edx, %ebx"
    told bytes_turned, "movbe %eax, 8(%rsp); mov 8(%rsp), %ecx; sub %eax, %ecx; mov %ecx, %ebx"
    told part_on_one_side, "test %eax, %eax;jne 3f;movl $1, 12(%rsp);mov %rbp, 8(%rsp);3: mov 12(%rsp), %ebx"
# Vectors and floating point.
    .macro spill
    movd %xmm1, %ebx
    .endm
    told vector, "movd %eax, %xmm0; movd %xmm0, %ebx"
    told vector_broadcast, "movd %eax, %xmm0; pshufd $0, %xmm0, %xmm0; movd %xmm0, %ebx"
    told vector_broadcast_wide, "vmovd %eax, %xmm0; vpbroadcastd %xmm0, %ymm0; vextracti128 $1, %ymm0, %xmm1; spill"
    told vector_low_written, "movd %eax, %xmm0;pshufd $0, %xmm0, %xmm0;movss %xmm1, %xmm0;pshufd $1, %xmm0, %xmm1;spill"
    told vector_low_loaded, "movd %eax, %xmm0; pshufd $0, %xmm0, %xmm0; movlps (%rbp), %xmm0; pextrd $3, %xmm0, %ebx"
    told vector_inserted, "pxor %xmm0, %xmm0; pinsrd $1, %eax, %xmm0; pextrd $1, %xmm0, %ebx"
    told vector_compared, "movd %eax, %xmm0; pxor %xmm1, %xmm1; pcmpeqd %xmm1, %xmm0; movmskps %xmm0, %ebx"
    told vector_stored, "movd %eax, %xmm0; movaps %xmm0, 16(%rsp); mov 16(%rsp), %ebx"
    told vector_stored_apart, "movd %eax, %xmm0; pshufd $0, %xmm0, %xmm0; movups %xmm0, 16(%rsp); mov 24(%rsp), %ebx"
    told floating, "cvtsi2sd %eax, %xmm0; cvttsd2si %xmm0, %ebx"
    told old_floating, "mov %eax, 8(%rsp); fildl 8(%rsp); fistpl 16(%rsp); mov 16(%rsp), %ebx"
    told floating_compared, "cvtsi2sd %eax, %xmm0; xorps %xmm1, %xmm1; ucomisd %xmm1, %xmm0; seta %bl"
    told mask, "kmovd %eax, %k1; kmovd %k1, %ebx"
    told signs_of_a_vector, "movd %eax, %xmm0; movmskps %xmm0, %ecx; sub %ecx, %eax; mov %eax, %ebx"
    told vector_by_a_mask, "vmovd %eax, %xmm1; vmovdqa32 %xmm1, %xmm3{%k1}; vmovd %xmm3, %ebx"
    told vectors_added_by_a_mask, "vmovd %eax, %xmm1; vpaddd %xmm1, %xmm2, %xmm3{%k1}; vmovd %xmm3, %ebx"
    told blended, "movd %eax, %xmm0; pxor %xmm1, %xmm1; pblendw $1, %xmm0, %xmm1; movd %xmm1, %ebx"
# Addresses of its frame that something else was done to.
    told read_by_a_changed_address, "mov %eax, 8(%rsp); lea 8(%rsp), %rcx; or $0, %rcx; mov (%rcx), %ebx"
    told read_by_an_exchanged_address, "mov %eax, 8(%rsp); lea 8(%rsp), %rcx; xchg %rcx, %rdx; mov (%rdx), %ebx"
    told read_by_the_first_register, "mov %eax, 8(%rsp); lea 8(%rsp), %rax; xchg %rax, %rdx; mov (%rdx), %ebx"
# By what it calls.
    .macro spare
    mov %eax, %ebx
    .endm
    .macro restore
    add $96, %rsp
    .endm
    told returned, "mov %eax, %edi; call same; mov %eax, %ebx"
    told returned_in_part, "mov %eax, %edi; xor %eax, %eax; call same; mov %eax, %ebx"
    told returned_by_address, "mov %eax, %edi; lea 8(%rsp), %rsi; call put; mov 8(%rsp), %ebx"
    told handed_by_address, "mov %eax, 8(%rsp); lea 8(%rsp), %rdi; call get; mov %eax, %ebx"
    told handed_behind_an_address, "mov %eax, 12(%rsp); lea 8(%rsp), %rdi; call get_behind; mov %eax, %ebx"
    told handed_at_an_index, "mov %eax, 8(%rsp);mov $0, %eax;movslq (%rbp), %rcx;lea (%rsp,%rcx,8), %rdi;call get;spare"
    told handed_from_the_middle, "shl $32, %rax; mov %rax, 8(%rsp); lea 12(%rsp), %rdi; call get; mov %eax, %ebx"
    told handed_on_the_stack, "push %rax; call stack_argument; pop %rcx; mov %eax, %ebx"
    told handed_on_the_stack_far, "mov %eax, 40(%rsp); call far_argument; mov %eax, %ebx"
    told handed_in_a_vector, "movd %eax, %xmm0; call in_vector; mov %eax, %ebx"
    told handed_in_flags, "cmp $1, %eax; call by_flags; mov %eax, %ebx"
    told handed_below_an_address, "mov %eax, 8(%rsp); lea 12(%rsp), %rdi; call get_below; mov %eax, %ebx"
    told handed_far_below, "mov %eax, (%rsp); lea 48(%rsp), %rdi; call get_far_below; mov %eax, %ebx"
    told handed_farther, "mov %eax, -96(%rsp); sub $96, %rsp; lea 112(%rsp), %rdi; call get_farther; restore; spare"
    told read_from_flags, "cmp $1, %eax; mov $0, %eax; call by_flags; mov %eax, %ebx"
    told left_in_flags, "cmp $1, %eax; mov $0, %eax; jmp 3f; 3: call nothing; sbb %ebx, %ebx"
    told handed_in_a_jump, "test %eax, %eax; jg 3f; jmp 4f; 3: mov $1, %ebx; 4:"
    told taken_by_a_push, "mov %eax, %edi; mov %rbp, %rsi; call pushes; mov %eax, %ebx"
    told taken_in_part, "mov %eax, %edi; shl $8, %edi; call in_part; mov %eax, %ebx"
    told taken_by_a_division, "mov %eax, %edx; mov $0, %edi; mov $0x10000, %esi; call divides; mov %eax, %ebx"
    told asked_by_another, "call asks; mov %eax, %ebx"

# Who comes first.
    .macro swap
    lock cmpxchg %edx, 4(%rbp)
    jne 3b
    .endm
    .macro first name, code
    begin region_no_\name
    mov %rdi, %rbp
    xor %ebx, %ebx
    \code
    call GOMP_single_start@PLT
    test %al, %al
    je 1f
    mov %ebx, (%rbp)
1:  ret
    end region_no_\name
    .endm
    first found_by_xchg, "mov $1, %ebx; xchg %ebx, 4(%rbp)"
    first found_by_xadd, "xor %ebx, %ebx; lock xadd %ebx, 4(%rbp)"
    first found_by_cmpxchg, "mov 4(%rbp), %eax; 3: mov %eax, %edx; or $1, %edx; swap; mov %eax, %ebx"
    first told_by_cmpxchg, "mov 4(%rbp), %eax; 3: mov %eax, %edx; or $1, %edx; mov %eax, %ebx; swap"
    first decided_by_cmpxchg, "mov 4(%rbp), %eax;3: mov $1, %edx;swap;test %eax, %eax;jne 4f;mov $1, %ebx;4:"
    first left_by_cmpxchg, "3: mov 4(%rbp), %eax;xor %ebx, %ebx;test %eax, %eax;jne 4f;inc %ebx;mov %ebx, %edx;swap;4:"
    first toggled, "mov 4(%rbp), %eax; 3: mov $1, %ecx; xor %edx, %edx; test %eax, %eax; cmove %ecx, %edx; swap"
    first toggled_by_xor, "mov 4(%rbp), %eax; 3: mov %eax, %edx; xor $1, %edx; swap"
    first toggled_by_not, "mov 4(%rbp), %eax; 3: mov %eax, %edx; not %edx; swap"
    first toggled_by_lea, "mov 4(%rbp), %eax; 3: lea 1(%rax), %edx; swap"
    first shifted, "mov 4(%rbp), %eax; 3: mov %eax, %edx; shl %edx; swap"
    first locked_xor, "lock xorl $1, 4(%rbp)"
    first locked_not, "lock notl 4(%rbp)"
    first locked_or_flags, "lock orl $1, 4(%rbp); sete %bl"
    first locked_bit, "lock btsl $1, 4(%rbp); setc %bl"
    first locked_dec_flags, "lock decl 4(%rbp); sete %bl"

# One thread stores in place, by the number in %r12d.
    .macro adds name, code
    begin region_no_\name
    push %rbp
    push %r12
    sub $56, %rsp
    mov %rdi, %rbp
    call omp_get_thread_num@PLT
    mov %eax, %r12d
    call GOMP_single_start@PLT
    test %al, %al
    je 1f
    \code
1:  add $56, %rsp
    pop %r12
    pop %rbp
    ret
    end region_no_\name
    .endm
    adds carry_added_in_place, "cmp $1, %r12d; adcl $0, (%rbp)"
    adds carry_rotated_in_place, "cmp $1, %r12d; rcll (%rbp)"

# Whether the thread is one of those with an iteration more, in a static schedule.
    .macro rest name, code
    begin region_no_\name
    push %rbx
    push %r12
    sub $56, %rsp
    mov %rdi, %rbp
    call omp_get_num_threads@PLT
    mov %eax, %r12d
    call omp_get_thread_num@PLT
    mov %eax, %esi
    mov (%rbp), %eax
    cltd
    idiv %r12d
    xor %ebx, %ebx
    \code
    call GOMP_single_start@PLT
    test %al, %al
    je 1f
    mov %ebx, (%rbp)
1:  add $56, %rsp
    pop %r12
    pop %rbx
    ret
    end region_no_\name
    .endm
    rest one_more_branched, "cmp %edx, %esi; jge 3f; mov $1, %ebx; 3:"
    rest one_more_from_memory, "mov 8(%rbp), %ebx; cmp %edx, %esi; jl 3f; mov 4(%rbp), %ebx; 3:"
    rest one_more_in_place, "movl $0, (%rsp); cmp %edx, %esi; jge 3f; movl $1, (%rsp); 3: mov (%rsp), %ebx"
    rest one_more_moved, "mov $1, %ecx; cmp %edx, %esi; cmovl %ecx, %ebx"

# Iterations of a static schedule, which begin with number %rsi: %rbx is the number, %rcx counts the thread's own. The
# code makes %edx.
    .macro iterate name, code
    begin region_\name
    push %rbx
    push %r12
    push %rbp
    mov %rdi, %rbp
    call omp_get_num_threads@PLT
    mov %eax, %r12d
    call omp_get_thread_num@PLT
    mov %eax, %esi
    mov (%rbp), %eax
    cltd
    idiv %r12d
    cmp %edx, %esi
    jl 3f
2:  imul %eax, %esi
    add %edx, %esi
    add %esi, %eax
    cmp %eax, %esi
    jge 1f
    movslq %esi, %rbx
    mov 8(%rbp), %rdi
    xor %ecx, %ecx
4:  \code
    mov %edx, (%rdi,%rbx,4)
    inc %ecx
    inc %rbx
    cmp %ebx, %eax
    jg 4b
1:  pop %rbp
    pop %r12
    pop %rbx
    ret
3:  inc %eax
    xor %edx, %edx
    jmp 2b
    end region_\name
    .endm
    iterate yes_number, "mov %ebx, %edx"
    iterate yes_counted_from_the_first, "lea (%rsi,%rcx), %edx"
    iterate no_counted, "mov %ecx, %edx"
    iterate no_counted_beside_the_number, "lea (%rbx,%rcx), %edx"
    iterate no_counted_twice, "lea (%rsi,%rcx), %edx; add %ecx, %edx"
    iterate no_counted_and_multiplied, "mov %ebx, %edx; imul %ecx, %edx"

# What a thread carries from iteration to iteration, in %ecx, gets out; %rbp, %rbx as above. The code is run in each
# iteration, `after` behind the loop.
    .macro carries name, code, after
    begin region_no_\name
    push %rbx
    push %r12
    push %rbp
    sub $96, %rsp
    mov %rdi, %rbp
    call omp_get_num_threads@PLT
    mov %eax, %r12d
    call omp_get_thread_num@PLT
    mov %eax, %esi
    mov (%rbp), %eax
    cltd
    idiv %r12d
    xor %ecx, %ecx
    xor %r8d, %r8d
    cmp %edx, %esi
    jl 3f
2:  imul %eax, %esi
    add %edx, %esi
    add %esi, %eax
    cmp %eax, %esi
    jge 1f
    movslq %esi, %rbx
    mov %eax, %r12d
    mov 8(%rbp), %rdi
4:  imul $5, %ecx, %ecx
    add $7, %ecx
    \code
    inc %rbx
    cmp %ebx, %r12d
    jg 4b
1:  \after
    add $96, %rsp
    pop %rbp
    pop %r12
    pop %rbx
    ret
3:  inc %eax
    xor %edx, %edx
    jmp 2b
    end region_no_\name
    .endm
    .macro swap_of name
3:  mov %eax, %edx
    cmp %r8d, %edx
    \name %r8d, %edx
    lock cmpxchg %edx, 16(%rbp)
    jne 3b
    .endm
    carries decided_in_place, "test $4, %ecx; je 5f; movl $1, (%rdi,%rbx,4); 5:"
    carries decided_either_way, "cmpl $0, 16(%rdi,%rbx,4); jne 6f; test $4, %ecx; je 5f; 6: movl $1, (%rdi,%rbx,4); 5:"
    carries left_early, "movl $1, (%rdi,%rbx,4); test $64, %ecx; jne 1f"
    carries added_at_once, "lock add %ecx, 16(%rbp)"
    carries most_of_it, "cmp %ecx, %r8d; cmovl %ecx, %r8d", "mov 16(%rbp), %eax; swap_of cmovl"
    carries its_bits, "or %ecx, %r8d", "lock or %r8d, 16(%rbp)"
    carries least_of_most, "mov (%rdi,%rbx,4), %edx; cmp %edx, %r8d; cmovl %edx, %r8d", "mov %ecx, %eax; swap_of cmovg"
    carries last_of_bits, "mov (%rdi,%rbx,4), %r8d", "lock or %r8d, 16(%rbp)"
    carries returned_by_a_function, "xchg %ecx, %edi; call same; xchg %ecx, %edi; mov %eax, (%rdi,%rbx,4)"
    carries handed_to_be_put, "push %rdi; lea (%rdi,%rbx,4), %rsi; mov %ecx, %edi; call put; pop %rdi"
    carries sum_and_more, "add (%rdi,%rbx,4), %r8d; lea 3(%r8), %edx; mov %edx, %r8d", "lock add %edx, 16(%rbp)"
    carries part_of_a_sum, "movzwl (%rdi,%rbx,4), %edx; add %edx, %r8d", "movswl %r8w, %r8d; lock add %r8d, 16(%rbp)"
    carries by_index, "mov %ebx, %edx;and $7, %edx;incl (%rsp,%rdx,4);mov (%rsp,%rdx,4), %edx;mov %edx, (%rdi,%rbx,4)"
    carries where_it_began, "mov %esi, (%rdi,%rbx,4)"
    carries distance_from_there, "mov %ebx, %edx; sub %esi, %edx; mov %edx, (%rdi,%rbx,4)"
    carries last_place, "", "movslq %r12d, %rax; movl $7, -4(%rdi,%rax,4)"

same:
    mov %edi, %eax
    ret
put:
    mov %edi, (%rsi)
    ret
get:
    mov (%rdi), %eax
    ret
get_below:
    mov -4(%rdi), %eax
    ret
get_far_below:
    mov -48(%rdi), %eax
    ret
get_farther:
    mov -112(%rdi), %eax
    ret
nothing:
    ret
get_behind:
    mov 4(%rdi), %eax
    ret
stack_argument:
    mov 8(%rsp), %eax
    ret
far_argument:
    mov 48(%rsp), %eax
    ret
in_vector:
    movd %xmm0, %eax
    ret
by_flags:
    sbb %eax, %eax
    ret
pushes:
    push (%rsi,%rdi,4)
    pop %rax
    ret
in_part:
    mov $0, %dil
    mov %edi, %eax
    ret
divides:
    mov %edi, %eax
    div %esi
    ret
asks:
    sub $8, %rsp
    call omp_get_thread_num@PLT
    add $8, %rsp
    ret
# What the processor keeps for a thread, or tells of where it runs.
    .macro of_thread name, code
    begin region_no_thread_\name
    mov %rdi, %r8
    \code
    mov %eax, (%r8)
    ret
    end region_no_thread_\name
    .endm
    of_thread rounding_of_vectors, "stmxcsr -8(%rsp); mov -8(%rsp), %eax"
    of_thread rounding, "fnstcw -8(%rsp); mov -8(%rsp), %eax"
    of_thread rounding_set, "fldcw (%rdi)"
    of_thread old_flags, "fnstsw %ax"
    of_thread old_state, "fnstenv -40(%rsp); mov -40(%rsp), %eax"
    of_thread processor, "rdtscp; mov %ecx, %eax"
    of_thread processor_by_number, "rdpid %rax"
    of_thread processor_by_leaf, "mov $11, %eax; xor %ecx, %ecx; cpuid; mov %edx, %eax"
    of_thread thread_pointer, "rdfsbase %rax"
    of_thread shadow_stack, "xor %eax, %eax; rdsspq %rax"
    of_thread whole_state, "fxsave (%rsi)"
    .section .note.GNU-stack, "", @progbits
