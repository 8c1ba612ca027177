// Elements of the document, and what all parts of the page use.
const $ = id => document.getElementById(id);
const LISTED = 200;

/** A number and a noun, such as "2 computations". */
const counted = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

function html(name, attributes, parent, text) {
  return made(document.createElement(name), attributes, parent, text);
}
function element(name, attributes, parent, text) {
  return made(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, parent, text);
}
function made(one, attributes, parent, text) {
  for (const key in attributes) one.setAttribute(key, attributes[key]);
  if (text !== undefined) one.textContent = text;
  if (parent) parent.append(one);
  return one;
}
function row(table, name, text) {
  const line = html('tr', {}, table);
  html('td', {}, line, name);
  return html('td', {}, line, text);
}
/** The colors of a look, for light pages and for dark ones. */
function paint(look) {
  return `--fill:${look.fill};--stroke:${look.line}${look.dark ? `;--dark:${look.dark}` : ''}`;
}
function dot(parent, look) {
  html('span', { class: 'dot', style: paint(look) }, parent);
}
/** The beginning of a long shape. */
function brief(shape) {
  return shape.length > 90 ? `${shape.slice(0, 88)}…` : shape;
}

/** What was found about instructions, the worst first. */
const FOUND = {
  wrong: { text: 'wrong by itself', fill: '#ffc9c9', line: '#c92a2a' },
  result: { text: 'a wrong result', fill: '#ffc9c9', line: '#c92a2a' },
  suspect: { text: 'a wrong result is computed from it', fill: '#ffe8cc', line: '#d9480f' },
  inherited: { text: 'right on wrong operands', fill: '#ffe8cc', line: '#d9480f' },
  unchecked: { text: 'not checked', fill: '#f1f3f5', line: '#868e96' },
  none: { text: 'no error found', fill: '#e6f4e6', line: '#3a9144' },
};
/** How instructions differ from their counterparts in the other module, the most telling first. */
const CHANGES = {
  changed: { text: 'changed', fill: '#fff3bf', line: '#e67700' },
  added: { text: 'added', fill: '#d3f9d8', line: '#2b8a3e' },
  removed: { text: 'removed', fill: '#ffe3e3', line: '#c92a2a' },
  moved: { text: 'the same, in another computation', fill: '#e5dbff', line: '#6741d9' },
  same: { text: 'the same', fill: '#f8f9fa', line: '#adb5bd', dark: 'var(--soft)' },
};
/** The data of the page: JSON, compressed, in letters. */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
}
