# SPDX-License-Identifier: MIT
# Regions as a compiler or a program's author could write them, for read_file: shares of region_yes_NAME may be run by
# fewer threads, those of region_no_NAME wait for one another, or use what belongs to a thread. Never run.

    .text
    .macro region name, code
    .globl region_\name
    .type region_\name, @function
region_\name:
    push %rbx
    sub $64, %rsp
    mov %rdi, %rbx
    \code
    add $64, %rsp
    pop %rbx
    ret
    .size region_\name, . - region_\name
    .endm

# What the processor keeps for a thread, or tells of where it runs.
    region no_thread_rounding_of_vectors, "stmxcsr 8(%rsp); mov 8(%rsp), %eax"
    region no_thread_rounding_of_vectors_set, "ldmxcsr (%rbx)"
    region no_thread_rounding, "fnstcw 8(%rsp); mov 8(%rsp), %eax"
    region no_thread_rounding_set, "fldcw (%rdi)"
    region no_thread_old_flags, "fnstsw %ax"
    region no_thread_old_state, "fnstenv (%rsp); mov (%rsp), %eax"
    region no_thread_processor, "rdtscp; mov %ecx, %eax"
    region no_thread_processor_later, "rdtscp; test %eax, %eax; je 1f; jmp 2f; 1: mov %ecx, (%rbx); 2:"
    region no_thread_processor_by_number, "rdpid %rax"
    region no_thread_processor_by_leaf, "mov $11, %eax; xor %ecx, %ecx; cpuid; mov %edx, %eax"
    region no_thread_pointer, "rdfsbase %rax"
    region no_thread_pointer_set, "wrfsbase %rax"
    region no_thread_keys, "xor %ecx, %ecx; rdpkru"
    region no_thread_keys_set, "xor %ecx, %ecx; xor %edx, %edx; wrpkru"
    region no_thread_processor_by_segment, "mov $0x7b, %ecx; lsl %ecx, %eax"
    region no_thread_shadow_stack, "xor %eax, %eax; rdsspq %rax"
    region no_thread_whole_state, "fxsave (%rsi)"
    region no_thread_data, "mov %fs:16, %eax"
    region no_thread_data_far, "mov $-8, %rcx; mov %fs:(%rcx), %eax"
    region no_thread_data_pushed, "push %fs:16; pop %rax"
    region no_thread_data_written, "movl $1, %fs:0x28"
    region no_thread_of_the_system, "mov $186, %eax; syscall"
    region no_thread_errno, "call __errno_location@PLT; mov (%rax), %eax"
    region no_thread_errno_kept, "call __errno_location@PLT; mov %rax, %rcx; xor %eax, %eax"
    region no_thread_errno_counted, "call __errno_location@PLT; addl $1, (%rax); xor %eax, %eax"
    region no_thread_errno_thrown, "call __errno_location@PLT; mov (%rax), %edi; call __cxa_throw@PLT"
    region yes_errno_set, "call __errno_location@PLT; movl $0, (%rax); xor %eax, %eax"
    region yes_errno_told_at_the_end, "cmpl $0, (%rbx); je 1f; call __errno_location@PLT; mov (%rax), %edi; call exit@PLT; 1:"
