'use strict';

/* A frame as src/view/packet.h lays it out: a header of 64 bytes, then positions and speeds as
   float32, all little-endian. */
const headerBytes = 64;

function decodePacket(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < headerBytes || view.getUint32(0, false) !== 0x6b697468)
    throw new Error('this is not a frame of kith');
  const flags = view.getUint32(8, true), count = view.getUint32(12, true);
  return {
    paused: (flags & 1) !== 0,
    ended: (flags & 2) !== 0,
    count,
    time: view.getFloat64(16, true),
    step: view.getFloat64(24, true),
    sequence: view.getFloat64(32, true),
    energyTime: view.getFloat64(40, true),
    energyError: view.getFloat64(48, true),
    position: new Float32Array(buffer, headerBytes, 3 * count),
    speed: new Float32Array(buffer, headerBytes + 12 * count, count),
  };
}
