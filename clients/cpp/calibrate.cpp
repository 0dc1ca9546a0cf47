// Measures the speed of this computer as JSON. Run it on both computers, then: skyloop size ... --board board.json
//     g++ -O2 -std=c++17 calibrate.cpp -o calibrate && ./calibrate > board.json
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

constexpr int kRepeats = 7;  // the fastest run counts, because the others were disturbed
volatile double sink;        // keeps the compiler from removing unused results

double processor_time() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Dependent branches and look-ups.
void integers() {
    std::vector<std::uint32_t> table(1 << 12);
    std::uint32_t value = 1;
    for (int k = 0; k < 10'000'000; ++k) {
        value = value * 1664525u + 1013904223u;
        std::uint32_t& entry = table[value >> 20];
        entry += value & 1 ? entry ^ value : static_cast<std::uint32_t>(k);
    }
    sink = table[value >> 20];
}

// Edges in 50 images of 320 by 240.
void arithmetic() {
    constexpr int width = 320, height = 240;
    std::vector<float> image(width * height), edges(image.size());
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 251);
    for (int k = 0; k < 50; ++k) {
        for (int y = 1; y < height - 1; ++y) {
            for (int x = 1; x < width - 1; ++x) {
                const int i = y * width + x;
                const float across = image[i + 1] - image[i - 1], down = image[i + width] - image[i - width];
                edges[i] = std::sqrt(across * across + down * down);
            }
        }
        image.swap(edges);
    }
    sink = image[width + 1];
}

// 64 MiB, copied four times, which is larger than a cache.
void memory() {
    std::vector<char> from(64 << 20, 1), to(from.size());
    for (int k = 0; k < 4; ++k) std::memcpy(to.data(), from.data(), from.size()), from.swap(to), from[k] = 2;
    sink = from[7];
}

double rate(void (*work)()) {
    double quickest = 1e9;
    for (int k = 0; k < kRepeats; ++k) {
        const double began = processor_time();
        work();
        quickest = std::min(quickest, processor_time() - began);
    }
    return 1.0 / std::max(quickest, 1e-9);
}

}  // namespace

int main() {
    utsname system{};
    uname(&system);
    std::printf("{\"program\": \"c++ 1\", \"machine\": \"%s (%s)\", \"rates\": {\"integers\": %.6g, \"arithmetic\": %.6g, "
                "\"memory\": %.6g}}\n",
                system.nodename, system.machine, rate(integers), rate(arithmetic), rate(memory));
}
