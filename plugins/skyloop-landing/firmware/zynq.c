#include "zynq.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

/* UART: Zynq-7000 technical reference manual, appendix B.33 */
#define CONTROL 0x00u
#define MODE 0x04u
#define INTERRUPT_ENABLE 0x08u
#define INTERRUPT_DISABLE 0x0Cu
#define INTERRUPT_STATUS 0x14u
#define BAUD_GENERATOR 0x18u
#define RECEIVE_TRIGGER 0x20u
#define STATUS 0x2Cu
#define FIFO 0x30u
#define BAUD_DIVIDER 0x34u
#define RESET_AND_ENABLE 0x17u
#define EIGHT_BITS_NO_PARITY 0x20u
#define RECEIVE_EMPTY 0x02u
#define SEND_FULL 0x10u
/* 100 MHz / (124 * (13 + 1)) = 57 604 baud */
#define DIVIDE_BY 124u
#define DIVIDE_AGAIN_BY 13u

/* Cortex-A9 MPCore: private memory region at 0xF8F00000 */
#define GIC_CPU 0xF8F00100u
#define GLOBAL_TIMER 0xF8F00200u
#define GIC_DISTRIBUTOR 0xF8F01000u
#define UART_1_INTERRUPT 82u

static void uart_begin(uint32_t port)
{
    REGISTER(port + INTERRUPT_DISABLE) = 0x1FFF;
    REGISTER(port + CONTROL) = RESET_AND_ENABLE;
    REGISTER(port + MODE) = EIGHT_BITS_NO_PARITY;
    REGISTER(port + BAUD_GENERATOR) = DIVIDE_BY;
    REGISTER(port + BAUD_DIVIDER) = DIVIDE_AGAIN_BY;
    REGISTER(port + RECEIVE_TRIGGER) = 1;
}

void zynq_begin(void)
{
    uart_begin(LINE);
    uart_begin(DOORBELL);
    REGISTER(GLOBAL_TIMER + 8) = 1;
    /* The interrupt is never taken: it ends a WFI. */
    REGISTER(GIC_DISTRIBUTOR) = 1;
    REGISTER(GIC_DISTRIBUTOR + 0x100 + 4 * (UART_1_INTERRUPT / 32)) = 1u << UART_1_INTERRUPT % 32;
    REGISTER(GIC_CPU + 4) = 0xFF;
    REGISTER(GIC_CPU) = 3;
    REGISTER(DOORBELL + INTERRUPT_ENABLE) = 1;
}

uint32_t timer_ticks(void)
{
    return REGISTER(GLOBAL_TIMER);
}

int uart_has(uint32_t port)
{
    return !(REGISTER(port + STATUS) & RECEIVE_EMPTY);
}

uint8_t uart_take(uint32_t port)
{
    return (uint8_t)REGISTER(port + FIFO);
}

void uart_put(uint32_t port, uint8_t byte)
{
    while (REGISTER(port + STATUS) & SEND_FULL)
        ;
    REGISTER(port + FIFO) = byte;
}

void wait_for_doorbell(void)
{
    while (!uart_has(DOORBELL)) {
        REGISTER(DOORBELL + INTERRUPT_STATUS) = 0x1FFF;
        if (!uart_has(DOORBELL))
            __asm volatile("wfi");
    }
    uart_take(DOORBELL);
}
