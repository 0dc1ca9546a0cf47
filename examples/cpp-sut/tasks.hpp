// The tasks of "Simulation and Test of UAV Tasks With Resource-Constrained Hardware in the Loop" (Algorithms 1 to 5),
// as in src/skyloop/tasks/: initialisation, a loop until a condition holds, finalisation; tasks start tasks.
//
// Time is the client's execution time; nothing here looks at another clock, and nothing pretends to compute.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "camshift.hpp"
#include "skyloop_client.hpp"

namespace tasks {

struct TaskError : skyloop::Error { using Error::Error; };

constexpr double kPi = 3.14159265358979323846;
constexpr double kGravity = 9.80665;  // m/s²

struct Options {
    std::string camera = "front", imu = "imu", stream = "front";
    int samples = 100;             // of sensor characterisation
    double altitude = 1.5;         // m, of the take-off before a task that flies
    double anchor_hue_deg = 240;   // blue
    double hue_spread_deg = 30;
    double anchor_width = 0.5;     // m, of the square anchor
    int patience = 20;             // images without a trace of the anchor, or without convergence
    double settled_px = 2;         // how little the box may change from image to image
    double precision = 0.05;       // rad
    double yaw_rate = 0.5;         // rad/s, halved at each reversal
    double speed = 0.15;           // m/s, of moving forward
    double path_speed = 0.5;       // m/s, of the closed path
    double distance = 2;           // m, of each of its legs
};

// One flat JSON object, built up in order.
class Json {
public:
    Json& add(const std::string& key, double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.9g", value);
        return raw(key, std::isfinite(value) ? text : "null");
    }
    Json& add(const std::string& key, const std::string& value) { return raw(key, '"' + value + '"'); }
    Json& raw(const std::string& key, const std::string& json) {
        text_ += (text_.empty() ? "\"" : ", \"") + key + "\": " + json;
        return *this;
    }
    std::string text() const { return '{' + text_ + '}'; }

private:
    std::string text_;
};

inline double seconds(std::int64_t ns) { return 1e-9 * static_cast<double>(ns); }

// What all tasks of a flight share: the link, the tracker's window, what the vehicle was told last, and their times.
struct Flight {
    struct Timing { int runs = 0, loops = 0; double time_s = 0; };

    Flight(skyloop::Client& link, const Options& chosen) : client(link), options(chosen) {}

    skyloop::Client& client;
    const Options& options;
    std::optional<camshift::Rect> window;
    std::optional<skyloop::Velocity> course;
    std::map<std::string, Timing> timings;

    // The next sample of a stream. The course goes with every question, so that it never gets too old.
    template <class Record>
    Record next(const std::string& stream) {
        skyloop::Ask question;
        question.next(stream);
        if (course) question.send(*course);
        const auto record = client.ask(question).get<Record>(stream);
        if (!record) throw TaskError("no sample of '" + stream + "' came");
        return *record;
    }
    void steer(const skyloop::Velocity& velocity) {
        course = velocity;
        client.send(velocity);
    }
    void stop() { steer({}); }
    double yaw() const { return client.latest().vehicle_state().yaw(); }
    skyloop::Vector position() const { return client.latest().vehicle_state().position; }
};

class Task {
public:
    Task(const char* name, Flight& flight) : flight_(flight), name_(name) {}
    virtual ~Task() = default;
    virtual bool flies() const { return true; }

    void perform() {
        start_ns_ = flight_.client.now();
        initialise();
        for (; !is_done(); ++loops_) step();
        finalise();
        end_ns_ = flight_.client.now();
        Flight::Timing& timing = flight_.timings[name_];
        timing.runs += 1, timing.loops += loops_, timing.time_s += time_s();
    }
    double time_s() const { return seconds(end_ns_ - start_ns_); }
    Json result() const {
        Json out;
        out.add("task", name_).add("time_s", time_s()).add("loops", loops_);
        report(out);
        return out;
    }

protected:
    virtual void initialise() {}
    virtual bool is_done() = 0;  // asked before every pass of the loop
    virtual void step() = 0;
    virtual void finalise() {}
    virtual void report(Json&) const {}

    // Starts another task as a step of this one.
    template <class Other>
    Other run() {
        Other other(flight_);
        other.perform();
        return other;
    }

