// A worker that finds each node its place: linked ones pull, all push (by a quadtree, Barnes and Hut), the middle holds.

const TICKS = 260; // of a small graph; a large one has fewer, so that it is there sooner
const FEWEST_TICKS = 80;
const SMALL = 500;
const APART = 0.81; // how wide a cell may look, squared, to push as one
const PUSH = 38;
const LENGTH = 46;
const HOLD = 0.035;
const ROOM = 26; // around what nothing ties
const HUB_ROOM = [200, 60]; // between two hubs, across and down: each has a name above it
const TURN = 2.399963; // the golden angle

onmessage = ({ data }) => arrange(data.count, data.edges, data.hubs, data.quiet);

// What nothing ties stands around the rest, and neither pushes nor is pushed.
function arrange(all, edges, hubs, quiet) {
  const ends = degrees(all, edges);
  const tied = Int32Array.from(ends.keys()).filter((node) => ends[node]);
  const loose = Int32Array.from(ends.keys()).filter((node) => !ends[node]);
  const number = new Int32Array(all);
  tied.forEach((node, index) => (number[node] = index));
  const state = begin(
    tied.length,
    edges.map((end) => number[end]),
    hubs.filter((node) => ends[node]).map((node) => number[node]),
  );
  const tell = (settled) => {
    const places = placed(all, state, tied, loose);
    postMessage({ places, settled }, [places.buffer]);
  };
  let told = performance.now();
  const ticks = Math.round(Math.max(FEWEST_TICKS, Math.min(TICKS, (TICKS * SMALL) / (tied.length + 1))));
  for (let tick = 0; tick < ticks && tied.length; tick++) {
    step(state, Math.pow(0.001, tick / ticks));
    if (!quiet && performance.now() - told > 40) {
      tell(false);
      told = performance.now();
    }
  }
  tell(true);
}

function begin(count, edges, hubs) {
  const [x, y] = [new Float64Array(count), new Float64Array(count)];
  for (let i = 0; i < count; i++) {
    x[i] = 12 * Math.sqrt(i + 0.5) * Math.cos(i * TURN);
    y[i] = 12 * Math.sqrt(i + 0.5) * Math.sin(i * TURN);
  }
  const [vx, vy] = [new Float64Array(count), new Float64Array(count)];
  return { count, edges, hubs, x, y, vx, vy, degree: degrees(count, edges), tree: makeTree(count) };
}

// Where everything is, two numbers a node: as a sunflower has its seeds, outside of what is tied.
function placed(all, { count, x, y }, tied, loose) {
  const places = new Float32Array(2 * all);
  let widest = 0;
  for (let i = 0; i < count; i++) {
    places[2 * tied[i]] = x[i];
    places[2 * tied[i] + 1] = y[i];
    widest = Math.max(widest, Math.hypot(x[i], y[i]));
  }
  loose.forEach((node, index) => {
    const far = Math.sqrt((widest + (count ? ROOM : 0)) ** 2 + ((index + 1) * (ROOM * ROOM)) / Math.PI);
    places[2 * node] = far * Math.cos(index * TURN);
    places[2 * node + 1] = far * Math.sin(index * TURN);
  });
  return places;
}

function degrees(count, edges) {
  const found = new Int32Array(count);
  for (const end of edges) found[end]++;
  return found;
}

function step(state, heat) {
  const { count, x, y, vx, vy, degree } = state;
  pull(state, heat);
  build(state);
  for (let i = 0; i < count; i++) push(state, i, heat);
  for (let i = 0; i < count; i++) {
    const hold = HOLD * heat * (degree[i] > 2 ? 1 : 1.6); // what little ties is kept from drifting off
    vx[i] = (vx[i] - x[i] * hold) * 0.6;
    vy[i] = (vy[i] - y[i] * hold) * 0.6;
    x[i] += vx[i];
    y[i] += vy[i];
  }
  part(state);
}

// Hubs that are too near each other move apart, by the shorter way.
function part({ hubs, x, y }) {
  const [across, down] = HUB_ROOM;
  for (let i = 0; i < hubs.length; i++)
    for (let j = i + 1; j < hubs.length; j++) {
      const [a, b] = [hubs[i], hubs[j]];
      const wide = across - Math.abs(x[a] - x[b]);
      const high = down - Math.abs(y[a] - y[b]);
      if (wide <= 0 || high <= 0) continue;
      const [places, move] = wide / across < high / down ? [x, wide] : [y, high];
      const half = (places[a] < places[b] ? -move : move) / 4;
      places[a] += half;
      places[b] -= half;
    }
}

