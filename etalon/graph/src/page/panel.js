// The panel of the selection, and the results of a search.
/** Shows what is selected. */
function panel() {
  const box = view.boxes.get(view.selected);
  $('panel').classList.toggle('idle', !box);
  $('panel').scrollTop = 0;
  if (!box) return overview();
  if (box.kind === 'group') return groupPanel(box);
  panelOf(box.inst, box.index);
}

function jump(parent, inst, index) {
  const node = inst.comp.nodes[index];
  const button = html('button', { class: 'jump' }, html('li', {}, parent), node.name + ' ');
  html('small', {}, button, `${node.op}  ${brief(node.shape)}`);
  button.onclick = () => goTo(inst, index);
}
function list(title, inst, indices) {
  if (!indices.length) return;
  html('h3', {}, $('details'), `${title} (${indices.length})`);
  const ul = html('ul', {}, $('details'));
  indices.slice(0, LISTED).forEach(index => jump(ul, inst, index));
  if (indices.length > LISTED) html('li', {}, ul, `and ${indices.length - LISTED} more`);
}

function panelOf(inst, index) {
  const comp = inst.comp, node = comp.nodes[index], aside = $('details');
  aside.replaceChildren();
  const title = html('h2', {}, aside);
  dot(title, DATA.categories[node.cat]);
  title.append(node.name);
  const table = html('table', {}, aside);
  row(table, 'opcode', node.op);
  row(table, 'shape', node.shape);
  row(table, 'computation', comp.name + (index === comp.root ? ', its result' : ''));
  if (node.source) row(table, 'source', node.source);
  if (node.path) row(table, 'op_name', node.path);
  row(table, 'line', `${node.line} of the module`);
  if (node.time) row(table, 'time', `${timeLine(node.time.ms)}, ${node.time.runs} ${node.time.runs === 1 ? 'run' : 'runs'}, ${node.time.bytes} bytes`);
  if (node.value) {
    const value = node.value;
    row(table, 'value', value.text ?? `${value.count} elements`);
    for (const key of ['min', 'max', 'mean']) if (value[key] !== undefined) row(table, key, String(value[key]));
    row(table, 'NaN, infinity', `${value.nan}, ${value.inf}`).style.color = isBad(node) ? 'var(--bad)' : '';
  }
  if (node.finding) {
    html('h3', {}, aside, FOUND[node.finding.mark].text).style.color = ['wrong', 'result'].includes(node.finding.mark) ? 'var(--bad)' : '';
    html('pre', {}, aside, node.finding.text);
  }
  if (node.change) hooks.describe(aside, node);
  html('h3', {}, aside, 'Text');
  html('pre', {}, aside, node.text);
  list('Operands', inst, node.in);
  list('Users', inst, comp.users[index]);
  list('Runs after', inst, node.before);
  const called = node.calls.map((callee, k) => [COMPS[callee], k]);
  if (called.length) {
    html('h3', {}, aside, 'Calls');
    const ul = html('ul', {}, aside);
    for (const [callee, k] of called) {
      const button = html('button', { class: 'jump' }, html('li', {}, ul), `${callee.name} `);
      html('small', {}, button, callee.short ?? counted(callee.nodes.length, 'instruction'));
      button.onclick = () => goTo(instance(`${inst.key}#${index}>${k}`), callee.root);
    }
  }
  if (comp.callers.length) {
    html('h3', {}, aside, `Called by (${comp.callers.length})`);
    const ul = html('ul', {}, aside);
    for (const [caller, at] of comp.callers.slice(0, LISTED)) {
      const from = firstInstance(COMPS[caller]);
      if (from) jump(ul, from, at);
    }
  }
}

function groupPanel(box) {
  const aside = $('details');
  aside.replaceChildren();
  html('h2', {}, aside, box.group.label);
  html('p', {}, aside, box.group.detail);
  if (DATA.timed) html('p', {}, aside, timeLine(box.group.all.reduce((sum, i) => sum + timeOf(box.inst.comp, i), 0)));
  const button = html('button', {}, aside, box.inner ? 'Fold (Enter)' : 'Unfold (Enter)');
  button.onclick = () => { toggle(box); panel(); };
  const edges = [...box.level.edges, ...box.level.far];
  neighbors('Takes from', edges.filter(edge => edge.to === box), edge => edge.from);
  neighbors('Gives to', edges.filter(edge => edge.from === box), edge => edge.to);
  list('Instructions', box.inst, box.group.all);
}
/** Lists the boxes at the other ends of edges. */
function neighbors(title, edges, end) {
  if (!edges.length) return;
  html('h3', {}, $('details'), `${title} (${edges.length})`);
  const ul = html('ul', {}, $('details'));
  for (const edge of edges) {
    const other = end(edge);
    const button = html('button', { class: 'jump' }, html('li', {}, ul), `${other.lines[0].text} `);
    html('small', {}, button, labelOf(edge));
    button.onclick = () => (other.kind === 'port' ? goTo(other.inst, other.index) : select(other.key));
  }
}

