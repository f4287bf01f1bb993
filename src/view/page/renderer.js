'use strict';

/* Draws the bodies: many as light that adds up, few as spheres with trails. */
const mostSpheres = 1500, mostTrails = 200;

class Renderer {
  constructor(canvas) {
    const gl = canvas.getContext('webgl2', { antialias: false, alpha: false });
    if (!gl)
      throw new Error('this browser has no WebGL 2');
    this.canvas = canvas;
    this.gl = gl;
    this.isFloat = !!gl.getExtension('EXT_color_buffer_float') ||
                   !!gl.getExtension('EXT_color_buffer_half_float');
    this.splats = Splats.suit(gl) ? new Splats() : null;
    this.programs = {
      splat: this.program(shaders.splatVertex, shaders.splatFragment),
      glow: this.program(shaders.screenVertex, shaders.glowFragment),
      toneOnDark: this.program(shaders.screenVertex, shaders.toneOnDark),
      toneOnLight: this.program(shaders.screenVertex, shaders.toneOnLight),
      sphere: this.program(shaders.sphereVertex, shaders.sphereFragment),
      halo: this.program(shaders.sphereVertex, shaders.haloFragment),
      trail: this.program(shaders.trailVertex, shaders.trailFragment),
    };
    this.buffers = { position: gl.createBuffer(), value: gl.createBuffer(), size: gl.createBuffer(),
                     order: gl.createBuffer() };
    this.empty = gl.createVertexArray();
    this.array = gl.createVertexArray();
    this.palette = gl.createTexture();
    this.light = null;
    this.count = 0;
    this.brightness = 1; /* by keys, times the exposure */
    this.exposure = this.wantedExposure = undefined;
    this.untilAdapt = 0;
    this.scale = 1;
    this.showsTrails = true;
    this.jump = 1e30;
  }

