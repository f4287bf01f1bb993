'use strict';

/* The light of many bodies, added up by a loop. Where WebGL runs on the processor a point costs it a
   microsecond or two, and this a fifth of one; and textures of whole floats are faster there than of
   half floats. The kernel is that of the splats' shaders. */
class Splats {
  /* Whether a context of WebGL has no GPU behind it, and takes what is painted here. */
  static suit(gl) {
    if (!gl.getExtension('EXT_color_buffer_float') || !gl.getExtension('OES_texture_float_linear'))
      return false;
    const info = gl.getExtension('WEBGL_debug_renderer_info');
    const name = gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  }

  constructor() {
    this.light = new Float32Array(0);
    this.colors = new Float32Array(0);
    this.kernel = Splats.kernels();
  }

  /* By the square of the distance from the middle, of a body of each whole width up to 14 pixels,
     beyond which all are alike. */
  static kernels() {
    const table = new Float32Array(15 * 256);
    for (let drawn = 0; drawn < 15; drawn++) {
      const t = Math.max(0, Math.min(1, (drawn - 3) / 11)), core = 2 + 12 * t * t * (3 - 2 * t);
      for (let k = 0; k < 256; k++) {
        const r2 = (k + 0.5) / 256;
        table[256 * drawn + k] = (1 - r2) ** 2 * (0.87 * Math.exp(-core * r2) + 0.13 * Math.exp(-2.5 * r2));
      }
    }
    return table;
  }

  /* The squares of colors, three for each body: of values in a range, from a palette of bytes. */
  setColors(values, palette, { low, high, logarithmic }) {
    const of = (v) => logarithmic ? Math.log(Math.max(v, 1e-30)) : v;
    const start = of(low), scale = 255 / Math.max(of(high) - start, 1e-30);
    if (this.colors.length !== 3 * values.length)
      this.colors = new Float32Array(3 * values.length);
    for (let i = 0; i < values.length; i++) {
      const k = 4 * Math.round(Math.max(0, Math.min(255, scale * (of(values[i]) - start) || 0)));
      for (let c = 0; c < 3; c++)
        this.colors[3 * i + c] = (palette[k + c] / 255) ** 2;
    }
  }

  /* Four numbers a pixel, the lowest row first, which stay valid until the next call.
       bodies    position, sizes and their unit `radius`, as the renderer has them
       smallest  and largest: pixels that a body is wide
       isCoarse  bodies of the smallest width are spread over four pixels, with as much light */
  paint(width, height, camera, { position, sizes, radius, smallest, largest, isCoarse }) {
    const [m0, m1, m2, , m4, m5, m6, , m8, m9, m10, , m12, m13, m14] = camera.matrix(), { colors } = this;
    const pixels = camera.focal * height / 2, near = 1e-3 * camera.now.distance, count = sizes.length;
    const spread = isCoarse ? this.sum(smallest) : 0;
    if (this.light.length !== 4 * width * height)
      this.light = new Float32Array(4 * width * height);
    this.light.fill(0);
    for (let i = 0; i < count; i++) {
      const x = position[3 * i], y = position[3 * i + 1], z = position[3 * i + 2];
      const depth = -(m2 * x + m6 * y + m10 * z + m14);
      if (!(depth > near) || isGone(position, i))
        continue;
      const scale = pixels / depth, wide = 2 * radius * sizes[i] * scale;
      const drawn = Math.max(smallest, Math.min(largest, wide));
      const left = width / 2 + scale * (m0 * x + m4 * y + m8 * z + m12) - 0.5;
      const low = height / 2 + scale * (m1 * x + m5 * y + m9 * z + m13) - 0.5;
      const weight = Math.min(1, wide * wide / (drawn * drawn));
      const red = colors[3 * i], green = colors[3 * i + 1], blue = colors[3 * i + 2];
      if (spread === 0 || wide > smallest)
        this.add(width, height, left, low, drawn, weight, red, green, blue);
      else if (left >= 0 && low >= 0 && left < width - 1 && low < height - 1)
        this.spread(width, left, low, spread * weight, red, green, blue);
    }
    return this.light;
  }

  /* What the kernel of a width adds to all pixels together: its integral. */
  sum(drawn) {
    const table = 256 * Math.min(14, Math.round(drawn));
    const mean = this.kernel.subarray(table, table + 256).reduce((a, b) => a + b) / 256;
    return mean * Math.PI * drawn * drawn / 4;
  }

  /* One body over the four pixels around it, by their distances: a fourth of the work. */
  spread(width, x, y, weight, red, green, blue) {
    const { light } = this, column = x | 0, row = y | 0, right = x - column, above = y - row;
    let at = 4 * (row * width + column);
    for (let k = 0; k < 2; k++, at += 4 * width) {
      const part = weight * (k ? above : 1 - above), w1 = part * right, w0 = part - w1;
      light[at] += w0 * red;
      light[at + 1] += w0 * green;
      light[at + 2] += w0 * blue;
      light[at + 3] += w0;
      light[at + 4] += w1 * red;
      light[at + 5] += w1 * green;
      light[at + 6] += w1 * blue;
      light[at + 7] += w1;
    }
  }

  /* One body around the middle of pixel (x, y), so far as it is in the picture. */
  add(width, height, x, y, drawn, weight, red, green, blue) {
    const { light, kernel } = this, half = drawn / 2, part = 256 / (half * half);
    const table = 256 * Math.min(14, Math.round(drawn));
    const begin = Math.max(0, Math.ceil(x - half)), end = Math.min(width - 1, Math.floor(x + half));
    const top = Math.min(height - 1, Math.floor(y + half));
    for (let row = Math.max(0, Math.ceil(y - half)); row <= top; row++) {
      const rest = (row - y) * (row - y);
      for (let column = begin; column <= end; column++) {
        const r2 = part * (rest + (column - x) * (column - x));
        if (r2 >= 256)
          continue;
        const at = 4 * (row * width + column), w = weight * kernel[table + Math.floor(r2)];
        light[at] += w * red;
        light[at + 1] += w * green;
        light[at + 2] += w * blue;
        light[at + 3] += w;
      }
    }
  }
}
