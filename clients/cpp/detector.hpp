// Runs skyloop's people detector in plain C++17: convolutions on one thread, nothing to link.
//
//     skyloop::Detector detector(skyloop::Detector::file("people.board"));    // written by `skyloop train people`
//     const skyloop::Detections found = detector.find(pixels, 3);             // red, green, blue; top row first
//
// The file holds the layers one after the other, with the normalisations in the convolutions, and the anchors for one
// size of images. skyloop_detect/board_file.py writes it, in the encoding of the link's messages.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <numeric>

#include "skyloop_client.hpp"

namespace skyloop {

class Detector {
public:
    static Value file(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        Bytes bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
        if (!in.good() && !in.eof()) throw Error("cannot read '" + path + "'");
        if (bytes.empty()) throw Error("'" + path + "' is empty or does not exist");
        return decode(std::move(bytes));
    }

    explicit Detector(const Value& model) {
        if (model["type"].text() != "skyloop detector 1") throw Error("this file holds no detector for this program");
        const auto size = model["size"].numbers<2>();
        height_ = static_cast<int>(size[0]), width_ = static_cast<int>(size[1]);
        for (const Value& name : model["classes"].list()) classes_.push_back(name.text());
        anchors_ = floats(model["anchors"]);
        scales_ = model["scales"].numbers<4>();
        largest_log_ = model["largest_log"].number(), least_score_ = model["least_score"].number();
        overlap_ = model["overlap"].number();
        most_ = count(model["most"]), candidates_ = count(model["candidates"]);
        if (height_ < 1 || width_ < 1 || height_ > 4096 || width_ > 4096 || classes_.empty())
            throw ProtocolError("a detector without a size or classes");
        maps_.push_back(Map(3, height_, width_));
        for (const Value& step : model["steps"].list()) add(step);
        for (const Value& number : model["scores"].list()) scores_.push_back(known(number));
        for (const Value& number : model["offsets"].list()) offsets_.push_back(known(number));
        if (answers(scores_, classes_.size()).size() != anchors() * classes_.size() ||
            answers(offsets_, 4).size() != anchors() * 4)
            throw ProtocolError("a detector whose answers do not fit its anchors");
    }

    int width() const { return width_; }
    int height() const { return height_; }

    Detections find(const std::uint8_t* pixels, int channels) {
        const std::size_t cells = static_cast<std::size_t>(height_) * static_cast<std::size_t>(width_);
        for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t p = 0; p < cells; ++p)
                maps_[0].plane(c)[p] = pixels[channels == 3 ? 3 * p + c : p];  // grey is the same in all three
        for (const Step& step : steps_) run(step);
        return kept(answers(scores_, classes_.size()), answers(offsets_, 4));
    }

private:
    typedef float Four __attribute__((vector_size(16)));
    static constexpr std::size_t kTile = 16;  // cells that are computed together

    // Channels of equal size one after the other, each filled up to whole tiles.
    struct Map {
        std::size_t channels, height, width, stride;
        std::vector<Four> cells;
        Map(std::size_t c, std::size_t h, std::size_t w)
            : channels(c), height(h), width(w), stride((h * w + kTile - 1) / kTile * kTile), cells(c * stride / 4) {}
        float* plane(std::size_t c) { return reinterpret_cast<float*>(cells.data()) + c * stride; }
        const float* plane(std::size_t c) const { return reinterpret_cast<const float*>(cells.data()) + c * stride; }
    };
    struct Step {
        enum Kind { kConvolution, kAdd, kDouble } kind;
        std::size_t from, with, to;  // numbers of maps; with: of kAdd and kDouble
        std::size_t size, step, groups;
        bool rectify;
        std::vector<float> weight, bias;
    };

    static std::size_t count(const Value& value) {
        if (value.integer() < 0) throw ProtocolError("a negative number where a count belongs");
        return static_cast<std::size_t>(value.integer());
    }
    std::size_t known(const Value& value) const {
        if (count(value) >= maps_.size()) throw ProtocolError("a step of a detector takes a map that is not there yet");
        return count(value);
    }
    static std::vector<float> floats(const Value& value) {
        const auto view = value.array().as<float>();
        std::vector<float> out(value.array().size());
        std::memcpy(out.data(), view.bytes, out.size() * sizeof(float));
        return out;
    }

