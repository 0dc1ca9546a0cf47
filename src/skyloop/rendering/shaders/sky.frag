// Sky by elevation, the sun's disc and glow, and clouds on a flat layer.
in vec3 direction;
uniform sampler2D cloud_map;
uniform vec3 sun_direction;
uniform vec3 sun_colour;
uniform vec3 zenith_colour;
uniform vec3 horizon_colour;
uniform float clouds;
uniform float haze;
uniform float exposure;
uniform vec2 cloud_shift;

#ifdef COLOUR
layout(location = COLOUR) out vec4 out_colour;
#endif
#ifdef SURFACE
layout(location = SURFACE) out uvec4 out_surface;
#endif

void main() {
#ifdef SURFACE
    out_surface = uvec4(0x7F800000u, 0u, 0u, 0u);  // infinitely far, nothing
#endif
#ifdef COLOUR
    vec3 d = normalize(direction);
    vec3 light = mix(horizon_colour, zenith_colour, pow(clamp(d.z, 0.0, 1.0), 0.4));
    float towards_sun = max(dot(d, sun_direction), 0.0);
    float glow = towards_sun * towards_sun * towards_sun * towards_sun;
    light += sun_colour * (0.08 * glow * glow * glow + 6.0 * smoothstep(0.99985, 0.99995, towards_sun));
    if (d.z > 0.01) {
        vec2 place = d.xy / (d.z + 0.12) * 0.11 + cloud_shift;
        float thick = texture(cloud_map, place).r * 0.65 + texture(cloud_map, place * 3.1).r * 0.35;
        float cover = smoothstep(1.0 - 1.25 * clouds, 1.25 - 1.25 * clouds, thick) * smoothstep(0.01, 0.16, d.z);
        vec3 cloud = horizon_colour * 0.55 + sun_colour * (0.32 + 0.25 * glow);
        cloud *= 1.35 - 0.6 * thick;
        light = mix(light, cloud, cover);
    }
    light = mix(light, horizon_colour, haze);
    // a sky is so smooth that its 256 steps would show; noise of one step hides them
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
    out_colour = vec4(sqrt(1.0 - exp(-exposure * light)) + noise / 255.0, 1.0);
#endif
}
