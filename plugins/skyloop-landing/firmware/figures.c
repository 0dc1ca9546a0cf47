#include "figures.h"

#define WIDTH 1280
#define HEIGHT 720
#define MIN_AREA 32
#define RING_PX_CM 109667
#define SQUARE_PX_CM 21952
#define PUBLISHED_LOWEST_CM 400
#define NEAR_CM 300
#define LEAST_CM 25
#define PRIOR_IMAGES 8

static struct figure figures[MOST_OBJECTS];
static int32_t squares[MOST_OBJECTS], rectangles[MOST_OBJECTS], rings[MOST_OBJECTS];
static int32_t n_squares, n_rectangles, n_rings;

static int32_t greatest(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t magnitude(int32_t a) { return a < 0 ? -a : a; }

/* Rounded down, as // in Python; b > 0. */
static int64_t floored(int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return a % b < 0 ? quotient - 1 : quotient;
}

static int32_t root_of(uint32_t value)
{
    uint32_t root = 0;
    for (uint32_t bit = 1u << 15; bit; bit >>= 1)
        if ((uint64_t)(root | bit) * (root | bit) <= value)
            root |= bit;
    return (int32_t)root;
}

struct sizes expected_sizes(int32_t altitude_cm)
{
    int32_t h = greatest(altitude_cm, PUBLISHED_LOWEST_CM);
    struct sizes sizes = {(2 * RING_PX_CM + h) / (2 * h), (2 * RING_PX_CM + 5 * h) / (10 * h)};
    return sizes;
}

static int32_t square_area(int32_t altitude_cm)
{
    int64_t h = greatest(altitude_cm, LEAST_CM);
    return (int32_t)((int64_t)SQUARE_PX_CM * SQUARE_PX_CM / (h * h));
}

int32_t least_area(int32_t altitude_cm, enum rules rules)
{
    return rules == PUBLISHED ? MIN_AREA : greatest(MIN_AREA, square_area(altitude_cm) / 2);
}

/* ---- kinds of figures */

static int between(int64_t low, int64_t value, int64_t high)
{
    return low < value && value < high;
}

static enum kind published_kind(int64_t area, int64_t w, int64_t h, struct sizes sizes)
{
    int64_t c = sizes.ring, s = sizes.square, box = w * h, longer = w > h ? w : h, shorter = w > h ? h : w;
    if (10 * longer < 14 * shorter) {
        if (box > 3 * area && between(c, w + h, 3 * c))
            return RING;
        if (between(150, c, 500) && between(155 * area, 100 * box, 200 * area)
            && between(5 * c * c, 1000 * area, 40 * c * c)) {
            if (10 * (w + h) < 13 * s)
                return RING;
        } else if (c >= 500 && between(150 * area, 100 * box, 200 * area)
                   && between(10 * c * c, 1000 * area, 40 * c * c)) {
            return RING;
        }
        if (4 * box < 9 * area && between(4 * s * s, 10 * box, 20 * s * s)
            && between(3 * s * s, 10 * area, 18 * s * s))
            return SQUARE;
    }
    if (2 * longer < 5 * shorter && 10 * box < 23 * area && between(11 * s * s, 10 * box, 100 * s * s)
        && 2 * area > s * s)
        return RECTANGLE;
    return NOTHING;
}

static int32_t touchdown_kind(int64_t area, int64_t w, int64_t h, int64_t expected)
{
    int64_t box = w * h, longer = w > h ? w : h, shorter = w > h ? h : w;
    int32_t kind = NOTHING;
    if (10 * longer < 14 * shorter) {
        if (between(28 * area, 10 * box, 55 * area))
            return RING;
        if (10 * box < 23 * area && between(6 * expected, 10 * area, 16 * expected))
            kind = SQUARE;
    }
    if (2 * longer < 5 * shorter && 10 * box < 26 * area && between(13 * expected, 10 * area, 36 * expected))
        kind |= RECTANGLE;
    return kind;
}

static struct figure read_object(const volatile uint32_t *object, int32_t index)
{
    uint32_t area = object[0], sum_x = object[1], sum_y = object[2], across = object[3], down = object[4];
    struct figure figure = {.index = index, .kind = NOTHING, .area = (int32_t)area};
    if (area == 0)
        area = 1; /* the logic lists no such object; a division by zero must not stop the board */
    figure.x = (int32_t)(16 * (uint64_t)sum_x / area);
    figure.y = (int32_t)(16 * (uint64_t)sum_y / area);
    figure.x_min = (int32_t)(across & 0xFFFF);
    figure.x_max = (int32_t)(across >> 16);
    figure.y_min = (int32_t)(down & 0xFFFF);
    figure.y_max = (int32_t)(down >> 16);
    return figure;
}

static void sort_figures(const volatile uint32_t *list, int32_t altitude_cm, struct sizes sizes, enum rules rules,
                         volatile uint8_t *kinds)
{
    int32_t n = (int32_t)(list[1] < MOST_OBJECTS ? list[1] : MOST_OBJECTS);
    int64_t expected = square_area(altitude_cm);
    n_squares = n_rectangles = n_rings = 0;
    for (int32_t k = 0; k < n; k++) {
        struct figure figure = read_object(list + 4 + 8 * k, k);
        int32_t w = figure.x_max - figure.x_min + 1, h = figure.y_max - figure.y_min + 1;
        if (rules == PUBLISHED) {
            figure.kind = published_kind(figure.area, w, h, sizes);
        } else {
            int cut = figure.x_min == 0 || figure.y_min == 0 || figure.x_max == WIDTH - 1
                      || figure.y_max == HEIGHT - 1;
            figure.kind = cut ? NOTHING : touchdown_kind(figure.area, w, h, expected);
        }
        figures[k] = figure;
        kinds[k] = (uint8_t)figure.kind;
        if (figure.kind & SQUARE)
            squares[n_squares++] = k;
        if (figure.kind & RECTANGLE)
            rectangles[n_rectangles++] = k;
        if (figure.kind & RING)
            rings[n_rings++] = k;
    }
}

/* ---- the marker */

int32_t heading_of(int32_t dx, int32_t dy)
{
    /* atan(2^-k) in 1/2^32 turn */
    static const int32_t turns[] = {536870912, 316933406, 167458907, 85004756, 42667331, 21354465, 10679838,
                                    5340245,   2670163,   1335087,   667544,   333772,   166886,   83443,
                                    41722,     20861,     10430,     5215,     2608,     1304};
    int64_t x = -(int64_t)dy * 65536, y = (int64_t)dx * 65536, angle = 0;
    if (dx == 0 && dy == 0)
        return 0;
    if (x < 0) {
        x = -x;
        y = -y;
        angle = (int64_t)1 << 31;
    }
    for (uint32_t k = 0; k < sizeof turns / sizeof turns[0]; k++) {
        int64_t x_part = x >> k, y_part = y >> k;
        if (y > 0) {
            x += y_part;
            y -= x_part;
            angle += turns[k];
        } else {
            x -= y_part;
            y += x_part;
            angle -= turns[k];
        }
    }
    int32_t wrapped = (int32_t)(((angle + 32768) >> 16) & 0xFFFF);
    return wrapped >= 32768 ? wrapped - 65536 : wrapped;
}

static int32_t side_of(const struct figure *square)
{
    return root_of(256 * (uint32_t)square->area);
}

static struct marker marker_of(const struct figure *square, const struct figure *rectangle, int32_t ring)
{
    struct marker marker = {.square = *square, .rectangle = rectangle->index, .ring = ring};
    marker.dx = square->x - rectangle->x;
    marker.dy = square->y - rectangle->y;
    marker.x = (square->x + rectangle->x) >> 1;
    marker.y = (square->y + rectangle->y) >> 1;
    marker.heading = heading_of(marker.dx, marker.dy);
    marker.side = side_of(square);
    return marker;
}

static int is_within(const struct figure *figure, const struct figure *ring)
{
    return 16 * ring->x_min <= figure->x && figure->x <= 16 * ring->x_max && 16 * ring->y_min <= figure->y
           && figure->y <= 16 * ring->y_max;
}

/* The first of some figures whose centroid is in the ring's box; null if there is none. */
static const struct figure *first_within(const int32_t *some, int32_t n, const struct figure *ring)
{
    for (int32_t k = 0; k < n; k++)
        if (is_within(&figures[some[k]], ring))
            return &figures[some[k]];
    return 0;
}

static enum refusal published_marker(struct marker *found)
{
    for (int32_t k = 0; k < n_rings; k++) {
        const struct figure *ring = &figures[rings[k]];
        const struct figure *square = first_within(squares, n_squares, ring);
        const struct figure *rectangle = first_within(rectangles, n_rectangles, ring);
        if (square && rectangle) {
            *found = marker_of(square, rectangle, ring->index);
            return MARKER_FOUND;
        }
    }
    return NO_RING_THAT_HOLDS;
}

static int are_a_pair(const struct figure *square, const struct figure *rectangle)
{
    int64_t dx = square->x - rectangle->x, dy = square->y - rectangle->y, area = square->area;
    int64_t distance_2 = dx * dx + dy * dy;
    return between(17 * area, 10 * (int64_t)rectangle->area, 28 * area)
           && between(14 * 256 * area, 10 * distance_2, 36 * 256 * area);
}

static int is_inside(int32_t x, int32_t y, int32_t reach)
{
    return reach <= x && x <= 16 * (WIDTH - 1) - reach && reach <= y && y <= 16 * (HEIGHT - 1) - reach;
}

static int32_t ring_around(const struct marker *marker)
{
    int32_t diameter = 5 * marker->side;
    for (int32_t k = 0; k < n_rings; k++) {
        const struct figure *ring = &figures[rings[k]];
        int32_t size = 8 * (ring->x_max - ring->x_min + 1 + ring->y_max - ring->y_min + 1);
        int32_t off_x = magnitude(8 * (ring->x_min + ring->x_max) - marker->x);
        int32_t off_y = magnitude(8 * (ring->y_min + ring->y_max) - marker->y);
        if (between(8 * diameter, 10 * size, 12 * diameter) && 8 * greatest(off_x, off_y) < diameter)
            return ring->index;
    }
    return -1;
}

static int is_near(const struct marker *marker, const struct marker *prior)
{
    int32_t off_x = magnitude(marker->square.x - prior->square.x);
    int32_t off_y = magnitude(marker->square.y - prior->square.y);
    int64_t now = marker->square.area, before = prior->square.area;
    if (greatest(off_x, off_y) >= 2 * side_of(&prior->square))
        return 0;
    return between(7 * before, 10 * now, 14 * before);
}

/* The square that was there before, when the rectangle beside it has left the image. */
static int square_alone(const struct marker *prior, struct marker *found)
{
    int32_t n_found = 0;
    for (int32_t k = 0; k < n_squares; k++) {
        const struct figure *square = &figures[squares[k]];
        int32_t side = side_of(square);
        int32_t dx = (int32_t)floored((int64_t)prior->dx * side, prior->side);
        int32_t dy = (int32_t)floored((int64_t)prior->dy * side, prior->side);
        struct marker here = {.x = square->x - (dx >> 1), .y = square->y - (dy >> 1), .heading = prior->heading,
                              .square = *square, .dx = prior->dx, .dy = prior->dy, .side = prior->side,
                              .rectangle = -1, .ring = -1};
        if (is_near(&here, prior) && !is_inside(square->x - dx, square->y - dy, (18 * side) >> 4)) {
            if (n_found++ == 0)
                *found = here;
        }
    }
    return n_found == 1;
}

static enum refusal touchdown_marker(int32_t altitude_cm, const struct marker *prior, struct marker *found)
{
    struct marker whole, cut;
    int32_t n_whole = 0, n_cut = 0, ringless = 0;
    for (int32_t k = 0; k < n_squares * n_rectangles; k++) {
        const struct figure *square = &figures[squares[k / n_rectangles]];
        const struct figure *rectangle = &figures[rectangles[k % n_rectangles]];
        if (!are_a_pair(square, rectangle))
            continue;
        struct marker pair = marker_of(square, rectangle, -1);
        pair.ring = ring_around(&pair);
        if (pair.ring >= 0) {
            if (n_whole++ == 0)
                whole = pair;
        } else if (is_inside(pair.x, pair.y, (45 * pair.side) >> 4)) {
            ringless = 1;
        } else if ((prior && is_near(&pair, prior)) || altitude_cm <= NEAR_CM) {
            if (n_cut++ == 0)
                cut = pair;
        }
    }
    if (n_whole > 1 || (n_whole == 0 && n_cut > 1))
        return MORE_THAN_ONE;
    if (n_whole || n_cut) {
        *found = n_whole ? whole : cut;
        return MARKER_FOUND;
    }
    if (prior && square_alone(prior, found))
        return MARKER_FOUND;
    return ringless ? RINGLESS : NO_PAIR;
}

enum refusal find_marker(const volatile uint32_t *list, int32_t altitude_cm, struct sizes sizes, enum rules rules,
                         const struct marker *prior, struct marker *found, volatile uint8_t *kinds)
{
    sort_figures(list, altitude_cm, sizes, rules, kinds);
    return rules == PUBLISHED ? published_marker(found) : touchdown_marker(altitude_cm, prior, found);
}

enum refusal look(const volatile uint32_t *list, int32_t altitude_cm, struct sizes sizes, enum rules rules,
                  struct sighting *sighting, struct marker *found, volatile uint8_t *kinds)
{
    const struct marker *prior = sighting->has_marker ? &sighting->marker : 0;
    enum refusal refusal = find_marker(list, altitude_cm, sizes, rules, prior, found, kinds);
    if (refusal == MARKER_FOUND) {
        sighting->has_marker = 1;
        sighting->age = 0;
        sighting->marker = *found;
    } else if (++sighting->age >= PRIOR_IMAGES) {
        sighting->has_marker = 0;
        sighting->age = 0;
    }
    return refusal;
}
