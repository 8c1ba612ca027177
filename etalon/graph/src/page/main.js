// Keys, mouse, search box, and the state in the address.
let found = [], current = -1;

function showFound() {
  const results = $('results');
  results.replaceChildren();
  results.hidden = !$('search').value || document.activeElement !== $('search');
  results.style.left = `${$('search').offsetLeft}px`;
  $('found').textContent = $('search').value ? `${found.length} found` : '';
  found.slice(0, LISTED).forEach(([comp, index], i) => {
    const button = html('button', { class: 'jump', 'aria-current': String(i === current), tabindex: -1 }, html('li', {}, results), `${comp.nodes[index].name} `);
    html('small', {}, button, `${comp.nodes[index].op}  ${brief(comp.nodes[index].shape)}  in ${comp.name}`);
    button.onmousedown = event => { event.preventDefault(); visit(i); };
  });
  if (found.length > LISTED) html('p', {}, results, `and ${found.length - LISTED} more`);
}
function visit(i) {
  if (!found.length) return;
  current = (i + found.length) % found.length;
  const [comp, index] = found[current];
  const inst = firstInstance(comp);
  if (inst) goTo(inst, index);
  showFound();
  $('found').textContent = inst ? `${current + 1} of ${found.length}` : `${comp.name} is not called`;
  $('results').children[current]?.scrollIntoView({ block: 'nearest' });
}

/** Selects the next box in a direction: along operands and users, or along the level. */
function step(key) {
  const box = view.boxes.get(view.selected);
  if (!box) return select(view.root.boxes[0].key);
  const level = box.level;
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const order = [...level.boxes].filter(b => b.kind !== 'port').sort((a, b) => a.y + a.h / 2 - b.y - b.h / 2 || a.x - b.x);
    const next = order[order.indexOf(box) + (key === 'ArrowRight' ? 1 : -1)];
    return next && select(next.key);
  }
  const edges = [...level.edges, ...level.far].filter(edge => (key === 'ArrowUp' ? edge.to : edge.from) === box);
  const ends = edges.map(edge => (key === 'ArrowUp' ? edge.from : edge.to)).filter(end => end.kind !== 'port');
  if (ends.length) return select(ends[0].key);
  if (box.kind !== 'node') return undefined;
  // The value crosses the border of a group.
  const comp = box.inst.comp;
  const others = key === 'ArrowUp' ? comp.nodes[box.index].in.filter(o => !comp.nodes[o].hidden) : comp.users[box.index];
  if (others.length) return goTo(box.inst, others[0]);
  return undefined;
}

const KEYS = [
  ['/', 'search; Enter and Shift+Enter go through the results', () => { $('search').focus(); $('search').select(); }],
  ['↑ ↓', 'first operand, first user'], ['← →', 'box before, box behind'],
  ['Enter', 'unfold or fold the selected box', () => { toggle(view.boxes.get(view.selected)); panel(); }],
  ['P', 'select what contains the selected box', () => outward()],
  ['Esc', 'end the search, then the selection'],
  ['F', 'show everything', fit], ['1', 'full size', () => zoom(1 / view.scale)],
  ['+', 'larger; also wheel', () => zoom(1.25)], ['-', 'smaller; drag to move', () => zoom(0.8)],
  ['E', 'unfold one more level of everything', unfoldAll], ['C', 'fold everything', foldAll],
  ['S', 'save what is seen as SVG', save], ['L', 'show or hide the legend', () => showLegend($('legend').hidden)], ['Backspace', 'previous selection', back], ['?', 'these keys', () => help()],
];
function outward() {
  const box = view.boxes.get(view.selected);
  for (const other of view.boxes.values()) {
    if (box && other.inner && other.inner.includes(box.level)) return select(other.key);
  }
  return undefined;
}
function showLegend(isShown) {
  $('legend').hidden = !isShown;
  $('legendbutton').setAttribute('aria-expanded', String(isShown));
}
function help() {
  const section = $('help');
  section.hidden = !section.hidden;
  $('helpbutton').setAttribute('aria-expanded', String(!section.hidden));
}
function escape() {
  if (!$('help').hidden) return help();
  if (view.hits.size || $('search').value) {
    $('search').value = '';
    found = search('');
    showFound();
    svg.focus();
    return mark();
  }
  view.selected = null;
  view.pressed = null;
  legend(); mark(); links(); panel();
}

