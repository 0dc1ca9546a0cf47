// From samples to pixels: ambient occlusion, the average of the colours, the surface at the pixel's centre, a glow.
uniform sampler2D colours;
uniform usampler2D surfaces;
uniform vec4 lens;  // fx, fy, cx, cy of the samples
uniform mat3 camera_from_world;
uniform float bloom;

layout(location = 0) out vec4 out_colour;
layout(location = 1) out uvec4 out_surface;

vec3 normal_of(uint word) {
    vec2 f = vec2((word >> 8) & 0xFFFu, (word >> 20) & 0xFFFu) / 2047.0 - 1.0;
    vec3 n = vec3(f, 1.0 - abs(f.x) - abs(f.y));
    if (n.z < 0.0) n.xy = (1.0 - abs(n.yx)) * vec2(n.x >= 0.0 ? 1.0 : -1.0, n.y >= 0.0 ? 1.0 : -1.0);
    return normalize(n);
}

#if OCCLUSION > 0
float open_share(ivec2 at, uvec4 here) {
    float z = uintBitsToFloat(here.x);
    if (here.y == 0u || z > 120.0) return 1.0;
    ivec2 size = textureSize(surfaces, 0);
    vec3 place = vec3((vec2(at) - lens.zw) / lens.xy, 1.0) * z;
    vec3 n = camera_from_world * normal_of(here.z);
    float reach = clamp(0.7 * lens.x / z, 3.0, 0.2 * float(size.x));
    float turn = fract(sin(dot(vec2(at), vec2(12.9898, 78.233))) * 43758.5453) * 6.2832;
    float closed = 0.0;
    for (int k = 0; k < OCCLUSION; ++k) {
        float angle = turn + 2.39996 * float(k);
        float away = reach * sqrt((float(k) + 0.5) / float(OCCLUSION));
        ivec2 there = at + ivec2(vec2(cos(angle), sin(angle)) * away);
        if (any(lessThan(there, ivec2(0))) || any(greaterThanEqual(there, size))) continue;
        float d = uintBitsToFloat(texelFetch(surfaces, there, 0).x);
        if (isinf(d)) continue;
        vec3 v = vec3((vec2(there) - lens.zw) / lens.xy, 1.0) * d - place;
        float far = dot(v, v);
        closed += max(0.0, dot(v, n) / sqrt(far + 1e-6) - 0.08) * smoothstep(1.2, 0.3, sqrt(far));
    }
    return clamp(1.0 - 1.9 * closed / float(OCCLUSION), 0.25, 1.0);
}
#endif

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    ivec2 corner = pixel * OVERSAMPLING;
    vec3 sum = vec3(0.0);
    for (int i = 0; i < OVERSAMPLING; ++i)
        for (int j = 0; j < OVERSAMPLING; ++j) sum += texelFetch(colours, corner + ivec2(i, j), 0).rgb;
    vec3 colour = sum / float(OVERSAMPLING * OVERSAMPLING);
    ivec2 middle = corner + OVERSAMPLING / 2;
    out_surface = texelFetch(surfaces, middle, 0);
#if OCCLUSION > 0
    colour *= open_share(middle, out_surface);
#endif
    if (bloom > 0.0) {
        vec2 at = (vec2(middle) + 0.5) / vec2(textureSize(colours, 0));
        vec3 glow = vec3(0.0);
        for (int level = 3; level <= 6; ++level) glow += max(textureLod(colours, at, float(level)).rgb - 0.82, 0.0);
        colour += bloom * glow;
    }
    out_colour = vec4(colour, 1.0);
}
