'use strict';

/* Where frames come from. A source has
     about          what src/view/about.c says
     column(name)   a Float32Array, a number for each body that is shown
     energies()     times and errors in turn, a Float64Array
     frame(after)   of a simulation the next frame newer than `after`, of a file frame `after`;
                    null if there is none yet
     control(word)  "pause", "continue" or "step", of a simulation */

async function serverSource() {
  async function get(path) {
    const response = await fetch(path, { cache: 'no-store' });
    if (!response.ok)
      throw new Error(`${path}: ${response.status}`);
    return response;
  }
  const about = await (await get('about')).json();
  return {
    about,
    column: async (name) => new Float32Array(await (await get('column/' + encodeURIComponent(name))).arrayBuffer()),
    energies: async () => new Float64Array(await (await get('energy')).arrayBuffer()),
    async frame(after) {
      const response = await get('frame?after=' + after);
      return response.status === 204 ? null : decodePacket(await response.arrayBuffer());
    },
    control: (word) => fetch(word, { method: 'POST', cache: 'no-store' }),
  };
}

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++)
    bytes[k] = text.charCodeAt(k);
  return bytes;
}

/* Undoes what src/view/frames.h says: whole coordinates, [frames][3][shown], and speeds. */
function decodeFrames(bytes, frames, shown) {
  const position = new Int16Array(3 * frames * shown), speed = new Uint8Array(frames * shown);
  const numbers = 3 * shown;
  let at = 0;
  for (let k = 0; k < frames; k++) {
    const order = bytes[at++];
    for (let c = 0; c < 3; c++, at += 2 * shown)
      for (let j = 0; j < shown; j++) {
        const put = bytes[at + j] | bytes[at + shown + j] << 8, i = numbers * k + shown * c + j;
        const before = order > 0 ? position[i - numbers] : 0;
        const expected = order > 1 ? 2 * before - position[i - 2 * numbers] : before;
        position[i] = expected + (put & 1 ? -(put >> 1) - 1 : put >> 1);
      }
    for (let j = 0; j < shown; j++)
      speed[shown * k + j] = bytes[at + j] + (k > 0 ? speed[shown * (k - 1) + j] : 0);
    at += shown;
  }
  return { position, speed };
}

/* The frames inside the page, of kith plot --what scene. */
async function sceneSource() {
  const scene = JSON.parse(document.getElementById('scene').textContent);
  const packed = bytesOf(document.getElementById('frames').textContent);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const { about, scale, speedScale, times } = scene, { shown, frames } = about;
  const { position, speed } = decodeFrames(bytes, frames, shown);
  const hidden = -32768;
  return {
    about,
    column: async (name) => new Float32Array(bytesOf(scene.columns[name]).buffer),
    energies: async () => new Float64Array(scene.energy),
    async frame(k) {
      const points = new Float32Array(3 * shown), speeds = new Float32Array(shown);
      for (let j = 0; j < shown; j++) {
        for (let c = 0; c < 3; c++) {
          const x = position[3 * shown * k + shown * c + j];
          points[3 * j + c] = x === hidden ? away : x * scale;
        }
        speeds[j] = speed[shown * k + j] * speedScale;
      }
      return { paused: false, ended: false, count: shown, left: scene.left?.[k] ?? about.bodies, time: times[k], step: k, sequence: k,
               energyTime: NaN, energyError: NaN, position: points, speed: speeds };
    },
    control: async () => {},
  };
}

function openSource() {
  return document.getElementById('scene') ? sceneSource() : serverSource();
}