function overview() {
  const aside = $('details');
  aside.replaceChildren();
  html('h2', {}, aside, DATA.module);
  hooks.overview(aside);
  if (DATA.note) html('p', {}, aside, DATA.note);
  html('p', {}, aside, 'Click a box for its attributes. A box with + unfolds by a double click or Enter. Constants, and what is computed from constants only, are listed by their users and not drawn.');
  if (DATA.found) {
    for (const mark of Object.keys(FOUND)) {
      const own = findings().filter(([comp, index]) => comp.nodes[index].finding.mark === mark);
      if (!own.length) continue;
      html('h3', {}, aside, `${FOUND[mark].text} (${own.length})`);
      const ul = html('ul', {}, aside);
      for (const one of own.slice(0, LISTED)) {
        const button = html('button', { class: 'jump' }, html('li', {}, ul), `${one[0].nodes[one[1]].name} `);
        html('small', {}, button, one[0].nodes[one[1]].finding.text.split('\n')[0]);
        button.onclick = () => visitFinding(one);
      }
    }
  }
  if (DATA.timed) hottest(aside);
  html('h3', {}, aside, `Computations (${COMPS.length})`);
  const ul = html('ul', {}, aside);
  const isEntry = i => Number(i === DATA.entry);
  const sorted = COMPS.map((comp, i) => [comp, i]).filter(([comp, i]) => isEntry(i) || comp.short === null)
    .sort((a, b) => isEntry(b[1]) - isEntry(a[1]) || b[0].nodes.length - a[0].nodes.length);
  for (const [comp, i] of sorted.slice(0, LISTED)) {
    const button = html('button', { class: 'jump' }, html('li', {}, ul), `${comp.name} `);
    html('small', {}, button, `${counted(comp.nodes.length, 'instruction')}${i === DATA.entry ? ', entry' : ''}`);
    button.onclick = () => { const inst = firstInstance(comp); if (inst) goTo(inst, comp.root); };
  }
  const short = COMPS.length - sorted.length;
  if (short) html('p', {}, aside, `and ${short} of one instruction, such as the sum of a reduce`);
  if (sorted.length > LISTED) html('p', {}, aside, `and ${sorted.length - LISTED} more`);
}
/** The instructions about which something was found, the wrong ones first. */
function findings() {
  const order = Object.keys(FOUND), all = COMPS.flatMap(comp => comp.nodes.map((node, index) => [comp, index]).filter(([, index]) => comp.nodes[index].finding));
  const rank = ([comp, index]) => order.indexOf(comp.nodes[index].finding.mark);
  return all.sort((a, b) => rank(a) - rank(b));
}
function visitFinding([comp, index]) {
  const inst = firstInstance(comp);
  if (inst) goTo(inst, index);
}
/** The instructions that take the most time themselves. */
function hottest(aside) {
  const all = COMPS.flatMap(comp => comp.nodes.map((node, index) => [node.time ? node.time.ms : 0, comp, index]));
  all.sort((a, b) => b[0] - a[0]);
  html('h3', {}, aside, `Time: ${number(timeOfModule())} ms in all`);
  const ul = html('ul', {}, aside);
  for (const [ms, comp, index] of all.slice(0, 12).filter(([time]) => time > 0)) {
    const button = html('button', { class: 'jump' }, html('li', {}, ul), `${comp.nodes[index].name} `);
    html('small', {}, button, timeLine(ms));
    button.onclick = () => { const inst = firstInstance(comp); if (inst) goTo(inst, index); };
  }
}

/** Finds the instructions that have all words in their names, opcodes, shapes, sources or attributes. */
function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  view.hits = new Set();
  view.hitNodes = new Map();
  const found = [];
  if (words.length) {
    COMPS.forEach(comp => comp.nodes.forEach((node, index) => {
      node.sought ??= `${node.name} ${node.op} ${node.shape} ${node.source ?? ''} ${node.path ?? ''} ${comp.name}`.toLowerCase();
      const has = word => word.startsWith('op:') ? node.op === word.slice(3) : node.sought.includes(word);
      if (words.every(has)) {
        found.push([comp, index]);
        if (!view.hitNodes.has(comp)) view.hitNodes.set(comp, new Set());
        view.hitNodes.get(comp).add(index);
        view.hits.add(node);
      }
    }));
  }
  // Names and opcodes that are what was typed come first, constants last.
  const typed = text.toLowerCase();
  const rank = ([comp, index]) => {
    const { name, op, hidden } = comp.nodes[index];
    const tests = [name.toLowerCase() === typed, op === typed, !hidden && name.toLowerCase().includes(typed), !hidden];
    return (tests.indexOf(true) + 5) % 5;
  };
  return found.map((one, i) => [rank(one), i, one]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , one]) => one);
}
