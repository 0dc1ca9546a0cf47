// Depth alone: seen from the sun for shadows, or from the camera before anything is shaded.
in vec3 position;
in vec4 pose_x;
in vec4 pose_y;
in vec4 pose_z;
uniform mat4 clip_from_relative;
invariant gl_Position;

void main() {
    vec4 p = vec4(position, 1.0);
    vec3 relative = vec3(dot(pose_x, p), dot(pose_y, p), dot(pose_z, p));
    gl_Position = clip_from_relative * vec4(relative, 1.0);
}
