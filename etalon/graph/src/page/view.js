// View: draws the layout as SVG; zoom, pan, selection, and the links of the selected instruction.
const frame = html('section', { class: 'side' }, parent);
if (hooks.name) html('div', { class: 'name' }, frame, hooks.name);
const svg = element('svg', { class: 'canvas', role: 'application', 'aria-label': 'Dataflow graph', tabindex: 0 }, frame);
const defs = element('defs', {}, svg);
for (const [id, color] of [['arrow', 'edge'], ['arrow-control', 'muted']]) {
  const marker = element('marker', { id, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: 'userSpaceOnUse', orient: 'auto' }, defs);
  element('path', { d: 'M0 0L8 4L0 8Z', fill: `var(--${color})` }, marker);
}
const world = element('g', {}, svg), boxLayer = element('g', {}, world), linkLayer = element('g', { class: 'links' }, world);
const map = element('svg', { class: 'map', 'aria-hidden': 'true' }, frame), mapBoxes = element('g', {}, map), mapWindow = element('rect', { class: 'window' }, map);
const view = { x: 20, y: 20, scale: 1, root: null, boxes: new Map(), selected: null, hits: new Set(), hitNodes: new Map(), color: 'category', pressed: null, past: [], revealed: new Set() };

/** Lays out what changed and draws everything. */
function draw() {
  view.root = layoutOf({ inst: instance('E'), path: '', outer: null });
  view.boxes.clear();
  boxLayer.replaceChildren();
  placed(view.root, boxLayer, 0, 0);
  mark();
  links();
  drawMap();
  transform();
}

function drawBox(box, parent, dx, dy) {
  box.ax = dx + box.x; box.ay = dy + box.y;
  view.boxes.set(box.key, box);
  const comp = box.inst.comp;
  const names = ['box', box.kind, box.inner ? 'open' : 'plain'];
  if (box.kind === 'node' && box.index === comp.root) names.push('root');
  const group = element('g', { class: names.join(' '), 'data-key': box.key, transform: `translate(${box.x},${box.y})` }, parent);
  box.element = group;
  const look = lookOf(box);
  element('rect', { class: 'face', width: box.w, height: box.h, rx: box.kind === 'node' ? 6 : 10, style: paint(look) }, group);
  element('title', {}, group, titleOf(box));
  if (!box.inner) {
    box.lines.forEach((line, i) => element('text', { x: 9, y: 17 + i * LINE, class: (line.sub ? 'sub' : 'name') + (line.bad ? ' bad' : '') }, group, line.text));
    if (box.canOpen) element('text', { x: box.w - 15, y: 17 }, group, '+');
    if (box.kind === 'group') strip(box, group);
    const share = heatOf(box);
    if (share > 0.002) element('rect', { x: 2, y: box.h - 4, height: 3, rx: 1.5, width: Math.max(2, (box.w - 4) * Math.min(1, share)), style: 'fill:#d9480f' }, group);
    return;
  }
  element('text', { x: 10, y: 17 }, group, `− ${box.title}`);
  let x = PAD;
  for (const inner of box.inner) {
    if (box.titles) element('text', { class: 'title', x: x + 4, y: HEAD + 12 }, group, clipped(inner.inst.comp.name, 11, inner.w));
    const holder = element('g', { transform: `translate(${x},${HEAD + box.titles})` }, group);
    placed(inner, holder, box.ax + x, box.ay + HEAD + box.titles);
    x += inner.w + PAD;
  }
}
/** Draws the kinds of ops in a group, or those of changes, as a strip of their colors. */
function strip(box, parent) {
  const looks = view.color === 'changes' ? Object.values(CHANGES) : DATA.categories, counts = looks.map(() => 0), comp = box.inst.comp;
  box.group.all.forEach(i => counts[view.color === 'changes' ? Object.keys(CHANGES).indexOf(changeOf(comp, i)) : comp.nodes[i].cat]++);
  let x = 8;
  counts.forEach((count, i) => {
    const width = (box.w - 16) * count / box.group.all.length;
    if (count) element('rect', { x, y: box.h - (DATA.timed ? 9 : 6), width, height: 3, style: `fill:${looks[i].line}` }, parent);
    x += width;
  });
}
/** Draws a level inside of a box: its elements are relative to the box, its absolute places are not. */
function placed(level, holder, ax, ay) {
  for (const box of level.boxes) drawBox(box, holder, ax, ay);
  for (const edge of level.edges) drawEdge(edge, holder);
  // Above all edges, and on a ground of their own: no line strikes a label through.
  for (const { at, label } of level.edges) {
    if (at.x === undefined) continue;
    const width = textWidth(label, 10) + 6, group = element('g', { class: 'label' }, holder);
    element('rect', { x: at.x - width / 2, y: at.y - 6.5, width, height: 13, rx: 3 }, group);
    element('text', { x: at.x, y: at.y + 3 }, group, label);
  }
}

