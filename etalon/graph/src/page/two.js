// Two modules beside each other: counterparts, the list of changes, and pictures that move together.
const PAGE = await unpacked($('data').textContent);
const pair = PAGE.changes && { list: PAGE.changes, at: -1, together: true };
const graphs = [];
let active;
(PAGE.sides ?? [PAGE]).forEach((data, side) => graphs.push(graphOf(data, $('views'), hooksOf(side))));
active = graphs[0];

/** What a graph asks of the page: what is done with one is done with the other. */
function hooksOf(side) {
  const none = () => {}, activate = () => { active = graphs[side]; };
  if (!pair) return { key: 'select', name: '', active: activate, selected: none, chosen: markLanes, toggled: none, moved: none, describe: none, overview: none };
  const other = () => graphs[1 - side];
  return {
    key: ['before', 'after'][side],
    name: PAGE.names[side],
    active: activate,
    chosen: none,
    selected: box => showOther(side, box),
    toggled: box => {
      const its = otherBox(side, box, false);
      if (its && its.canOpen && !!its.inner !== !!box.inner) other().toggle(its, true);
    },
    moved: (factor, dx, dy) => { if (pair.together) other().follow(factor, dx, dy); },
    describe: (aside, node) => describe(aside, side, node),
    overview: listChanges,
  };
}

/** The box of the counterpart of a box; a group has the one that has most of its instructions. */
function otherBox(side, box, isRevealed) {
  const graph = graphs[1 - side], { view, COMPS } = graph;
  const keyOf = ([c, i]) => { const inst = graph.firstInstance(COMPS[c]); return inst && [inst, i]; };
  if (box.kind === 'node') {
    const place = placeOf(box.inst.comp, box.index), to = place && keyOf(place);
    return to ? (isRevealed ? graph.boxAround(...to) : view.boxes.get(`${to[0].key}#${to[1]}`)) : undefined;
  }
  if (box.kind !== 'group') return undefined;
  const common = new Map();
  for (const index of box.group.all) {
    const place = placeOf(box.inst.comp, index);
    if (!place) continue;
    const parts = (COMPS[place[0]].groupOf[place[1]] || '').split('.').filter(Boolean);
    parts.forEach((_, depth) => { const key = `${place[0]}@${parts.slice(0, depth + 1).join('.')}`; common.set(key, (common.get(key) ?? 0) + 1); });
  }
  let best, most = 0.5;
  for (const [key, count] of common) {
    const [c, path] = key.split('@'), all = COMPS[c].groups.get(path).all.length, share = 2 * count / (all + box.group.all.length);
    if (share > most) [best, most] = [`${graph.firstInstance(COMPS[c])?.key}@${path}`, share];
  }
  return view.boxes.get(best);
}
function placeOf(comp, index) {
  return comp.nodes[index].pair;
}

/** Selects the counterpart of a box, at the same height. Without one, its neighbors' is shown. */
function showOther(side, box) {
  const graph = graphs[side], other = graphs[1 - side];
  const y = graph.view.y + graph.heightOf(box);
  const its = otherBox(side, box, true);
  if (its) return other.show(its, y, graph.view.scale, true);
  const near = box.kind === 'node' && neighbor(graph, box.inst.comp, box.index), inst = near && other.firstInstance(other.COMPS[near[0]]);
  if (inst) return other.show(other.boxAround(inst, near[1]), y, graph.view.scale, false);
  other.choose(null);
}
/** The counterpart of the nearest instruction that has one: of its result, of what it takes, and of what takes it. */
function neighbor(graph, comp, index) {
  const seen = new Set(), next = [[comp, index]];
  for (let at = 0; at < next.length && at < 300; at++) {
    const [of, i] = next[at], node = of.nodes[i];
    if (node.pair) return node.pair;
    for (const callee of node.calls) next.push([graph.COMPS[callee], graph.COMPS[callee].root]);
    for (const to of [...node.in, ...of.users[i]]) {
      const key = `${graph.COMPS.indexOf(of)} ${to}`;
      if (!seen.has(key)) { seen.add(key); next.push([of, to]); }
    }
  }
  return undefined;
}

