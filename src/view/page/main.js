'use strict';

/* The page: takes frames from its source, draws them, and does what keys and buttons ask for. */
const $ = (id) => document.getElementById(id);
const nextPaint = () => new Promise((resolve) => requestAnimationFrame(resolve));
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

class Page {
  constructor(source) {
    this.source = source;
    this.about = source.about;
    this.isFile = this.about.mode === 'file';
    this.camera = new Camera();
    this.renderer = new Renderer($('bodies'));
    this.overlay = new Overlay($('overlay'));
    this.chart = new Chart($('energy'), $('energy-value'));
    this.columns = new Map();
    this.frame = null;
    this.isPaused = this.isOver = false;
    this.followed = -1;
    this.recorder = null;
    this.notes = '';
    this.isDirty = true;
    this.setTheme(matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark');
  }

  /* Colors and texts. */

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    const css = getComputedStyle(document.documentElement);
    const get = (name) => css.getPropertyValue(name).trim();
    this.style = {
      isDark: theme === 'dark', paper: rgbOf(get('--paper')).map((c) => c / 255),
      paperText: get('--paper'), ink: get('--ink'), faint: get('--faint'), line: get('--line'),
      accent: get('--accent'),
    };
    this.theme = theme;
    this.renderer.exposure = undefined;
    this.renderer.untilAdapt = 0;
    if (this.frame)
      this.setColors();
    this.isDirty = true;
  }

  get isKinds() {
    return this.column === 'species' || this.column === 'body';
  }

  /* A number for each body; NaN for those that have merged or escaped. */
  async fetchColumn(name) {
    const values = await this.source.column(name), { position } = this.frame;
    this.columns.set(name, values.map((value, i) => (value === 0 && isGone(position, i) ? NaN : value)));
  }

  async setColumn(name) {
    if (name !== 'speed' && name !== 'body' && !this.columns.has(name))
      await this.fetchColumn(name);
    this.column = name;
    $('color').value = name;
    this.renderer.trails?.clear();
    this.setColors();
    this.renderer.setValues(this.values());
    this.isDirty = true;
  }

  /* The numbers that bodies are colored by. */
  values() {
    if (this.column === 'speed')
      return this.frame.speed;
    if (this.column === 'body')
      return Float32Array.from({ length: this.frame.count }, (_, i) => (i % 8 + 0.5) / 8);
    const values = this.columns.get(this.column);
    return this.column === 'species' ? values.map((k) => (k % 8 + 0.5) / 8) : values;
  }

  setColors() {
    const range = this.isKinds ? { low: 0, high: 1, logarithmic: false } : rangeOf(this.values());
    const bytes = this.isKinds ? kindTexture(this.theme) : scaleTexture(this.theme);
    this.renderer.setPalette(bytes, range);
    this.range = range;
    const image = new ImageData(new Uint8ClampedArray(bytes), 256, 1);
    $('scale').getContext('2d').putImageData(image, 0, 0);
    $('scale').hidden = $('low').parentElement.hidden = this.isKinds;
    $('low').textContent = formatNumber(range.low);
    $('high').textContent = formatNumber(range.high) + (range.logarithmic ? ' (log)' : '');
    this.listKinds();
  }

  listKinds() {
    const { species = [], names } = this.about, count = Math.min(this.about.shown, 12);
    const words = this.column === 'species' ? species
      : this.column === 'body' ? Array.from({ length: count }, (_, i) => names?.[i] || String(i)) : [];
    $('kinds').replaceChildren(...words.map((word, k) => {
      const item = document.createElement('li'), dot = document.createElement('i');
      dot.style.background = kindColors[this.theme][k % 8];
      item.append(dot, word);
      return item;
    }));
  }

  /* The range of a column that changes follows it slowly. */
  followRange() {
    if (this.column !== 'speed' || this.frame.count === 0)
      return;
    const now = rangeOf(this.frame.speed), { range } = this;
    const wide = Math.max(range.high - range.low, 1e-30);
    if (Math.abs(now.high - range.high) + Math.abs(now.low - range.low) > 0.5 * wide)
      this.setColors();
  }

