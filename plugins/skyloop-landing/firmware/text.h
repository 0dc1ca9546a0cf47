/* Lines of text for the PC, without a C library. */
#ifndef TEXT_H
#define TEXT_H
#include <stdint.h>

#define MOST_TEXT 256

struct text {
    uint32_t length;
    uint8_t bytes[MOST_TEXT];
};

void put_words(struct text *text, const char *words);

/* Thousandths, rounded half away from zero; NaN is 0.000, the greatest is 999.999, and there is no -0.000. */
void put_decimal(struct text *text, double value);

#endif
