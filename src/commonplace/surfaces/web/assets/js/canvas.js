// The drawing of a graph: zoom, pan, hover, and as few strokes as there are colours. It knows nothing of memory.

const LEAST = 0.05;
const MOST = 8;

export function makeDrawing(canvas, { onHover, onChoose, onOpen }) {
  const state = {
    nodes: [],
    edges: [],
    places: null,
    near: [],
    shown: null,
    hover: -1,
    chosen: -1,
    k: 1,
    tx: 0,
    ty: 0,
    moved: false,
    colours: {},
    frames: [],
  };
  const pen = canvas.getContext("2d");
  let waiting = 0;

  const draw = () => {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      const began = performance.now();
      paint(pen, canvas, state);
      state.frames.push(performance.now() - began);
      if (state.frames.length > 60) state.frames.shift();
      canvas.dataset.frame = Math.min(...state.frames).toFixed(2); // what drawing takes when nothing else runs
    });
  };
  const resize = () => {
    const { width, height } = canvas.getBoundingClientRect();
    const sharp = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    if (!state.moved) fit(canvas, state);
    draw();
  };
  const zoom = (by, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) => {
    const k = Math.min(MOST, Math.max(LEAST, state.k * by));
    state.tx = px - ((px - state.tx) * k) / state.k;
    state.ty = py - ((py - state.ty) * k) / state.k;
    state.k = k;
    state.moved = true;
    draw();
  };
  const pan = (dx, dy) => {
    state.tx += dx;
    state.ty += dy;
    state.moved = true;
    draw();
  };
  const drawing = {
    state,
    draw,
    zoom,
    pan,
    fit: () => (fit(canvas, state), draw()),
    data: (nodes, edges) => {
      Object.assign(state, {
        nodes,
        edges,
        near: neighbours(nodes.length, edges),
        places: null,
        hover: -1,
        chosen: -1,
        moved: false,
      });
      draw();
    },
    places: (places, settled) => {
      state.places = places;
      if (!state.moved) fit(canvas, state);
      if (settled && !state.moved && state.chosen >= 0) centre(canvas, state, state.chosen);
      canvas.dataset.settled = settled ? "yes" : "no";
      draw();
    },
    show: (shown) => {
      state.shown = shown;
      if (!state.moved) fit(canvas, state);
      draw();
    },
    choose: (index) => {
      state.chosen = index;
      if (index >= 0 && state.places) centre(canvas, state, index);
      draw();
    },
    colours: (colours) => ((state.colours = colours), draw()),
  };
  const listening = new AbortController();
  pointers(canvas, state, { pan, zoom, draw, onHover, onChoose, onOpen }, listening.signal);
  const watching = new ResizeObserver(resize);
  watching.observe(canvas);
  drawing.stop = () => (listening.abort(), watching.disconnect(), cancelAnimationFrame(waiting));
  return drawing;
}

function neighbours(count, edges) {
  const near = Array.from({ length: count }, () => new Set());
  for (const { a, b } of edges) {
    near[a].add(b);
    near[b].add(a);
  }
  return near;
}

function fit(canvas, state) {
  if (!state.places?.length) return;
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < state.places.length; i += 2) {
    if (state.shown && !state.shown[i / 2]) continue;
    left = Math.min(left, state.places[i]);
    right = Math.max(right, state.places[i]);
    top = Math.min(top, state.places[i + 1]);
    bottom = Math.max(bottom, state.places[i + 1]);
  }
  if (left > right) return;
  const [wide, high] = [canvas.clientWidth || 1, canvas.clientHeight || 1];
  state.k = Math.min(2, Math.max(LEAST, Math.min((wide - 100) / (right - left + 1), (high - 90) / (bottom - top + 1))));
  state.tx = wide / 2 - (state.k * (left + right)) / 2;
  state.ty = high / 2 + 12 - (state.k * (top + bottom)) / 2; // names are above what they name
  state.moved = false;
}

function centre(canvas, state, index) {
  state.k = Math.max(state.k, 1);
  state.tx = canvas.clientWidth / 2 - state.k * state.places[2 * index];
  state.ty = canvas.clientHeight / 2 - state.k * state.places[2 * index + 1];
  state.moved = true;
}

export const radius = (node) => (node.hub ? 6 + Math.min(12, Math.sqrt(node.weight || 0) * 1.2) : 3 + Math.min(5, Math.sqrt(node.weight || 0)));

function nearest(state, px, py) {
  let [best, least] = [-1, Infinity];
  state.nodes.forEach((node, i) => {
    if (state.shown && !state.shown[i]) return;
    const dx = state.places[2 * i] * state.k + state.tx - px;
    const dy = state.places[2 * i + 1] * state.k + state.ty - py;
    const far = Math.hypot(dx, dy) - radius(node) * Math.sqrt(state.k);
    if (far < Math.min(8, least)) [best, least] = [i, far];
  });
  return best;
}