/** The most of a line that is curved before a bend and behind it. */
const ROUND = 20;
function drawEdge(edge, parent) {
  const { points } = edge, last = points.at(-1);
  let path = `M${points[0].x},${points[0].y}`;
  for (let i = 1; i < points.length - 1; i++) {
    const { x, y } = points[i], near = [points[i - 1], points[i + 1]].map(end => {
      const far = Math.hypot(end.x - x, end.y - y), part = Math.min(ROUND, far / 2) / (far || 1);
      return `${x + (end.x - x) * part},${y + (end.y - y) * part}`;
    });
    path += `L${near[0]}Q${x},${y} ${near[1]}`;
  }
  path += `L${last.x},${last.y}`;
  const line = edge.element = element('path', { class: edge.control ? 'edge control' : 'edge', d: path }, parent);
  const comp = edge.from.inst.comp;
  element('title', {}, line, [...edge.values].slice(0, 20).map(i => `${comp.nodes[i].name}: ${comp.nodes[i].shape}`).join('\n'));
}

function titleOf(box) {
  if (box.kind === 'group') return `${box.group.label}\n${box.group.detail}`;
  const node = box.inst.comp.nodes[box.index];
  if (box.kind === 'port') return box.lines[0].text;
  const change = node.change ? `\n${CHANGES[node.change].text}${node.what ? `: ${node.what}` : ''}` : '';
  return `${node.name} = ${node.shape}\n${node.text.slice(0, 300)}${change}`;
}

/** The instructions of a box. */
function indicesOf(box) {
  return box.kind === 'group' ? box.group.all : [box.index];
}
/** The share of the time, from 0 to 1. */
function heatOf(box) {
  if (!DATA.timed || box.kind === 'port') return 0;
  const comp = box.inst.comp;
  return indicesOf(box).reduce((sum, i) => sum + timeOf(comp, i), 0) / (timeLine.all ??= timeOfModule() || 1);
}
/** The findings of an instruction and of the computations that it calls. */
function marksOf(comp, index) {
  const node = comp.nodes[index];
  return [...(node.finding ? [node.finding.mark] : []), ...node.calls.flatMap(callee => marksIn(COMPS[callee]))];
}
function marksIn(comp) {
  return comp.marks ??= [...new Set(comp.nodes.flatMap((_, index) => marksOf(comp, index)))];
}
const NONE = { fill: 'transparent', line: 'var(--muted)', dark: 'transparent' };
function lookOf(box) {
  if (box.kind === 'port') return NONE;
  if (view.color === 'time') {
    const heat = Math.min(1, Math.sqrt(heatOf(box)) * 1.6);
    return { fill: `hsl(${45 - 35 * heat} ${90}% ${97 - 35 * heat}%)`, dark: `hsl(${45 - 35 * heat} ${90 * heat}% ${14 + 26 * heat}%)`, line: heat > .3 ? '#d9480f' : '#adb5bd' };
  }
  if (view.color === 'values') {
    const comp = box.inst.comp, indices = indicesOf(box);
    const bad = indices.some(i => isBad(comp.nodes[i])), known = indices.some(i => comp.nodes[i].value);
    return bad ? { fill: '#ffc9c9', line: '#c92a2a' } : known ? { fill: '#e6f4e6', line: '#3a9144' } : { fill: '#f1f3f5', line: '#adb5bd' };
  }
  if (view.color === 'findings') {
    const comp = box.inst.comp, marks = indicesOf(box).flatMap(i => marksOf(comp, i));
    return FOUND[Object.keys(FOUND).find(mark => marks.includes(mark)) ?? 'none'];
  }
  if (view.color === 'changes') return CHANGES[mostTelling(new Set(indicesOf(box).map(i => changeOf(box.inst.comp, i))))];
  if (box.kind === 'node') return DATA.categories[box.category];
  const special = box.group.all.map(i => DATA.categories[box.inst.comp.nodes[i].cat]).find(look => look.key === 'collective');
  return { fill: special ? special.fill : '#ffffff', line: special ? special.line : '#868e96', dark: special ? '' : 'var(--page)' };
}

