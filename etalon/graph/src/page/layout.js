// Layout: the data has the places of the boxes of each level while all are folded. Boxes that are larger make room, from the inside out.
const open = new Set();
const layouts = new Map();
const SMALL = 11, LINE = 15, HEAD = 24, PAD = 12, WIDEST = 300;

const measurer = document.createElement('canvas').getContext('2d');
const widths = new Map();
function textWidth(text, size = 12) {
  const key = size + text;
  let width = widths.get(key);
  if (width === undefined) {
    measurer.font = `${size}px system-ui, sans-serif`;
    width = measurer.measureText(text).width;
    widths.set(key, width);
  }
  return width;
}
function clipped(text, size = 12, most = WIDEST - 16) {
  if (textWidth(text, size) <= most) return text;
  let length = Math.floor(text.length * most / textWidth(text, size));
  while (length > 1 && textWidth(text.slice(0, length) + '…', size) > most) length--;
  return text.slice(0, length) + '…';
}

/** Forgets the layout of a level and of all that contain it. */
function forget(level) {
  for (let at = level; at; at = at.outer) layouts.delete(at.key);
}

/** The lines of text in the box of an instruction. Its shape is at its edges, if it has any among those that are shown. */
function linesOf(comp, index, { shown, hubs }) {
  const node = comp.nodes[index];
  const inline = [...new Set(node.in)].filter(o => comp.nodes[o].hidden || hubs.has(o)).map(o => inlineText(comp, o));
  const reducers = node.calls.map(callee => COMPS[callee].short).filter(Boolean);
  let what = node.op;
  if (reducers.length) what += ` (${[...new Set(reducers)].join(', ')})`;
  if (inline.length) what += `  with ${inline.slice(0, 3).join(', ')}${inline.length > 3 ? ', …' : ''}`;
  const lines = [{ text: node.name }, { text: what, sub: true }];
  if (!comp.users[index].some(user => shown.has(user)) || hubs.has(index)) lines.push({ text: node.shape, sub: true });
  if (node.value) lines.push({ text: valueLine(node.value), sub: true, bad: isBad(node) });
  if (node.time) lines.push({ text: timeLine(timeOf(comp, index)), sub: true });
  return lines;
}
function number(x) {
  return typeof x === 'number' ? String(+x.toPrecision(4)) : String(x);
}
function valueLine(value) {
  const bad = [value.nan && `${value.nan} NaN`, value.inf && `${value.inf} inf`].filter(Boolean).join(', ');
  const range = value.min === undefined ? '' : `${number(value.min)} … ${number(value.max)}`;
  return [bad, range].filter(Boolean).join('; ') || `${value.count} elements`;
}
function timeLine(ms) {
  const share = 100 * ms / (timeLine.all ??= timeOfModule() || 1);
  return `${number(ms)} ms, ${share.toFixed(1)} %`;
}

/** The box of an item of a level. */
function boxOf(level, item) {
  const { inst } = level;
  const comp = inst.comp;
  if (typeof item === 'number') {
    const node = comp.nodes[item];
    const box = { kind: 'node', inst, index: item, key: `${inst.key}#${item}`, level, canOpen: unfoldable(node), category: node.cat };
    box.lines = linesOf(comp, item, level);
    if (box.canOpen && open.has(box.key)) {
      box.inner = node.calls.map((callee, k) => [callee, k]).filter(([callee]) => COMPS[callee].short === null)
        .map(([, k]) => layoutOf({ inst: instance(`${box.key}>${k}`), path: '', outer: level }));
    }
    return sized(box);
  }
  const box = { kind: 'group', inst, group: item, key: `${inst.key}@${item.path}`, level, canOpen: true };
  box.lines = [{ text: item.label }, ...halves(item.detail).map(text => ({ text, sub: true }))];
  const shared = new Set(item.all.flatMap(i => comp.nodes[i].in.filter(o => level.hubs.has(o) && !item.all.includes(o))));
  if (shared.size) box.lines.push({ text: `with ${[...shared].slice(0, 3).map(o => comp.nodes[o].name).join(', ')}${shared.size > 3 ? ', …' : ''}`, sub: true });
  if (DATA.timed) box.lines.push({ text: timeLine(item.all.reduce((sum, i) => sum + timeOf(comp, i), 0)), sub: true });
  const bad = item.all.filter(i => isBad(comp.nodes[i])).length;
  if (bad) box.lines.push({ text: `${bad} with NaN or infinity`, sub: true, bad: true });
  const changes = Object.keys(CHANGES).slice(0, 3).map(kind => [kind, item.all.filter(i => comp.nodes[i].change === kind).length]).filter(([, count]) => count);
  if (changes.length) box.lines.push({ text: changes.map(([kind, count]) => `${count} ${kind}`).join(', '), sub: true });
  if (open.has(box.key)) box.inner = [layoutOf({ inst, path: item.path, outer: level })];
  return sized(box);
}
function halves(text) {
  const at = text.indexOf(': ');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 2)];
}