  write() {
    const { about, frame } = this, unit = about.unit ? ' ' + about.unit : '';
    const of = Number.isFinite(about.until) && about.until !== null ? ` of ${formatNumber(about.until)}` : '';
    $('time').textContent = `time ${formatNumber(frame.time)}${of}${unit}`;
    $('step').textContent = this.isFile ? `frame ${frame.step + 1} of ${about.frames}` : `step ${frame.step}`;
    const body = this.followed < 0 ? '' : `following ${about.names?.[this.followed] || 'body ' + this.followed}`;
    const state = this.isOver ? 'the run has ended' : this.isPaused ? 'paused' : '';
    $('status').textContent = [state, body, this.recorder ? 'recording' : '', this.notes].filter(Boolean).join(' · ');
    document.body.classList.toggle('paused', this.isPaused);
    $('record').setAttribute('aria-pressed', String(!!this.recorder));
    if (this.isFile)
      $('frame').value = frame.step;
  }

  /* Frames. */

  home() {
    const { center, radius, flat } = extentOf(this.frame.position, this.frame.count);
    const { cell, dimensions, origin } = this.about;
    const pitch = dimensions === 2 ? Math.PI / 2 : flat < 0.25 ? 0.95 : 0.38;
    let size = radius, middle = center;
    if (cell) {
      middle = [0, 1, 2].map((c) => (cell[c] + cell[3 + c] + (dimensions === 2 ? 0 : cell[6 + c])) / 2 - origin[c]);
      size = Math.max(radius, Math.hypot(...[0, 1, 2].map((c) => cell[c] + cell[3 + c] + (dimensions === 2 ? 0 : cell[6 + c]))) / 2);
      this.renderer.jump = Math.min(...[0, 3, 6].slice(0, dimensions).map((k) => Math.hypot(...cell.slice(k, k + 3)))) / 2;
    }
    this.camera.home(size, middle, pitch, innerWidth / innerHeight);
    return radius;
  }

  async begin(frame) {
    this.frame = frame;
    for (const name of ['mass', 'species'])
      if (this.about.columns.includes(name) && frame.count > 0)
        await this.fetchColumn(name);
    const radius = this.home();
    this.camera.jump();
    this.renderer.setBodies(frame.count, radius, sizesOf(this.columns.get('mass'), frame.count));
    const names = ['speed', ...this.about.columns, ...(frame.count <= 32 ? ['body'] : [])];
    $('color').replaceChildren(...names.map((name) => new Option(name, name)));
    await this.setColumn(this.columns.has('species') ? 'species' : frame.count <= 12 ? 'body' : 'speed');
    this.chart.set(await this.source.energies());
    document.body.dataset.ready = 'yes';
  }

  async show(frame) {
    const before = this.frame;
    if (!before)
      await this.begin(frame);
    this.frame = frame;
    const isNew = !before || frame.step !== before.step;
    if (before && frame.step < before.step)
      this.renderer.trails?.clear();
    this.followRange();
    this.renderer.setFrame(frame.position, this.values(), isNew);
    this.noteLeft(frame.left);
    if (this.followed >= 0 && isGone(frame.position, this.followed))
      this.followed = -1;
    if (this.followed >= 0)
      this.track(before);
    if (this.isFile)
      this.chart.at = frame.time;
    else
      this.chart.add(frame.energyTime, frame.energyError);
    if (!this.isFile) {
      this.isPaused = frame.paused;
      this.isOver = frame.ended;
    }
    this.isDirty = true;
  }

  /* Once bodies have merged or escaped there are fewer, and others are heavier and larger. */
  async noteLeft(left) {
    if (left === this.left)
      return;
    const { about } = this, isFirst = this.left === undefined;
    this.left = left;
    const shown = about.shown < about.bodies ? `, ${about.shown.toLocaleString('en')} shown` : '';
    $('count').textContent = `${left.toLocaleString('en')} bodies${shown}`;
    if (isFirst)
      return;
    for (const name of ['mass', 'charge', 'radius'].filter((name) => this.columns.has(name)))
      await this.fetchColumn(name);
    this.renderer.setSizes(sizesOf(this.columns.get('mass'), this.frame.count));
    if (this.columns.has(this.column)) {
      this.setColors();
      this.renderer.setValues(this.values());
    }
    this.isDirty = true;
  }

  /* The camera goes where the body goes, at once. */
  track(before) {
    const i = 3 * this.followed;
    for (let c = 0; c < 3; c++) {
      const x = this.frame.position[i + c];
      this.camera.now.target[c] += x - (before?.position[i + c] ?? x);
      this.camera.wanted.target[c] = x;
    }
  }

