/* One turn of the board, without the chip around it: frames and a list of objects in, lines out.
   skyloop.links.landing_board.python_program is the same in Python. */
#ifndef BOARD_H
#define BOARD_H
#include "control.h"
#include "figures.h"
#include "scanner.h"
#include "text.h"

struct board {
    struct scanner scanner;
    struct sighting sighting;
    struct control_memory control;
    struct control_config config;
    enum rules rules;
    int32_t running;
    int32_t altitude_cm;         /* the newest heard; -1: none */
    struct sizes sizes;          /* the newest heard; 0: none */
    uint64_t list_at;            /* us, of the newest list */
    int32_t least_area;          /* px, for the logic */
    enum refusal refusal;        /* of the newest list */
    struct marker marker;
};

void board_reset(struct board *board);

/* list: of a new image, or null. kinds: a byte for each of its objects. */
void board_turn(struct board *board, const uint8_t *received, uint32_t n, const volatile uint32_t *list,
                uint64_t microseconds, volatile uint8_t *kinds, struct text *sent);

#endif
