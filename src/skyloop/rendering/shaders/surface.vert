// Every visible instance: to the image, with what the fragments need.
in vec3 position;
in vec4 normal;
in vec2 uv;
in vec4 colour;
in uvec4 material;
in vec4 pose_x;
in vec4 pose_y;
in vec4 pose_z;
in uvec4 ids;

uniform mat4 clip_from_relative;
uniform vec4 materials[64];  // 1 / tile, first layer, number of variants, gloss (translucency if negative)
uniform sampler2D palettes;

out vec3 relative;  // world axes, from the camera's place
out vec3 world_normal;
out vec3 texture_place;
out vec3 tint;
flat out uvec2 surface_ids;
flat out float gloss;
flat out float translucency;
// the same as of depth.vert, which may have drawn the depth before
invariant gl_Position;

void main() {
    vec4 p = vec4(position, 1.0);
    relative = vec3(dot(pose_x, p), dot(pose_y, p), dot(pose_z, p));
    // normals of what is scaled unevenly turn by the inverse transpose; columns of a pose are orthogonal
    vec3 own_normal = normal.xyz * (255.0 / 127.0) - 1.0;
    own_normal /= pose_x.xyz * pose_x.xyz + pose_y.xyz * pose_y.xyz + pose_z.xyz * pose_z.xyz;
    world_normal = vec3(dot(pose_x.xyz, own_normal), dot(pose_y.xyz, own_normal), dot(pose_z.xyz, own_normal));
    vec4 m = materials[material.x];
    texture_place = vec3(uv * m.x, m.y + mod(float(ids.z), m.z));
    int slot = int(colour.a * 255.0 + 0.5);
    tint = colour.rgb * texelFetch(palettes, ivec2(slot, int(ids.y)), 0).rgb;
    surface_ids = uvec2(ids.x, material.x);
    gloss = max(m.w, 0.0);
    translucency = max(-m.w, 0.0);
    gl_Position = clip_from_relative * vec4(relative, 1.0);
}
