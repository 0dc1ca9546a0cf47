// CamShift: tracks a coloured object through images by the mean and the spread of its colour's likelihood.
//
// After Bradski, "Computer vision face tracking for use in a perceptual user interface" (1998), with OpenCV's
// definitions, so that results can be compared: hue in half degrees, and a box four standard deviations long and wide.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace camshift {

constexpr int kHues = 180;       // half degrees
constexpr int kMaxShifts = 10;   // of the window within one image
constexpr int kMargin = 10;      // px around the window into which the object may have grown

struct Image {
    const std::uint8_t* pixels;  // red, green, blue; top row first
    int width, height;
};

struct Rect {
    int x, y, width, height;
    Rect inside(int columns, int rows) const {
        const int left = std::clamp(x, 0, columns), top = std::clamp(y, 0, rows);
        return {left, top, std::clamp(x + width, left, columns) - left, std::clamp(y + height, top, rows) - top};
    }
};

// A blob: its centroid and four standard deviations along its main axes. A filled rectangle of sides a and b has the
// standard deviation a/√12 along a, so its box is 4a/√12 = 1.155 a long.
struct Box {
    double x, y;           // px; the centre of the first pixel is (0, 0)
    double length, width;  // px, length >= width
    double angle;          // rad, of the length, from the image's right towards its bottom, 0 to pi
};

struct Hsv {
    int hue, saturation, value;  // 0..179, 0..255, 0..255
};

inline Hsv hsv(int red, int green, int blue) {
    const int most = std::max({red, green, blue}), spread = most - std::min({red, green, blue});
    if (spread == 0) return {0, 0, most};
    int sector, difference;
    if (most == red) sector = 0, difference = green - blue;
    else if (most == green) sector = 60, difference = blue - red;
    else sector = 120, difference = red - green;
    // rounded to the nearest; the added 180 spread keeps the division's argument positive
    const int hue = (2 * (30 * difference + (sector + 180) * spread) + spread) / (2 * spread);
    return {hue % kHues, (2 * 255 * spread + most) / (2 * most), most};
}

// The likelihood that a hue belongs to the object, 0..255. Pixels that are too grey or too dark are ignored.
class HueModel {
public:
    int min_saturation = 60, min_value = 32;

    // A known colour: hues within `reach` of `hue` have full likelihood, others none (half degrees).
    static HueModel band(int hue, int reach, int saturation, int value) {
        HueModel out;
        out.min_saturation = saturation, out.min_value = value;
        for (int h = 0; h < kHues; ++h)
            if (std::abs(std::remainder(h - hue, kHues)) <= reach) out.likelihood_[static_cast<std::size_t>(h)] = 255;
        return out;
    }
    // The colours in a part of an image: their histogram, scaled so that its highest bin is 255.
    static HueModel of(const Image& image, Rect part, int bins) {
        HueModel out;
        part = part.inside(image.width, image.height);
        std::vector<long> counts(static_cast<std::size_t>(bins));
        for (int y = part.y; y < part.y + part.height; ++y)
            for (int x = part.x; x < part.x + part.width; ++x) {
                const Hsv pixel = out.at(image, x, y);
                if (out.sees(pixel)) ++counts[static_cast<std::size_t>(pixel.hue * bins / kHues)];
            }
        const long most = std::max(1L, *std::max_element(counts.begin(), counts.end()));
        for (int h = 0; h < kHues; ++h)
            out.likelihood_[static_cast<std::size_t>(h)] = static_cast<std::uint8_t>(
                std::lround(255.0 * static_cast<double>(counts[static_cast<std::size_t>(h * bins / kHues)]) /
                            static_cast<double>(most)));
        return out;
    }

