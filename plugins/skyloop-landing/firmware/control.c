#include "control.h"

#define FOCAL (640.0 * 16.0)
#define CENTRE_X (639.5 * 16.0)
#define CENTRE_Y (359.5 * 16.0)
#define DEG_PER_UNIT (360.0 / 65536.0)
#define RAD_PER_DEG (3.141592653589793 / 180.0)

const struct control_config default_config = {
    .altitude_filter = 1, .median_of = 5, .altitude_lag = 0.3, .second_stage = HELD_STAGE,
    .position_gain = 0.8, .tilt_height = 4.4, .integral_share = 0.12, .descent_gain = 0.45, .yaw_gain = 1.5,
    .max_speed = 2.0, .max_acceleration = 1.5, .max_descent = 2.0, .max_yaw_rate_deg = 60.0,
    .yaw_within = 0.35, .over_within = 0.08, .aligned_within_deg = 2.5, .hold = 0.4,
    .landing_height = 1.05, .land_within = 0.08, .land_hold = 0.3,
    .when_lost = CLIMBS, .lost_after = 0.3, .climb_speed = 1.0, .ceiling = 15.0, .give_up_after = 20.0,
    .time_limit = 90.0, .camera_ahead = 0.5,
};

struct offset {
    double ahead, right, heading_deg, distance;
    int heading_is_measured;
};

static double least(double a, double b) { return b < a ? b : a; }
static double greatest(double a, double b) { return b > a ? b : a; }
static double magnitude(double a) { return a < 0.0 ? -a : a; }
static double clipped(double value, double limit) { return greatest(-limit, least(value, limit)); }

static double length_of(double x, double y)
{
    return __builtin_sqrt(x * x + y * y);
}

static void shorten(double *x, double *y, double limit)
{
    double length = length_of(*x, *y);
    if (length <= limit)
        return;
    *x = *x * limit / length;
    *y = *y * limit / length;
}

void control_reset(struct control_memory *memory)
{
    *memory = (struct control_memory){
        .stage = SEEK, .altitude_t = NEVER, .t = NEVER, .began_t = NEVER, .seen_t = NEVER, .held_t = NEVER};
}

/* ---- the altitude */

