// One pass: the lit colour, and all that is known of the surface, as far as they are asked for.
in vec3 relative;
in vec3 world_normal;
in vec3 texture_place;
in vec3 tint;
flat in uvec2 surface_ids;
flat in float gloss;
flat in float translucency;

uniform sampler2DArray layers;
uniform vec3 sun_direction;
uniform vec3 sun_colour;
uniform vec3 zenith_colour;
uniform vec3 sky_colour;
uniform vec3 horizon_colour;
uniform vec3 ground_colour;
uniform float extinction;
uniform float wetness;
uniform float snow;
uniform float leaves;
uniform float exposure;
#ifdef SHADOWS
uniform sampler2DShadow standing_shadows;
uniform sampler2DShadow moving_shadows;
uniform mat4 shadow_from_relative;
uniform mat4 moving_shadow_from_relative;
uniform float shadow_texel;
#endif

#ifdef LAMPS
uniform vec4 lamp_places[LAMPS];  // m, world axes from the camera's place, and m of glow around it
uniform vec4 lamp_colours[LAMPS];
#endif

#ifdef COLOUR
layout(location = COLOUR) out vec4 out_colour;
#endif
#ifdef SURFACE
layout(location = SURFACE) out uvec4 out_surface;
#endif

uint packed_normal(vec3 n) {
    n /= abs(n.x) + abs(n.y) + abs(n.z);
    vec2 folded = n.z >= 0.0 ? n.xy : (1.0 - abs(n.yx)) * vec2(n.x >= 0.0 ? 1.0 : -1.0, n.y >= 0.0 ? 1.0 : -1.0);
    uvec2 whole = uvec2(round(folded * 2047.0) + 2047.0);
    return (whole.x << 8) | (whole.y << 20);
}

#ifdef WEATHER
uniform sampler2DShadow roofs;
uniform mat4 roof_from_relative;
uniform vec2 eye;  // m, world, less whole multiples of 1024

// chance of a leaf, and its colour, at a place of the ground: one in each square of 0.12 m, round and somewhere in it
vec2 leaf_at(vec2 place) {
    vec2 cell = floor(place / 0.12);
    uint x = uint(int(cell.x)) * 0x9e3779b9u ^ uint(int(cell.y)) * 0x85ebca6bu;
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    vec4 h = vec4(x & 255u, (x >> 8) & 255u, (x >> 16) & 255u, x >> 24) / 256.0;
    float gap = length(place / 0.12 - cell - (0.3 + 0.4 * h.zw));
    return vec2(gap < 0.38 ? h.x : 1.0, h.y);
}
#endif

#if defined(SHADOWS) || defined(WEATHER)
float lit_in(sampler2DShadow map, mat4 to_map, vec3 place) {
    vec3 q = (to_map * vec4(place, 1.0)).xyz;
    vec2 edge = abs(q.xy - 0.5);
    float outside = smoothstep(0.42, 0.495, max(edge.x, edge.y));
    if (outside == 1.0 || q.z >= 1.0) return 1.0;
#if !defined(TAPS) || TAPS == 1
    return mix(texture(map, q), 1.0, outside);
#else
    float sum = 0.0;
    for (int i = 0; i < TAPS; ++i)
        for (int j = 0; j < TAPS; ++j)
            sum += texture(map, vec3(q.xy + (vec2(i, j) - 0.5 * float(TAPS - 1)) * shadow_texel * 1.4, q.z));
    return mix(sum / float(TAPS * TAPS), 1.0, outside);
#endif
}
#endif

// on a CPU these cost a tenth of pow()
float fifth_power(float x) { float y = x * x; return y * y * x; }
float power_64(float x) { x *= x; x *= x; x *= x; x *= x; x *= x; return x * x; }

