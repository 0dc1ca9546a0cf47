// The tasks of Augello et al., "Simulation and Test of UAV Tasks With Resource-Constrained Hardware in the Loop"
// (Algorithms 1 to 5): initialisation, a loop until a condition holds, finalisation; tasks start tasks. The definitions
// (oscillations, ends of loops, four legs of the path) are those of
// clients/python/src/skyloop_client/tasks/sync_hil.py.
//
// Time is the client's execution time. Nothing here reads another clock, and all computation is real.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "anchor.hpp"
#include "dead_reckoning.hpp"
#include "skyloop_client.hpp"

namespace tasks {

struct TaskError : skyloop::Error { using Error::Error; };

constexpr double kPi = 3.14159265358979323846;

struct Options {
    std::string camera = "front", imu = "imu";
    std::string stream = "front";  // for sensor characterisation
    int samples = 100;
    bool fresh = true;             // wait for new samples; false: take the latest ones
    double altitude = 1.5;         // m above the ground, for tasks that fly
    anchor::Anchor anchor;
    int most_images = 2000;        // a task fails after so many images without the anchor
    double precision = 0.02;       // rad
    double rate = 0.3;             // rad/s, initial
    double slowing = 0.5;          // factor on the rate at every change of direction
    double slowest_rate = 0.02;    // rad/s
    std::optional<double> speed;   // m/s; each task has its own default
    double distance = 3;           // m, of each leg of the closed path
    int rest_samples = 20;         // of the IMU, before it moves
    std::optional<double> deadline;  // s of ET within which the task must end
    double settling = 1;           // s from the stop to the last image: braking tilts the camera
};

// One JSON object, built up in order.
class Json {
public:
    Json& add(const std::string& key, double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.9g", value);
        return raw(key, std::isfinite(value) ? text : "null");
    }
    Json& add(const std::string& key, std::int64_t value) { return raw(key, std::to_string(value)); }
    Json& add(const std::string& key, int value) { return raw(key, std::to_string(value)); }
    Json& add(const std::string& key, const std::string& plain) { return raw(key, '"' + plain + '"'); }
    Json& raw(const std::string& key, const std::string& json) {
        text_ += (text_.empty() ? "\"" : ", \"") + key + "\": " + json;
        return *this;
    }
    std::string text() const { return '{' + text_ + '}'; }

private:
    std::string text_;
};

// Results of the runs of one kind of task.
struct Timing {
    int runs = 0, loops = 0;
    double time_s = 0;
};

// State that all tasks of a flight share.
struct Flight {
    skyloop::Client& client;
    const Options& options;
    std::map<std::string, Timing> timings;
};

inline skyloop::Velocity stop() { return {{}, "body", {}, 0}; }
inline skyloop::Velocity turn(double rate) { return {{}, "body", {}, rate}; }
// A velocity at `angle` from straight ahead, without turning.
inline skyloop::Velocity move_direction(double angle, double speed) {
    return {{speed * std::cos(angle), speed * std::sin(angle), 0}, "body", {}, 0};
}
inline double wrapped(double angle) { return std::remainder(angle, 2 * kPi); }  // into -pi to pi

class Task {
public:
    Task(const char* name, Flight& flight) : flight_(flight), options_(flight.options), name_(name) {}
    virtual ~Task() = default;
    // The vehicle must be in the air. A hover follows.
    virtual bool flies() const { return true; }

    void perform() {
        start_ns_ = flight_.client.now();
        if (deadline_) flight_.client.begin_task(name_, deadline_);
        initialise();
        while (!is_done()) {
            ++loops_;
            step();
        }
        finalise();
        end_ns_ = flight_.client.now();
        if (deadline_) flight_.client.end_task(name_);
        Timing& timing = flight_.timings[name_];
        timing.runs += 1, timing.loops += loops_, timing.time_s += time_s();
    }
    void set_deadline(std::optional<double> seconds) { deadline_ = seconds; }  // of ET
    double time_s() const { return 1e-9 * static_cast<double>(end_ns_ - start_ns_); }
    Json result() const {
        Json out;
        out.add("task", name_).add("time_s", time_s());
        report(out);
        return out.add("loops", loops_).add("start_ns", start_ns_).add("end_ns", end_ns_);
    }

protected:
    virtual void initialise() {}
    virtual bool is_done() = 0;  // called before every iteration
    virtual void step() = 0;
    virtual void finalise() {}
    virtual void report(Json&) const {}

    // Runs another task as a step of this one and returns it for its results.
    template <class Other, class... Arguments>
    Other run(Arguments... arguments) {
        Other other(flight_, arguments...);
        other.perform();
        return other;
    }
    double yaw() { return flight_.client.ask().vehicle_state().yaw(); }

