'use strict';

/* The relative energy error over time, as logarithms. */
class Chart {
  constructor(canvas, output) {
    this.canvas = canvas;
    this.output = output;
    this.points = []; /* [time, error] */
    this.at = null;   /* the time of the frame that is shown, of a file */
  }

  set(flat) {
    this.points = [];
    for (let k = 0; k + 1 < flat.length; k += 2)
      this.points.push([flat[k], flat[k + 1]]);
  }

  add(time, error) {
    const { points } = this;
    if (!Number.isFinite(error) || (points.length > 0 && time <= points[points.length - 1][0]))
      return;
    points.push([time, error]);
    if (points.length > 2000)
      this.points = points.filter((_, k) => k % 2 === 0);
  }

  current() {
    const { points, at } = this;
    if (at === null)
      return points[points.length - 1];
    return points.findLast((p) => p[0] <= at) ?? points[0];
  }

  range() {
    const errors = this.points.map((p) => p[1]).filter((e) => e > 0);
    if (errors.length === 0)
      return [-17, -14];
    const low = Math.floor(Math.log10(Math.max(1e-17, Math.min(...errors))));
    return [low, Math.max(low + 2, Math.ceil(Math.log10(Math.max(...errors))))];
  }

  draw(ratio, style) {
    const { canvas, points } = this, context = canvas.getContext('2d');
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    const now = this.current();
    this.output.textContent = !now ? 'not computed' : now[1] === 0 ? '0' : now[1].toExponential(1);
    canvas.setAttribute('aria-label', `relative energy error ${this.output.textContent}`);
    canvas.dataset.points = points.length;
    const [low, high] = this.range(), left = 36;
    const first = points[0]?.[0] ?? 0, last = Math.max(points[points.length - 1]?.[0] ?? 1, first + 1e-30);
    const x = (t) => left + (t - first) / (last - first) * (width - left - 5);
    const y = (e) => height - 6 - (Math.log10(Math.max(e, 10 ** low)) - low) / (high - low) * (height - 12);
    this.grid(context, width, left, low, high, y, style, height);
    context.strokeStyle = style.accent;
    context.lineWidth = 1.5;
    context.lineJoin = 'round';
    context.beginPath();
    points.forEach((p, k) => context[k === 0 ? 'moveTo' : 'lineTo'](x(p[0]), y(p[1])));
    context.stroke();
    if (now) {
      context.fillStyle = style.ink;
      context.beginPath();
      context.arc(x(now[0]), y(now[1]), 3, 0, 2 * Math.PI);
      context.fill();
    }
  }

  grid(context, width, left, low, high, y, style, canvasHeight) {
    const step = Math.max(1, Math.ceil((high - low) / (canvasHeight > 55 ? 3 : 2)));
    context.font = '10px system-ui, "DejaVu Sans", sans-serif';
    context.textBaseline = 'middle';
    context.fillStyle = style.faint;
    context.strokeStyle = style.line;
    for (let decade = low; decade <= high; decade += step) {
      const at = y(10 ** decade);
      context.fillText('1e' + decade, 2, at);
      context.beginPath();
      context.moveTo(left, at);
      context.lineTo(width, at);
      context.stroke();
    }
  }
}
