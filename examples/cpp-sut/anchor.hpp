// An anchor, a board of known colour and height, tracked through images by CamShift. The definitions are those of
// clients/python/src/skyloop_client/tasks/anchor.py.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "camshift.hpp"

namespace anchor {

constexpr int kMostRuns = 10;  // of CamShift on one image

struct Anchor {
    int hue = 120, hue_reach = 3;      // half degrees; 120 is blue
    int saturation = 200, value = 60;  // least values, of 255
    double height = 0.5;               // m
    int smallest_px = 12;              // fewer pixels do not count as the anchor
};

struct Lens {
    double fx, fy, cx, cy;  // px
};

// The position of the anchor in an image.
struct Roi {
    double u, v;    // px, mean column and row
    double height;  // px
    int pixels;

    // rad in the image's horizontal plane, positive to the left
    double angle(const Lens& lens) const { return std::atan2(lens.cx - u, lens.fx); }
    // m from the camera; the apparent height of an upright board does not depend on the side it is seen from
    double distance(const Lens& lens, double true_height) const {
        const double across = (u - lens.cx) / lens.fx, down = (v - lens.cy) / lens.fy;
        return lens.fy * true_height / height * std::sqrt(1 + across * across + down * down);
    }
};

class Tracker {
public:
    explicit Tracker(const Anchor& anchor)
        : anchor_(anchor),
          model_(camshift::HueModel::band(anchor.hue, anchor.hue_reach, anchor.saturation, anchor.value)) {}

    // Empty if CamShift does not converge. Then the whole next image is searched.
    std::optional<Roi> find(const camshift::Image& image) {
        model_.back_project(image, weights_);
        camshift::Rect window = window_.value_or(camshift::Rect{0, 0, image.width, image.height});
        window_.reset();
        for (int run = 0; run < kMostRuns; ++run) {
            const camshift::Rect before = window;
            if (!camshift::track(weights_, image.width, image.height, window)) return std::nullopt;
            if (!same(before, window)) continue;
            const std::optional<Roi> roi = measured(image, window);
            if (roi) window_ = window;
            return roi;
        }
        return std::nullopt;
    }

private:
    // No side moved by more than a pixel.
    static bool same(const camshift::Rect& a, const camshift::Rect& b) {
        return std::abs(a.x - b.x) <= 1 && std::abs(a.y - b.y) <= 1 && std::abs(a.x + a.width - b.x - b.width) <= 1 &&
               std::abs(a.y + a.height - b.y - b.height) <= 1;
    }
    std::optional<Roi> measured(const camshift::Image& image, const camshift::Rect& window) const {
        const int more_x = 2 + window.width / 5, more_y = 2 + window.height / 5;
        const auto part = camshift::Rect{window.x - more_x, window.y - more_y, window.width + 2 * more_x,
                                         window.height + 2 * more_y}
                              .inside(image.width, image.height);
        double columns = 0, rows = 0;
        int pixels = 0;
        std::vector<int> tall;  // pixels in each column that has any
        for (int x = part.x; x < part.x + part.width; ++x) {
            const int before = pixels;
            for (int y = part.y; y < part.y + part.height; ++y)
                if (weights_[static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                             static_cast<std::size_t>(x)])
                    ++pixels, columns += x, rows += y;
            if (pixels > before) tall.push_back(pixels - before);
        }
        if (pixels < anchor_.smallest_px) return std::nullopt;
        // in a tilted camera the outer columns are partly empty, so a quarter on each side is left out
        const std::size_t edge = tall.size() / 4;
        double sum = 0;
        for (std::size_t i = edge; i < tall.size() - edge; ++i) sum += tall[i];
        return Roi{columns / pixels, rows / pixels, sum / static_cast<double>(tall.size() - 2 * edge), pixels};
    }

    Anchor anchor_;
    camshift::HueModel model_;
    std::vector<std::uint8_t> weights_;
    std::optional<camshift::Rect> window_;
};

}  // namespace anchor
