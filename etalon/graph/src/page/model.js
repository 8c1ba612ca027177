// The module: computations, users, callers, groups, and instances of computations.
const COMPS = DATA.computations;

/** Prepares users and groups of each computation, and the callers of each. */
function prepare() {
  for (const comp of COMPS) {
    comp.users = comp.nodes.map(() => []);
    comp.nodes.forEach((node, index) => {
      node.in ??= []; node.before ??= []; node.calls ??= [];
      for (const operand of new Set(node.in)) comp.users[operand].push(index);
    });
    comp.callers = [];
    comp.groupOf = [];
    comp.groups = new Map();
    const walk = (items, path) => items.forEach((item, at) => {
      if (typeof item === 'number') { comp.groupOf[item] = path; return; }
      item.path = path === '' ? `${at}` : `${path}.${at}`;
      item.all = members(item);
      comp.groups.set(item.path, item);
      walk(item.items, item.path);
    });
    walk(comp.items, '');
  }
  COMPS.forEach((comp, c) => comp.nodes.forEach((node, index) => node.calls.forEach((callee, k) => COMPS[callee].callers.push([c, index, k]))));
  COMPS.forEach(comp => { comp.short = shortForm(comp); });
}

function members(item) {
  if (typeof item === 'number') return [item];
  return item.items.flatMap(members);
}

/** The opcode of a computation of one instruction, such as the sum of a reduce, or null. */
function shortForm(comp) {
  const computed = comp.nodes.filter(node => node.op !== 'parameter');
  return computed.length === 1 && !computed[0].calls.length ? computed[0].op : null;
}

/** The callees of an instruction that are worth unfolding. */
function unfoldable(node) {
  return node.calls.some(callee => COMPS[callee].short === null);
}

/** A computation at one place where it is called. The key names the calls that lead to it. */
const instances = new Map();
function instance(key) {
  let found = instances.get(key);
  if (found) return found;
  if (key === 'E') {
    found = { key, comp: COMPS[DATA.entry], parent: null };
  } else {
    const [, parentKey, via, k] = key.match(/^(.*)#(\d+)>(\d+)$/);
    const parent = instance(parentKey);
    const callee = parent.comp.nodes[+via].calls[+k];
    found = { key, comp: COMPS[callee], parent, via: +via };
  }
  instances.set(key, found);
  return found;
}

/** The first instance of a computation, from the entry, or null if nothing calls it. */
function firstInstance(comp) {
  if (comp.first === undefined) {
    comp.first = comp === COMPS[DATA.entry] ? instance('E') : null;
    for (const [caller, index, k] of comp.callers) {
      const parent = comp.first ? null : firstInstance(COMPS[caller]);
      if (parent) comp.first = instance(`${parent.key}#${index}>${k}`);
    }
  }
  return comp.first;
}

/** A short form of a value that is not drawn: the number of a constant, or its name. */
function inlineText(comp, index) {
  const node = comp.nodes[index];
  const number = node.op === 'constant' && node.text.match(/^constant\(([^(){}]{1,14})\)/);
  if (number) return number[1];
  const drawnIn = node.in.length === 1 && comp.nodes[node.in[0]].hidden;
  return drawnIn && node.op === 'broadcast' ? inlineText(comp, node.in[0]) : node.name;
}

/** The own time of an instruction and of the computations that only it calls, in ms. */
function timeOf(comp, index) {
  const node = comp.nodes[index];
  let time = node.time ? node.time.ms : 0;
  for (const callee of new Set(node.calls)) {
    if (COMPS[callee].callers.length === 1) time += timeOfAll(COMPS[callee]);
  }
  return time;
}
function timeOfAll(comp) {
  comp.total ??= comp.nodes.reduce((sum, _, index) => sum + timeOf(comp, index), 0);
  return comp.total;
}
/** The time of all instructions of the module, in ms. */
function timeOfModule() {
  return COMPS.reduce((sum, comp) => sum + comp.nodes.reduce((s, node) => s + (node.time ? node.time.ms : 0), 0), 0);
}
function isBad(node) {
  return !!node.value && (node.value.nan > 0 || node.value.inf > 0);
}

/** How the instructions of a computation have changed, with what they call and the constants that they take. */
function changesIn(comp) {
  if (comp.kinds) return comp.kinds;
  comp.kinds = new Set();
  for (const node of comp.nodes) {
    node.kinds = new Set([node.change ?? 'same']);
    for (const operand of node.in) if (comp.nodes[operand].hidden) comp.nodes[operand].kinds.forEach(kind => node.kinds.add(kind));
    for (const callee of node.calls) changesIn(COMPS[callee]).forEach(kind => node.kinds.add(kind));
    node.kinds.forEach(kind => comp.kinds.add(kind));
  }
  return comp.kinds;
}
/** The kind of change of an instruction that its box shows: its own, or else one of what belongs to it. */
function changeOf(comp, index) {
  const node = comp.nodes[index];
  changesIn(comp);
  return (node.change ?? 'same') !== 'same' ? node.change : mostTelling(node.kinds);
}
function mostTelling(kinds) {
  const found = ['changed', 'added', 'removed'].filter(kind => kinds.has(kind));
  return found.length > 1 ? 'changed' : found[0] ?? (kinds.has('moved') ? 'moved' : 'same');
}