  /* A simulation's frames as they come; while there is none, it is asked less and less often. */
  async takeLive() {
    let after = -1, pause = 4, failures = 0;
    while (!this.isOver) {
      try {
        const frame = await this.source.frame(after);
        failures = 0;
        if (frame) {
          after = frame.sequence;
          await this.show(frame);
          pause = 4;
          await nextPaint();
        } else {
          await wait(pause = Math.min(100, 1.5 * pause));
        }
      } catch (error) {
        if (++failures < 4) {
          await wait(200);
          continue;
        }
        this.isOver = true;
        this.isDirty = true;
      }
    }
  }

  /* A file's frames at 30 a second, over and over. */
  async takeFile() {
    this.index = 0;
    $('timeline').hidden = false;
    $('frame').max = this.about.frames - 1;
    $('frame').addEventListener('input', () => {
      this.isPaused = true;
      this.wantedIndex = Number($('frame').value);
    });
    let at = 0;
    for (;;) {
      const wanted = this.wantedIndex;
      if (wanted !== undefined || !this.frame || (!this.isPaused && this.about.frames > 1)) {
        this.index = wanted ?? (this.frame ? (this.index + 1) % this.about.frames : 0);
        const frame = await this.source.frame(this.index);
        if (this.wantedIndex === wanted)
          this.wantedIndex = undefined;
        if (frame)
          await this.show(frame);
      }
      at = Math.max(at + 1000 / 30, performance.now());
      await wait(at - performance.now());
      await nextPaint();
    }
  }

  /* The picture. */

  pixels() {
    const ratio = Math.min(2, devicePixelRatio || 1);
    return { width: Math.round(innerWidth * ratio), height: Math.round(innerHeight * ratio), ratio };
  }

  /* Without a GPU light is drawn with half the pixels in both directions while it changes, which costs
     a quarter, and sharply when it rests or is recorded. */
  isCoarse(moving) {
    const { renderer, about } = this;
    const plays = !this.isPaused && !this.isOver && about.frames !== 1;
    return renderer.isPainted && !this.recorder && (moving || plays);
  }

  paint(now) {
    const seconds = Math.min(0.1, (now - (this.painted ?? now)) / 1000);
    this.painted = now;
    requestAnimationFrame((t) => this.paint(t));
    if (!this.renderer.position)
      return;
    const { width, height, ratio } = this.pixels();
    const moving = this.camera.approach(seconds);
    const part = this.isCoarse(moving) ? 2 : 1;
    const coarse = { width: Math.ceil(width / part), height: Math.ceil(height / part) };
    const resized = $('bodies').width !== coarse.width || $('bodies').height !== coarse.height;
    if (!this.isDirty && !moving && !resized)
      return;
    this.isDirty = false;
    this.renderer.resize(coarse.width, coarse.height);
    this.renderer.draw(this.camera, this.style, ratio / part, part > 1);
    this.drawOver(width, height, ratio);
    this.chart.draw(ratio, this.style);
    this.write();
    if (this.recorder)
      this.compose(this.recorder.canvas);
    document.body.dataset.painted = Number(document.body.dataset.painted ?? 0) + 1;
  }

  drawOver(width, height, ratio) {
    const { overlay, camera, about, frame } = this;
    const box = $('energy-box').getBoundingClientRect(), isNarrow = innerWidth <= 760;
    const y = isNarrow ? $('state').getBoundingClientRect().bottom + 44 : box.top - 26;
    const hasNames = about.names && about.names.length <= 32;
    /* The same as before need not be drawn again: many bodies move, and the camera rests. */
    const now = JSON.stringify([width, height, ratio, this.theme, y, camera.now, about.cell]);
    if (now === this.drawnOver && !hasNames && this.followed < 0)
      return;
    this.drawnOver = this.followed < 0 ? now : null;
    overlay.begin(width, height, ratio, this.style);
    if (about.cell)
      overlay.cell(camera, about.cell, about.origin, about.dimensions === 2);
    if (hasNames)
      overlay.names(camera, about.names, frame.position, (i, scale) => this.renderer.radiusOf(i, scale));
    if (this.followed >= 0)
      overlay.mark(camera, frame.position.subarray(3 * this.followed, 3 * this.followed + 3));
    overlay.axes(camera, 40, y);
    overlay.bar(camera, about.length, 84, y + 6);
  }

  /* Bodies, what is written over them, and the time: what pictures and films have. */
  compose(canvas) {
    const context = canvas.getContext('2d'), { frame, about } = this;
    const { width, height, ratio } = this.pixels();
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    context.drawImage($('bodies'), 0, 0, width, height);
    context.drawImage($('overlay'), 0, 0, width, height);
    context.fillStyle = this.style.ink;
    context.font = `${13 * ratio}px system-ui, "DejaVu Sans", sans-serif`;
    context.fillText(`time ${formatNumber(frame.time)} ${about.unit}`, 16 * ratio, 28 * ratio);
  }