void main() {
    float distance = length(relative);
    vec3 towards = -relative / distance;
    vec3 n = normalize(world_normal);
    if (!gl_FrontFacing) n = -n;
#ifdef SURFACE
    out_surface = uvec4(floatBitsToUint(1.0 / gl_FragCoord.w), surface_ids.x, packed_normal(n) | surface_ids.y, 0u);
#endif
#ifdef COLOUR
    vec4 texel = texture(layers, texture_place);
    vec3 shown = texel.rgb * tint;
    vec3 albedo = shown * shown;  // from display to linear, near enough
#ifdef BUMPS
    vec3 along_x = dFdx(relative), along_y = dFdy(relative);
    vec3 r1 = cross(along_y, n), r2 = cross(n, along_x);
    float area = dot(along_x, r1);
    float fade = clamp(1.0 - distance / 40.0, 0.0, 1.0) * BUMPS;
    vec3 slope = sign(area) * (dFdx(texel.a) * r1 + dFdy(texel.a) * r2) * 0.03 * fade;
    n = normalize(abs(area) * n - slope);
#endif
    float shine = gloss;
#ifdef WEATHER
    // only what has nothing above it gets wet or white
    float open = lit_in(roofs, roof_from_relative, relative + vec3(0.0, 0.0, 0.3));
    float wet = open * wetness * clamp(n.z, 0.0, 1.0);
    vec2 strewn = leaves > 0.0 ? leaf_at(relative.xy + eye) : vec2(1.0, 0.0);
    // far away leaves are no more than a tint
    float leaf = mix(step(strewn.x, 0.45 * leaves), 0.35 * leaves, smoothstep(8.0, 30.0, distance));
    vec3 autumn = mix(vec3(0.32, 0.05, 0.01), vec3(0.55, 0.28, 0.03), strewn.y);
    albedo = mix(albedo, autumn, 0.9 * open * leaf * smoothstep(0.45, 0.8, n.z));
    albedo = mix(albedo, vec3(0.85, 0.88, 0.92) * (0.75 + 0.25 * texel.a), open * snow * smoothstep(0.45, 0.8, n.z));
    albedo *= 1.0 - 0.45 * wet;
    shine += 0.35 * wet;
#endif

    // what is lit from behind shows a share of that light
    float towards_sun = dot(n, sun_direction);
    float facing = max(towards_sun, -translucency * towards_sun);
    float lit = 1.0;
#ifdef SHADOWS
    if (facing > 0.0) {
        vec3 place = relative + sign(towards_sun) * n * (0.015 + 0.06 * (1.0 - abs(towards_sun)));
        lit = min(lit_in(standing_shadows, shadow_from_relative, place),
                  lit_in(moving_shadows, moving_shadow_from_relative, place));
        // leaves shade each other less than solid things would
        lit = mix(lit, 1.0, 0.4 * translucency);
    }
#endif
    vec3 ambient = mix(ground_colour, sky_colour, 0.5 + 0.5 * n.z);
    vec3 light = albedo * (ambient + sun_colour * facing * lit);
#ifdef LAMPS
    for (int i = 0; i < LAMPS; ++i) {
        if (lamp_colours[i].w == 0.0) break;
        vec3 way = lamp_places[i].xyz - relative;
        float square = dot(way, way), share = square / (REACH * REACH);
        if (share >= 1.0) continue;
        float left = 1.0 - share * share, towards_lamp = dot(n, way) * inversesqrt(square + 1e-6);
        float falls = max(towards_lamp, -translucency * towards_lamp) * left * left / (square + 0.05);
        float glows = 0.5 * clamp((lamp_places[i].w - sqrt(square)) / (0.3 * lamp_places[i].w + 1e-6), 0.0, 1.0);
        light += lamp_colours[i].rgb * (albedo * falls + glows);
    }
#endif
    if (shine > 0.0) {
        vec3 mirrored = reflect(-towards, n);
        float fresnel = 0.04 + 0.96 * fifth_power(1.0 - max(dot(n, towards), 0.0));
        vec3 above = mix(horizon_colour, zenith_colour, clamp(mirrored.z * 2.0, 0.0, 1.0));
        light = mix(light, above, shine * fresnel * step(0.0, mirrored.z));
        light += sun_colour * lit * shine * power_64(max(dot(mirrored, sun_direction), 0.0));
    }
    light = mix(horizon_colour, light, exp(-extinction * distance));
    out_colour = vec4(sqrt(1.0 - exp(-exposure * light)), 1.0);
#endif
}
