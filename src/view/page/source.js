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
    column: async (name) => new Float32Array(await (await get('column/' + name)).arrayBuffer()),
    energies: async () => new Float64Array(await (await get('energy')).arrayBuffer()),
    async frame(after) {
      const response = await get('frame?after=' + after);
      return response.status === 204 ? null : decodePacket(await response.arrayBuffer());
    },
    control: (word) => fetch(word, { method: 'POST', cache: 'no-store' }),
  };
}
