// From samples to pixels: the average of the colours, ambient occlusion, the surface at the pixel's centre, a glow.
uniform sampler2D colours;
uniform usampler2D surfaces;
uniform sampler2D open_shares;
uniform float bloom;

#ifdef COLOUR
layout(location = COLOUR) out vec4 out_colour;
#endif
#ifdef SURFACE
layout(location = SURFACE) out uvec4 out_surface;
#endif

float open_share(ivec2 pixel, uvec4 here) {
    // the 4 by 4 pixels around hold every turn once; those much nearer or farther do not count
    ivec2 last = textureSize(open_shares, 0) - 1;
    float z = uintBitsToFloat(here.x), sum = 0.0, weight = 0.0;
    for (int i = -2; i < 2; ++i)
        for (int j = -2; j < 2; ++j) {
            ivec2 at = clamp(pixel + ivec2(i, j), ivec2(0), last);
            uvec4 there = texelFetch(surfaces, at * OVERSAMPLING + OVERSAMPLING / 2, 0);
            float alike = step(abs(uintBitsToFloat(there.x) - z), 0.05 * z);
            sum += alike * texelFetch(open_shares, at, 0).r;
            weight += alike;
        }
    return sum / weight;
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    ivec2 corner = pixel * OVERSAMPLING;
    ivec2 middle = corner + OVERSAMPLING / 2;
    uvec4 here = texelFetch(surfaces, middle, 0);
#ifdef SURFACE
    out_surface = here;
#endif
#ifdef COLOUR
    vec3 sum = vec3(0.0);
    for (int i = 0; i < OVERSAMPLING; ++i)
        for (int j = 0; j < OVERSAMPLING; ++j) sum += texelFetch(colours, corner + ivec2(i, j), 0).rgb;
    vec3 colour = sum / float(OVERSAMPLING * OVERSAMPLING);
    if (here.y != 0u) colour *= open_share(pixel, here);
    if (bloom > 0.0) {
        vec2 at = (vec2(middle) + 0.5) / vec2(textureSize(colours, 0));
        vec3 glow = vec3(0.0);
        for (int level = 3; level <= 6; ++level) glow += max(textureLod(colours, at, float(level)).rgb - 0.82, 0.0);
        colour += bloom * glow;
    }
    out_colour = vec4(colour, 1.0);
#endif
}