    // Each step makes the next map.
    void add(const Value& told) {
        const std::string& kind = told["kind"].text();
        Step step{Step::kConvolution, known(told["from"]), 0, maps_.size(), 1, 1, 1, false, {}, {}};
        const Map& from = maps_[step.from];
        if (kind == "convolution") {
            step.weight = floats(told["weight"]), step.bias = floats(told["bias"]);
            step.size = count(told["size"]), step.step = count(told["step"]), step.groups = count(told["groups"]);
            step.rectify = told["rectify"].boolean();
            const std::size_t made = step.bias.size();
            if ((step.size != 1 && step.size != 3) || !(step.step == 1 || (step.step == 2 && step.size == 3)) ||
                step.groups < 1 || from.channels % step.groups || made % step.groups || made < 1 ||
                step.weight.size() != made * (from.channels / step.groups) * step.size * step.size)
                throw ProtocolError("a convolution that does not fit its input");
            const auto halved = [&](std::size_t n) { return (n + step.step - 1) / step.step; };
            maps_.push_back(Map(made, halved(from.height), halved(from.width)));
        } else {
            step.kind = kind == "add" ? Step::kAdd : Step::kDouble;
            step.with = known(told["with"]);
            const Map& with = maps_[step.with];
            const std::size_t factor = step.kind == Step::kAdd ? 1 : 2;
            if ((kind != "add" && kind != "double") || with.channels != from.channels ||
                with.height * factor < from.height || with.width * factor < from.width)
                throw ProtocolError("a step of a detector that is not known or does not fit");
            maps_.push_back(Map(from.channels, from.height, from.width));
        }
        steps_.push_back(std::move(step));
    }

    void run(const Step& step) {
        const Map &from = maps_[step.from], &with = maps_[step.with];
        Map& to = maps_[step.to];
        if (step.kind == Step::kConvolution) {
            if (step.size == 1 && step.groups == 1) {
                std::size_t c = 0;
                for (; c + 4 <= to.channels; c += 4) single_cells<4>(step, from, to, c);
                for (; c < to.channels; ++c) single_cells<1>(step, from, to, c);
            } else {
                for (std::size_t c = 0; c < to.channels; ++c) neighbours(step, from, to, c);
            }
            if (step.rectify)
                for (std::size_t c = 0; c < to.channels; ++c)
                    for (float *cell = to.plane(c), *end = cell + to.stride; cell < end; ++cell)
                        *cell = std::max(*cell, 0.0f);
            return;
        }
        const std::size_t factor = step.kind == Step::kAdd ? 1 : 2;
        for (std::size_t c = 0; c < to.channels; ++c)
            for (std::size_t y = 0; y < to.height; ++y)
                for (std::size_t x = 0; x < to.width; ++x)
                    to.plane(c)[y * to.width + x] =
                        from.plane(c)[y * to.width + x] + with.plane(c)[y / factor * with.width + x / factor];
    }

    // A convolution of single cells: N channels of a tile at a time, so that the sums stay in registers.
    template <int N>
    static void single_cells(const Step& step, const Map& from, Map& to, std::size_t first) {
        for (std::size_t p = 0; p < from.stride / 4; p += kTile / 4) {
            Four sums[N][kTile / 4];
            for (int n = 0; n < N; ++n)
                for (auto& sum : sums[n]) sum = Four{} + step.bias[first + static_cast<std::size_t>(n)];
            for (std::size_t c = 0; c < from.channels; ++c) {
                const Four* cells = from.cells.data() + c * from.stride / 4 + p;
                for (int n = 0; n < N; ++n) {
                    const float weight = step.weight[(first + static_cast<std::size_t>(n)) * from.channels + c];
                    for (std::size_t k = 0; k < kTile / 4; ++k) sums[n][k] += cells[k] * weight;
                }
            }
            for (int n = 0; n < N; ++n)
                std::copy(std::begin(sums[n]), std::end(sums[n]),
                          reinterpret_cast<Four*>(to.plane(first + static_cast<std::size_t>(n))) + p);
        }
    }

