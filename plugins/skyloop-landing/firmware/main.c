/* The board's main loop: a turn for each image of the fabric, or for each period in which none came. */
#include "board.h"
#include "window.h"
#include "zynq.h"

#define MOST_RECEIVED 4096

static struct board board;
static struct text sent;
static uint8_t received[MOST_RECEIVED];

/* What the receive interrupt would have put into the buffer since the last turn. Not counted as execution time, because
   in the emulator it waits for the bytes' way through the host. */
static uint32_t collect(uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < n; k++) {
        while (!uart_has(LINE))
            ;
        uint8_t byte = uart_take(LINE);
        if (kept < MOST_RECEIVED)
            received[kept++] = byte;
    }
    return kept;
}

static void take_config(void)
{
    double *numbers = (double *)&board.config;
    for (uint32_t k = 0; k < CONFIG_NUMBERS; k++)
        numbers[k] = CONFIG[k];
}

static uint64_t microseconds(void)
{
    return (uint64_t)TURN_GIVEN->microseconds_high << 32 | TURN_GIVEN->microseconds;
}

static void tell(uint32_t ticks)
{
    volatile struct turn_done *done = TURN_DONE;
    done->n_sent = sent.length;
    done->ticks = ticks;
    done->least_area = (uint32_t)board.least_area;
    done->refusal = (uint32_t)board.refusal;
    done->x = board.marker.x;
    done->y = board.marker.y;
    done->heading = board.marker.heading;
    done->altitude_cm = board.altitude_cm;
    done->running = (uint32_t)board.running;
    done->skipped = board.scanner.skipped;
    done->stage = (uint32_t)board.control.stage;
    done->number = TURN_GIVEN->number;
}

void board_main(void)
{
    zynq_begin();
    board_reset(&board);
    TURN_DONE->mark = WINDOW_MARK;
    uart_put(DOORBELL, 'R');
    for (;;) {
        wait_for_doorbell();
        uint32_t n = collect(TURN_GIVEN->n_received);
        if (TURN_GIVEN->has_config)
            take_config();
        board.rules = TURN_GIVEN->rules ? PUBLISHED : TOUCHDOWN;
        uint32_t began = timer_ticks();
        sent.length = 0;
        board_turn(&board, received, n, TURN_GIVEN->has_list ? LIST : 0, microseconds(), KINDS, &sent);
        uint32_t ticks = timer_ticks() - began;
        for (uint32_t k = 0; k < sent.length; k++)
            uart_put(LINE, sent.bytes[k]);
        tell(ticks);
        uart_put(DOORBELL, 'D');
    }
}
