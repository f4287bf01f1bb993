'use strict';

/* Many bodies are splats of light that add up in a texture of half floats, which tone mapping
   brings to the screen. Few are shaded spheres with trails. */
const shaders = {};

shaders.project = `#version 300 es
  precision highp float;
  uniform mat4 eye;
  uniform vec2 focal;      /* of x and y */
  uniform float pixels;    /* of a unit of length at depth 1 */
  uniform vec2 range;      /* near and far */
  vec3 toEye(vec3 point) { return (eye * vec4(point, 1.0)).xyz; }
  float depthOf(float z) {  /* of clip space, for −z = depth */
    return (-z * (range.y + range.x) - 2.0 * range.x * range.y) / (range.y - range.x);
  }
  vec4 toClip(vec3 e) { return vec4(e.xy * focal, depthOf(e.z), -e.z); }
`;

shaders.color = `
  uniform sampler2D palette;
  uniform vec3 low_high_log;  /* the range of values; whether they go by logarithms */
  vec3 colorOf(float value) {
    vec2 ends = low_high_log.xy;
    float v = value;
    if (low_high_log.z > 0.5) { ends = log(ends); v = log(max(v, 1e-30)); }
    float x = clamp((v - ends.x) / max(ends.y - ends.x, 1e-30), 0.0, 1.0);
    return texture(palette, vec2((x * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  }
`;

shaders.splatVertex = shaders.project + shaders.color + `
  in vec3 position;
  in float value;
  in float size;
  uniform float radius, smallest, largest;
  out vec3 color;
  out float weight, core;
  void main() {
    vec3 e = toEye(position);
    gl_Position = toClip(e);
    float wide = 2.0 * radius * size * pixels / max(-e.z, 1e-20);
    float drawn = clamp(wide, smallest, largest);
    gl_PointSize = drawn;
    core = mix(2.0, 14.0, smoothstep(3.0, 14.0, drawn)); /* no narrower than pixels show */
    weight = min(1.0, wide * wide / (drawn * drawn));
    color = colorOf(value);
  }`;

/* A narrow core in a wide halo. */
shaders.splatFragment = `#version 300 es
  precision highp float;
  in vec3 color;
  in float weight, core;
  out vec4 light;
  void main() {
    vec2 p = 2.0 * gl_PointCoord - 1.0;
    float r2 = dot(p, p);
    if (r2 > 1.0) discard;
    float edge = (1.0 - r2) * (1.0 - r2);
    float w = weight * edge * (0.87 * exp(-core * r2) + 0.13 * exp(-2.5 * r2));
    light = vec4(color * color * w, w);
  }`;

shaders.screenVertex = `#version 300 es
  out vec2 place;
  void main() {
    place = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0;
    gl_Position = vec4(place * 2.0 - 1.0, 0.0, 1.0);
  }`;

/* What is around a place, from the smaller copies of the light. It is smooth: an eighth of the
   picture's size is enough. */
shaders.glowFragment = `#version 300 es
  precision highp float;
  in vec2 place;
  uniform sampler2D light;
  out vec4 glow;
  void main() {
    vec2 texel = 1.0 / vec2(textureSize(light, 0));
    glow = vec4(0.0);
    for (int level = 2; level <= 5; level++) {
      vec2 d = texel * float(1 << level) * 0.5;
      glow += textureLod(light, place + d, float(level)) +
              textureLod(light, place - d, float(level)) +
              textureLod(light, place + vec2(d.x, -d.y), float(level)) +
              textureLod(light, place + vec2(-d.x, d.y), float(level));
    }
    glow /= 16.0;
  }`;

/* On dark: light, its glow, compressed by asinh so that cores keep their structure, and brought
   towards white where it is bright. On light: ink, whose density is that of the bodies. Each is a
   program of its own: without a GPU both sides of a condition take their time. */
const tone = (color) => `#version 300 es
  precision highp float;
  in vec2 place;
  uniform sampler2D light, around;
  uniform vec3 paper;
  uniform float exposure;
  out vec4 screen;
  void main() {
    vec4 l = texelFetch(light, ivec2(gl_FragCoord.xy), 0);
    vec4 g = texture(around, place);
    ${color}
  }`;

shaders.toneOnDark = tone(`
    vec3 c = exposure * (0.85 * l.rgb + 0.35 * g.rgb);
    float peak = max(max(c.r, c.g), max(c.b, 1e-6));
    float mapped = asinh(6.0 * peak) / asinh(6.0 * 12.0);
    vec3 hue = sqrt(c / peak);
    vec3 shown = mix(hue, vec3(1.0, 0.985, 0.95), smoothstep(0.55, 1.15, mapped)) * min(mapped, 1.0);
    screen = vec4(paper + shown * (1.0 - paper), 1.0);`);

shaders.toneOnLight = tone(`
    float density = exposure * (l.a + 0.1 * g.a);
    vec3 ink = sqrt(l.rgb / max(l.a, 1e-6));
    float mapped = min(1.0, asinh(6.0 * density) / asinh(6.0 * 7.0));
    screen = vec4(mix(paper, ink * mix(1.0, 0.72, mapped), pow(mapped, 0.85)), 1.0);`);

