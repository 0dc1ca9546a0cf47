// The position of a vehicle since it was at rest, from its accelerometer alone. The definition is that of
// clients/python/src/skyloop_client/tasks/dead_reckoning.py. The IMU's axes are assumed to be the body's.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "skyloop_client.hpp"

namespace dead_reckoning {

using skyloop::Vector;

inline Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// m/s², world axes: the specific force of a sample, rotated by the attitude at the sample's instant. This is a
// first-order correction, because the state is newer by a fraction of a sampling interval.
inline Vector world_force(const skyloop::ImuSample& sample, const skyloop::VehicleState& state) {
    const double age = 1e-9 * static_cast<double>(state.t_ns - sample.t_ns);
    const Vector turned = cross(state.angular_velocity_body, sample.specific_force);
    Vector force = sample.specific_force;
    for (std::size_t i = 0; i < 3; ++i) force[i] -= age * turned[i];
    const auto& [w, x, y, z] = state.quat_wxyz;
    Vector inner = cross({x, y, z}, force);
    for (std::size_t i = 0; i < 3; ++i) inner[i] += w * force[i];
    const Vector outer = cross({x, y, z}, inner);
    for (std::size_t i = 0; i < 3; ++i) force[i] += 2 * outer[i];
    return force;
}

class DeadReckoning {
public:
    // Gravity is the accelerometer's mean at rest.
    void add_at_rest(const skyloop::ImuSample& sample) {
        const Vector& f = sample.specific_force;
        ++samples_at_rest_;
        gravity_ += (std::sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) - gravity_) / samples_at_rest_;
    }
    void add(const skyloop::ImuSample& sample, const skyloop::VehicleState& state) {
        Vector acceleration = world_force(sample, state);
        acceleration[2] -= gravity_;
        if (moving_) {
            const double dt = 1e-9 * static_cast<double>(sample.t_ns - then_ns_);
            for (std::size_t i = 0; i < 3; ++i) {
                const double faster = velocity_[i] + 0.5 * dt * (acceleration_[i] + acceleration[i]);
                position_[i] += 0.5 * dt * (velocity_[i] + faster);
                velocity_[i] = faster;
            }
        }
        moving_ = true, then_ns_ = sample.t_ns, acceleration_ = acceleration;
    }
    const Vector& position() const { return position_; }  // m since the start, world axes
    const Vector& velocity() const { return velocity_; }  // m/s, world axes

private:
    Vector acceleration_{}, velocity_{}, position_{};
    double gravity_ = 0.0;
    int samples_at_rest_ = 0;
    bool moving_ = false;
    std::int64_t then_ns_ = 0;
};

}  // namespace dead_reckoning