# Who waits.
    region no_loop_on_memory, "1: cmpl $0, (%rbx); je 1b"
    region no_loop_politely, "1: pause; cmpl $0, (%rbx); je 1b"
    region no_loop_on_exchange, "1: mov $1, %eax; xchg %eax, (%rbx); test %eax, %eax; jne 1b"
    region no_loop_on_swap, "mov $1, %edx; 1: xor %eax, %eax; lock cmpxchg %edx, (%rbx); jne 1b"
    region no_loop_on_a_swap_in_a_loop, "mov $9, %ecx; mov $1, %edx; 1: xor %eax, %eax; lock cmpxchg %edx, (%rbx); jne 1b; dec %ecx; jne 1b"
    region no_loop_on_a_bit, "1: lock btsl $3, (%rbx); jc 1b"
    region no_loop_on_a_ticket, "mov $1, %eax; lock xadd %eax, (%rbx); 1: cmp %eax, 4(%rbx); jne 1b"
    region no_loop_on_a_count, "lock incl (%rbx); 1: cmpl $4, (%rbx); jl 1b"
    region no_loop_on_a_carry, "1: cmpl $1, (%rbx); sbb $-1, %ecx; cmp $5, %ecx; jl 1b"
    region no_loop_on_a_choice, "1: lea 1(%rcx), %edx; cmpl $0, (%rbx); cmovne %edx, %ecx; cmp $3, %ecx; jl 1b"
    region no_loop_on_a_copy, "1: mov %rsp, %rdi; mov %rbx, %rsi; mov $4, %ecx; rep movsq; cmpl $0, 8(%rsp); je 1b"
    region no_loop_on_a_copied_word, "1: mov %rsp, %rdi; mov %rbx, %rsi; movsq; cmpl $0, (%rsp); je 1b"
    region no_loop_around_a_ring, "1: add $1, %ecx; and $3, %ecx; cmpl $0, (%rbx,%rcx,4); je 1b"
    region no_loop_around_a_byte, "1: inc %cl; movzbl %cl, %ecx; cmpl $0, (%rbx,%rcx,4); je 1b"
    region no_loop_on_two_places, "1: xchg %rbx, %rsi; cmpl $0, (%rbx); je 1b"
    region no_loop_to_and_fro, "1: mov $1, %eax; sub %ecx, %eax; mov %eax, %ecx; cmpl $0, (%rbx,%rcx,4); je 1b"
    region no_loop_to_nothing, "1: shl $1, %ecx; cmpl $0, (%rbx,%rcx,4); je 1b"
    region no_loop_on_its_callers_place, "1: cmpl $0, 88(%rsp); je 1b"
    region no_loop_on_its_own_place, "lea 8(%rsp), %rax; mov %rax, (%rbx); 1: cmpl $0, 8(%rsp); je 1b"
    region no_loop_on_what_is_called, "1: call reads; test %eax, %eax; je 1b"
    region no_loop_that_never_ends, "1: jmp 1b"
    region no_call_of_a_loop, "call waits"
    region no_jump_to_a_loop, "jmp waits"
    region yes_lock, "call omp_init_lock@PLT; call omp_set_lock@PLT; call omp_unset_lock@PLT"
    region no_nested_lock, "call omp_set_nest_lock@PLT"
    region no_look_at_a_lock, "call omp_test_lock@PLT"
    region no_lock_in_critical, "call GOMP_critical_start@PLT; call omp_set_lock@PLT; call GOMP_critical_end@PLT"
    region no_barrier_in_criticals, "call GOMP_critical_start@PLT; call GOMP_atomic_start@PLT; call GOMP_atomic_end@PLT; call GOMP_barrier@PLT"
    region no_order, "call GOMP_ordered_start@PLT"
    region no_other_iteration, "call GOMP_doacross_wait@PLT"
# … by vectors of AVX-512.
    region no_wide_loop_on_memory, "1: vmovq (%rbx), %xmm17; vmovq %xmm17, %rax; test %rax, %rax; je 1b"
    region no_wide_loop_on_a_mask, "1: vmovdqu32 (%rbx), %zmm1; vptestmd %zmm1, %zmm1, %k1; kortestw %k1, %k1; je 1b"
    region no_wide_loop_on_flags, "1: vucomisd 64(%rbx), %xmm18; jne 1b"
    region no_wide_loop_on_a_number, "1: vcvttsd2si (%rbx), %ecx; vcvttsd2usi 8(%rbx), %eax; cmp %eax, 16(%rbx); jne 1b"
    region no_wide_loop_on_a_converted_count, "mov $9, %ecx; 1: vcvttsd2usi (%rbx), %ecx; dec %ecx; jne 1b"
    region no_wide_loop_on_a_part, "mov $9, %r9d; 1: vmovdqu32 (%rbx), %xmm19; vpextrd $1, %xmm19, %r9d; dec %r9d; jne 1b"
    region no_wide_loop_on_its_frame, "movl $9, 8(%rsp); 1: vmovss (%rbx), %xmm17; vmovss %xmm17, 8(%rsp); decl 8(%rsp); jne 1b"
    region no_wide_loop_on_its_frame_far, "movl $9, 40(%rsp); 1: vmovsd (%rbx), %xmm17; vmovsd %xmm17, 40(%rsp); decl 40(%rsp); jne 1b"
    region no_wide_loop_on_a_wide_place, "movl $9, 40(%rsp); 1: vmovups (%rbx), %zmm17; vmovups %zmm17, (%rsp); decl 40(%rsp); jne 1b"
    region no_wide_loop_on_a_half, "movl $9, 24(%rsp); 1: vmovups (%rbx), %zmm17; vextractf64x4 $1, %zmm17, (%rsp); decl 24(%rsp); jne 1b"
    region no_wide_loop_on_halves, "1: vcvtph2psx (%rbx), %xmm17; vmovd %xmm17, %eax; test %eax, %eax; je 1b"
    region no_wide_loop_on_a_mask_used_up, "1: kxnorw %k1, %k1, %k1; vpgatherdd (%rbx,%zmm16,4), %zmm17{%k1}; vptestmd %zmm17, %zmm17, %k2; kortestw %k1, %k2; je 1b"
    region no_wide_short_address, "1: vmovd (%ebx), %xmm17; vmovd %xmm17, %eax; test %eax, %eax; je 1b"
    region no_wide_thread_data, "vmovsd %fs:16, %xmm17; vmovsd %xmm17, (%rbx)"