    Flight& flight_;
    const Options& options_;
    int loops_ = 0;

private:
    const char* name_;
    std::int64_t start_ns_ = 0, end_ns_ = 0;
    std::optional<double> deadline_;
};

// Arms, takes off and waits until the vehicle hovers.
class Ascend : public Task {
public:
    explicit Ascend(Flight& flight) : Task("ascend", flight) {}
    bool flies() const override { return false; }

private:
    static constexpr double kStillness = 0.05;  // m/s; slower for 1 s is a hover; gusts and estimate leave 0.03
    static constexpr double kClimbed = 0.05;    // m below its altitude that a hover may be
    static constexpr std::int64_t kPatience_ns = 20'000'000'000;

    void initialise() override { late_ns_ = climb(0).t_ns + kPatience_ns; }
    bool is_done() override { return still_ >= 10; }
    void step() override {
        const skyloop::Bundle& now = flight_.client.latest();
        if (now.t_ns > late_ns_)
            throw TaskError("not in the air after 20 s; the vehicle is " + now.status["mode"].text());
        if (!ground_ && now.status["armed"].boolean()) ground_ = now.vehicle_state().position[2];
        const std::int64_t later = now.t_ns + 100'000'000;
        // an estimator may need a while before arming is allowed
        if (now.status["armed"].boolean()) flight_.client.sleep_until(later);
        else climb(later);
        const skyloop::VehicleState state = now.vehicle_state();
        // the climb is so slow at its end that it looks like a hover
        const bool high = ground_ && state.position[2] - *ground_ > options_.altitude - kClimbed;
        const auto [x, y, z] = state.velocity_world;
        const bool slow = std::sqrt(x * x + y * y + z * z) < kStillness;
        still_ = now.status["mode"].text() == "hover" && high && slow ? still_ + 1 : 0;
    }
    const skyloop::Bundle& climb(std::int64_t until_ns) {
        return flight_.client.ask(
            skyloop::Ask().send(skyloop::Arm{}).send(skyloop::TakeOff{options_.altitude}).until(until_ns));
    }
    std::int64_t late_ns_ = 0;
    std::optional<double> ground_;  // m, height at which it was armed
    int still_ = 0;  // tenths of a second
};

// Algorithm 1: the time for a number of samples of a sensor.
class SensorCharacterisation : public Task {
public:
    explicit SensorCharacterisation(Flight& flight) : Task("sensor-characterisation", flight) {}
    bool flies() const override { return false; }

private:
    bool is_done() override { return loops_ >= options_.samples; }
    void step() override {
        skyloop::Ask question;
        question.want(options_.stream);
        if (options_.fresh) question.fresh(options_.stream);
        const skyloop::Sample* sample = flight_.client.ask(question).find(options_.stream);
        if (!sample) return;
        got_ += sample->index > newest_;  // a bundle also keeps earlier samples
        newest_ = sample->index;
    }
    void report(Json& out) const override {
        out.add("stream", options_.stream).add("seconds", time_s()).add("got", got_);
        out.add("seconds_per_sample", time_s() / std::max(1, loops_));
    }

    int got_ = 0;  // answers with a new sample
    std::int64_t newest_ = -1;
};

// Algorithm 2: angle and distance of the anchor, from the first image on which CamShift converges.
class RelativePosition : public Task {
public:
    // `keep`: the current setpoint, repeated with every question.
    explicit RelativePosition(Flight& flight, std::optional<skyloop::Velocity> keep = {})
        : Task("relative-position", flight), keep_(std::move(keep)), tracker_(flight.options.anchor) {}
    double angle() const { return angle_; }        // rad, positive to the left
    double distance() const { return distance_; }  // m from the camera

private:
    bool is_done() override { return roi_.has_value(); }
    void step() override {
        if (loops_ > options_.most_images) throw TaskError("no anchor in the images of '" + options_.camera + "'");
        skyloop::Ask question;
        if (keep_) question.send(*keep_);
        const auto image =
            flight_.client.ask(question.next(options_.camera)).get<skyloop::CameraImage>(options_.camera);
        if (!image) throw TaskError("no image of '" + options_.camera + "' came");
        image_ns_ = image->t_ns;
        roi_ = tracker_.find({image->pixels(), image->width, image->height});
    }
    void finalise() override {
        const skyloop::Value& details = flight_.client.info(options_.camera).details;
        if (details.has("model") && details["model"].text() != "pinhole")
            throw TaskError("an anchor is measured through a pinhole camera only");
        const anchor::Lens lens{details["fx"].number(), details["fy"].number(), details["cx"].number(),
                                details["cy"].number()};
        angle_ = roi_->angle(lens);
        distance_ = roi_->distance(lens, options_.anchor.height);
    }
    void report(Json& out) const override {
        out.add("angle", angle_).add("distance", distance_).add("pixels", roi_->pixels).add("image_ns", image_ns_);
    }

