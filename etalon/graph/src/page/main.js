// Keys, the search box, the legend, and the state in the address.
let found = [], current = -1;

function showFound() {
  const results = $('results');
  results.replaceChildren();
  results.hidden = !$('search').value || document.activeElement !== $('search');
  results.style.left = `${$('search').offsetLeft}px`;
  $('found').textContent = $('search').value ? `${found.length} found` : '';
  found.slice(0, LISTED).forEach(([graph, comp, index], i) => {
    const button = html('button', { class: 'jump', 'aria-current': String(i === current), tabindex: -1 }, html('li', {}, results), `${comp.nodes[index].name} `);
    html('small', {}, button, `${comp.nodes[index].op}  ${brief(comp.nodes[index].shape)}  in ${comp.name}${pair ? ` of ${PAGE.names[graphs.indexOf(graph)]}` : ''}`);
    button.onmousedown = event => { event.preventDefault(); visit(i); };
  });
  if (found.length > LISTED) html('p', {}, results, `and ${found.length - LISTED} more`);
}
function visit(i) {
  if (!found.length) return;
  current = (i + found.length) % found.length;
  const [graph, comp, index] = found[current];
  const inst = graph.firstInstance(comp);
  if (inst) graph.goTo(inst, index);
  showFound();
  $('found').textContent = inst ? `${current + 1} of ${found.length}` : `${comp.name} is not called`;
  $('results').children[current]?.scrollIntoView({ block: 'nearest' });
}
function search(text) {
  found = graphs.flatMap(graph => graph.search(text).map(place => [graph, ...place]));
  current = -1;
  showFound();
  graphs.forEach(graph => graph.mark());
}

const all = action => () => graphs.forEach(graph => graph[action]());
const KEYS = [
  ['/', 'search; Enter and Shift+Enter go through the results', () => { $('search').focus(); $('search').select(); }],
  ['↑ ↓', 'first operand, first user'], ['← →', 'box before, box behind'],
  ['Enter', 'unfold or fold the selected box', () => { active.toggle(active.view.boxes.get(active.view.selected)); active.panel(); }],
  ['P', 'select what contains the selected box', () => active.outward()],
  ...(pair ? [['J', 'next change', () => visitChange(pair.at + 1)], ['K', 'change before', () => visitChange(Math.max(pair.at, 0) - 1)], ['T', 'move both pictures together, or apart', () => setTogether(!pair.together)]] : []),
  ['Esc', 'end the search, then the selection'],
  ['F', 'show everything', all('fit')], ['1', 'full size', () => active.zoom(1 / active.view.scale)],
  ['+', 'larger; also wheel', () => active.zoom(1.25)], ['-', 'smaller; drag to move', () => active.zoom(0.8)],
  ['E', 'unfold one more level of everything', all('unfoldAll')], ['C', 'fold everything', all('foldAll')],
  ['S', 'save what is seen as SVG', () => active.save('svg')], ['N', 'save what is seen as PNG', () => active.save('png')], ['L', 'show or hide the legend', () => showLegend($('legend').hidden)], ['Backspace', 'previous selection', () => active.back()], ['?', 'these keys', () => help()],
];
function legend() {
  const { DATA, view } = graphs[0], box = $('legend');
  box.replaceChildren();
  const looks = { findings: FOUND, changes: CHANGES }[view.color];
  if (looks) {
    const marks = new Set(graphs.flatMap(({ COMPS }) => COMPS.flatMap(comp => comp.nodes.map(node => node.finding?.mark))));
    for (const look of Object.entries(looks).filter(([mark]) => looks === CHANGES || mark === 'none' || marks.has(mark)).map(([, one]) => one)) { const line = html('div', {}, box); dot(line, look); line.append(look.text); }
    return;
  }
  const counts = DATA.categories.map(() => 0);
  graphs.forEach(graph => graph.COMPS.forEach(comp => comp.nodes.forEach(node => counts[node.cat]++)));
  DATA.categories.forEach((look, category) => {
    if (!counts[category]) return;
    const button = html('button', { 'aria-pressed': String(view.pressed === category), title: 'Highlight these' }, box);
    dot(button, look);
    button.append(look.label + ' ');
    html('small', {}, button, counts[category].toLocaleString('en'));
    button.onclick = () => {
      const pressed = view.pressed === category ? null : category;
      graphs.forEach(graph => { graph.view.pressed = pressed; graph.mark(); });
      legend();
    };
  });
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
  if (graphs[0].view.hits.size || graphs.at(-1).view.hits.size || $('search').value) {
    $('search').value = '';
    search('');
    return active.svg.focus();
  }
  graphs.forEach(graph => { graph.view.pressed = null; graph.unselect(); });
  legend();
}

