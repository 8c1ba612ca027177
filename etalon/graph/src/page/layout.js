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

const MARGIN = 6, BOXES = 18, BENDS = 12;

/** Places the boxes and the bends of edges of a level: as they are in the plan, if all boxes have their sizes there. Where some are larger, rows move down, and what is in a row moves aside. */
function place(level, plan) {
  const rows = new Map();
  const add = (y, part) => { if (!rows.has(y)) rows.set(y, []); rows.get(y).push(part); };
  level.boxes.forEach((box, i) => {
    const [x, y, , height] = plan.boxes[i];
    add(y, { x, w: box.w, h: box.h, planned: height, apart: BOXES, move(cx, cy) { box.x = cx - box.w / 2; box.y = cy - box.h / 2; } });
  });
  for (const edge of level.edges) {
    edge.bends = edge.points.slice(1, -1).map(([x, y]) => {
      const bend = { x, y }, isLabel = !!edge.at && edge.at[0] === x && edge.at[1] === y;
      add(y, { x, w: isLabel ? textWidth(edge.label, 10) : 0, h: 0, planned: 0, apart: BENDS, move(cx, cy) { bend.x = cx; bend.y = cy; if (isLabel) edge.labelAt = bend; } });
      return bend;
    });
  }
  let lower = 0, left = Infinity, right = -Infinity, bottom = 0;
  for (const y of [...rows.keys()].sort((a, b) => a - b)) {
    const row = rows.get(y).sort((a, b) => a.x - b.x);
    const more = Math.max(0, ...row.map(part => part.h)) - Math.max(0, ...row.map(part => part.planned));
    const cy = y + lower + Math.max(0, more) / 2;
    lower += Math.max(0, more);
    let end = -Infinity, before = 0;
    for (const part of row) {
      // In the plan they may be as near as this.
      part.at = Math.max(part.x, end + (before + part.apart) / 2 - 1 + part.w / 2);
      end = part.at + part.w / 2;
      before = part.apart;
    }
    const aside = row.reduce((sum, part) => sum + part.at - part.x, 0) / row.length;
    for (const part of row) {
      part.at -= aside;
      part.move(part.at, cy);
      left = Math.min(left, part.at - part.w / 2);
      right = Math.max(right, part.at + part.w / 2);
      bottom = Math.max(bottom, cy + part.h / 2);
    }
  }
  const top = Math.min(...level.boxes.map(box => box.y));
  const dx = MARGIN - left, dy = MARGIN - top;
  level.boxes.forEach(box => { box.x += dx; box.y += dy; });
  for (const edge of level.edges) {
    edge.bends.forEach(bend => { bend.x += dx; bend.y += dy; });
    const [first, last] = [edge.bends[0] ?? middle(edge.to), edge.bends.at(-1) ?? middle(edge.from)];
    edge.points = [border(edge.from, first), ...edge.bends, border(edge.to, last)];
    edge.at = edge.labelAt ?? {};
  }
  level.w = level.boxes.length ? right + dx + MARGIN : 40;
  level.h = level.boxes.length ? bottom + dy + MARGIN : 20;
}
function middle(box) {
  return { x: box.x + box.w / 2, y: box.y + box.h / 2 };
}
/** The point of the border of a box on the way from its middle to another point. */
function border(box, to) {
  const from = middle(box);
  const dx = to.x - from.x, dy = to.y - from.y;
  const scale = Math.min(box.w / 2 / Math.abs(dx || 1e-9), box.h / 2 / Math.abs(dy || 1e-9));
  return { x: from.x + dx * scale, y: from.y + dy * scale };
}