static double median_of(const double *readings, int32_t n)
{
    double sorted[MOST_READINGS];
    for (int32_t k = 0; k < n; k++) {
        int32_t place = k;
        for (; place > 0 && sorted[place - 1] > readings[k]; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = readings[k];
    }
    return sorted[n / 2];
}

static void keep_reading(struct control_memory *memory, double reading, int32_t most)
{
    if (most < 1)
        most = 1;
    if (most > MOST_READINGS)
        most = MOST_READINGS;
    while (memory->n_readings >= most) {
        for (int32_t k = 1; k < memory->n_readings; k++)
            memory->readings[k - 1] = memory->readings[k];
        memory->n_readings--;
    }
    memory->readings[memory->n_readings++] = reading;
}

void control_measured(struct control_memory *memory, double reading, double t, const struct control_config *config)
{
    if (config->altitude_filter == 0.0 || !memory->has_altitude) {
        memory->n_readings = 1;
        memory->readings[0] = reading;
        memory->altitude = reading;
        memory->altitude_t = t;
        memory->has_altitude = 1;
        return;
    }
    keep_reading(memory, reading, (int32_t)config->median_of);
    double median = median_of(memory->readings, memory->n_readings);
    double dt = t - memory->altitude_t;
    double expected = memory->altitude - memory->vz * dt;
    double share = least(dt / config->altitude_lag, 1.0);
    memory->altitude = greatest(expected + share * (median - expected), 0.0);
    memory->altitude_t = t;
}

/* ---- the stages */

static struct command told(struct control_memory *memory, double vx, double vy, double vz, double yaw_rate)
{
    struct command command = {vx, vy, vz, yaw_rate};
    memory->vx = vx;
    memory->vy = vy;
    memory->vz = vz;
    memory->yaw_rate_deg = yaw_rate;
    return command;
}

static struct command given_up(struct control_memory *memory)
{
    memory->stage = GIVEN_UP;
    return told(memory, 0.0, 0.0, 0.0, 0.0);
}

static struct command without_marker(struct control_memory *memory, double t, const struct control_config *config,
                                     int blind)
{
    double lost = t - memory->seen_t;
    memory->held_t = NEVER;
    if (lost > config->give_up_after)
        return given_up(memory);
    if (lost <= config->lost_after && memory->stage != SEEK)
        return told(memory, memory->vx, memory->vy, 0.0, 0.0);
    int climbs = !blind && memory->altitude < config->ceiling;
    memory->stage = SEEK;
    return told(memory, blind ? 0.0 : memory->wind_x, blind ? 0.0 : memory->wind_y,
                climbs ? -config->climb_speed : 0.0, 0.0);
}

/* Equation (3). */
static double descent(const struct control_memory *memory, const struct control_config *config)
{
    if (memory->stage != DOWN || memory->altitude <= config->landing_height)
        return 0.0;
    return least(config->descent_gain * memory->altitude, config->max_descent);
}

static struct command goes_on(struct control_memory *memory, double t, const struct control_config *config)
{
    if (t - memory->seen_t > config->give_up_after)
        return given_up(memory);
    if (memory->stage == DOWN && memory->altitude <= config->landing_height) {
        memory->stage = LAND;
        return told(memory, 0.0, 0.0, 0.0, 0.0);
    }
    return told(memory, memory->vx, memory->vy, descent(memory, config), memory->yaw_rate_deg);
}

static double over_limit(const struct control_memory *memory, const struct control_config *config)
{
    return greatest(config->over_within * memory->altitude, config->land_within);
}

static void next_published_stage(struct control_memory *memory, const struct offset *offset,
                                 const struct control_config *config)
{
    int aligned = config->second_stage == PUBLISHED_STAGE || magnitude(offset->heading_deg) < config->aligned_within_deg;
    if (memory->stage == OVER && aligned && offset->distance < over_limit(memory, config))
        memory->stage = DOWN;
    if (memory->stage == DOWN && memory->altitude <= config->landing_height)
        memory->stage = LAND;
}

static void next_stage(struct control_memory *memory, const struct offset *offset, double t,
                       const struct control_config *config)
{
    if (config->second_stage != HELD_STAGE) {
        next_published_stage(memory, offset, config);
        return;
    }
    int near = memory->altitude <= config->landing_height;
    if (memory->stage == DOWN && !near) {
        memory->held_t = NEVER;
        return;
    }
    double within = near ? config->land_within : over_limit(memory, config);
    if (offset->distance >= within || magnitude(offset->heading_deg) >= config->aligned_within_deg) {
        memory->held_t = NEVER;
        return;
    }
    if (memory->held_t <= NEVER)
        memory->held_t = t;
    double held = t - memory->held_t;
    if (memory->stage == DOWN && near && held >= config->land_hold)
        memory->stage = LAND;
    else if (memory->stage == OVER && held >= config->hold)
        memory->stage = DOWN;
}

/* ---- equations (1) to (4), with limits */

static void learn_wind(struct control_memory *memory, const struct offset *offset, double step, double dt,
                       const struct control_config *config)
{
    /* the wind stands still while the vehicle turns */
    double angle = memory->yaw_rate_deg * RAD_PER_DEG * dt;
    double x = memory->wind_x + angle * memory->wind_y, y = memory->wind_y - angle * memory->wind_x;
    memory->wind_x = x + step * offset->ahead;
    memory->wind_y = y + step * offset->right;
    shorten(&memory->wind_x, &memory->wind_y, 0.5 * config->max_speed);
}

static struct command steer(struct control_memory *memory, const struct offset *offset, double dt,
                            const struct control_config *config)
{
    int published = config->second_stage != HELD_STAGE;
    double gain = least(config->position_gain, config->tilt_height / greatest(memory->altitude, 0.1));
    int beside = offset->distance > 2.0 * over_limit(memory, config);
    if (!beside)
        learn_wind(memory, offset, config->integral_share * gain * gain * dt, dt, config);
    double vx = gain * offset->ahead + memory->wind_x, vy = gain * offset->right + memory->wind_y;
    shorten(&vx, &vy, config->max_speed);
    double change_x = vx - memory->vx, change_y = vy - memory->vy;
    shorten(&change_x, &change_y, config->max_acceleration * dt);
    vx = memory->vx + change_x;
    vy = memory->vy + change_y;
    double yaw_rate = 0.0;
    int turns = offset->heading_is_measured && !(published && memory->stage == DOWN);
    if (turns && offset->distance < config->yaw_within * memory->altitude)
        yaw_rate = clipped(config->yaw_gain * offset->heading_deg, config->max_yaw_rate_deg);
    int off = beside || magnitude(offset->heading_deg) > 2.0 * config->aligned_within_deg;
    return told(memory, vx, vy, published || !off ? descent(memory, config) : 0.0, yaw_rate);
}

static struct offset offset_of(const struct marker *marker, double altitude, double camera_ahead)
{
    struct offset offset;
    offset.ahead = camera_ahead + (CENTRE_Y - marker->y) * altitude / FOCAL;
    offset.right = (marker->x - CENTRE_X) * altitude / FOCAL;
    offset.heading_deg = marker->heading * DEG_PER_UNIT;
    offset.heading_is_measured = marker->rectangle >= 0;
    offset.distance = length_of(offset.ahead, offset.right);
    return offset;
}

struct command control_advance(struct control_memory *memory, const struct marker *marker, double t,
                               const struct control_config *config)
{
    if (memory->stage == LAND || memory->stage == GIVEN_UP)
        return told(memory, 0.0, 0.0, 0.0, 0.0);
    double dt = memory->t > NEVER ? t - memory->t : 0.0;
    if (memory->began_t <= NEVER)
        memory->began_t = memory->seen_t = t;
    memory->t = t;
    if (t - memory->began_t > config->time_limit)
        return given_up(memory);
    int blind = !memory->has_altitude || t - memory->altitude_t > 2.0 * config->lost_after;
    if (!marker && config->when_lost == GOES_ON && memory->has_altitude)
        return goes_on(memory, t, config);
    if (!marker || blind)
        return without_marker(memory, t, config, blind);
    if (memory->stage == SEEK)
        memory->stage = OVER;
    memory->seen_t = t;
    struct offset offset = offset_of(marker, memory->altitude, config->camera_ahead);
    next_stage(memory, &offset, t, config);
    if (memory->stage == LAND)
        return told(memory, 0.0, 0.0, 0.0, 0.0);
    return steer(memory, &offset, dt, config);
}
