'use strict';

/* Where most bodies are: the middle, and the distance that 95 % are within. */
function extentOf(position, count) {
  const stride = Math.max(1, Math.floor(count / 20000)), axes = [[], [], []];
  for (let i = 0; i < count; i += stride)
    for (let c = 0; c < 3; c++)
      if (!isGone(position, i))
        axes[c].push(position[3 * i + c]);
  const center = axes.map((a) => Float32Array.from(a).sort()[a.length >> 1] ?? 0);
  const far = axes[0].map((_, k) => Math.hypot(...center.map((x, c) => axes[c][k] - x)));
  const part = count > 64 ? 0.95 : 1;
  far.sort((a, b) => a - b);
  const flat = axes[2].map((z) => Math.abs(z - center[2])).sort((a, b) => a - b);
  const radius = far[Math.floor(part * (far.length - 1))] || 1;
  return { center, radius: radius * (count > 64 ? 1.1 : 1.15), flat: flat[Math.floor(0.8 * (flat.length - 1))] / radius };
}

/* By mass: a heavier body is larger, though by much less than it is heavier. */
function sizesOf(mass, count) {
  const sizes = new Float32Array(count).fill(1);
  if (!mass)
    return sizes;
  let low = Infinity, high = 0; /* of bodies with mass: 0 is one that has merged, NaN, too */
  for (const m of mass)
    if (m > 0) {
      low = Math.min(low, m);
      high = Math.max(high, m);
    }
  const decades = Math.log10(high / low), spread = Math.min(1, decades / 3);
  if (!(decades > 0))
    return sizes;
  for (let i = 0; i < count; i++)
    sizes[i] = 1 + spread * (-0.5 + 1.1 * Math.log10(Math.max(mass[i] || low, low) / low) / decades);
  return sizes;
}