/** Shows selection, search hits and pressed legend entries on the boxes. */
function mark() {
  svg.classList.toggle('dim', view.hits.size > 0 || view.pressed !== null);
  for (const box of view.boxes.values()) {
    box.element.classList.toggle('selected', box.key === view.selected);
    box.element.classList.toggle('hit', isHit(box));
  }
}
function isHit(box) {
  if (box.kind === 'port' || box.inner) return false;
  const comp = box.inst.comp;
  const hits = view.hitNodes.get(comp);
  const category = view.pressed;
  return indicesOf(box).some(i => (hits && hits.has(i)) || comp.nodes[i].cat === category);
}

/** The visible box of an instruction, or of a folded one around it. */
function visibleBox(inst, index) {
  for (let at = inst, i = index; at; i = at.via, at = at.parent) {
    const own = view.boxes.get(`${at.key}#${i}`);
    if (own) return own;
    const groups = (at.comp.groupOf[i] ?? '').split('.');
    for (let depth = groups.length; depth > 0; depth--) {
      const group = view.boxes.get(`${at.key}@${groups.slice(0, depth).join('.')}`);
      if (group) return group;
    }
  }
  return null;
}

const FAR = 150;

/** Colors the edges of the selected box, and draws curves to operands and users beyond the border of its group. */
function links() {
  linkLayer.replaceChildren();
  view.colored?.forEach(edge => edge.element.classList.remove('operand', 'user'));
  const selected = view.boxes.get(view.selected);
  view.colored = selected ? selected.level.edges.filter(edge => edge.from === selected || edge.to === selected) : [];
  view.colored.forEach(edge => edge.element.classList.add(edge.to === selected ? 'operand' : 'user'));
  const box = view.boxes.get(view.selected);
  if (!box) return;
  const comp = box.inst.comp;
  const link = (from, to, name) => {
    if (!from || !to || from === to || view.colored.some(edge => edge.from === from && edge.to === to)) return;
    const a = { x: from.ax + from.w / 2, y: from.ay + (from.inner ? HEAD : from.h) };
    const b = { x: to.ax + to.w / 2, y: to.ay };
    const bend = Math.max(30, Math.abs(b.y - a.y) / 3);
    let path = `M${a.x},${a.y}C${a.x},${a.y + bend} ${b.x},${b.y - bend} ${b.x},${b.y}`;
    if (Math.abs(a.x - b.x) < (from.w + to.w) / 4 && b.y - a.y > FAR) {
      // Around the boxes between the two.
      const out = Math.max(from.ax + from.w, to.ax + to.w) + Math.min(40 + (b.y - a.y) / 8, 240);
      path = `M${from.ax + from.w},${a.y - 12}C${out},${a.y} ${out},${b.y} ${to.ax + to.w},${b.y + 12}`;
    }
    element('path', { class: name, d: path }, linkLayer);
  };
  for (const edge of box.level.far) {
    if (edge.to === box) link(edge.from, box, 'operand');
    if (edge.from === box) link(box, edge.to, 'user');
  }
  if (box.kind !== 'node') return;
  const drawn = comp.nodes[box.index].in.filter(operand => !comp.nodes[operand].hidden);
  for (const operand of new Set(drawn)) link(visibleBox(box.inst, operand), box, 'operand');
  for (const user of comp.users[box.index]) link(box, visibleBox(box.inst, user), 'user');
}

/** Draws the small picture of everything. */
function drawMap() {
  mapBoxes.replaceChildren();
  map.setAttribute('viewBox', `0 0 ${view.root.w} ${view.root.h}`);
  // As narrow, or as low, as the picture is: the rest would lie over boxes.
  const longest = pair ? 110 : 150, unit = longest / Math.max(view.root.w, view.root.h, 1);
  Object.assign(map.style, { width: `${Math.max(34, view.root.w * unit)}px`, height: `${Math.max(34, view.root.h * unit)}px` });
  for (const box of view.boxes.values()) {
    if (box.kind === 'port' || (box.level !== view.root && box.w * 150 < 2 * Math.max(view.root.w, view.root.h))) continue;
    const look = lookOf(box);
    element('rect', { x: box.ax, y: box.ay, width: box.w, height: box.h, style: `--stroke:${look.line};${box.inner ? '--fill:none;--dark:none' : `--fill:${look.fill}`}` }, mapBoxes);
  }
}
/** Moves the middle of the window to a point of the small picture. */
function moveTo(event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse()), { width, height } = size();
  moved(() => { view.x = width / 2 - point.x * view.scale; view.y = height / 2 - point.y * view.scale; });
}

