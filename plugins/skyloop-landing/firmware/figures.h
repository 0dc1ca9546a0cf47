/* From the fabric's list of objects to figures and the marker, in whole numbers.
   The same rules as skyloop_landing.vision.figures; places in 1/16 px, headings in 1/65536 turn. */
#ifndef FIGURES_H
#define FIGURES_H
#include <stdint.h>

#define MOST_OBJECTS 256
#define LIST_WORDS (4 + 8 * MOST_OBJECTS)

enum rules { TOUCHDOWN, PUBLISHED };
/* Bits: by our rules an object may be taken for a square and for a rectangle until they are compared. */
enum kind { NOTHING = 0, RING = 1, SQUARE = 2, RECTANGLE = 4 };
enum refusal { MARKER_FOUND, NO_RING_THAT_HOLDS, MORE_THAN_ONE, RINGLESS, NO_PAIR };

struct figure {
    int32_t index; /* in the list */
    int32_t kind;
    int32_t area;
    int32_t x, y; /* centroid */
    int32_t x_min, x_max, y_min, y_max;
};

struct marker {
    int32_t x, y, heading;
    struct figure square;
    int32_t dx, dy;    /* from the rectangle's centroid to the square's, of the last image that had both */
    int32_t side;      /* of the square in that image */
    int32_t rectangle; /* index of the object; -1 if it is out of the image */
    int32_t ring;
};

struct sizes {
    int32_t ring, square; /* px, expected by the published rules */
};

/* The last marker and how many images ago it was seen. */
struct sighting {
    int32_t has_marker, age;
    struct marker marker;
};

struct sizes expected_sizes(int32_t altitude_cm);
int32_t least_area(int32_t altitude_cm, enum rules rules);
int32_t heading_of(int32_t dx, int32_t dy);

/* `kinds` gets a byte for each object. A `prior` may be null. */
enum refusal find_marker(const volatile uint32_t *list, int32_t altitude_cm, struct sizes sizes, enum rules rules,
                         const struct marker *prior, struct marker *found, volatile uint8_t *kinds);

/* find_marker with what earlier images left, which is then brought up to date. */
enum refusal look(const volatile uint32_t *list, int32_t altitude_cm, struct sizes sizes, enum rules rules,
                  struct sighting *sighting, struct marker *found, volatile uint8_t *kinds);

#endif
