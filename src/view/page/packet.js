'use strict';

/* A frame as src/view/packet.h lays it out: a header of 72 bytes, then positions and speeds as
   float32, all little-endian. */
const headerBytes = 72, away = 1e30; /* where a body is put that is not shown */

const isGone = (position, body) => !(Math.abs(position[3 * body]) < 0.1 * away);

function decodePacket(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < headerBytes || view.getUint32(0, false) !== 0x6b697468)
    throw new Error('this is not a frame of kith');
  const flags = view.getUint32(8, true), count = view.getUint32(12, true);
  const position = new Float32Array(buffer, headerBytes, 3 * count);
  const speed = new Float32Array(buffer, headerBytes + 12 * count, count);
  for (let i = 0; i < count; i++)
    if (position[3 * i] !== position[3 * i])
      position.fill(away, 3 * i, 3 * i + 3);
  return {
    paused: (flags & 1) !== 0,
    ended: (flags & 2) !== 0,
    count,
    time: view.getFloat64(16, true),
    step: view.getFloat64(24, true),
    sequence: view.getFloat64(32, true),
    energyTime: view.getFloat64(40, true),
    energyError: view.getFloat64(48, true),
    left: view.getFloat64(64, true),
    position, speed,
  };
}
