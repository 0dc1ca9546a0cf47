// One mip level of all layers from the level above it, each texel from four by four with weights 1 3 3 1.
layout(local_size_x = 8, local_size_y = 8) in;
uniform sampler2DArray above;
uniform int level;
layout(rgba8, binding = 0) writeonly uniform image2DArray below;

void main() {
    const float weights[4] = float[](0.125, 0.375, 0.375, 0.125);
    ivec3 place = ivec3(gl_GlobalInvocationID);
    ivec2 size = textureSize(above, level).xy;
    if (any(greaterThanEqual(place.xy, imageSize(below).xy))) return;
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 4; ++i) {
        int row = (2 * place.y + i - 1 + size.y) % size.y;  // textures repeat
        for (int j = 0; j < 4; ++j)
            sum += weights[i] * weights[j]
                 * texelFetch(above, ivec3((2 * place.x + j - 1 + size.x) % size.x, row, place.z), level);
    }
    imageStore(below, place, sum);
}