function pull({ edges, x, y, vx, vy, degree }, heat) {
  for (let e = 0; e < edges.length; e += 2) {
    const [a, b] = [edges[e], edges[e + 1]];
    const dx = x[b] + vx[b] - x[a] - vx[a] || 1e-3;
    const dy = y[b] + vy[b] - y[a] - vy[a] || 1e-3;
    const far = Math.hypot(dx, dy);
    const force = (((far - LENGTH) / far) * heat) / Math.min(degree[a], degree[b]);
    const share = degree[a] / (degree[a] + degree[b]);
    vx[b] -= dx * force * share;
    vy[b] -= dy * force * share;
    vx[a] += dx * force * (1 - share);
    vy[a] += dy * force * (1 - share);
  }
}

// Cells in flat arrays: four children each, the node of a leaf, and where the weight of what is inside lies.
function makeTree(count) {
  const most = 8 * count + 64;
  return {
    most,
    child: new Int32Array(4 * most),
    leaf: new Int32Array(most),
    mass: new Float64Array(most),
    mx: new Float64Array(most),
    my: new Float64Array(most),
    cells: 0,
    left: 0,
    top: 0,
    size: 1,
    stack: new Int32Array(4096),
    wide: new Float64Array(4096),
  };
}

function cell(tree) {
  const at = tree.cells++;
  tree.child.fill(-1, 4 * at, 4 * at + 4);
  tree.leaf[at] = -1;
  tree.mass[at] = tree.mx[at] = tree.my[at] = 0;
  return at;
}

function build({ count, x, y, tree }) {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < count; i++) {
    left = Math.min(left, x[i]);
    right = Math.max(right, x[i]);
    top = Math.min(top, y[i]);
    bottom = Math.max(bottom, y[i]);
  }
  tree.size = Math.max(right - left, bottom - top, 1) * 1.001;
  tree.left = left;
  tree.top = top;
  tree.cells = 0;
  cell(tree);
  for (let i = 0; i < count; i++) insert(tree, i, x, y);
}

function insert(tree, node, x, y) {
  let [at, left, top, half] = [0, tree.left, tree.top, tree.size / 2];
  for (let depth = 0; ; depth++) {
    tree.mass[at]++;
    tree.mx[at] += x[node];
    tree.my[at] += y[node];
    if (tree.mass[at] === 1) {
      tree.leaf[at] = node;
      return;
    }
    if (depth > 24 || tree.cells + 4 >= tree.most) return; // on one spot: they push as one
    const other = tree.leaf[at];
    if (other >= 0) {
      tree.leaf[at] = -1;
      const place = quarter(other, x, y, left + half, top + half);
      const inner = (tree.child[4 * at + place] = cell(tree));
      tree.mass[inner] = 1;
      tree.mx[inner] = x[other];
      tree.my[inner] = y[other];
      tree.leaf[inner] = other;
    }
    const place = quarter(node, x, y, left + half, top + half);
    if (place & 1) left += half;
    if (place & 2) top += half;
    const next = tree.child[4 * at + place];
    at = next < 0 ? (tree.child[4 * at + place] = cell(tree)) : next;
    half /= 2;
  }
}

const quarter = (node, x, y, middle, centre) => (x[node] >= middle ? 1 : 0) + (y[node] >= centre ? 2 : 0);

function push({ x, y, vx, vy, tree }, node, heat) {
  const { child, leaf, mass, mx, my, stack, wide } = tree;
  let depth = 1;
  stack[0] = 0;
  wide[0] = tree.size;
  while (depth > 0) {
    const at = stack[--depth];
    const width = wide[depth];
    if (leaf[at] === node) continue;
    const dx = mx[at] / mass[at] - x[node] || 1e-3;
    const dy = my[at] / mass[at] - y[node] || 1e-3;
    const far = dx * dx + dy * dy;
    if (leaf[at] >= 0 || (width * width) / APART < far || depth > 4000) {
      const force = (PUSH * mass[at] * heat) / Math.max(far, 16);
      vx[node] -= dx * force;
      vy[node] -= dy * force;
      continue;
    }
    for (let part = 0; part < 4; part++)
      if (child[4 * at + part] >= 0) {
        stack[depth] = child[4 * at + part];
        wide[depth++] = width / 2;
      }
  }
}
