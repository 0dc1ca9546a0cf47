/* The window of memory between fabric and processor: what the logic writes, what the processor answers.
   All words are little-endian and 32 bits. skyloop.links.landing_board.qemu_board has the same map.
   The logic writes a list only while the processor waits; on a chip two lists take turns. */
#ifndef WINDOW_H
#define WINDOW_H
#include <stdint.h>

#define WINDOW_AT 0x00800000u
#define WINDOW_MARK 0x4C4B5331u /* "1SKL": this layout */

struct turn_given {          /* 0x0000: written outside, before the doorbell rings */
    uint32_t number;         /* counts turns from 1 */
    uint32_t n_received;     /* bytes that have reached the serial line since the last turn */
    uint32_t has_list;       /* 1: `list` is of a new image */
    uint32_t rules;          /* 0: ours, down to touch-down; 1: the published ones */
    uint32_t has_config;     /* 1: `config` replaces the controller's gains and limits before this turn */
    uint32_t microseconds;   /* of the fabric's clock since reset, at the start of the turn: low word, high word */
    uint32_t microseconds_high;
};

struct turn_done {           /* 0x0100: written by the processor, before it rings back */
    uint32_t mark;           /* WINDOW_MARK once the firmware runs */
    uint32_t number;         /* of the turn */
    uint32_t n_sent;         /* bytes sent in this turn */
    uint32_t ticks;          /* of the global timer, for everything between reading and sending */
    uint32_t least_area;     /* px, for the logic: smaller objects need not be listed */
    uint32_t refusal;        /* of the marker; enum refusal */
    int32_t x, y, heading;   /* of the marker, where refusal is 0 */
    int32_t altitude_cm;     /* the newest heard; -1: none */
    uint32_t running;        /* 1 between T111 and T000 */
    uint32_t skipped;        /* bytes that were part of no frame */
    uint32_t stage;          /* of the controller */
};

#define TURN_GIVEN ((volatile struct turn_given *)(uintptr_t)WINDOW_AT)
#define TURN_DONE ((volatile struct turn_done *)(uintptr_t)(WINDOW_AT + 0x0100u))
#define KINDS ((volatile uint8_t *)(uintptr_t)(WINDOW_AT + 0x0200u))
#define CONFIG ((const volatile double *)(uintptr_t)(WINDOW_AT + 0x0400u))
#define LIST ((volatile uint32_t *)(uintptr_t)(WINDOW_AT + 0x1000u))

#endif
