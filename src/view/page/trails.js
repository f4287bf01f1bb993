'use strict';

/* The last positions of few bodies: two buffers, frame after frame, of which a window is drawn. A
   piece of a trail is an instance: its older end is a body's place in one frame, its newer end the
   same place in the next; the frames around them say how it is curved. */
class Trails {
  constructor(gl, bodies) {
    this.gl = gl;
    this.bodies = bodies;
    this.points = Math.max(60, Math.min(900, Math.floor(60000 / bodies)));
    /* A frame more at the end, and none at the beginning: what lies beyond the window is read, but
       not drawn. */
    this.position = new Float32Array((2 * this.points + 1) * bodies * 3);
    this.value = new Float32Array((2 * this.points + 1) * bodies);
    this.buffers = [gl.createBuffer(), gl.createBuffer()];
    this.clear();
    this.upload();
  }

  clear() {
    this.end = 1;
  }

  upload() {
    const { gl } = this;
    [this.position, this.value].forEach((data, k) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[k]);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    });
  }

  /* Drops what is out of the window when the buffers are full. */
  compact() {
    const { bodies } = this, first = this.end - this.points;
    this.position.copyWithin(0, 3 * bodies * first, 3 * bodies * this.end);
    this.value.copyWithin(0, bodies * first, bodies * this.end);
    this.end = this.points;
    this.upload();
  }

  add(position, value) {
    const { gl, bodies } = this;
    if (this.end === 2 * this.points)
      this.compact();
    const columns = [[this.position, position, 3], [this.value, value, 1]];
    columns.forEach(([all, data, width], k) => {
      all.set(data, this.end * bodies * width);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[k]);
      gl.bufferSubData(gl.ARRAY_BUFFER, 4 * this.end * bodies * width, data);
    });
    this.end++;
  }

  /* Binds a program's attributes to the window; returns the number of pieces a body. */
  bind(program) {
    const { gl, bodies } = this;
    const first = Math.max(1, this.end - this.points), pieces = Math.max(0, this.end - first - 1);
    const attribute = (name, buffer, width, frame) => {
      const place = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, width, gl.FLOAT, false, 0, 4 * frame * bodies * width);
      gl.vertexAttribDivisor(place, 1);
    };
    attribute('before', this.buffers[0], 3, first - 1);
    attribute('older', this.buffers[0], 3, first);
    attribute('newer', this.buffers[0], 3, first + 1);
    attribute('after', this.buffers[0], 3, first + 2);
    attribute('value', this.buffers[1], 1, first + 1);
    return pieces;
  }
}
