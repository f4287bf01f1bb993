'use strict';

/* Keys, mouse and touch. `act` has a function for each thing that they do. */
function listen(canvas, camera, act) {
  const turn = 0.12;

  function arrow(key, shift) {
    const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    if (shift)
      camera.pan(-0.06 * x, -0.06 * y);
    else
      camera.rotate(turn * x, -turn * y);
    act.redraw();
  }

  const keys = {
    ' ': act.pause, s: act.single, r: act.reset, '0': act.reset, f: act.follow, c: act.color,
    t: act.trails, p: act.picture, v: act.record, l: act.theme, h: act.help, '?': act.help,
    '[': () => act.brighter(1 / 1.25), ']': () => act.brighter(1.25),
    ',': () => act.larger(1 / 1.2), '.': () => act.larger(1.2),
    '+': () => act.zoom(1 / 1.2), '=': () => act.zoom(1 / 1.2), '-': () => act.zoom(1.2),
    escape: act.unfollow,
  };

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]') ||
        event.target.matches('select, input'))
      return;
    if (event.key.startsWith('Arrow'))
      arrow(event.key, event.shiftKey);
    else if (keys[event.key.toLowerCase()])
      keys[event.key.toLowerCase()]();
    else
      return;
    event.preventDefault();
  });

  /* Space presses the button that has the focus, too: once is enough. */
  document.addEventListener('keyup', (event) => {
    if (event.key === ' ' && event.target.matches('button'))
      event.preventDefault();
  });

  const buttons = { pause: act.pause, single: act.single, reset: act.reset, follow: act.follow,
                    shot: act.picture, record: act.record, theme: act.theme,
                    'help-button': act.help };
  for (const [id, does] of Object.entries(buttons))
    document.getElementById(id).addEventListener('click', does);

  listenToPointers(canvas, camera, act);
}

function listenToPointers(canvas, camera, act) {
  const held = new Map();
  let moved = 0;

  const middle = () => {
    const all = [...held.values()];
    return { x: all.reduce((s, p) => s + p.x, 0) / all.length, y: all.reduce((s, p) => s + p.y, 0) / all.length };
  };
  const spread = () => {
    const [a, b] = [...held.values()];
    return b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  };

  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add('held');
    if (held.size === 0)
      moved = 0;
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });

  canvas.addEventListener('pointermove', (event) => {
    if (!held.has(event.pointerId))
      return;
    const before = middle(), wide = spread();
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const now = middle(), dx = now.x - before.x, dy = now.y - before.y;
    moved += Math.abs(dx) + Math.abs(dy);
    if (held.size > 1 || event.shiftKey || (event.buttons & 2))
      camera.pan(dx / canvas.clientHeight, dy / canvas.clientHeight);
    else
      camera.rotate(-0.007 * dx, 0.007 * dy);
    if (wide > 0 && spread() > 0)
      camera.zoom(wide / spread());
    act.redraw();
  });

  const release = (event) => {
    if (held.delete(event.pointerId) && held.size === 0) {
      canvas.classList.remove('held');
      if (event.type === 'pointerup' && moved < 4)
        act.pick(event.clientX, event.clientY);
    }
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('wheel', (event) => {
    act.zoom(Math.exp(0.0012 * Math.max(-300, Math.min(300, event.deltaY))));
    event.preventDefault();
  }, { passive: false });
}
