'use strict';

/* A camera at a distance from its target: yaw around the z axis, pitch above the x-y
   plane. What is requested is approached within some frames. */
class Camera {
  constructor() {
    this.wanted = { yaw: -1, pitch: 0.4, distance: 10, target: [0, 0, 0] };
    this.now = structuredClone(this.wanted);
    this.focal = 2.2; /* 1 / tan of half the angle of view */
  }

  /* So that a sphere of this radius around the origin fills the smaller side. */
  home(radius, center, pitch, aspect) {
    const distance = 1.12 * radius * this.focal / Math.min(1, aspect);
    this.wanted = { yaw: pitch > 1.5 ? -Math.PI / 2 : -1.1, pitch, distance, target: [...center] };
  }

  jump() {
    this.now = structuredClone(this.wanted);
  }

  /* Towards what is wanted; whether that is still some way off. */
  approach(seconds) {
    const part = 1 - Math.exp(-seconds / 0.07), { now, wanted } = this;
    let rest = 0;
    for (const key of ['yaw', 'pitch']) {
      rest += Math.abs(wanted[key] - now[key]);
      now[key] += part * (wanted[key] - now[key]);
    }
    rest += Math.abs(Math.log(wanted.distance / now.distance));
    now.distance *= (wanted.distance / now.distance) ** part;
    for (let c = 0; c < 3; c++) {
      rest += Math.abs(wanted.target[c] - now.target[c]) / now.distance;
      now.target[c] += part * (wanted.target[c] - now.target[c]);
    }
    if (rest < 1e-4)
      this.jump();
    return rest >= 1e-4;
  }

  rotate(yaw, pitch) {
    this.wanted.yaw += yaw;
    this.wanted.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, this.wanted.pitch + pitch));
  }

  zoom(factor) {
    this.wanted.distance *= factor;
  }

  /* By parts of the height of the picture. */
  pan(x, y) {
    const { right, up } = this.axes(), length = 2 * this.wanted.distance / this.focal;
    for (let c = 0; c < 3; c++)
      this.wanted.target[c] -= length * (x * right[c] - y * up[c]);
  }

  axes() {
    const { yaw, pitch } = this.now;
    const sy = Math.sin(yaw), cy = Math.cos(yaw), sp = Math.sin(pitch), cp = Math.cos(pitch);
    return { right: [-sy, cy, 0], up: [-sp * cy, -sp * sy, cp], back: [cp * cy, cp * sy, sp] };
  }

  /* From the world to the eye, in OpenGL's order; the eye looks along −z. */
  matrix() {
    const { right, up, back } = this.axes(), { target, distance } = this.now;
    const dot = (a) => a[0] * target[0] + a[1] * target[1] + a[2] * target[2];
    return new Float32Array([
      right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -dot(right), -dot(up), -dot(back) - distance, 1,
    ]);
  }

  /* Pixels of a point, and its depth; the picture is width × height. */
  project(point, width, height, matrix = this.matrix()) {
    const m = matrix, [x, y, z] = point;
    const depth = -(m[2] * x + m[6] * y + m[10] * z + m[14]);
    const scale = this.focal * height / 2 / depth;
    return {
      x: width / 2 + scale * (m[0] * x + m[4] * y + m[8] * z + m[12]),
      y: height / 2 - scale * (m[1] * x + m[5] * y + m[9] * z + m[13]),
      depth, scale,
    };
  }
}
