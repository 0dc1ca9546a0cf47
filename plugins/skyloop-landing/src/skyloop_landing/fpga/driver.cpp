// Clocks the logic that yosys wrote as C++ (fabric.cpp): pixels in at 720p60's timing, the object list out over its AXI port.
#include <cstdint>

#include "fabric.cpp"

namespace {

using Design = cxxrtl_design::p_landing__fabric;

struct Timing {
    uint32_t width, height, line_blanking, front_porch, sync, back_porch;
};

struct Fabric {
    Design design;
    Timing timing;
    uint64_t clocks = 0;
    uint64_t published_after = 0;  // clocks from the image's last pixel to its list
};

// One rising edge. There is one clock and all logic follows its rising edge, so the falling one needs no evaluation.
void tick(Fabric &f) {
    f.design.prev_p_clk = cxxrtl::value<1>{0u};
    f.design.p_clk = cxxrtl::value<1>{1u};
    f.design.eval();
    f.design.commit();
    ++f.clocks;
}

void blank(Fabric &f, uint64_t clocks) {
    f.design.p_data__enable = cxxrtl::value<1>{0u};
    for (uint64_t k = 0; k < clocks; ++k) tick(f);
}

void blank_lines(Fabric &f, uint32_t lines) {
    blank(f, uint64_t(lines) * (f.timing.width + f.timing.line_blanking));
}

void active_line(Fabric &f, const uint8_t *rgb) {
    f.design.p_data__enable = cxxrtl::value<1>{1u};
    for (uint32_t x = 0; x < f.timing.width; ++x, rgb += 3) {
        f.design.p_red = cxxrtl::value<8>{uint32_t(rgb[0])};
        f.design.p_green = cxxrtl::value<8>{uint32_t(rgb[1])};
        f.design.p_blue = cxxrtl::value<8>{uint32_t(rgb[2])};
        tick(f);
    }
    blank(f, f.timing.line_blanking);
}

// Waits for the list at most as long as the front porch lasts, and always takes that long.
void front_porch(Fabric &f, uint64_t already) {
    uint64_t length = uint64_t(f.timing.front_porch) * (f.timing.width + f.timing.line_blanking);
    for (uint64_t k = 0; k < length; ++k) {
        tick(f);
        if (f.design.p_published.template get<bool>()) f.published_after = already + k;
    }
}

}  // namespace

extern "C" {

void *fabric_open(const uint32_t *timing) {
    auto *f = new Fabric();
    f->timing = {timing[0], timing[1], timing[2], timing[3], timing[4], timing[5]};
    return f;
}

void fabric_close(void *handle) { delete static_cast<Fabric *>(handle); }

uint64_t fabric_clocks(void *handle) { return static_cast<Fabric *>(handle)->clocks; }

uint64_t fabric_latency(void *handle) { return static_cast<Fabric *>(handle)->published_after; }

uint32_t fabric_read(void *handle, uint32_t address) {
    auto &f = *static_cast<Fabric *>(handle);
    f.design.p_araddr = cxxrtl::value<14>{address};
    f.design.p_arvalid = cxxrtl::value<1>{1u};
    do tick(f); while (!f.design.p_arready.template get<bool>());
    f.design.p_arvalid = cxxrtl::value<1>{0u};
    f.design.p_rready = cxxrtl::value<1>{1u};
    do tick(f); while (!f.design.p_rvalid.template get<bool>());
    f.design.p_rready = cxxrtl::value<1>{0u};
    return f.design.p_rdata.template get<uint32_t>();
}

void fabric_write(void *handle, uint32_t address, uint32_t word) {
    auto &f = *static_cast<Fabric *>(handle);
    f.design.p_awaddr = cxxrtl::value<14>{address};
    f.design.p_wdata = cxxrtl::value<32>{word};
    f.design.p_awvalid = f.design.p_wvalid = f.design.p_bready = cxxrtl::value<1>{1u};
    do tick(f); while (!(f.design.p_awready.template get<bool>() && f.design.p_wready.template get<bool>()));
    f.design.p_awvalid = f.design.p_wvalid = cxxrtl::value<1>{0u};
    do tick(f); while (!f.design.p_bvalid.template get<bool>());
    f.design.p_bready = cxxrtl::value<1>{0u};
}

// lines: of the image that are sent; fewer than its height is a broken image.
void fabric_send(void *handle, const uint8_t *rgb, uint32_t lines) {
    auto &f = *static_cast<Fabric *>(handle);
    f.design.p_vsync = cxxrtl::value<1>{1u};
    blank_lines(f, f.timing.sync);
    f.design.p_vsync = cxxrtl::value<1>{0u};
    blank_lines(f, f.timing.back_porch);
    for (uint32_t y = 0; y < lines; ++y) active_line(f, rgb + size_t(y) * f.timing.width * 3);
    front_porch(f, f.timing.line_blanking);
}

}  // extern "C"
