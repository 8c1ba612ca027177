// Layout: dagre places the boxes of one level, from the inside out. A folded box costs nothing, so a page opens fast.
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
  level.shown = new Set(items.flatMap(members));
  level.hubs = hubsOf(comp, items);
  level.boxes = items.map(item => boxOf(level, item));
  const at = new Map();
  items.forEach((item, i) => members(item).forEach(index => at.set(index, level.boxes[i])));
  level.edges = edgesOf(level, at);
  leaveOutFar(level);
  place(level);
  layouts.set(level.key, level);
  return level;
}

const PORTS = 6, USERS = 5;

/** The arrays that more than five boxes of a level use, and those of a group of inputs. Edges of these would cover a picture: boxes name them instead. */
function hubsOf(comp, items) {
  const users = new Map(), inputs = items.filter(item => item.inputs).flatMap(members);
  items.forEach((item, at) => {
    for (const index of members(item)) {
      for (const operand of comp.nodes[index].in) {
        if (!comp.nodes[operand].shape.startsWith('(')) users.set(operand, (users.get(operand) ?? new Set()).add(at));
      }
    }
  });
  return new Set([...users].filter(([, boxes]) => boxes.size > USERS).map(([operand]) => operand).concat(inputs));
}

const FEW = 12, ROWS = 3;

/** Leaves out edges over more than three rows where there are many, such as those from the forward to the backward pass: they are drawn for the selected box. */
function leaveOutFar(level) {
  level.far = [];
  if (level.edges.length <= FEW) return;
  const row = new Map(level.boxes.map(box => [box, 0]));
  const inner = level.edges.filter(edge => edge.from.kind !== 'port');
  for (let round = 0, changed = true; changed && round < level.boxes.length; round++) {
    changed = false;
    for (const { from, to } of inner) {
      if (row.get(to) <= row.get(from)) { row.set(to, row.get(from) + 1); changed = true; }
    }
  }
  for (const box of level.boxes.filter(one => one.kind === 'port')) {
    row.set(box, Math.min(...level.edges.filter(edge => edge.from === box).map(edge => row.get(edge.to))) - 1);
  }
  const isFar = edge => row.get(edge.to) - row.get(edge.from) > ROWS;
  level.far = level.edges.filter(isFar);
  level.edges = level.edges.filter(edge => !isFar(edge));
  for (const box of level.boxes) {
    const above = level.far.filter(edge => edge.to === box).length, below = level.far.filter(edge => edge.from === box).length;
    const parts = [above && `${above} from above`, below && `${below} to below`].filter(Boolean);
    if (!parts.length || box.inner) continue;
    box.lines.push({ text: `far edges: ${parts.join(', ')}`, sub: true });
    sized(box);
  }
}

/** The edges between the boxes of a level; what comes from outside comes from ports. */
function edgesOf(level, at) {
  const comp = level.inst.comp;
  const edges = new Map(), outside = new Map();
  const edge = (from, to, index, control) => {
    const key = `${from.key} ${to.key}${control ? ' c' : ''}`;
    let found = edges.get(key);
    if (!found) edges.set(key, found = { from, to, values: new Set(), control });
    found.values.add(index);
  };
  for (const [index, box] of at) {
    for (const operand of comp.nodes[index].in) {
      if (comp.nodes[operand].hidden || level.hubs.has(operand)) continue;
      const from = at.get(operand);
      if (from && from !== box) edge(from, box, operand, false);
      if (!from) outside.set(operand, (outside.get(operand) ?? new Set()).add(box));
    }
    for (const first of comp.nodes[index].before) {
      const from = at.get(first);
      if (from && from !== box) edge(from, box, first, true);
    }
  }
  const ports = [...outside];
  const shown = ports.length > PORTS ? ports.slice(0, PORTS - 1) : ports;
  const rest = ports.slice(shown.length);
  const port = (key, text, values, index) => {
    const box = sized({ kind: 'port', inst: level.inst, key: `${level.key} ${key}`, level, index, lines: [{ text, sub: true }] });
    level.boxes.push(box);
    values.forEach(([operand, users]) => users.forEach(user => edge(box, user, operand, false)));
  };
  shown.forEach(one => port(one[0], `from ${comp.nodes[one[0]].name}`, [one], one[0]));
  if (rest.length) port('rest', `${rest.length} more values from outside`, rest, rest[0][0]);
  return [...edges.values()];
}

function labelOf(edge) {
  if (edge.control) return 'control';
  const comp = edge.from.inst.comp;
  const shapes = [...new Set([...edge.values].map(index => comp.nodes[index].shape))];
  const text = shapes.length === 1 ? shapes[0] : `${edge.values.size} values`;
  return clipped(edge.values.size > 1 && shapes.length === 1 ? `${edge.values.size} × ${text}` : text, 10, 130);
}

/** Places the boxes and edges of a level by dagre. */
function place(level) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 18, ranksep: 34, edgesep: 12, marginx: 6, marginy: 6, ranker: level.boxes.length > 60 || level.edges.length > 120 ? 'longest-path' : 'network-simplex' });
  level.boxes.forEach((box, i) => { box.id = String(i); graph.setNode(box.id, { width: box.w, height: box.h }); });
  level.edges.forEach((edge, i) => {
    edge.label = labelOf(edge);
    graph.setEdge(edge.from.id, edge.to.id, { width: textWidth(edge.label, 10) + 6, height: 12, labelpos: 'c', weight: edge.from.kind === 'port' ? 1 : 2 }, String(i));
  });
  dagre.layout(graph);
  for (const box of level.boxes) {
    const found = graph.node(box.id);
    box.x = found.x - box.w / 2;
    box.y = found.y - box.h / 2;
  }
  level.edges.forEach((edge, i) => {
    const found = graph.edge(edge.from.id, edge.to.id, String(i));
    edge.points = found.points;
    edge.at = { x: found.x, y: found.y };
  });
  const size = graph.graph();
  level.w = level.boxes.length ? size.width : 40;
  level.h = level.boxes.length ? size.height : 20;
}