function sized(box) {
  box.lines.forEach(line => { line.text = clipped(line.text, line.sub ? SMALL : 12); });
  const widest = Math.max(...box.lines.map(line => textWidth(line.text, line.sub ? SMALL : 12)));
  if (box.inner) {
    const titles = box.inner.length > 1 || box.kind === 'node' ? 18 : 0;
    box.title = box.lines.slice(0, 2).map(line => line.text).join('   ');
    box.w = Math.max(textWidth(box.title) + 40, box.inner.reduce((sum, l) => sum + l.w + PAD, PAD));
    box.h = HEAD + titles + Math.max(...box.inner.map(l => l.h)) + PAD;
    box.titles = titles;
  } else {
    box.w = Math.max(70, widest + 18 + (box.canOpen ? 16 : 0));
    box.h = box.lines.length * LINE + 9 + (box.kind === 'group' ? 6 : 0) + (DATA.timed && box.kind !== 'port' ? 3 : 0);
  }
  return box;
}

function layoutOf(level) {
  level.key = `${level.inst.key}@${level.path}`;
  const known = layouts.get(level.key);
  if (known) return known;
  const comp = level.inst.comp;
  const items = level.path === '' ? comp.items : comp.groups.get(level.path).items;
  const plan = comp.levels[level.path];
  level.shown = new Set(items.flatMap(members));
  level.hubs = new Set(plan.hubs);
  level.boxes = items.map(item => boxOf(level, item));
  plan.ports.forEach(({ text, index }, i) => level.boxes.push(sized({ kind: 'port', inst: level.inst, key: `${level.key} ${i}`, level, index, lines: [{ text, sub: true }] })));
  const ends = edge => ({ ...edge, from: level.boxes[edge.from], to: level.boxes[edge.to] });
  level.edges = plan.edges.map(ends);
  level.far = plan.far.map(ends);
  noteFar(level);
  place(level, plan);
  layouts.set(level.key, level);
  return level;
}

/** Notes in boxes how many edges are not drawn because they cross many rows: those of the selected box are. */
function noteFar(level) {
  for (const box of level.boxes) {
    const above = level.far.filter(edge => edge.to === box).length, below = level.far.filter(edge => edge.from === box).length;
    const parts = [above && `${above} from above`, below && `${below} to below`].filter(Boolean);
    if (!parts.length || box.inner) continue;
    box.lines.push({ text: `far edges: ${parts.join(', ')}`, sub: true });
    sized(box);
  }
}

const MARGIN = 6, BOXES = 18, BENDS = 12, CORNER = 10, STUB = 6, LANE = 8, ASIDE = 30, SMALLEST = 0.85;

/** The rows at which a new column begins: what is higher than the window goes on beside itself, as far as there is room. The plan decides, so that boxes stay in their columns when one unfolds. */
function cuts(plan, ys) {
  const { width, height } = size(), sides = plan.boxes.flatMap(([x, , w]) => [x - w / 2, x + w / 2]), high = ys.at(-1) - ys[0];
  const count = Math.min(Math.ceil(high / (height - 40)), Math.floor(width / SMALLEST / (Math.max(...sides) - Math.min(...sides) + 2 * ASIDE))), chosen = new Set();
  if (pair) return chosen;
  // Between two rows of boxes there is one of bends, which has all edges that lead from one to the other.
  const tops = new Set(plan.boxes.map(([, y]) => y)), crossing = new Map(ys.map(y => [y, 0]));
  for (const { points } of plan.edges) points.slice(1, -1).forEach(([, y]) => crossing.set(y, crossing.get(y) + 1));
  for (let k = 1; k < count; k++) {
    const far = i => Math.abs(ys[i] - ys[0] - k * high / count), cost = i => far(i) + 60 * crossing.get(ys[i - 1]);
    const near = ys.map((_, i) => i).filter(i => i && tops.has(ys[i]) && far(i) < high / count / 3);
    if (near.length) chosen.add(ys[near.reduce((best, i) => cost(i) < cost(best) ? i : best)]);
  }
  return chosen;
}