/** Moves the picture by hand: that of another module moves with it. */
function moved(move) {
  const { x, y, scale } = view;
  move();
  transform();
  const factor = view.scale / scale;
  hooks.moved(factor, view.x - factor * x, view.y - factor * y);
}
/** Moves the picture as another one was moved. */
function follow(factor, dx, dy) {
  const scale = limited(view.scale * factor), by = scale / view.scale;
  Object.assign(view, { x: by * view.x + dx, y: by * view.y + dy, scale });
  transform();
}
const limited = scale => Math.min(4, Math.max(0.02, scale));

function transform() {
  const { width, height } = size(), seen = { x: -view.x / view.scale, y: -view.y / view.scale, width: width / view.scale, height: height / view.scale };
  for (const [name, value] of Object.entries(seen)) mapWindow.setAttribute(name, value);
  map.toggleAttribute('hidden', seen.x <= 0 && seen.y <= 0 && seen.x + seen.width >= view.root.w && seen.y + seen.height >= view.root.h);
  world.setAttribute('transform', `translate(${view.x},${view.y}) scale(${view.scale})`);
  svg.classList.toggle('far', view.scale < 0.35);
}
function size() { return svg.getBoundingClientRect(); }
function zoom(factor, cx, cy) {
  const { width, height } = size();
  cx ??= width / 2; cy ??= height / 2;
  moved(() => {
    const scale = limited(view.scale * factor);
    view.x = cx - (cx - view.x) * scale / view.scale;
    view.y = cy - (cy - view.y) * scale / view.scale;
    view.scale = scale;
  });
}
function fit() {
  const { width, height } = size();
  view.scale = Math.min(1.2, (width - 40) / view.root.w, (height - 40) / view.root.h);
  view.x = (width - view.root.w * view.scale) / 2;
  view.y = 20;
  transform();
}
/** Shows the beginning at a scale that can be read. */
function start() {
  const { width, height } = size();
  view.scale = Math.min(1, Math.max(0.7, (width - 40) / view.root.w));
  const first = view.root.boxes.filter(box => box.y * view.scale < height);
  const fits = view.root.w * view.scale <= width - 40 || !first.length;
  const centers = first.map(box => box.x + box.w / 2), mean = centers.reduce((sum, x) => sum + x, 0) / first.length;
  // The mean of boxes far apart may have none near it.
  const middle = fits ? view.root.w / 2 : centers.reduce((best, x) => Math.abs(x - mean) < Math.abs(best - mean) ? x : best);
  view.x = width / 2 - middle * view.scale;
  view.y = 20;
  transform();
}
/** Moves a box to the middle of the window, or to this height. */
function center(box, y) {
  const { width, height } = size();
  if (view.scale < 0.5) view.scale = 0.85;
  view.x = width / 2 - (box.ax + box.w / 2) * view.scale;
  view.y = (y ?? height / 2) - heightOf(box);
  transform();
}
/** Where a box is looked at: its middle, or the beginning of a large one. */
function heightOf(box) {
  return (box.ay + Math.min(box.h, 200) / 2) * view.scale;
}
/** Moves a box into the window if it is not there. */
function bringIn(box) {
  const { width, height } = size();
  const x = box.ax * view.scale + view.x, y = box.ay * view.scale + view.y;
  const right = x + box.w * view.scale, bottom = y + box.h * view.scale;
  if (x < 0 || y < 0 || right > width || bottom > height || view.scale < 0.3) center(box);
}

/** Folds or unfolds a box. The box stays where it is on the screen. What is beside it follows, unless this does. */
function toggle(box, follows) {
  if (!box || !box.canOpen) return;
  const before = { x: box.ax, y: box.ay };
  if (open.has(box.key)) open.delete(box.key); else open.add(box.key);
  forget(box.level);
  draw();
  const after = view.boxes.get(box.key);
  if (after) {
    view.x += (before.x + box.w / 2 - after.ax - after.w / 2) * view.scale;
    view.y += (before.y - after.ay) * view.scale;
    transform();
    if (!follows) hooks.toggled(after);
  }
}
function foldAll() {
  open.clear();
  layouts.clear();
  view.selected = null;
  draw();
  start();
  panel();
}

/** The number of boxes that a box unfolds to. */
function contents(box) {
  return box.kind === 'group' ? box.group.items.length : box.inst.comp.nodes[box.index].calls.reduce((sum, callee) => sum + COMPS[callee].items.length, 0);
}
/** The most boxes that are unfolded at once: a browser is slow with more. */
const MANY = 4000;
/** Unfolds one more level of all groups, or if there are none, of all calls. */
function unfoldAll() {
  const folded = [...view.boxes.values()].filter(box => box.canOpen && !box.inner);
  const groups = folded.filter(box => box.kind === 'group');
  let count = view.boxes.size;
  for (const box of groups.length ? groups : folded) {
    count += contents(box);
    if (count > MANY) break;
    open.add(box.key);
  }
  layouts.clear();
  draw();
  fit();
  // A strip that cannot be read shows nothing; the small picture has the whole.
  if (view.scale < 0.25) start();
}

