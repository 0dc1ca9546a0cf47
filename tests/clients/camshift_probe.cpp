// Tracks what test_camshift.py draws. Each image on stdin: width, height, where to learn the colour (x, y, width,
// height), where to begin, bins, how often to track (all int32), then the pixels. One line of JSON each.
#include <cstdio>
#include <cstring>
#include <string>

#include "camshift.hpp"

static bool read(void* to, std::size_t n) { return std::fread(to, 1, n, stdin) == n; }

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "hsv") == 0) {
        for (std::uint8_t p[3]; read(p, 3);) {
            const camshift::Hsv c = camshift::hsv(p[0], p[1], p[2]);
            std::printf("[%d, %d, %d]\n", c.hue, c.saturation, c.value);
        }
        return 0;
    }
    for (std::int32_t n[12]; read(n, sizeof n);) {
        std::vector<std::uint8_t> pixels(static_cast<std::size_t>(3 * n[0] * n[1])), weights;
        if (!read(pixels.data(), pixels.size())) return 1;
        const camshift::Image image{pixels.data(), n[0], n[1]};
        const auto model = camshift::HueModel::of(image, {n[2], n[3], n[4], n[5]}, n[10]);
        camshift::Rect window{n[6], n[7], n[8], n[9]};
        std::optional<camshift::Box> box;
        model.back_project(image, weights);
        for (int i = 0; i < n[11]; ++i) box = camshift::track(weights, image.width, image.height, window);
        if (!box) std::puts("null");
        else std::printf("[%.6f, %.6f, %.6f, %.6f, %.6f, %d, %d, %d, %d]\n", box->x, box->y, box->length, box->width,
                         box->angle, window.x, window.y, window.width, window.height);
    }
    return 0;
}