  save(blob, extension) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = `kith-${this.isFile ? 'frame' : 'step'}-${this.frame.step}.${extension}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  startFilm() {
    const canvas = document.createElement('canvas'), pieces = [];
    this.compose(canvas);
    const recorder = new MediaRecorder(canvas.captureStream(30), { videoBitsPerSecond: 12e6 });
    recorder.ondataavailable = (event) => pieces.push(event.data);
    recorder.onstop = () => this.save(new Blob(pieces, { type: 'video/webm' }), 'webm');
    recorder.start();
    this.recorder = { recorder, canvas };
  }

  /* What keys and buttons do. */

  act() {
    const redraw = () => { this.isDirty = true; };
    const order = async (word) => {
      if (!this.isOver)
        await this.source.control(word).catch(() => {});
    };
    return {
      redraw,
      pause: () => {
        this.isPaused = !this.isPaused;
        if (!this.isFile)
          order(this.isPaused ? 'pause' : 'continue');
        redraw();
      },
      single: () => {
        if (this.isFile)
          this.wantedIndex = (this.index + 1) % this.about.frames;
        else
          order('step');
        this.isPaused = true;
        redraw();
      },
      reset: () => {
        this.followed = -1;
        this.home();
        this.renderer.brightness = this.renderer.scale = 1;
        redraw();
      },
      follow: () => {
        let next = this.followed + 1;
        while (next < this.frame.count && isGone(this.frame.position, next))
          next++;
        this.follow(next < this.frame.count ? next : -1);
      },
      unfollow: () => this.follow(-1),
      pick: (x, y) => this.follow(this.bodyAt(x, y)),
      color: () => {
        const all = [...$('color').options].map((o) => o.value);
        this.setColumn(all[(all.indexOf(this.column) + 1) % all.length]);
      },
      trails: () => {
        this.renderer.showsTrails = !this.renderer.showsTrails;
        redraw();
      },
      picture: () => {
        const canvas = document.createElement('canvas'), { width, height, ratio } = this.pixels();
        this.renderer.resize(width, height);
        this.renderer.draw(this.camera, this.style, ratio);
        this.compose(canvas);
        canvas.toBlob((blob) => this.save(blob, 'png'));
      },
      record: () => {
        if (this.recorder)
          this.recorder.recorder.stop();
        if (this.recorder)
          this.recorder = null;
        else
          this.startFilm();
        redraw();
      },
      theme: () => this.setTheme(this.theme === 'dark' ? 'light' : 'dark'),
      help: () => $('help').showModal(),
      zoom: (factor) => {
        this.camera.zoom(factor);
        redraw();
      },
      brighter: (factor) => {
        this.renderer.brightness *= factor;
        redraw();
      },
      larger: (factor) => {
        this.renderer.scale *= factor;
        redraw();
      },
    };
  }

  follow(body) {
    this.followed = body;
    if (body >= 0)
      this.camera.wanted.target = [...this.frame.position.subarray(3 * body, 3 * body + 3)];
    this.isDirty = true;
  }

  /* The body nearest to a place on the screen, within some pixels; −1: none. */
  bodyAt(x, y) {
    const matrix = this.camera.matrix(), { position, count } = this.frame;
    let nearest = -1, best = 16 * 16;
    for (let i = 0; i < count; i++) {
      const p = this.camera.project(position.subarray(3 * i, 3 * i + 3), innerWidth, innerHeight, matrix);
      const d2 = (p.x - x) ** 2 + (p.y - y) ** 2;
      if (p.depth > 0 && d2 < best) {
        best = d2;
        nearest = i;
      }
    }
    return nearest;
  }

  start() {
    const { about } = this, title = about.title.split('/').pop() || 'kith';
    $('title').textContent = title;
    document.title = `${title} · kith`;
    $('color').addEventListener('change', () => this.setColumn($('color').value));
    listen($('bodies'), this.camera, this.act());
    requestAnimationFrame((t) => this.paint(t));
    return this.isFile ? this.takeFile() : this.takeLive();
  }
}

let page; /* for those who look into it */

(async () => {
  try {
    page = new Page(await openSource());
    await page.start();
  } catch (error) {
    $('status').textContent = error.message;
  }
})();