    // The likelihood of each pixel.
    void back_project(const Image& image, std::vector<std::uint8_t>& out) const {
        out.resize(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
        std::size_t i = 0;
        for (int y = 0; y < image.height; ++y)
            for (int x = 0; x < image.width; ++x, ++i) {
                const Hsv pixel = at(image, x, y);
                out[i] = sees(pixel) ? likelihood_[static_cast<std::size_t>(pixel.hue)] : std::uint8_t{0};
            }
    }

private:
    bool sees(const Hsv& pixel) const { return pixel.saturation >= min_saturation && pixel.value >= min_value; }
    static Hsv at(const Image& image, int x, int y) {
        const std::uint8_t* p = image.pixels + 3 * (static_cast<std::ptrdiff_t>(y) * image.width + x);
        return hsv(p[0], p[1], p[2]);
    }
    std::array<std::uint8_t, kHues> likelihood_{};
};

struct Moments {
    double mass = 0, x = 0, y = 0;         // sum of the weights, centroid (px)
    double xx = 0, xy = 0, yy = 0;         // variance (px²)
};

inline Moments moments(const std::vector<std::uint8_t>& weights, int columns, const Rect& window) {
    std::int64_t sum = 0, x1 = 0, y1 = 0, x2 = 0, xy = 0, y2 = 0;  // about the window's corner: exact, no overflow
    for (int y = 0; y < window.height; ++y) {
        const std::uint8_t* row = weights.data() + static_cast<std::ptrdiff_t>(window.y + y) * columns + window.x;
        std::int64_t row_sum = 0, row_x = 0, row_xx = 0;
        for (std::int64_t x = 0; x < window.width; ++x)
            row_sum += row[x], row_x += x * row[x], row_xx += x * x * row[x];
        sum += row_sum, x1 += row_x, x2 += row_xx;
        y1 += y * row_sum, xy += y * row_x, y2 += std::int64_t{y} * y * row_sum;
    }
    Moments out;
    if (sum == 0) return out;
    out.mass = static_cast<double>(sum);
    const double mx = static_cast<double>(x1) / out.mass, my = static_cast<double>(y1) / out.mass;
    out.x = window.x + mx, out.y = window.y + my;
    out.xx = std::max(0.0, static_cast<double>(x2) / out.mass - mx * mx);
    out.yy = std::max(0.0, static_cast<double>(y2) / out.mass - my * my);
    out.xy = static_cast<double>(xy) / out.mass - mx * my;
    return out;
}

// Moves the window onto the centroid of its content until it no longer moves.
inline Rect mean_shift(const std::vector<std::uint8_t>& weights, int columns, int rows, Rect window) {
    window = window.inside(columns, rows);
    for (int i = 0; i < kMaxShifts; ++i) {
        const Moments m = moments(weights, columns, window);
        if (m.mass == 0) break;
        const int x = static_cast<int>(std::lround(m.x - 0.5 * window.width));
        const int y = static_cast<int>(std::lround(m.y - 0.5 * window.height));
        const Rect next{std::clamp(x, 0, columns - window.width), std::clamp(y, 0, rows - window.height), window.width,
                        window.height};
        const bool stays = next.x == window.x && next.y == window.y;
        window = next;
        if (stays) break;
    }
    return window;
}

// Finds the blob near `window` and sets `window` for the next image. Empty if no pixel is likely.
inline std::optional<Box> track(const std::vector<std::uint8_t>& weights, int columns, int rows, Rect& window) {
    window = mean_shift(weights, columns, rows, window);
    window = Rect{window.x - kMargin, window.y - kMargin, window.width + 2 * kMargin, window.height + 2 * kMargin}
                 .inside(columns, rows);
    const Moments m = moments(weights, columns, window);
    if (m.mass == 0) return std::nullopt;

    // eigenvalues and axis of the covariance
    const double middle = (m.xx + m.yy) / 2, swing = std::hypot((m.xx - m.yy) / 2, m.xy);
    double angle = std::atan2(2 * m.xy, m.xx - m.yy) / 2;
    if (angle < 0) angle += M_PI;
    const Box box{m.x, m.y, 4 * std::sqrt(middle + swing), 4 * std::sqrt(std::max(0.0, middle - swing)), angle};

    // the upright window around the box, a pixel wider on each side
    const double c = std::abs(std::cos(angle)), s = std::abs(std::sin(angle));
    const int wide = 2 + static_cast<int>(std::lround(std::max(box.length * c, box.width * s)));
    const int high = 2 + static_cast<int>(std::lround(std::max(box.length * s, box.width * c)));
    const int x = static_cast<int>(std::lround(box.x)), y = static_cast<int>(std::lround(box.y));
    window = Rect{x - wide / 2, y - high / 2, wide, high}.inside(columns, rows);
    return box;
}

}  // namespace camshift