# What is not known, or not to us.
    region no_pointer, "call *(%rbx)"
    region no_jump_by_pointer, "jmp *(%rbx)"
    region no_slot_of_the_program, "call *variable(%rip)"
    region no_unknown_name, "call pthread_self@PLT"
    region no_recursion, "call calls_itself"
    region no_team_inside, "call GOMP_parallel@PLT"
    region no_task, "call GOMP_task@PLT"
    region no_message, "call MPI_Barrier@PLT"
    region no_place, "call omp_get_place_num@PLT"
    region no_setting, "call omp_set_num_threads@PLT"
    region no_cancel, "call GOMP_cancel@PLT"
    region no_reduction_of_tasks, "call GOMP_loop_start@PLT"

# All that a share may do: its number in data, a seed, a swap that succeeds for somebody.
    region yes_clock, "rdtscp; shl $32, %rdx; or %rdx, %rax; mov %rax, (%rbx)"
    region yes_clock_at_last, "rdtsc; mov %eax, (%rbx); call asks; rdtscp; sub (%rbx), %eax; mov %eax, 8(%rbx)"
    region yes_number, "call omp_get_thread_num@PLT; mov %eax, (%rbx,%rax,4)"
    region yes_size_by_another, "call asks; mov %eax, (%rbx)"
    region yes_constructs, "call GOMP_barrier@PLT; call GOMP_single_start@PLT; call GOMP_sections_end@PLT"
    region yes_critical, "call GOMP_critical_start@PLT; incl (%rbx); call GOMP_critical_end@PLT"
    region yes_count, "mov $9, %ecx; 1: incl (%rbx); dec %ecx; jne 1b"
    region yes_count_in_its_frame, "movl $9, 8(%rsp); 1: incl (%rbx); subl $1, 8(%rsp); jne 1b"
    region yes_count_around_a_call, "mov $9, %ebp; 1: call reads; dec %ebp; jne 1b"
    region yes_count_in_a_callers_register, "mov $9, %r11d; 1: call reads; dec %r11d; jne 1b"
    region yes_list, "1: mov (%rbx), %rbx; test %rbx, %rbx; jne 1b"
    region yes_search, "1: inc %rbx; cmpb $0, (%rbx); jne 1b"
    region yes_shared_loop, "1: lea 8(%rsp), %rdi; lea 16(%rsp), %rsi; call GOMP_loop_dynamic_next@PLT; test %al, %al; jne 1b"
    region yes_swap, "mov (%rbx), %eax; 1: lea 1(%rax), %edx; lock cmpxchg %edx, (%rbx); jne 1b"
    region yes_swap_of_a_sum, "movsd (%rbx), %xmm1; 1: movq %xmm1, %rax; addsd %xmm0, %xmm1; movq %xmm1, %rdx; lock cmpxchg %rdx, (%rbx); movq %rax, %xmm1; jne 1b"
    region yes_guard, "mov %fs:0x28, %rax; mov %rax, 8(%rsp); xor %eax, %eax; mov 8(%rsp), %rax; sub %fs:0x28, %rax"
    region yes_wide_count, "mov $9, %ecx; 1: vmovupd (%rbx,%rcx,8), %zmm17; vfmadd231pd 64(%rbx), %zmm17, %zmm18; vmovupd %zmm18, (%rbx,%rcx,8); dec %ecx; jne 1b"
    region yes_wide_gather, "kxnorw %k1, %k1, %k1; mov $9, %ecx; 1: vgatherqpd 8(%rbx,%zmm16,8), %zmm17{%k1}; vscatterqpd %zmm17, 8(%rbx,%zmm16,8){%k1}; dec %ecx; jne 1b"
    region yes_wide_count_in_its_frame, "movl $9, 8(%rsp); 1: vmovsd (%rbx), %xmm17; vmovsd %xmm17, 16(%rsp); vmovaps %xmm17, 32(%rsp); subl $1, 8(%rsp); jne 1b"
    region yes_wide_count_in_a_high_register, "mov $9, %r9d; 1: vcvtsi2sd %ecx, %xmm17, %xmm17; vcvttsd2si %xmm17, %eax; vmovq %xmm17, %xmm25; dec %r9d; jne 1b"
    region yes_name, "call sin@PLT"
    region yes_end, "call abort@PLT"

reads:
    mov (%rbx), %eax
    ret
waits:
    cmpl $0, (%rdi)
    je waits
    ret
asks:
    sub $8, %rsp
    call omp_get_num_threads@PLT
    add $8, %rsp
    ret
calls_itself:
    call calls_itself
    ret
    .data
variable:
    .quad sin
    .section .note.GNU-stack, "", @progbits
