// Depth seen from the sun.
in vec3 position;
in vec4 pose_x;
in vec4 pose_y;
in vec4 pose_z;
uniform mat4 map_from_relative;

void main() {
    vec4 p = vec4(position, 1.0);
    gl_Position = map_from_relative * vec4(dot(pose_x, p), dot(pose_y, p), dot(pose_z, p), 1.0);
}
