in vec4 shade;
layout(location = 0) out vec4 out_colour;
void main() { out_colour = shade; }