shaders.sphereVertex = shaders.project + shaders.color + `
  in vec3 position;
  in float value;
  in float size;
  uniform float radius, smallest, largest, halo;
  out vec3 color;
  out vec2 depths;
  out float width;
  void main() {
    vec3 e = toEye(position);
    gl_Position = toClip(e);
    float wide = 2.0 * radius * size * pixels / max(-e.z, 1e-20);
    width = clamp(wide, smallest * (0.7 + 0.6 * size), largest);
    gl_PointSize = halo > 0.0 ? width * halo : width;
    float r = width / pixels * -e.z / 2.0;
    depths = vec2(-e.z, r);
    color = colorOf(value);
  }`;

shaders.sphereFragment = `#version 300 es
  precision highp float;
  in vec3 color;
  in vec2 depths;
  in float width;
  uniform vec3 paper;
  uniform vec2 range;
  uniform bool is_dark;
  out vec4 screen;
  void main() {
    vec2 p = vec2(2.0, -2.0) * (gl_PointCoord - 0.5);
    float r2 = dot(p, p);
    if (r2 > 1.0) discard;
    float nz = sqrt(1.0 - r2);
    vec3 n = vec3(p, nz);
    float lit = max(dot(n, normalize(vec3(-0.45, 0.6, 0.75))), 0.0);
    float shine = pow(max(dot(n, normalize(vec3(-0.25, 0.35, 0.95))), 0.0), 40.0);
    vec3 c = color * ((is_dark ? 0.32 : 0.55) + 0.8 * lit) + shine * (is_dark ? 0.5 : 0.45);
    float rim = smoothstep(1.0 - 5.0 / width, 1.0 - 1.5 / width, sqrt(r2));
    c = mix(c, color * (is_dark ? 0.25 : 0.45), 0.8 * rim);
    float edge = 1.0 - smoothstep(1.0 - 2.5 / width, 1.0, sqrt(r2));
    screen = vec4(min(c, 1.0), edge);
    float depth = depths.x - depths.y * nz;
    float z = (depth * (range.y + range.x) - 2.0 * range.x * range.y) / (range.y - range.x) / depth;
    gl_FragDepth = clamp(0.5 * z + 0.5, 0.0, 1.0);
  }`;

shaders.haloFragment = `#version 300 es
  precision highp float;
  in vec3 color;
  out vec4 screen;
  void main() {
    float r = length(2.0 * gl_PointCoord - 1.0);
    if (r > 1.0) discard;
    float w = (1.0 - r) * (1.0 - r) * 0.33;
    screen = vec4(color * w, w);
  }`;

/* A piece of a trail, from its older to its newer end: a curve through both that heads where the
   ends before and after them lead (Catmull & Rom 1974), as wide as a line of ink. */
shaders.trailVertex = shaders.project + shaders.color + `
  in vec3 before, older, newer, after;
  in float value;
  uniform vec2 screen_size;
  uniform float pieces, drawn, bodies, first, wide, jump, parts;
  out vec3 color;
  out vec2 fade_side;
  vec3 along(float t, vec3 p0, vec3 p3) {
    vec3 a = 2.0 * older, b = newer - p0;
    vec3 c = 2.0 * p0 - 5.0 * older + 4.0 * newer - p3, d = -p0 + 3.0 * older - 3.0 * newer + p3;
    return 0.5 * (a + t * (b + t * (c + t * d)));
  }
  void main() {
    float side = float(gl_VertexID & 1) * 2.0 - 1.0, t = float(gl_VertexID >> 1) / parts;
    float piece = floor(float(gl_InstanceID) / bodies);
    bool starts = piece < 0.5 || distance(before, older) > jump;
    bool ends = piece > drawn - 1.5 || distance(after, newer) > jump;
    vec3 p0 = starts ? 2.0 * older - newer : before, p3 = ends ? 2.0 * newer - older : after;
    float dt = t > 0.5 ? -0.2 : 0.2;
    vec3 e0 = toEye(along(t, p0, p3)), e1 = toEye(along(t + dt, p0, p3));
    vec4 c0 = toClip(e0), c1 = toClip(e1);
    bool hidden = distance(older, newer) > jump || c0.w <= range.x || c1.w <= range.x;
    vec2 a = c0.xy / c0.w * screen_size, heading = (c1.xy / c1.w * screen_size - a) * sign(dt);
    float far = length(heading);
    hidden = hidden || far < 2e-3; /* shorter than its direction is known */
    vec2 across = far > 0.0 ? vec2(-heading.y, heading.x) / far : vec2(0.0, 1.0);
    vec2 point = a + across * side * (wide + 1.0);
    gl_Position = hidden ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(point / screen_size * c0.w, c0.z, c0.w);
    color = colorOf(value);
    fade_side = vec2(clamp((first + piece + t) / pieces, 0.0, 1.0), side * (wide + 1.0));
  }`;

shaders.trailFragment = `#version 300 es
  precision highp float;
  in vec3 color;
  in vec2 fade_side;
  uniform float wide;
  uniform bool is_dark;
  out vec4 screen;
  void main() {
    float edge = clamp(wide + 0.5 - abs(fade_side.y), 0.0, 1.0);
    float fade = fade_side.x * fade_side.x;
    screen = vec4(color, edge * fade * (is_dark ? 0.85 : 0.8));
  }`;