/** Places the boxes and the bends of edges of a level: as they are in the plan, if all boxes have their sizes there. Where some are larger, rows move down, and what is in a row moves aside. */
function place(level, plan) {
  const rows = new Map();
  const add = (y, part) => { if (!rows.has(y)) rows.set(y, []); rows.get(y).push(part); return part; };
  level.boxes.forEach((box, i) => {
    const [x, y, , height] = plan.boxes[i];
    box.part = add(y, { x, w: box.w, h: box.h, planned: height, apart: BOXES, move(cx, cy) { box.x = cx - box.w / 2; box.y = cy - box.h / 2; } });
  });
  for (const edge of level.edges) {
    const { at } = edge;
    edge.at = {};
    edge.bends = edge.points.slice(1, -1).map(([x, y]) => {
      const isLabel = !!at && at[0] === x && at[1] === y, bend = isLabel ? edge.at : {};
      bend.part = add(y, { x, w: isLabel ? textWidth(edge.label, 10) : 0, h: 0, planned: 0, apart: BENDS, move(cx, cy) { bend.x = cx; bend.y = cy; } });
      return bend;
    });
  }
  const ys = [...rows.keys()].sort((a, b) => a - b), starts = cuts(plan, ys), columns = [];
  let lower = 0;
  for (const y of ys) {
    const row = rows.get(y).sort((a, b) => a.x - b.x), high = Math.max(...row.map(part => part.h)), planned = Math.max(...row.map(part => part.planned));
    if (!columns.length || starts.has(y)) { columns.push({ parts: [] }); lower = planned / 2 - y; }
    const column = columns.at(-1), more = Math.max(0, high - planned), cy = y + lower + more / 2;
    lower += more;
    let end = -Infinity, before = 0;
    for (const part of row) {
      // In the plan they may be as near as this.
      part.at = Math.max(part.x, end + (before + part.apart) / 2 - 1 + part.w / 2);
      end = part.at + part.w / 2;
      before = part.apart;
    }
    const aside = row.reduce((sum, part) => sum + part.at - part.x, 0) / row.length;
    for (const part of row) Object.assign(part, { at: part.at - aside, cy, column, top: cy - high / 2, bottom: cy + high / 2 });
    column.parts.push(...row);
    column.bottom = cy + high / 2;
  }
  joined(level, columns);
}
/** Puts columns beside each other, and between them the edges that go on in the next one. */
function joined(level, columns) {
  let right = MARGIN, top = 0, bottom = 0;
  columns.forEach((column, k) => {
    const side = sign => Math.max(...column.parts.map(part => sign * part.at + part.w / 2)), left = side(-1) + right;
    column.parts.forEach(part => part.move(part.at + left, part.cy));
    column.right = side(1) + left;
    column.over = level.edges.filter(edge => columns.indexOf(edge.from.part.column) <= k && columns.indexOf(edge.to.part.column) > k);
    const lanes = column.over.length * LANE;
    right = column.right + ASIDE + lanes;
    top = Math.max(top, lanes);
    bottom = Math.max(bottom, column.bottom + (lanes && BENDS + lanes));
  });
  for (const edge of level.edges) {
    const { from, to, bends } = edge, out = side(from, bends[0] ?? to), into = side(to, bends.at(-1) ?? from);
    const upright = ({ x, part }) => part.bottom - part.top > 2 * STUB ? [{ x, y: part.top, part }, { x, y: part.bottom, part }] : [{ x, y: part.cy, part }];
    edge.points = [{ x: out, y: from.y + from.h }, { x: out, y: from.part.bottom + STUB, part: from.part }, ...bends.flatMap(upright), { x: into, y: to.part.top - STUB, part: to.part }, { x: into, y: to.y }];
  }
  for (const column of columns) {
    const last = edge => edge.points.findLastIndex(point => point.part?.column === column);
    // The rightmost is the nearest: edges in the order of both columns do not cross.
    column.over.sort((a, b) => b.points[last(b)].x - a.points[last(a)].x).forEach((edge, lane) => {
      const at = last(edge), [from, to] = edge.points.slice(at), x = column.right + ASIDE / 2 + lane * LANE, low = column.bottom + BENDS + lane * LANE, high = lane * LANE - top;
      edge.points.splice(at + 1, 0, { x: from.x, y: low }, { x, y: low }, { x, y: high }, { x: to.x, y: high });
    });
  }
  const down = MARGIN + top;
  level.boxes.forEach(box => { box.y += down; });
  level.edges.forEach(edge => [edge.at, ...edge.points].forEach(point => { point.y += down; }));
  level.w = columns.length ? columns.at(-1).right + MARGIN : 40;
  level.h = columns.length ? bottom + down + MARGIN : 20;
}
/** Where an edge that leads over this bend, or to this box, leaves a box or enters it. */
function side(box, { part }) {
  const far = Math.max(0, box.w / 2 - CORNER);
  return box.x + box.w / 2 + Math.min(Math.max(part.at - box.part.at, -far), far);
}
