// The lanes of devices beside the dataflow: an op that connects devices is selected in both.
const lanes = new Map();

function drawLanes(picture) {
  const pane = html('section', { class: 'lanes', 'aria-label': 'Devices' });
  pane.innerHTML = picture;
  $('views').prepend(pane);
  for (const op of pane.querySelectorAll('[data-at]')) {
    const [c, index] = op.dataset.at.split(' ').map(Number), graph = graphs[0], comp = graph.COMPS[c];
    lanes.set(`${c} ${index}`, op);
    for (const [name, value] of Object.entries({ tabindex: 0, role: 'button' })) op.setAttribute(name, value);
    // What is between the marks can be clicked, too.
    const { x, y, width, height } = op.getBBox();
    op.prepend(element('rect', { class: 'back', x, y, width, height }));
    const visit = () => { const inst = graph.firstInstance(comp); if (inst) graph.goTo(inst, index); };
    op.onclick = visit;
    op.onkeydown = event => { if (event.key === 'Enter') { event.stopPropagation(); visit(); } };
  }
}
/** Marks the ops of a box in the lanes, and brings the first of them into view. */
function markLanes(box) {
  lanes.forEach(op => op.classList.remove('selected'));
  if (!box || box.kind === 'port' || !lanes.size) return;
  const c = graphs[0].COMPS.indexOf(box.inst.comp);
  const ops = graphs[0].indicesOf(box).map(index => lanes.get(`${c} ${index}`)).filter(Boolean);
  ops.forEach(op => op.classList.add('selected'));
  if (!ops.length) return;
  const pane = ops[0].closest('.lanes'), { top, bottom } = ops[0].getBoundingClientRect(), seen = pane.getBoundingClientRect();
  if (top < seen.top || bottom > seen.bottom) pane.scrollTop += (top + bottom - seen.top - seen.bottom) / 2;
}
