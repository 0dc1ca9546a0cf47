uniform float streak;
in vec4 shade;
in vec2 across_and_along;
layout(location = 0) out vec4 out_colour;

void main() {
    vec2 from_middle = streak > 0.0 ? vec2(across_and_along.x, 0.0) : across_and_along;
    out_colour = vec4(shade.rgb, shade.a * (1.0 - smoothstep(0.5, 1.0, length(from_middle))));
}