/** Saves what is seen as a picture of one of these formats, which has the colors of this page, light or dark. */
async function save(format) {
  const { width, height } = size();
  const copy = svg.cloneNode(true);
  for (const [name, value] of Object.entries({ xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}` })) copy.setAttribute(name, value);
  const style = document.createElementNS('http://www.w3.org/2000/svg', 'style');
  style.textContent = $('style').textContent;
  const page = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  page.setAttribute('width', '100%'); page.setAttribute('height', '100%'); page.setAttribute('style', 'fill:var(--page)');
  copy.prepend(style, page);
  const drawn = new Blob([new XMLSerializer().serializeToString(copy)], { type: 'image/svg+xml' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(format === 'svg' ? drawn : await pixels(drawn, width, height));
  link.download = `${hooks.name || DATA.module}.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}
/** The pixels of an SVG: as many as the screen has, and two for each of its units at least. */
async function pixels(drawn, width, height) {
  const image = new Image(), canvas = document.createElement('canvas'), scale = Math.max(2, devicePixelRatio);
  image.src = URL.createObjectURL(drawn);
  await image.decode();
  [canvas.width, canvas.height] = [width * scale, height * scale].map(Math.ceil);
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise(done => { canvas.toBlob(done, 'image/png'); });
}

/** Unfolds what contains an instruction. */
function reveal(inst, index) {
  const unfold = key => { if (!open.has(key)) { open.add(key); view.revealed.add(key); } };
  for (let at = inst, i = index; at; i = at.via, at = at.parent) {
    if (i !== index || at !== inst) unfold(`${at.key}#${i}`);
    const groups = (at.comp.groupOf[i] ?? '').split('.').filter(part => part !== '');
    for (let depth = 1; depth <= groups.length; depth++) unfold(`${at.key}@${groups.slice(0, depth).join('.')}`);
  }
  layouts.clear();
}
/** Folds what was unfolded to show an instruction. */
function refold() {
  if (!view.revealed.size) return;
  view.revealed.forEach(key => open.delete(key));
  view.revealed.clear();
  layouts.clear();
  draw();
}
/** The instruction in whose box another one is: a user of a constant, the caller of a computation of one instruction. */
function drawnIn(inst, index) {
  const { comp } = inst, users = comp.users[index];
  if (comp.short !== null && inst.parent) return drawnIn(inst.parent, inst.via);
  const user = comp.nodes[index].hidden ? users.find(one => !comp.nodes[one].hidden) ?? users[0] : undefined;
  return user === undefined ? [inst, index] : drawnIn(inst, user);
}
/** The box of an instruction, in what is unfolded for it. */
function boxAround(inst, index) {
  const [at, i] = drawnIn(inst, index), key = `${at.key}#${i}`;
  if (!view.boxes.has(key)) { reveal(at, i); draw(); }
  return view.boxes.get(key);
}
/** Selects an instruction, unfolding what contains it. */
function goTo(inst, index) {
  const box = boxAround(inst, index);
  if (box) select(box.key, true);
  if (!box || box.inst !== inst || box.index !== index) panelOf(inst, index);
}
/** Shows a box at this height, without the panel: selected, or not. */
function show(box, y, scale, isChosen) {
  choose(isChosen ? box.key : null);
  view.scale = scale;
  center(box, y);
}
function choose(key) {
  if (view.selected && view.selected !== key) view.past.push(view.selected);
  view.selected = key;
  mark();
  links();
  hooks.chosen(view.boxes.get(key));
}
function select(key, centered) {
  hooks.active();
  choose(key);
  panel();
  const box = view.boxes.get(key);
  if (box && centered) center(box); else if (box) bringIn(box);
  $('back').disabled = view.past.length === 0;
  if (box && box.kind === 'node') history.replaceState(null, '', `#${hooks.key}=${encodeURIComponent(`${box.inst.comp.name}/${box.inst.comp.nodes[box.index].name}`)}`);
  if (box) hooks.selected(box);
}
function back() {
  const key = view.past.pop();
  view.selected = null;
  if (key && view.boxes.has(key)) select(key);
  $('back').disabled = view.past.length === 0;
}
