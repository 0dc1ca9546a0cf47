/* The first instructions of the Cortex-A9 after reset: supervisor mode, MMU off, no interrupts taken.
   Core 0 sets up its stack and the floating-point unit, clears .bss and calls board_main; the other core sleeps. */
    .syntax unified
    .arch armv7-a
    .fpu vfpv3
    .section .vectors, "ax"
    .global reset
    .arm
reset:
    b start
    b hang                      /* undefined instruction */
    b hang                      /* supervisor call */
    b hang                      /* prefetch abort */
    b hang                      /* data abort */
    b hang
    b hang                      /* interrupt: masked, WFI wakes up all the same */
    b hang

hang:
    wfi
    b hang

start:
    cpsid if
    mrc p15, 0, r0, c0, c0, 5   /* MPIDR: which core is this? */
    ands r0, r0, #3
    bne hang
    ldr sp, =stack_top
    mrc p15, 0, r0, c1, c0, 2   /* CPACR: full access to coprocessors 10 and 11, the floating-point unit */
    orr r0, r0, #(0xf << 20)
    mcr p15, 0, r0, c1, c0, 2
    isb
    mov r0, #0x40000000         /* FPEXC.EN */
    vmsr fpexc, r0
    ldr r0, =bss_start
    ldr r1, =bss_end
    mov r2, #0
1:  cmp r0, r1
    strlo r2, [r0], #4
    blo 1b
    bl board_main
    b hang