/** Goes to a change, and folds what was unfolded for the last one. */
function visitChange(at) {
  if (!pair || !pair.list.length) return;
  pair.at = (at + pair.list.length) % pair.list.length;
  const places = pair.list[pair.at], side = places[1] ? 1 : 0, [c, index] = places[side];
  const graph = graphs[side], comp = graph.COMPS[c], inst = graph.firstInstance(comp);
  graphs.forEach(one => one.refold());
  if (inst) graph.goTo(inst, index);
  $('step').textContent = `${pair.at + 1} of ${counted(pair.list.length, 'change')}`;
}

/** Says what has changed of an instruction, with both texts. */
function describe(aside, side, node) {
  const other = graphs[1 - side], comp = node.pair && other.COMPS[node.pair[0]];
  html('h3', {}, aside, `${CHANGES[node.change].text}${node.what ? `: ${node.what}` : ''}`);
  if (!comp) return;
  const its = comp.nodes[node.pair[1]], [before, after] = side ? [its, node] : [node, its];
  const words = [before, after].map(({ name, shape, text }) => `${name} = ${shape} ${text}`.match(/[\w.]+|\s+|[^\w\s]/g).slice(0, 600));
  if (node.change === 'changed') {
    const kept = common(...words);
    words.forEach((list, i) => {
      const text = html('pre', { class: ['gone', 'new'][i] }, aside);
      list.forEach((word, k) => (kept[i].has(k) ? text.append(word) : html('mark', {}, text, word)));
    });
  }
  const button = html('button', { class: 'jump' }, html('ul', {}, aside), `${its.name} `);
  html('small', {}, button, `in ${comp.name} of ${PAGE.names[1 - side]}`);
  const inst = other.firstInstance(comp);
  button.onclick = () => { if (inst) other.goTo(inst, node.pair[1]); };
}
/** The places of the words that two texts have in common, in order. */
function common(a, b) {
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let k = b.length - 1; k >= 0; k--) length[i][k] = a[i] === b[k] ? length[i + 1][k + 1] + 1 : Math.max(length[i + 1][k], length[i][k + 1]);
  }
  const kept = [new Set(), new Set()];
  for (let i = 0, k = 0; i < a.length && k < b.length;) {
    if (a[i] === b[k]) { kept[0].add(i++); kept[1].add(k++); } else if (length[i + 1][k] >= length[i][k + 1]) i++; else k++;
  }
  return kept;
}

/** Lists the changes in the panel. */
function listChanges(aside) {
  aside.replaceChildren();
  html('h2', {}, aside, pair.list.length ? counted(pair.list.length, 'change') : 'No instruction has changed');
  html('p', {}, aside, 'J and K go through them. Click a box for its counterpart. A box with + unfolds by a double click or Enter, and so does its counterpart.');
  const ul = html('ul', {}, aside);
  pair.list.slice(0, LISTED).forEach((places, at) => {
    const side = places[1] ? 1 : 0, [c, index] = places[side], node = graphs[side].COMPS[c].nodes[index];
    const button = html('button', { class: 'jump' }, html('li', {}, ul));
    dot(button, CHANGES[node.change]);
    button.append(`${node.name} `);
    html('small', {}, button, `${node.op}${node.what ? `: ${node.what}` : ''}`);
    button.onclick = () => visitChange(at);
  });
  if (pair.list.length > LISTED) html('p', {}, aside, `and ${pair.list.length - LISTED} more`);
}

/** The most boxes that are unfolded at the beginning, to show what has changed. */
const FIRST = 150;
/** Unfolds what has changes in it, level by level; what is the same stays folded. */
function unfoldChanges(graph) {
  const { view, COMPS, open, layouts } = graph;
  const counts = kind => kind !== 'same' && kind !== 'moved';
  const hasChanges = box => box.kind === 'group'
    ? box.group.all.some(i => counts(graph.changeOf(box.inst.comp, i)))
    : box.inst.comp.nodes[box.index].calls.some(callee => COMPS[callee].short === null && [...COMPS[callee].kinds].some(counts));
  let count = view.boxes.size, isDone = false;
  while (!isDone) {
    isDone = true;
    for (const box of [...view.boxes.values()].filter(one => one.canOpen && !one.inner && hasChanges(one))) {
      if (count + graph.contents(box) > FIRST) continue;
      count += graph.contents(box);
      open.add(box.key);
      isDone = false;
    }
    if (!isDone) { layouts.clear(); graph.draw(); }
  }
}
function setTogether(isOn) {
  if (!pair) return;
  pair.together = isOn;
  $('together').setAttribute('aria-pressed', String(isOn));
}
