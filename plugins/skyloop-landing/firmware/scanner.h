/* Frames of the PC in a stream of bytes: AmNN AcNN CNNN SNNN T111 T000. */
#ifndef SCANNER_H
#define SCANNER_H
#include <stdint.h>

enum message_kind { NO_MESSAGE, ALTITUDE, RING_SIZE, SQUARE_SIZE, TRIGGER };

struct message {
    enum message_kind kind;
    int32_t value; /* cm, px, px, or 0 and 1 */
};

struct scanner {
    uint8_t pending[4];
    uint32_t n_pending;
    int32_t metres; /* of an altitude whose centimetres must come next; -1: none */
    uint32_t skipped;
};

void scanner_reset(struct scanner *scanner);

/* Takes one byte. At most one frame ends with it. */
struct message scanner_take(struct scanner *scanner, uint8_t byte);

#endif