function listen() {
  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') return escape();
    if (event.target.closest?.('input, select, button, aside') && event.target !== svg) return;
    const arrow = event.key.startsWith('Arrow');
    const key = event.key === '=' ? '+' : event.key === ' ' ? 'Enter' : event.key;
    const action = KEYS.find(([name, , run]) => run && name.toLowerCase() === key.toLowerCase());
    if (!arrow && !action) return;
    event.preventDefault();
    if (arrow) step(event.key); else action[2]();
  });
  $('search').addEventListener('input', () => { found = search($('search').value); current = -1; showFound(); mark(); });
  $('search').addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      visit(current + (event.shiftKey ? -1 : 1));
      // The list would cover what it leads to.
      $('results').hidden = true;
    }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') { event.preventDefault(); visit(current + (event.key === 'ArrowUp' ? -1 : 1)); }
  });
  $('search').addEventListener('focus', showFound);
  $('search').addEventListener('blur', () => { $('results').hidden = true; });
  svg.addEventListener('wheel', event => {
    event.preventDefault();
    const { left, top } = size();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - left, event.clientY - top);
  }, { passive: false });
  drag();
  $('map').addEventListener('pointerdown', event => { event.target.setPointerCapture(event.pointerId); moveTo(event); });
  $('map').addEventListener('pointermove', event => { if (event.buttons) moveTo(event); });
  const boxAt = event => view.boxes.get(event.target.closest('.box')?.dataset.key);
  svg.addEventListener('click', event => {
    if (view.dragged) return;
    const box = boxAt(event);
    if (box && box.kind === 'port') return goTo(box.inst, box.index);
    if (box) return select(box.key);
    view.selected = null; mark(); links(); panel();
  });
  svg.addEventListener('dblclick', event => { toggle(boxAt(event)); panel(); });
  $('larger').onclick = () => zoom(1.25); $('smaller').onclick = () => zoom(0.8); $('unfoldall').onclick = unfoldAll; $('save').onclick = save;
  $('legendbutton').onclick = () => showLegend($('legend').hidden);
  $('panelclose').onclick = escape;
  $('fit').onclick = fit; $('foldall').onclick = foldAll; $('back').onclick = back; $('helpbutton').onclick = help;
}
/** One pointer moves the picture, two change its size. */
function drag() {
  const down = new Map();
  const apart = () => { const [a, b] = [...down.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
  svg.addEventListener('pointerdown', event => {
    if (event.button !== 0) return;
    down.set(event.pointerId, [event.clientX, event.clientY]);
    view.dragged = down.size > 1;
  });
  addEventListener('pointermove', event => {
    const last = down.get(event.pointerId);
    if (!last) return;
    const before = down.size === 2 ? apart() : 0;
    const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
    if (!view.dragged && Math.hypot(dx, dy) < 4) return;
    view.dragged = true;
    svg.classList.add('panning');
    down.set(event.pointerId, [event.clientX, event.clientY]);
    if (before) {
      const [a, b] = [...down.values()], { left, top } = size();
      return zoom(apart() / before, (a[0] + b[0]) / 2 - left, (a[1] + b[1]) / 2 - top);
    }
    view.x += dx; view.y += dy;
    transform();
  });
  const end = event => { down.delete(event.pointerId); svg.classList.remove('panning'); };
  addEventListener('pointerup', end);
  addEventListener('pointercancel', end);
}

/** Restores `#select=computation/name`, `#search=words`, `#unfold` from the address. */
function restore() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has('search')) { $('search').value = asked.get('search'); found = search(asked.get('search')); showFound(); mark(); }
  if (asked.has('unfold')) {
    for (const box of view.root.boxes) if (box.canOpen) open.add(box.key);
    layouts.clear();
    draw();
  }
  const [, computation, name] = (asked.get('select') ?? '').match(/^(.*)\/(.*)$/) ?? [];
  const comp = COMPS.find(one => one.name === computation);
  const inst = comp && firstInstance(comp);
  const index = comp ? comp.nodes.findIndex(node => node.name === name) : -1;
  if (inst && index >= 0) goTo(inst, index);
}

function main() {
  const begin = performance.now();
  prepare();
  document.title = DATA.module;
  $('title').textContent = DATA.module;
  $('counts').textContent = `${counted(COMPS.reduce((sum, comp) => sum + comp.nodes.length, 0), 'instruction')}, ${counted(COMPS.length, 'computation')}`;
  const colorings = [['category', 'color: kind of op'], ...(DATA.timed ? [['time', 'color: time']] : []), ...(DATA.valued ? [['values', 'color: NaN and infinity']] : [])];
  if (DATA.found) { colorings.unshift(['findings', 'color: findings']); view.color = 'findings'; }
  for (const [value, text] of colorings) html('option', { value }, $('coloring'), text);
  $('coloring').hidden = colorings.length < 2;
  $('coloring').onchange = () => { view.color = $('coloring').value; draw(); legend(); svg.focus(); };
  const table = html('table', {}, $('help'));
  for (const [key, text] of KEYS) html('kbd', {}, row(table, '', text).previousSibling, key);
  for (const text of ['dashed box: group, folded', 'thick border: result', 'dotted arrow: control order', '“with x”: x is a constant or has many users', '“far edges”: click the box to see them']) html('p', {}, $('help'), text);
  legend();
  showLegend(matchMedia('(min-width: 761px)').matches);
  draw();
  start();
  panel();
  listen();
  restore();
  if (DATA.found && !location.hash) findings().slice(0, 1).forEach(visitFinding);
  svg.focus();
  document.documentElement.dataset.ready = String(Math.round(performance.now() - begin));
}
try { main(); } catch (error) {
  document.documentElement.dataset.error = String(error);
  html('p', { class: 'error' }, $('panel'), `This page failed: ${error}\n${error.stack}`);
}
