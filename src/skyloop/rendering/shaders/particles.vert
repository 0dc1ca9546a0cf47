// Rain, snow and dust: a cube of drops that wraps around the camera, each where its fall has brought it by now.
uniform mat4 image_from_relative;
uniform vec3 shift;  // m, fallen so far, less the camera's place
uniform vec3 fall;  // m/s
uniform float side;  // m, of the cube
uniform float streak;  // s of its fall that a drop is drawn along
uniform float thickness;  // m
uniform float focal;  // samples per unit of slope
uniform vec3 tint;
uniform float opacity;
uniform sampler2DShadow roofs;
uniform mat4 roof_from_relative;
out vec4 shade;
out vec2 across_and_along;  // -1 to 1

float hash(uint x) {
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    return float(x) / 4294967296.0;
}

void main() {
    uint id = uint(gl_InstanceID) * 3u;
    vec3 start = vec3(hash(id), hash(id + 1u), hash(id + 2u)) * side;
    vec3 place = mod(start + shift, side) - 0.5 * side;
    vec3 along = normalize(fall + vec3(1e-3, 0, 0));
    vec3 across = normalize(cross(along, place + vec3(0.01, 0.02, 0.03)));
    vec3 lengthwise = streak > 0.0 ? along : normalize(cross(across, place));
    across_and_along = vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, (gl_VertexID & 2) == 0 ? -1.0 : 1.0);
    // what is thinner than a sample is drawn that wide and fainter, else it would come and go
    float wide = max(thickness, 1.3 * length(place) / focal);
    vec2 size = 0.5 * vec2(wide, max(length(fall) * streak, wide));
    vec3 p = place + across * across_and_along.x * size.x + lengthwise * across_and_along.y * size.y;
    float far = length(place) / (0.5 * side);
    float seen = thickness / wide;
    if (streak == 0.0) seen *= seen;
    seen *= textureLod(roofs, (roof_from_relative * vec4(place, 1.0)).xyz, 0.0);
    shade = vec4(tint, opacity * seen * (1.0 - smoothstep(0.6, 1.0, far)) * smoothstep(0.03, 0.12, far));
    gl_Position = image_from_relative * vec4(p, 1.0);
}