  program(vertex, fragment) {
    const { gl } = this, program = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS))
      throw new Error(gl.getAttachedShaders(program).map((s) => gl.getShaderInfoLog(s)).join());
    const uniforms = {};
    for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
      const { name } = gl.getActiveUniform(program, k);
      uniforms[name] = gl.getUniformLocation(program, name);
    }
    return { program, uniforms };
  }

  get isFew() {
    return this.count <= mostSpheres;
  }

  /* Whether light is added up by a loop: WebGL then needs no numbers of bodies. */
  get isPainted() {
    return !!this.splats && !this.isFew;
  }

  /* The least and the most that a body is wide, in pixels of the canvas; what is narrower than three of
     them would twinkle. */
  get widths() {
    const { ratio } = this;
    return this.isFew ? [7 * ratio, 400 * ratio] : [3.2 * Math.max(1, ratio), 110 * ratio];
  }

  /* Of body i as drawn, in pixels of the page; scale: pixels per unit of length there. */
  radiusOf(i, scale) {
    const { ratio, sizes } = this, [smallest, largest] = this.widths;
    const wide = 2 * this.bodyRadius * this.scale * sizes[i] * scale * ratio;
    return Math.max(smallest * (0.7 + 0.6 * sizes[i]), Math.min(largest, wide)) / 2 / ratio;
  }

  /* radius: of the sphere that holds most bodies; sizes: of the bodies, about 1. */
  setBodies(count, radius, sizes) {
    const { gl } = this;
    this.count = count;
    this.radius = radius;
    this.bodyRadius = this.isFew
      ? radius * Math.min(0.03, 0.28 / Math.cbrt(Math.max(count, 1)))
      : radius * Math.max(0.004, Math.min(0.02, 1.7 / Math.sqrt(count)));
    this.order = new Uint32Array(this.isFew ? count : 0);
    this.trails = count > 0 && count <= mostTrails ? new Trails(gl, count) : null;
    this.setSizes(sizes);
  }

  setSizes(sizes) {
    const { gl } = this;
    this.sizes = sizes;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.size);
    gl.bufferData(gl.ARRAY_BUFFER, sizes, gl.STATIC_DRAW);
  }

  setFrame(position, value, joinsTrail) {
    const { gl } = this;
    this.position = position;
    if (!this.isPainted) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.position);
      gl.bufferData(gl.ARRAY_BUFFER, position, gl.STREAM_DRAW);
    }
    this.setValues(value);
    if (joinsTrail)
      this.trails?.add(position, value);
  }

  setValues(value) {
    const { gl } = this;
    this.value = value;
    this.isColored = false;
    if (this.isPainted)
      return;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.value);
    gl.bufferData(gl.ARRAY_BUFFER, value, gl.STREAM_DRAW);
  }

  setPalette(bytes, range) {
    const { gl } = this;
    this.range = range;
    this.paletteBytes = bytes;
    this.isColored = false;
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
      gl.texParameteri(gl.TEXTURE_2D, name, gl.LINEAR);
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T])
      gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
  }

  resize(width, height) {
    if (this.canvas.width === width && this.canvas.height === height)
      return;
    this.canvas.width = width;
    this.canvas.height = height;
    for (const made of [this.light, this.glow].filter(Boolean)) {
      this.gl.deleteTexture(made.texture);
      this.gl.deleteFramebuffer(made.frame);
    }
    this.light = this.glow = null;
  }

  /* A texture to draw light into. */
  makeLight(width, height, levels) {
    const { gl } = this, texture = gl.createTexture(), frame = gl.createFramebuffer();
    const format = this.splats ? gl.RGBA32F : this.isFloat ? gl.RGBA16F : gl.RGBA8;
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, levels, format, width, height);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, levels > 1 ? gl.LINEAR_MIPMAP_NEAREST : gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    return { texture, frame, width, height };
  }

  use({ program, uniforms }, camera, style) {
    const { gl, canvas: { width, height } } = this, { low, high, logarithmic } = this.range;
    const pixels = camera.focal * height / 2;
    const set = (name, ...v) => name in uniforms && gl['uniform' + v.length + 'f'](uniforms[name], ...v);
    gl.useProgram(program);
    if ('eye' in uniforms)
      gl.uniformMatrix4fv(uniforms.eye, false, camera.matrix());
    set('focal', camera.focal * height / width, camera.focal);
    set('pixels', pixels);
    set('range', camera.now.distance * 1e-3, camera.now.distance * 1e3 + 4 * this.radius);
    set('low_high_log', low, high, logarithmic ? 1 : 0);
    set('radius', this.bodyRadius * this.scale);
    set('smallest', this.widths[0]);
    set('largest', this.widths[1]);
    set('paper', ...style.paper);
    if ('is_dark' in uniforms)
      gl.uniform1i(uniforms.is_dark, style.isDark ? 1 : 0);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    return set;
  }

  bindBodies({ program }) {
    const { gl } = this;
    gl.bindVertexArray(this.array);
    for (const [name, width] of [['position', 3], ['value', 1], ['size', 1]]) {
      const place = gl.getAttribLocation(program, name);
      if (place < 0)
        continue;
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, width, gl.FLOAT, false, 0, 0);
      gl.vertexAttribDivisor(place, 0);
    }
  }

  /* Exposes for the bright parts of the picture, as an eye does: for what only a fiftieth of the
     places where there is light is brighter than. */
  adapt(style) {
    const { gl, canvas: { width, height } } = this, level = 5;
    const w = Math.max(1, width >> level), h = Math.max(1, height >> level);
    const light = new Float32Array(4 * w * h);
    this.untilAdapt = 12;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.light.frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.light.texture, level);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.FLOAT, light);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.light.texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    const lit = light.filter((x, k) => k % 4 === 3 && x > 1e-4).sort();
    const bright = lit[Math.floor(0.98 * (lit.length - 1))] ?? 1;
    this.wantedExposure = Math.max(0.02, Math.min(style.isDark ? 12 : 6, (style.isDark ? 3 : 1.6) / bright));
    this.exposure ??= this.wantedExposure;
  }

  drawMany(camera, style) {
    const { canvas: { width, height } } = this;
    this.light ??= this.makeLight(width, height, 1 + Math.floor(Math.log2(Math.max(width, height))));
    this.glow ??= this.makeLight(Math.ceil(width / 8), Math.ceil(height / 8), 1);
    if (this.isPainted)
      this.paintLight(camera);
    else
      this.drawLight(camera, style);
    this.drawTone(camera, style);
  }

  drawLight(camera, style) {
    const { gl, canvas: { width, height } } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.light.frame);
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    this.use(this.programs.splat, camera, style);
    this.bindBodies(this.programs.splat);
    gl.drawArrays(gl.POINTS, 0, this.count);
    gl.disable(gl.BLEND);
  }

  paintLight(camera) {
    const { gl, canvas: { width, height }, splats } = this, [smallest, largest] = this.widths;
    if (!this.isColored)
      splats.setColors(this.value, this.paletteBytes, this.range);
    this.isColored = true;
    const light = splats.paint(width, height, camera, {
      position: this.position, sizes: this.sizes, radius: this.bodyRadius * this.scale,
      smallest, largest, isCoarse: this.isCoarse,
    });
    gl.bindTexture(gl.TEXTURE_2D, this.light.texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, gl.RGBA, gl.FLOAT, light);
  }

  drawTone(camera, style) {
    const { gl, canvas: { width, height }, light, glow } = this;
    gl.bindVertexArray(this.empty);
    this.use(this.programs.glow, camera, style);
    gl.bindTexture(gl.TEXTURE_2D, light.texture);
    gl.generateMipmap(gl.TEXTURE_2D);
    if (this.isFloat && !(this.untilAdapt-- > 0))
      this.adapt(style);
    this.exposure = (this.exposure ?? 1) ** 0.85 * (this.wantedExposure ?? 1) ** 0.15;
    gl.bindFramebuffer(gl.FRAMEBUFFER, glow.frame);
    gl.viewport(0, 0, glow.width, glow.height);
    gl.drawArrays(gl.TRIANGLES, 0, 3);

    const tone = style.isDark ? this.programs.toneOnDark : this.programs.toneOnLight, set = this.use(tone, camera, style);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.bindTexture(gl.TEXTURE_2D, light.texture);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, glow.texture);
    gl.activeTexture(gl.TEXTURE0);
    gl.uniform1i(tone.uniforms.around, 1);
    set('exposure', this.brightness * this.exposure);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  /* From back to front, so that their smooth edges lie over what is behind them. */
  sortBodies(camera) {
    const { gl, order, position: p } = this, m = camera.matrix();
    const depth = new Float32Array(this.count);
    for (let i = 0; i < this.count; i++) {
      order[i] = i;
      depth[i] = m[2] * p[3 * i] + m[6] * p[3 * i + 1] + m[10] * p[3 * i + 2];
    }
    order.sort((a, b) => depth[a] - depth[b]);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.order);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, order, gl.STREAM_DRAW);
  }

  drawSpheres(name, camera, style, halo) {
    const { gl } = this, program = this.programs[name];
    const set = this.use(program, camera, style);
    set('halo', halo);
    this.bindBodies(program);
    this.sortBodies(camera);
    gl.drawElements(gl.POINTS, this.count, gl.UNSIGNED_INT, 0);
  }

  drawTrails(camera, style) {
    const { gl, canvas: { width, height }, trails } = this, wide = 1.1 * this.ratio;
    const set = this.use(this.programs.trail, camera, style);
    gl.bindVertexArray(this.array);
    const pieces = trails.bind(this.programs.trail.program), parts = 6;
    set('screen_size', width / 2, height / 2);
    set('pieces', trails.points);
    set('drawn', pieces);
    set('parts', parts);
    set('bodies', trails.bodies);
    set('first', Math.max(0, trails.points - trails.end));
    set('wide', wide);
    set('jump', this.jump);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 2 * parts + 2, pieces * trails.bodies);
  }

  drawFew(camera, style) {
    const { gl, canvas: { width, height } } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.clearColor(...style.paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.disable(gl.DEPTH_TEST);
    if (style.isDark && this.count <= mostTrails) {
      gl.blendFunc(gl.ONE, gl.ONE);
      this.drawSpheres('halo', camera, style, 4.5);
    }
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    this.drawSpheres('sphere', camera, style, 0);
    gl.depthMask(false);
    if (this.trails && this.showsTrails)
      this.drawTrails(camera, style);
    gl.depthMask(true);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
  }

  /* isCoarse: the picture is larger than its pixels, as it changes. */
  draw(camera, style, ratio, isCoarse = false) {
    this.ratio = ratio;
    this.isCoarse = isCoarse;
    if (this.isFew)
      this.drawFew(camera, style);
    else
      this.drawMany(camera, style);
  }
}