    std::optional<skyloop::Velocity> keep_;
    anchor::Tracker tracker_;
    std::optional<anchor::Roi> roi_;
    double angle_ = 0, distance_ = 0;
    std::int64_t image_ns_ = 0;
};

// Algorithm 3: turns until the anchor is in the middle of the image.
class FaceAnchor : public Task {
public:
    explicit FaceAnchor(Flight& flight) : Task("face-anchor", flight) {}
    int oscillations() const { return oscillations_; }

private:
    void initialise() override {
        flight_.client.send(stop());
        angle_ = run<RelativePosition>(turn(0)).angle();
        rate_ = std::copysign(options_.rate, angle_);
    }
    bool is_done() override { return std::abs(angle_) <= options_.precision; }
    void step() override {
        const double angle = run<RelativePosition>(turn(rate_)).angle();
        if ((angle > 0) != (angle_ > 0) && std::abs(angle) > options_.precision) {
            ++oscillations_;
            rate_ = std::copysign(std::max(options_.slowing * std::abs(rate_), options_.slowest_rate), angle);
        }
        angle_ = angle;
    }
    void finalise() override { flight_.client.send(stop()); }
    void report(Json& out) const override { out.add("oscillations", oscillations_).add("angle", angle_); }

    double angle_ = 0, rate_ = 0;
    int oscillations_ = 0;
};

// Algorithm 4: flies straight, always facing the anchor, until the anchor is abeam.
class MoveForward : public Task {
public:
    explicit MoveForward(Flight& flight) : Task("move-forward", flight) {}

private:
    void initialise() override {
        start_yaw_ = yaw_ = yaw();
        move();
    }
    bool is_done() override { return std::abs(wrapped(yaw_ - start_yaw_)) >= kPi / 2; }
    void step() override {
        if (std::abs(run<RelativePosition>(course_).angle()) > options_.precision) {
            oscillations_ += run<FaceAnchor>().oscillations();
            ++faced_;
        }
        yaw_ = yaw();
        move();
    }
    void finalise() override { flight_.client.send(stop()); }
    void move() {
        course_ = move_direction(start_yaw_ - yaw_, options_.speed.value_or(0.135));
        flight_.client.send(course_);
    }
    void report(Json& out) const override {
        out.add("turned", wrapped(yaw_ - start_yaw_)).add("faced", faced_).add("oscillations", oscillations_);
    }

    double start_yaw_ = 0, yaw_ = 0;
    int faced_ = 0, oscillations_ = 0;
    skyloop::Velocity course_;
};

// Algorithm 5: a square by dead reckoning, and the distance of its end from its start.
class ClosedPath : public Task {
public:
    explicit ClosedPath(Flight& flight) : Task("closed-path", flight) {}

private:
    using Place = std::array<double, 2>;  // m forward and left of the initial heading
    static constexpr std::array<double, 4> kDirections{0, kPi / 2, kPi, 3 * kPi / 2};

    void initialise() override {
        start_yaw_ = yaw();
        start_ = seen();
        for (int i = 0; i < options_.rest_samples; ++i) {
            const skyloop::Bundle& bundle = flight_.client.ask(skyloop::Ask().next(options_.imu));
            reckoning_.add_at_rest(sample(bundle));
        }
        corner_ = reckoning_.position();
    }
    bool is_done() override { return loops_ == static_cast<int>(kDirections.size()); }
    // One leg. Its loop is the inner loop of the algorithm.
    void step() override {
        const double angle = kDirections[static_cast<std::size_t>(loops_ - 1)], heading = start_yaw_ + angle;
        const skyloop::Velocity course = move_direction(angle, options_.speed.value_or(0.5));
        for (double length = 0; length < options_.distance;) {
            const skyloop::Bundle& bundle = flight_.client.ask(skyloop::Ask().send(course).next(options_.imu));
            reckoning_.add(sample(bundle), bundle.vehicle_state());
            const auto& [x, y, z] = reckoning_.position();
            length = (x - corner_[0]) * std::cos(heading) + (y - corner_[1]) * std::sin(heading);
        }
        corner_ = reckoning_.position();
    }
    void finalise() override {
        const auto settling_ns = static_cast<std::int64_t>(1e9 * options_.settling);
        flight_.client.ask(skyloop::Ask().send(stop()).until(flight_.client.now() + settling_ns));
        const Place end = seen();
        moved_ = {start_[0] - end[0], start_[1] - end[1]};
    }
    void report(Json& out) const override {
        out.add("displacement", std::hypot(moved_[0], moved_[1]));
        out.add("moved_forward", moved_[0]).add("moved_left", moved_[1]);
    }

    skyloop::ImuSample sample(const skyloop::Bundle& bundle) const {
        const auto found = bundle.get<skyloop::ImuSample>(options_.imu);
        if (!found) throw TaskError("no sample of '" + options_.imu + "' came");
        return *found;
    }
    // The position of the anchor.
    Place seen() {
        const auto position = run<RelativePosition>(stop());
        const double now = flight_.client.send(stop()).vehicle_state().yaw();
        const double bearing = wrapped(now - start_yaw_) + position.angle();
        return {position.distance() * std::cos(bearing), position.distance() * std::sin(bearing)};
    }

    dead_reckoning::DeadReckoning reckoning_;
    skyloop::Vector corner_{};
    double start_yaw_ = 0;
    Place start_{}, moved_{};
};

}  // namespace tasks