function pointers(canvas, state, { pan, zoom, draw, onHover, onChoose, onOpen }, signal) {
  const down = new Map();
  let dragged = 0;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const on = (name, run, options = {}) => canvas.addEventListener(name, run, { signal, ...options });
  on("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at(event));
    dragged = down.size > 1 ? 99 : 0;
  });
  on("pointermove", (event) => {
    const now = at(event);
    const was = down.get(event.pointerId);
    if (!was) return hover(now);
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const span = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      zoom(span(now) / span(was), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else pan(now[0] - was[0], now[1] - was[1]);
    dragged += Math.abs(now[0] - was[0]) + Math.abs(now[1] - was[1]);
    down.set(event.pointerId, now);
    return undefined;
  });
  const up = (event) => {
    if (down.delete(event.pointerId) && dragged < 5 && state.places && event.type === "pointerup")
      onChoose(nearest(state, ...at(event)));
  };
  on("pointerup", up);
  on("pointercancel", up);
  on("pointerleave", () => hover(null));
  on("dblclick", (event) => state.places && onOpen(nearest(state, ...at(event))));
  on(
    "wheel",
    (event) => (event.preventDefault(), zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), ...at(event))),
    { passive: false },
  );
  function hover(point) {
    const found = point && state.places ? nearest(state, ...point) : -1;
    if (found === state.hover) return;
    state.hover = found;
    canvas.classList.toggle("on-node", found >= 0);
    onHover(found);
    draw();
  }
}

function paint(pen, canvas, state) {
  const sharp = window.devicePixelRatio || 1;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  if (!state.places) return;
  pen.setTransform(sharp * state.k, 0, 0, sharp * state.k, sharp * state.tx, sharp * state.ty);
  const focus = state.hover >= 0 ? state.hover : state.chosen;
  const lit = (i) => focus < 0 || i === focus || state.near[focus].has(i);
  const seen = (i) => !state.shown || state.shown[i];
  paintEdges(pen, state, focus, seen);
  paintNodes(pen, state, lit, seen);
  paintNames(pen, state, focus, seen);
}

// Of many lines each is fainter, so that what they tie stays visible.
const faint = (count) => Math.max(0.1, Math.min(1, 400 / (count + 1)));

function paintEdges(pen, { edges, places, colours, k }, focus, seen) {
  for (const strong of [false, true]) {
    if (strong && focus < 0) continue;
    pen.beginPath();
    for (const { a, b } of edges) {
      if (!seen(a) || !seen(b) || (focus >= 0 && (a === focus || b === focus)) !== strong) continue;
      pen.moveTo(places[2 * a], places[2 * a + 1]);
      pen.lineTo(places[2 * b], places[2 * b + 1]);
    }
    pen.strokeStyle = strong ? colours.accent : colours.line;
    pen.globalAlpha = (strong ? 0.9 : focus >= 0 ? 0.25 : 0.7) * (strong ? 1 : faint(edges.length));
    pen.lineWidth = (strong ? 1.6 : 0.8) / Math.sqrt(k);
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

// One path a colour and brightness: two thousand circles are a dozen fills.
function paintNodes(pen, { nodes, places, colours, chosen, k }, lit, seen) {
  const groups = new Map();
  nodes.forEach((node, i) => {
    if (!seen(i)) return;
    const name = `${lit(i) ? 1 : 0.22} ${node.kind}`;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(i);
  });
  for (const [name, some] of groups) {
    pen.beginPath();
    for (const i of some) {
      const size = radius(nodes[i]) / Math.sqrt(k);
      pen.moveTo(places[2 * i] + size, places[2 * i + 1]);
      pen.arc(places[2 * i], places[2 * i + 1], size, 0, 6.2832);
    }
    pen.globalAlpha = parseFloat(name);
    pen.fillStyle = colours.kinds?.[nodes[some[0]].kind] ?? colours.muted;
    pen.fill();
  }
  pen.globalAlpha = 1;
  if (chosen < 0) return;
  pen.beginPath();
  pen.arc(places[2 * chosen], places[2 * chosen + 1], (radius(nodes[chosen]) + 4) / Math.sqrt(k), 0, 6.2832);
  pen.strokeStyle = colours.accent;
  pen.lineWidth = 2 / Math.sqrt(k);
  pen.stroke();
}

// Names of what is looked at, and of the largest while there is room for them.
function paintNames(pen, { nodes, places, near, colours, k, order }, focus, seen) {
  const named = new Set(
    focus >= 0
      ? [focus, ...[...near[focus]].slice(0, 40)]
      : (order ?? nodes.map((_, i) => i)).slice(0, Math.round(60 * k * k) + 70),
  );
  pen.textAlign = "center";
  pen.lineWidth = 3 / k;
  pen.lineJoin = "round";
  pen.strokeStyle = colours.ground;
  const taken = [];
  for (const i of named) {
    if (!seen(i)) continue;
    if (focus < 0 && !nodes[i].hub && k < 1.4) continue; // from afar, only hubs have names
    pen.font = `${nodes[i].hub ? 600 : 400} ${(nodes[i].hub ? 13 : 12) / k}px system-ui, sans-serif`;
    const text = nodes[i].label.length > 32 ? `${nodes[i].label.slice(0, 31)}…` : nodes[i].label;
    const y = places[2 * i + 1] - (radius(nodes[i]) + 5) / Math.sqrt(k) - 2 / k;
    const half = pen.measureText(text).width / 2;
    const box = [places[2 * i] - half, places[2 * i] + half, y - 13 / k, y + 3 / k];
    if (
      i !== focus &&
      taken.some(([left, right, top, bottom]) => box[0] < right && box[1] > left && box[2] < bottom && box[3] > top)
    )
      continue;
    taken.push(box);
    pen.strokeText(text, places[2 * i], y);
    pen.fillStyle = i === focus ? colours.accent : colours.ink;
    pen.fillText(text, places[2 * i], y);
  }
}
