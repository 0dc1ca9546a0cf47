// Share of the sky that the surroundings of a pixel leave open; finish.frag evens out the pattern of 4 by 4 turns.
uniform usampler2D surfaces;
uniform vec4 lens;  // fx, fy, cx, cy of the samples
uniform mat3 camera_from_world;
uniform float extinction;
layout(location = 0) out float out_open;

vec3 normal_of(uint word) {
    vec2 f = vec2((word >> 8) & 0xFFFu, (word >> 20) & 0xFFFu) / 2047.0 - 1.0;
    vec3 n = vec3(f, 1.0 - abs(f.x) - abs(f.y));
    if (n.z < 0.0) n.xy = (1.0 - abs(n.yx)) * vec2(n.x >= 0.0 ? 1.0 : -1.0, n.y >= 0.0 ? 1.0 : -1.0);
    return normalize(n);
}

vec3 place_of(ivec2 at, float depth) { return vec3((vec2(at) - lens.zw) / lens.xy, 1.0) * depth; }

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    ivec2 at = pixel * OVERSAMPLING + OVERSAMPLING / 2;
    ivec2 size = textureSize(surfaces, 0);
    uvec4 here = texelFetch(surfaces, at, 0);
    float z = uintBitsToFloat(here.x);
    out_open = 1.0;
    if (here.y == 0u || z > 120.0) return;
    vec3 place = place_of(at, z);
    vec3 n = camera_from_world * normal_of(here.z);
    float reach = clamp(0.7 * lens.x / z, 3.0, 0.2 * float(size.x));
    int turn = (pixel.x & 3) + 4 * (pixel.y & 3);
    float closed = 0.0;
    for (int k = 0; k < OCCLUSION; ++k) {
        float angle = 2.39996 * float(k) + 0.392699 * float(turn);
        float away = reach * sqrt((float(k) + (float((turn * 7) & 15) + 0.5) / 16.0) / float(OCCLUSION));
        ivec2 there = at + ivec2(round(vec2(cos(angle), sin(angle)) * away));
        if (any(lessThan(there, ivec2(0))) || any(greaterThanEqual(there, size))) continue;
        float d = uintBitsToFloat(texelFetch(surfaces, there, 0).x);
        if (isinf(d)) continue;
        vec3 v = place_of(there, d) - place;
        float far = dot(v, v);
        closed += max(0.0, dot(v, n) / sqrt(far + 1e-6) - 0.08) * smoothstep(1.2, 0.3, sqrt(far));
    }
    float open = clamp(1.0 - 1.9 * closed / float(OCCLUSION), 0.25, 1.0);
    out_open = mix(1.0, open, exp(-extinction * length(place)));
}
