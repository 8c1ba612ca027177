// Runs the scripts of a page with the least of a document, unfolds everything step by step, and prints what is wrong with the layout.
const page = require('fs').readFileSync(0, 'utf8');
const data = page.split('type="application/gzip">')[1].split('</script>')[0];
const script = page.split('<script type="module">').at(-1).split('</script>')[0];

class Element {
  children = []; classes = new Set(); dataset = {}; style = {}; value = ''; textContent = '';
  classList = { toggle: (name, on) => this.classes[on ? 'add' : 'delete'](name), add() {}, remove() {} };
  setAttribute() {}
  toggleAttribute() {}
  append(child) { if (child instanceof Element) child.parent = this; this.children.push(child); }
  replaceChildren() { this.children = []; }
  get previousSibling() { return this.parent.children.at(this.parent.children.indexOf(this) - 1); }
  getBoundingClientRect() { return { width: 1400, height: 900, left: 0, top: 0 }; }
  getContext() { return { font: '', measureText(text) { return { width: text.length * parseFloat(this.font) * 0.55 }; } }; }
  addEventListener() {}
  focus() {}
}
const elements = { data: { textContent: data } };
globalThis.document = {
  documentElement: new Element(),
  getElementById: id => elements[id] ??= new Element(),
  createElement: () => new Element(),
  createElementNS: () => new Element(),
};
globalThis.location = { hash: '' };
globalThis.history = { replaceState() {} };
globalThis.addEventListener = () => {};
globalThis.matchMedia = () => ({ matches: true });

const check = `
const wrong = [];
const within = (p, box, border) => p.x > box.x - border && p.x < box.x + box.w + border && p.y > box.y - border && p.y < box.y + box.h + border;
function look(level) {
  const { boxes, w, h } = level;
  for (const a of boxes) {
    if (!(a.x >= 5 && a.y >= 5 && a.x + a.w <= w - 5 && a.y + a.h <= h - 5)) wrong.push('outside: ' + a.key);
    for (const b of boxes) {
      if (a !== b && a.x < b.x + b.w - 1 && b.x < a.x + a.w - 1 && a.y < b.y + b.h - 1 && b.y < a.y + a.h - 1) wrong.push('overlap: ' + a.key + ', ' + b.key);
    }
    a.inner?.forEach(look);
  }
  for (const { from, to, points } of level.edges) {
    if (!within(points[0], from, 1) || !within(points.at(-1), to, 1)) wrong.push('end: ' + from.key + ', ' + to.key);
    if (points.slice(1, -1).some(point => boxes.some(box => within(point, box, -1)))) wrong.push('bend: ' + from.key + ', ' + to.key);
  }
}
let count = 0;
for (const { view, open, layouts, draw } of graphs) {
  look(view.root);
  // In a window of 1400 by 900.
  if (!pair && view.root.h > 1500 && view.root.w < 450) wrong.push('a strip: ' + view.root.w + ' by ' + view.root.h);
  for (let depth = 0; depth < 4; depth++) {
    for (const box of view.boxes.values()) if (box.canOpen) open.add(box.key);
    layouts.clear();
    draw();
    look(view.root);
  }
  count += view.boxes.size;
}
if (pair) {
  for (const graph of graphs) graph.foldAll();
  pair.list.forEach((places, at) => {
    visitChange(at);
    graphs.forEach((graph, side) => {
      const box = graph.view.boxes.get(graph.view.selected), place = places[side];
      if (place ? box?.index !== place[1] || graph.COMPS.indexOf(box.inst.comp) !== place[0] : box) wrong.push('selected: ' + at + ', ' + side);
      graph.layouts.forEach(look);
    });
  });
  // What was unfolded to show the last change is folded again.
  const unfolded = graphs.map(graph => graph.view.boxes.size);
  for (let at = 0; at < 3; at++) visitChange(pair.list.length - 1);
  if (graphs.some((graph, side) => graph.view.boxes.size !== unfolded[side])) wrong.push('unfolded: ' + unfolded);
  // Folds open alike.
  for (const graph of graphs) graph.foldAll();
  const groups = [...graphs[0].view.boxes.values()].filter(box => box.kind === 'group');
  for (const box of groups) graphs[0].toggle(box);
  if (!groups.length || graphs[0].open.size !== graphs[1].open.size) wrong.push('open: ' + graphs.map(graph => graph.open.size));
  // One moves with the other, or does not.
  const before = { ...graphs[1].view };
  graphs[0].zoom(2, 0, 0);
  if (graphs[1].view.scale !== before.scale * 2) wrong.push('together: ' + graphs[1].view.scale);
  setTogether(false);
  graphs[0].zoom(0.5);
  if (graphs[1].view.scale !== before.scale * 2) wrong.push('apart: ' + graphs[1].view.scale);
}
return [document.documentElement.dataset.error, ...wrong, count].join('\\n');
`;
const { constructor } = Object.getPrototypeOf(async () => {});
constructor(script + check)().then(found => console.log(found.trim()));
