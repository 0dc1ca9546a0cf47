/* From the marker's place in the image to commands, line by line as skyloop_landing.vision.control has it.
   Doubles without fused operations, so that the numbers are the same to the last bit. */
#ifndef CONTROL_H
#define CONTROL_H
#include "figures.h"
#include <stdint.h>

#define MOST_READINGS 7
#define NEVER (-1e9)

enum stage { SEEK, OVER, DOWN, LAND, GIVEN_UP };

/* Of second_stage, and of when_lost. */
enum second_stage { PUBLISHED_STAGE, HELD_STAGE, ALIGNED_STAGE };
enum when_lost { CLIMBS, GOES_ON };

/* Fields, order and defaults of LandingControlConfig; altitude_filter is 1 or 0. */
struct control_config {
    double altitude_filter, median_of, altitude_lag, second_stage;
    double position_gain, tilt_height, integral_share, descent_gain, yaw_gain;
    double max_speed, max_acceleration, max_descent, max_yaw_rate_deg;
    double yaw_within, over_within, aligned_within_deg, hold;
    double landing_height, land_within, land_hold;
    double when_lost, lost_after, climb_speed, ceiling, give_up_after, time_limit, camera_ahead;
};

#define CONFIG_NUMBERS (sizeof(struct control_config) / sizeof(double))

extern const struct control_config default_config;

/* All that is kept between two images. */
struct control_memory {
    int32_t stage, n_readings;
    double readings[MOST_READINGS]; /* m, newest last */
    int32_t has_altitude;
    double altitude, altitude_t;
    double t, began_t, seen_t, held_t;
    double vx, vy, vz, yaw_rate_deg; /* the last command */
    double wind_x, wind_y;
};

struct command {
    double vx, vy, vz;   /* m/s forward, right, down */
    double yaw_rate_deg; /* degrees per second to the right */
};

void control_reset(struct control_memory *memory);

/* A reading of the rangefinder in m, at t in s. */
void control_measured(struct control_memory *memory, double reading, double t, const struct control_config *config);

/* One image further. A `marker` may be null. */
struct command control_advance(struct control_memory *memory, const struct marker *marker, double t,
                               const struct control_config *config);

#endif