function listen() {
  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') return escape();
    if (event.target.closest?.('input, select, button, aside')) return;
    const arrow = event.key.startsWith('Arrow');
    const key = event.key === '=' ? '+' : event.key === ' ' ? 'Enter' : event.key;
    const action = KEYS.find(([name, , run]) => run && name.toLowerCase() === key.toLowerCase());
    if (!arrow && !action) return;
    event.preventDefault();
    if (arrow) active.step(event.key); else action[2]();
  });
  $('search').addEventListener('input', () => search($('search').value));
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
  graphs.forEach(graph => graph.listen());
  const actions = {
    larger: () => active.zoom(1.25), smaller: () => active.zoom(0.8), fit: all('fit'), unfoldall: all('unfoldAll'), foldall: all('foldAll'),
    svg: () => active.save('svg'), png: () => active.save('png'), back: () => active.back(), legendbutton: () => showLegend($('legend').hidden), helpbutton: help, panelclose: escape,
    previous: () => visitChange(Math.max(pair.at, 0) - 1), next: () => visitChange(pair.at + 1), together: () => setTogether(!pair.together),
  };
  for (const [id, action] of Object.entries(actions)) $(id).onclick = action;
}
/** Restores `#select=computation/name`, `#search=words`, `#unfold` from the address; of two modules `#before=` and `#after=`. */
function restore() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has('search')) { $('search').value = asked.get('search'); search(asked.get('search')); }
  graphs.forEach((graph, side) => {
    if (asked.has('unfold')) {
      for (const box of graph.view.root.boxes) if (box.canOpen) graph.open.add(box.key);
      graph.layouts.clear();
      graph.draw();
    }
    const [, computation, name] = (asked.get(pair ? ['before', 'after'][side] : 'select') ?? '').match(/^(.*)\/(.*)$/) ?? [];
    const comp = graph.COMPS.find(one => one.name === computation);
    const inst = comp && graph.firstInstance(comp);
    const index = comp ? comp.nodes.findIndex(node => node.name === name) : -1;
    if (inst && index >= 0) graph.goTo(inst, index);
  });
}

/** Begins at what is wrong, or at what has changed. */
function begin() {
  if (graphs[0].DATA.found) graphs[0].findings().slice(0, 1).forEach(graphs[0].visitFinding);
  if (!pair) return;
  visitChange(0);
  listChanges($('details'));
  $('panel').classList.toggle('idle', true);
}

function main() {
  const start = performance.now();
  const { DATA } = graphs[0], title = pair ? PAGE.names.join(' → ') : DATA.module;
  if (!DATA.devices) document.title = title;
  $('title').textContent = title;
  const counts = graphs.map(({ COMPS }) => [COMPS.reduce((sum, comp) => sum + comp.nodes.length, 0), COMPS.length]);
  $('counts').textContent = counts.map(([nodes, comps]) => (pair ? nodes.toLocaleString('en') : `${counted(nodes, 'instruction')}, ${counted(comps, 'computation')}`)).join(' → ');
  const colorings = [['category', 'color: kind of op'], ...(DATA.timed ? [['time', 'color: time']] : []), ...(DATA.valued ? [['values', 'color: NaN and infinity']] : [])];
  if (DATA.found) colorings.unshift(['findings', 'color: findings']);
  if (pair) colorings.unshift(['changes', 'color: changes']);
  const setColor = color => graphs.forEach(graph => { graph.view.color = color; });
  setColor(colorings[0][0] === 'findings' || pair ? colorings[0][0] : 'category');
  for (const [value, text] of colorings) html('option', { value }, $('coloring'), text);
  $('coloring').hidden = colorings.length < 2;
  $('coloring').onchange = () => { setColor($('coloring').value); all('draw')(); legend(); active.svg.focus(); };
  for (const id of ['steps', 'together']) $(id).hidden = !pair;
  if (pair) $('step').textContent = counted(pair.list.length, 'change');
  const table = html('table', {}, $('help'));
  for (const [key, text] of KEYS) html('kbd', {}, row(table, '', text).previousSibling, key);
  for (const text of ['dashed box: group, folded', 'thick border: result', 'dotted arrow: control order', '“with x”: x is a constant or has many users', '“far edges”: click the box to see them']) html('p', {}, $('help'), text);
  legend();
  // Over a picture it would hide boxes.
  if (matchMedia('(min-width: 761px)').matches) $('panel').append($('legend'));
  if (DATA.devices) drawLanes(DATA.devices);
  showLegend(matchMedia('(min-width: 761px)').matches);
  graphs.forEach(graph => { graph.draw(); if (pair) unfoldChanges(graph); graph.start(); });
  graphs[0].panel();
  listen();
  restore();
  if (!location.hash) begin();
  active.svg.focus();
  document.documentElement.dataset.ready = String(Math.round(performance.now() - start));
}
try { main(); } catch (error) {
  document.documentElement.dataset.error = String(error);
  html('p', { class: 'error' }, $('panel'), `This page failed: ${error}\n${error.stack}`);
}