    // A convolution of 3 x 3 cells (or of 1 x 1 in groups), with zeros around the map: one channel, row by row.
    static void neighbours(const Step& step, const Map& from, Map& to, std::size_t channel) {
        const std::size_t per_group = from.channels / step.groups, made = to.channels / step.groups;
        const std::size_t pad = step.size / 2;
        float* out = to.plane(channel);
        std::fill(out, out + to.stride, step.bias[channel]);
        for (std::size_t c = 0; c < per_group; ++c) {
            const float* in = from.plane(channel / made * per_group + c);
            const float* weights = step.weight.data() + (channel * per_group + c) * step.size * step.size;
            for (std::size_t y = 0; y < to.height; ++y)
                for (std::size_t ky = 0; ky < step.size; ++ky) {
                    const std::size_t row = y * step.step + ky;
                    if (row < pad || row >= from.height + pad) continue;
                    for (std::size_t kx = 0; kx < step.size; ++kx)
                        along(out + y * to.width, in + (row - pad) * from.width, weights[ky * step.size + kx], kx, pad,
                              step.step, from.width, to.width);
                }
        }
    }
    static void along(float* out, const float* in, float weight, std::size_t kx, std::size_t pad, std::size_t step,
                      std::size_t from_width, std::size_t to_width) {
        std::size_t first = kx < pad ? 1 : 0, last = to_width;
        while (last > first && (last - 1) * step + kx >= from_width + pad) --last;
        for (std::size_t x = first; x < last; ++x) out[x] += weight * in[x * step + kx - pad];
    }

    std::size_t anchors() const { return anchors_.size() / 4; }

    // By anchor: by map, row, column and anchor of the cell, each with `per_anchor` numbers.
    std::vector<float> answers(const std::vector<std::size_t>& numbers, std::size_t per_anchor) const {
        std::vector<float> out;
        for (const std::size_t number : numbers) {
            const Map& map = maps_[number];
            for (std::size_t p = 0; p < map.height * map.width; ++p)
                for (std::size_t c = 0; c < map.channels / per_anchor * per_anchor; ++c) out.push_back(map.plane(c)[p]);
        }
        return out;
    }

    using Box = std::array<double, 4>;
    Box decoded(const float* offsets, const float* anchor) const {
        Box out{};
        for (std::size_t k = 0; k < 2; ++k) {
            const double middle = anchor[k] + offsets[k] * scales_[k] * anchor[k + 2];
            const double side = anchor[k + 2] * std::exp(std::min(offsets[k + 2] * scales_[k + 2], largest_log_));
            const double limit = k == 0 ? width_ : height_;
            out[k] = std::clamp(middle - 0.5 * side, 0.0, limit);
            out[k + 2] = std::clamp(middle + 0.5 * side, 0.0, limit);
        }
        return out;
    }
    static double overlap(const Box& a, const Box& b) {
        const double w = std::min(a[2], b[2]) - std::max(a[0], b[0]), h = std::min(a[3], b[3]) - std::max(a[1], b[1]);
        if (w <= 0 || h <= 0) return 0;
        return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h);
    }

    // The best answers as boxes, without those that a better one of their class covers.
    Detections kept(const std::vector<float>& logits, const std::vector<float>& offsets) const {
        std::vector<std::pair<double, std::size_t>> best;  // minus the score, so that the first is the best
        for (std::size_t k = 0; k < logits.size(); ++k) {
            const double score = 1.0 / (1.0 + std::exp(-static_cast<double>(logits[k])));
            if (score > least_score_) best.emplace_back(-score, k);
        }
        std::sort(best.begin(), best.end());
        best.resize(std::min(best.size(), candidates_));
        Detections out;
        for (const auto& [score, k] : best) {
            const std::size_t anchor = k / classes_.size();
            const std::string& name = classes_[k % classes_.size()];
            const Box box = decoded(&offsets[4 * anchor], &anchors_[4 * anchor]);
            bool covered = box[2] - box[0] <= 0.5 || box[3] - box[1] <= 0.5;
            for (std::size_t other = 0; other < out.boxes_px.size() && !covered; ++other)
                covered = out.classes[other] == name && overlap(out.boxes_px[other], box) > overlap_;
            if (covered) continue;
            out.boxes_px.push_back(box), out.classes.push_back(name), out.scores.push_back(-score);
            if (out.scores.size() == most_) break;
        }
        return out;
    }

    int height_ = 0, width_ = 0;
    std::vector<std::string> classes_;
    std::vector<float> anchors_;
    std::array<double, 4> scales_{};
    double largest_log_ = 0, least_score_ = 0, overlap_ = 0;
    std::size_t most_ = 0, candidates_ = 0;
    std::vector<Map> maps_;  // 0 is the image
    std::vector<Step> steps_;
    std::vector<std::size_t> scores_, offsets_;
};

}  // namespace skyloop
