// One triangle over the whole image, behind everything.
uniform mat4 relative_from_image;
out vec3 direction;

void main() {
    vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    vec4 far = relative_from_image * vec4(corner, 1.0, 1.0);
    direction = far.xyz / far.w;
    gl_Position = vec4(corner, 1.0, 1.0);
}
