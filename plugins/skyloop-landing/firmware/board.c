#include "board.h"

/* Without an image for longer than this the marker counts as not seen; until then the last command holds. */
#define BLIND_AFTER 250000u

void board_reset(struct board *board)
{
    *board = (struct board){.altitude_cm = -1, .config = default_config, .refusal = NO_PAIR, .rules = TOUCHDOWN};
    board->least_area = least_area(0x7FFF, TOUCHDOWN);
    scanner_reset(&board->scanner);
    control_reset(&board->control);
}

static void begin(struct board *board, double t, uint64_t microseconds)
{
    board->running = 1;
    board->sighting = (struct sighting){0};
    board->refusal = NO_PAIR;
    board->list_at = microseconds;
    control_reset(&board->control);
    if (board->altitude_cm >= 0)
        control_measured(&board->control, board->altitude_cm / 100.0, t, &board->config);
}

/* Returns whether it was a trigger, which is answered even if it is resent. */
static int obey(struct board *board, struct message message, double t, uint64_t microseconds)
{
    switch (message.kind) {
    case ALTITUDE:
        board->altitude_cm = message.value;
        control_measured(&board->control, message.value / 100.0, t, &board->config);
        break;
    case RING_SIZE:
        board->sizes.ring = message.value;
        break;
    case SQUARE_SIZE:
        board->sizes.square = message.value;
        break;
    case TRIGGER:
        if (message.value && !board->running)
            begin(board, t, microseconds);
        board->running = message.value;
        return 1;
    default:
        break;
    }
    return 0;
}

/* cm, as the controller believes it; -1 before the first reading. */
static int32_t believed_altitude(const struct board *board)
{
    return board->control.has_altitude ? (int32_t)(100.0 * board->control.altitude + 0.5) : -1;
}

static void say(struct text *sent, struct command command)
{
    put_words(sent, "v:");
    put_decimal(sent, command.vx);
    put_words(sent, ",");
    put_decimal(sent, command.vy);
    put_words(sent, ",");
    put_decimal(sent, command.vz);
    put_words(sent, "\ny:");
    put_decimal(sent, command.yaw_rate_deg);
    put_words(sent, "\n");
}

static const struct marker *see(struct board *board, const volatile uint32_t *list, volatile uint8_t *kinds)
{
    int32_t altitude_cm = believed_altitude(board);
    struct sizes sizes = board->sizes;
    if (altitude_cm < 0)
        return 0;
    if (sizes.ring == 0 || sizes.square == 0)
        sizes = expected_sizes(altitude_cm);
    board->refusal = look(list, altitude_cm, sizes, board->rules, &board->sighting, &board->marker, kinds);
    return board->refusal == MARKER_FOUND ? &board->marker : 0;
}

void board_turn(struct board *board, const uint8_t *received, uint32_t n, const volatile uint32_t *list,
                uint64_t microseconds, volatile uint8_t *kinds, struct text *sent)
{
    double t = (double)microseconds / 1e6;
    int triggered = 0;
    for (uint32_t k = 0; k < n; k++)
        triggered |= obey(board, scanner_take(&board->scanner, received[k]), t, microseconds);
    if (triggered)
        put_words(sent, board->running ? "t:1\n" : "t:0\n");
    if (!board->running)
        return;
    if (list || microseconds - board->list_at > BLIND_AFTER) {
        const struct marker *marker = 0;
        if (list) {
            board->list_at = microseconds;
            marker = see(board, list, kinds);
        }
        struct command command = control_advance(&board->control, marker, t, &board->config);
        if (board->control.stage == LAND) {
            /* until the PC stops the board, in case a line is lost */
            put_words(sent, "l:\n");
            return;
        }
        say(sent, command);
        if (believed_altitude(board) >= 0)
            board->least_area = least_area(believed_altitude(board), board->rules);
    }
    put_words(sent, "a:\nf:\n");
}
