// Two texts, line by line: what stayed, what came, what went (Myers, with the shared ends set aside first).

import { html } from "../vendor/preact.js";

const MOST = 4000; // differing lines; beyond that, all of one side goes and all of the other comes

export function lines(text) {
  const found = text.split("\n");
  if (found.at(-1) === "") found.pop();
  return found;
}

export function diff(before, after) {
  const a = lines(before);
  const b = lines(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let tail = 0;
  while (tail < a.length - start && tail < b.length - start && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const middle = shortest(a.slice(start, a.length - tail), b.slice(start, b.length - tail));
  const same = (text) => ({ op: "same", text });
  return [...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - tail).map(same)];
}

function shortest(a, b) {
  if (!a.length || !b.length || a.length + b.length > MOST) return replaced(a, b);
  const most = a.length + b.length;
  const reach = new Int32Array(2 * most + 2);
  const steps = [];
  for (let d = 0; d <= most; d++) {
    steps.push(reach.slice(most - d, most + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[most + k - 1] < reach[most + k + 1]);
      let x = down ? reach[most + k + 1] : reach[most + k - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[most + k] = x;
      if (x >= a.length && x - k >= b.length) return walked(a, b, steps, d);
    }
  }
  return replaced(a, b);
}

const replaced = (a, b) => [...a.map((text) => ({ op: "remove", text })), ...b.map((text) => ({ op: "add", text }))];

// Back along the way that was found, from the ends of both texts.
function walked(a, b, steps, depth) {
  const out = [];
  let x = a.length;
  let y = b.length;
  for (let d = depth; d > 0; d--) {
    const reach = (k) => steps[d][k + d];
    const k = x - y;
    const down = k === -d || (k !== d && reach(k - 1) < reach(k + 1));
    const from = down ? reach(k + 1) : reach(k - 1);
    const fromY = from - (down ? k + 1 : k - 1);
    while (x > from + (down ? 0 : 1) && y > fromY + (down ? 1 : 0)) out.push({ op: "same", text: a[(y--, --x)] });
    out.push(down ? { op: "add", text: b[--y] } : { op: "remove", text: a[--x] });
  }
  while (x > 0) out.push({ op: "same", text: a[--x] });
  return out.reverse();
}

// Long runs of what stayed are folded, but for three lines on either side.
export function folded(rows, around = 3) {
  const near = new Uint8Array(rows.length);
  rows.forEach((row, at) => {
    if (row.op === "add" || row.op === "remove") near.fill(1, Math.max(0, at - around), at + around + 1);
  });
  const out = [];
  rows.forEach((row, at) => {
    if (near[at] || row.op === "skip") out.push({ ...row });
    else if (out.at(-1)?.op === "skip") out.at(-1).count++;
    else out.push({ op: "skip", count: 1 });
  });
  return out;
}

const SIGNS = { add: "+", remove: "−", same: " " };
const SAID = { add: "added: ", remove: "removed: ", same: "" };

export function Diff({ rows, label = "What changed" }) {
  if (!rows.some((row) => row.op !== "same")) return html`<p class="muted">No differences.</p>`;
  return html`<div class="diff" role="group" aria-label=${label} tabindex="0">
    ${folded(rows).map((row) =>
      row.op === "skip"
        ? html`<div class="diff-fold">${row.text ?? `${row.count} ${row.count === 1 ? "line" : "lines"}`} unchanged</div>`
        : html`<div class=${`diff-row diff-${row.op}`}><span class="sign" aria-hidden="true">${SIGNS[row.op]}</span>
          <span><span class="sr">${SAID[row.op]}</span>${row.text || " "}</span></div>`,
    )}
  </div>`;
}
