/* The parts of a Zynq-7000 that the firmware uses: two serial ports, the global timer, the interrupt controller. */
#ifndef ZYNQ_H
#define ZYNQ_H
#include <stdint.h>

#define LINE 0xE0000000u     /* UART 0: the PC */
#define DOORBELL 0xE0001000u /* UART 1: a byte comes for each turn, and one goes back when it is done */

void zynq_begin(void);
uint32_t timer_ticks(void);
int uart_has(uint32_t port);
uint8_t uart_take(uint32_t port);
void uart_put(uint32_t port, uint8_t byte);
void wait_for_doorbell(void);

#endif
