'use strict';

/* Color scales whose lightness rises (on dark) or falls (on light) all the way, so that they read
   without color, too; and colors of kinds that differ for every kind of color vision (Okabe & Ito
   2008). */
const scales = {
  dark: ['#33309c', '#2f62cf', '#2f95dd', '#58c2cf', '#a5dfb8', '#f3ecb0', '#fffaf0'],
  light: ['#d0a24b', '#c0733f', '#a24550', '#7a2a63', '#4b1d68', '#1f1147'],
};
const kindColors = {
  dark: ['#56b4e9', '#e69f00', '#f0e442', '#009e73', '#cc79a7', '#d55e00', '#8f9dff', '#dddddd'],
  light: ['#0072b2', '#b56b00', '#8a7d00', '#00775a', '#a8447c', '#b04700', '#3b45b8', '#444444'],
};

function rgbOf(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16 & 255, n >> 8 & 255, n & 255];
}

/* 256 colors, four bytes each, interpolated in sRGB: neighbors are close. */
function scaleTexture(theme) {
  const stops = scales[theme].map(rgbOf), bytes = new Uint8Array(1024);
  for (let k = 0; k < 256; k++) {
    const x = k / 255 * (stops.length - 1), i = Math.min(Math.floor(x), stops.length - 2);
    for (let c = 0; c < 3; c++)
      bytes[4 * k + c] = stops[i][c] + (x - i) * (stops[i + 1][c] - stops[i][c]);
    bytes[4 * k + 3] = 255;
  }
  return bytes;
}

/* The same layout: color k for the numbers (k + ½)/8 of 0 … 1. */
function kindTexture(theme) {
  const bytes = new Uint8Array(1024);
  for (let k = 0; k < 256; k++)
    bytes.set([...rgbOf(kindColors[theme][k >> 5]), 255], 4 * k);
  return bytes;
}

/* The range of a column that colors cover: all but its extremes; as logarithms if it is wide. */
function rangeOf(values) {
  const sample = [], stride = Math.max(1, Math.floor(values.length / 4096));
  for (let i = 0; i < values.length; i += stride)
    if (Number.isFinite(values[i]))
      sample.push(values[i]);
  sample.sort((a, b) => a - b);
  if (sample.length === 0)
    return { low: 0, high: 1, logarithmic: false };
  const cut = sample.length > 64 ? 0.01 : 0;
  const low = sample[Math.floor(cut * (sample.length - 1))];
  const high = sample[Math.ceil((1 - cut) * (sample.length - 1))];
  return { low, high, logarithmic: low > 0 && high > 100 * low };
}

function formatNumber(x) {
  if (x === 0 || !Number.isFinite(x))
    return String(x);
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-3 ? x.toExponential(2) : String(Number(x.toPrecision(4)));
}
