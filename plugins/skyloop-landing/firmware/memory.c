/* What the compiler may call where there is no C library. */
#include <stddef.h>
#include <stdint.h>

/* Without this the compiler would turn each of these loops into a call of the function it is in. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0)
        for (; n >= 4; n -= 4, out += 4, in += 4)
            *(uint32_t *)(void *)out = *(const uint32_t *)(const void *)in;
    while (n--)
        *out++ = *in++;
    return to;
}

void *memset(void *to, int value, size_t n)
{
    uint8_t *out = to;
    while (n--)
        *out++ = (uint8_t)value;
    return to;
}
