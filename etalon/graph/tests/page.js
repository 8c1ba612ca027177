// Runs the scripts of a page with the least of a document, unfolds everything step by step, and prints what is wrong with the layout.
const page = require('fs').readFileSync(0, 'utf8');
const data = page.split('type="application/json">')[1].split('</script>')[0];
const script = page.split('<script>').at(-1).split('</script>')[0];

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
look(view.root);
for (let depth = 0; depth < 4; depth++) {
  for (const box of view.boxes.values()) if (box.canOpen) open.add(box.key);
  layouts.clear();
  draw();
  look(view.root);
}
return [document.documentElement.dataset.error, ...wrong, view.boxes.size].join('\\n');
`;
console.log(new Function(script + check)().trim());
