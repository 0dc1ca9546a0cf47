/* The same rules as FrameScanner in skyloop.links.landing_board.serial_frames. */
#include "scanner.h"

enum fit { NO_FRAME, BEGINNING, FRAME };

void scanner_reset(struct scanner *scanner)
{
    scanner->n_pending = 0;
    scanner->metres = -1;
    scanner->skipped = 0;
}

static int is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* Whether `bytes` from `first` on are digits. */
static int are_digits(const uint8_t *bytes, uint32_t first, uint32_t n)
{
    for (uint32_t k = first; k < n; k++)
        if (!is_digit(bytes[k]))
            return 0;
    return 1;
}

static enum fit fits(const uint8_t *bytes, uint32_t n)
{
    int fine = 1;
    switch (bytes[0]) {
    case 'A':
        fine = n < 2 || ((bytes[1] == 'm' || bytes[1] == 'c') && are_digits(bytes, 2, n));
        break;
    case 'C':
    case 'S':
        fine = are_digits(bytes, 1, n);
        break;
    case 'T':
        for (uint32_t k = 1; k < n; k++)
            fine = fine && (bytes[k] == '0' || bytes[k] == '1') && bytes[k] == bytes[1];
        break;
    default:
        fine = 0;
    }
    if (!fine)
        return NO_FRAME;
    return n == 4 ? FRAME : BEGINNING;
}

static struct message read_frame(struct scanner *scanner)
{
    const uint8_t *bytes = scanner->pending;
    struct message message = {NO_MESSAGE, 0};
    int32_t metres = scanner->metres;
    int32_t tens = 10 * (bytes[2] - '0') + bytes[3] - '0';
    int32_t hundreds = 100 * (bytes[1] - '0') + tens;
    scanner->metres = -1;
    switch (bytes[0]) {
    case 'A':
        if (bytes[1] == 'm') {
            scanner->metres = tens;
        } else if (metres >= 0) {
            message.kind = ALTITUDE;
            message.value = 100 * metres + tens;
        }
        break;
    case 'C':
        message.kind = RING_SIZE;
        message.value = hundreds;
        break;
    case 'S':
        message.kind = SQUARE_SIZE;
        message.value = hundreds;
        break;
    default:
        message.kind = TRIGGER;
        message.value = bytes[1] == '1';
    }
    return message;
}

struct message scanner_take(struct scanner *scanner, uint8_t byte)
{
    struct message message = {NO_MESSAGE, 0};
    scanner->pending[scanner->n_pending++] = byte;
    while (scanner->n_pending > 0) {
        enum fit fit = fits(scanner->pending, scanner->n_pending);
        if (fit == BEGINNING)
            break;
        if (fit == FRAME) {
            message = read_frame(scanner);
            scanner->n_pending = 0;
            break;
        }
        scanner->skipped++;
        scanner->metres = -1;
        scanner->n_pending--;
        for (uint32_t k = 0; k < scanner->n_pending; k++)
            scanner->pending[k] = scanner->pending[k + 1];
    }
    return message;
}
