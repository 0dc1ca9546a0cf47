// Rain, snow and dust: a cube of drops that wraps around the camera, each where its fall has brought it by now.
uniform mat4 image_from_relative;
uniform vec3 eye;
uniform vec3 fall;  // m/s
uniform float t;
uniform float side;  // m, of the cube
uniform float streak;  // s of its fall that a drop is drawn along
uniform float thickness;  // m
uniform vec3 tint;
uniform float opacity;
out vec4 shade;

float hash(uint x) {
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    return float(x) / 4294967296.0;
}

void main() {
    uint id = uint(gl_InstanceID) * 3u;
    vec3 start = vec3(hash(id), hash(id + 1u), hash(id + 2u)) * side;
    vec3 place = mod(start + fall * t - eye, side) - 0.5 * side;
    vec3 along = normalize(fall + vec3(1e-3, 0, 0));
    vec3 across = normalize(cross(along, place + vec3(0.01, 0.02, 0.03)));
    vec2 corner = vec2((gl_VertexID & 1) == 0 ? -0.5 : 0.5, (gl_VertexID & 2) == 0 ? -0.5 : 0.5);
    vec3 p = place + across * corner.x * thickness + along * corner.y * max(length(fall) * streak, thickness);
    float far = length(place) / (0.5 * side);
    shade = vec4(tint, opacity * (1.0 - smoothstep(0.6, 1.0, far)) * smoothstep(0.03, 0.12, far));
    gl_Position = image_from_relative * vec4(p, 1.0);
}