    Flight& flight_;
    int loops_ = 0;

private:
    std::string name_;
    std::int64_t start_ns_ = 0, end_ns_ = 0;
};

// Algorithm 1: how long a sensor takes to give its samples.
class SensorCharacterisation : public Task {
public:
    explicit SensorCharacterisation(Flight& flight) : Task("sensor-characterisation", flight) {}
    bool flies() const override { return false; }

private:
    bool is_done() override { return loops_ == flight_.options.samples; }
    void step() override {
        flight_.client.ask(skyloop::Ask().next(flight_.options.stream));
    }
    void report(Json& out) const override {
        out.add("stream", flight_.options.stream).add("samples", loops_).add("per_sample_s", time_s() / loops_);
    }
};

// Algorithm 2: where the anchor is, by CamShift on image after image until the box stays the same.
class RelativePosition : public Task {
public:
    explicit RelativePosition(Flight& flight) : Task("relative-position", flight) {}
    double angle() const { return angle_; }        // rad, positive to the left
    double distance() const { return distance_; }  // m along the optical axis

private:
    void initialise() override {
        const Options& o = flight_.options;
        model_ = camshift::HueModel::around(o.anchor_hue_deg / 2, o.hue_spread_deg / 2);
    }
    bool is_done() override { return converged_; }
    void step() override {
        if (loops_ >= flight_.options.patience) throw TaskError("the anchor is not to be seen, or never settles");
        const auto image = flight_.next<skyloop::CameraImage>(flight_.options.camera);
        if (!flight_.window) flight_.window = camshift::Rect{0, 0, image.width, image.height};
        model_.back_project({image.pixels(), image.width, image.height}, weights_);
        const auto box = camshift::track(weights_, image.width, image.height, *flight_.window);
        const double most = flight_.options.settled_px;
        converged_ = box && box_ && std::hypot(box->x - box_->x, box->y - box_->y) < most &&
                     std::abs(box->length - box_->length) < most;
        box_ = box;
        if (!box) flight_.window.reset();  // lost: look everywhere in the next image
    }
    void finalise() override {
        const skyloop::Value& lens = flight_.client.info(flight_.options.camera).details;
        angle_ = std::atan2(lens["cx"].number() - box_->x, lens["fx"].number());
        // the board is as high as wide, and its height is not foreshortened when it is seen from the side
        const double side = std::sqrt(12.0) / 4 * box_->length;
        distance_ = lens["fy"].number() * flight_.options.anchor_width / side;
    }
    void report(Json& out) const override { out.add("angle", angle_).add("distance", distance_); }

    camshift::HueModel model_;
    std::vector<std::uint8_t> weights_;
    std::optional<camshift::Box> box_;
    bool converged_ = false;
    double angle_ = 0, distance_ = 0;
};

// Algorithm 3: turns until the anchor is in the middle of the image.
class FaceAnchor : public Task {
public:
    explicit FaceAnchor(Flight& flight) : Task("face-anchor", flight) {}

private:
    void initialise() override {
        flight_.stop();
        angle_ = run<RelativePosition>().angle();
        rate_ = std::copysign(flight_.options.yaw_rate, angle_);
        turn();
    }
    bool is_done() override { return std::abs(angle_) <= flight_.options.precision; }
    void step() override {
        const double angle = run<RelativePosition>().angle();
        if (angle * angle_ < 0) {
            rate_ /= -2;
            ++oscillations_;
            turn();
        }
        angle_ = angle;
    }
    void finalise() override { flight_.stop(); }
    void turn() { flight_.steer({{}, "body", {}, rate_}); }
    void report(Json& out) const override {
        out.add("oscillations", oscillations_).add("angle", angle_).add("yaw", flight_.yaw());
    }

    double angle_ = 0, rate_ = 0;
    int oscillations_ = 0;
};

// Algorithm 4: flies straight on while it looks at the anchor, until that is abeam.
class MoveForward : public Task {
public:
    explicit MoveForward(Flight& flight) : Task("move-forward", flight) {}

private:
    void initialise() override {
        start_yaw_ = yaw_ = flight_.yaw();
        move();
    }
    bool is_done() override { return std::abs(std::remainder(yaw_ - start_yaw_, 2 * kPi)) >= kPi / 2; }
    void step() override {
        if (std::abs(run<RelativePosition>().angle()) > flight_.options.precision) {
            run<FaceAnchor>();
            ++turns_;
        }
        yaw_ = flight_.yaw();
        move();
    }
    void finalise() override { flight_.stop(); }
    void move() {
        const double direction = start_yaw_ - yaw_, speed = flight_.options.speed;
        flight_.steer({{speed * std::cos(direction), speed * std::sin(direction), 0}, "body"});
    }
    void report(Json& out) const override {
        const auto [x, y, z] = flight_.position();
        out.add("turns", turns_).add("yaw", yaw_).add("x", x).add("y", y).add("z", z);
    }

    double start_yaw_ = 0, yaw_ = 0;
    int turns_ = 0;
};

}  // namespace tasks
