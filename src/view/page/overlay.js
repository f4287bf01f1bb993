'use strict';

/* What is written over the bodies: the periodic cell, names, a bar of length, the axes. */
const corners = [[0, 1], [0, 2], [0, 4], [1, 3], [1, 5], [2, 3], [2, 6], [3, 7], [4, 5], [4, 6], [5, 7], [6, 7]];

class Overlay {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
  }

  begin(width, height, ratio, style) {
    const { canvas, context } = this;
    canvas.width = width;
    canvas.height = height;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.width = width / ratio;
    this.height = height / ratio;
    this.style = style;
    context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  }

  line(a, b) {
    this.context.beginPath();
    this.context.moveTo(a.x, a.y);
    this.context.lineTo(b.x, b.y);
    this.context.stroke();
  }

  /* Its corner is the origin of coordinates; `origin` is what frames take off them. */
  cell(camera, cell, origin, isFlat) {
    const { context, style } = this, matrix = camera.matrix(), points = [];
    for (let k = 0; k < 8; k++) {
      const at = [0, 1, 2].map((c) => -origin[c] + [0, 1, 2].reduce((sum, v) =>
        sum + (k >> v & 1 && !(isFlat && v === 2) ? cell[3 * v + c] : 0), 0));
      points.push(camera.project(at, this.width, this.height, matrix));
    }
    const far = Math.max(...points.map((p) => p.depth)), near = Math.min(...points.map((p) => p.depth));
    context.strokeStyle = style.ink;
    context.lineWidth = 1;
    for (const [a, b] of corners) {
      if (points[a].depth <= 0 || points[b].depth <= 0)
        continue;
      const depth = (points[a].depth + points[b].depth) / 2;
      context.globalAlpha = 0.2 + 0.45 * (far - depth) / Math.max(far - near, 1e-30);
      this.line(points[a], points[b]);
    }
    context.globalAlpha = 1;
  }

  /* Next to their spheres; those of bodies behind another sphere are left out. */
  names(camera, names, position, radiusOf) {
    const { context, style } = this, matrix = camera.matrix(), spheres = [];
    for (let i = 0; i < names.length; i++) {
      if (isGone(position, i))
        continue;
      const p = camera.project(position.subarray(3 * i, 3 * i + 3), this.width, this.height, matrix);
      const radius = radiusOf(i, p.scale);
      if (p.depth > 0)
        spheres.push({ ...p, radius, front: p.depth - radius / p.scale, name: names[i] });
    }
    context.textBaseline = 'middle';
    context.lineWidth = 3;
    context.lineJoin = 'round';
    for (const p of spheres) {
      if (spheres.some((q) => q.front < p.front && Math.hypot(q.x - p.x, q.y - p.y) < q.radius))
        continue;
      const x = p.x + Math.max(13, 0.8 * p.radius + 6), y = p.y - Math.max(9, 0.6 * p.radius + 4);
      context.strokeStyle = style.paperText;
      context.strokeText(p.name, x, y);
      context.fillStyle = style.ink;
      context.fillText(p.name, x, y);
    }
  }

  mark(camera, point) {
    const p = camera.project(point, this.width, this.height);
    this.context.strokeStyle = this.style.ink;
    this.context.lineWidth = 1;
    this.context.beginPath();
    this.context.arc(p.x, p.y, 15, 0, 2 * Math.PI);
    this.context.stroke();
  }

  /* A round length of about a sixth of the width, at the depth of the target. */
  bar(camera, unit, x, y) {
    const { context, style } = this;
    const scale = camera.focal * this.height / 2 / camera.now.distance;
    const most = Math.min(160, this.width / 5) / scale, ten = 10 ** Math.floor(Math.log10(most));
    const length = [5, 2, 1].find((k) => k * ten <= most) * ten;
    context.strokeStyle = context.fillStyle = style.ink;
    context.lineWidth = 1.5;
    context.globalAlpha = 0.8;
    this.line({ x, y }, { x: x + length * scale, y });
    this.line({ x, y: y - 3 }, { x, y: y + 3 });
    this.line({ x: x + length * scale, y: y - 3 }, { x: x + length * scale, y: y + 3 });
    context.textBaseline = 'bottom';
    context.textAlign = 'left';
    context.fillText(`${formatNumber(length)} ${unit}`.trim(), x, y - 5);
    context.globalAlpha = 1;
  }

  axes(camera, x, y) {
    const { context, style } = this, { right, up, back } = camera.axes();
    const ends = ['x', 'y', 'z'].map((name, c) => ({
      name, x: x + 20 * right[c], y: y - 20 * up[c], depth: back[c],
    })).sort((a, b) => a.depth - b.depth);
    context.textBaseline = 'middle';
    context.textAlign = 'center';
    context.strokeStyle = context.fillStyle = style.ink;
    context.lineWidth = 1.5;
    for (const end of ends) {
      context.globalAlpha = 0.45 + 0.2 * (1 + end.depth);
      this.line({ x, y }, end);
      context.fillText(end.name, x + 1.45 * (end.x - x), y + 1.45 * (end.y - y));
    }
    context.globalAlpha = 1;
    context.textAlign = 'left';
  }
}
