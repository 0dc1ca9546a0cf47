#include "text.h"

static void put_byte(struct text *text, uint8_t byte)
{
    if (text->length < MOST_TEXT)
        text->bytes[text->length++] = byte;
}

void put_words(struct text *text, const char *words)
{
    for (; *words; words++)
        put_byte(text, (uint8_t)*words);
}

void put_decimal(struct text *text, double value)
{
    double size = value < 0.0 ? -value : value;
    if (size != size)
        size = 0.0;
    if (size > 999.999)
        size = 999.999;
    uint32_t thousandths = (uint32_t)(size * 1000.0 + 0.5);
    if (value < 0.0 && thousandths)
        put_byte(text, '-');
    uint32_t whole = thousandths / 1000;
    if (whole >= 100)
        put_byte(text, (uint8_t)('0' + whole / 100));
    if (whole >= 10)
        put_byte(text, (uint8_t)('0' + whole / 10 % 10));
    put_byte(text, (uint8_t)('0' + whole % 10));
    put_byte(text, '.');
    put_byte(text, (uint8_t)('0' + thousandths / 100 % 10));
    put_byte(text, (uint8_t)('0' + thousandths / 10 % 10));
    put_byte(text, (uint8_t)('0' + thousandths % 10));
}
