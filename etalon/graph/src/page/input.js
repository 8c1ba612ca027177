// What pointers and arrow keys do with a graph.
/** Selects the next box in a direction: along operands and users, or along the level. */
function step(key) {
  const box = view.boxes.get(view.selected);
  if (!box) return select(view.root.boxes[0].key);
  const level = box.level;
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const order = [...level.boxes].filter(b => b.kind !== 'port').sort((a, b) => a.part.column.right - b.part.column.right || a.part.cy - b.part.cy || a.x - b.x);
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

function outward() {
  const box = view.boxes.get(view.selected);
  for (const other of view.boxes.values()) {
    if (box && other.inner && other.inner.includes(box.level)) return select(other.key);
  }
  return undefined;
}

function listen() {
  frame.addEventListener('pointerdown', hooks.active);
  svg.addEventListener('wheel', event => {
    event.preventDefault();
    const { left, top } = size();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - left, event.clientY - top);
  }, { passive: false });
  drag();
  map.addEventListener('pointerdown', event => { event.target.setPointerCapture(event.pointerId); moveTo(event); });
  map.addEventListener('pointermove', event => { if (event.buttons) moveTo(event); });
  const boxAt = event => view.boxes.get(event.target.closest('.box')?.dataset.key);
  svg.addEventListener('click', event => {
    if (view.dragged) return;
    const box = boxAt(event);
    if (box && box.kind === 'port') return goTo(box.inst, box.index);
    if (box) return select(box.key);
    unselect();
  });
  svg.addEventListener('dblclick', event => { toggle(boxAt(event)); panel(); });
}
function unselect() {
  choose(null);
  panel();
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
    moved(() => { view.x += dx; view.y += dy; });
  });
  const end = event => { down.delete(event.pointerId); svg.classList.remove('panning'); };
  addEventListener('pointerup', end);
  addEventListener('pointercancel', end);
}


prepare();
return { DATA, COMPS, view, svg, frame, open, layouts, draw, start, fit, zoom, follow, toggle, contents, foldAll, unfoldAll, save, refold, boxAround, goTo, show, choose, select, unselect, back, panel, mark, heightOf, changeOf, indicesOf, search, step, outward, instance, firstInstance, findings, visitFinding, listen };
