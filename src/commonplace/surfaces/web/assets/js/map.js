// The map: the names that many pages mention as hubs, pages around them, and what else ties them (links, tags, keys); drawn,
// and the same as a list for the keyboard and the ear. What nothing ties is only drawn on demand.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { get } from "./api.js";
import { makeDrawing } from "./canvas.js";
import { onTheme } from "./me.js";
import { go, to, toPage } from "./router.js";
import { Busy, Chip, Empty, Trouble, number, plural, useAsked, useTitle } from "./ui.js";

const LISTED = 150;
const MANY = 12; // a page that so many tie is a hub too
// What a node is, to the eye: a page by where it stands, a record by whose it is.
function kindOf({ id, kind, scope }) {
  const owner = String(scope).split(":")[0];
  if (kind === "page") return owner === "agent" ? (/\d{4}-\d\d-\d\d\.md$/.test(id) ? "day" : "note") : owner;
  return kind === "record" ? (owner === "agent" ? "note" : owner) : kind;
}

const opens = (node) => /\.(md|jsonl)$/.test(node?.id ?? "");

export function Map({ route }) {
  const { data, problem, again } = useAsked((signal) => get("map", { limit: 2000 }, signal), []);
  useTitle("Map");
  if (problem) return html`<h1>Map</h1><${Trouble} problem=${problem} again=${again} />`;
  if (!data) return html`<h1>Map</h1><${Busy} />`;
  if (!data.nodes.length)
    return html`<h1>Map</h1><${Empty} icon="map" title="Nothing to show yet" command='commonplace remember "Ada works with [[grace]] #team"'>
      <p>Pages appear here once they link to each other with [[wikilinks]], or share names, tags or keys.</p><//>`;
  return html`<${Graph} graph=${data} route=${route} again=${again} />`;
}

function useGraph(graph) {
  return useMemo(() => {
    const numbers = new globalThis.Map(graph.nodes.map((node, index) => [node.id, index]));
    const edges = graph.edges
      .map((edge) => ({ ...edge, a: numbers.get(edge.a), b: numbers.get(edge.b) }))
      .filter((edge) => edge.a !== undefined && edge.b !== undefined && edge.a !== edge.b);
    const nodes = graph.nodes.map((node) => ({ ...node, kind: kindOf(node), label: node.label || node.id, weight: 0 }));
    for (const { a, b } of edges) {
      nodes[a].weight++;
      nodes[b].weight++;
    }
    for (const node of nodes) node.hub ||= opens(node) && node.kind !== "day" && node.weight >= MANY;
    const rank = ({ hub, size, weight }) => (hub ? 1e6 + Math.max(size, weight) : weight);
    const order = nodes.map((_, index) => index).sort((a, b) => rank(nodes[b]) - rank(nodes[a]));
    const kinds = [...new Set(nodes.map((node) => node.kind))].sort();
    return { nodes, edges, order, kinds };
  }, [graph]);
}

function Graph({ graph, route, again }) {
  const { nodes, edges, order, kinds } = useGraph(graph);
  const [wanted, setWanted] = useState("");
  const [hidden, setHidden] = useState(() => new Set());
  const loose = useMemo(() => nodes.filter((node) => !node.weight).length, [nodes]);
  const [withLoose, setWithLoose] = useState(loose === nodes.length);
  const [chosen, setChosen] = useState(() => nodes.findIndex((node) => node.id === route.params.get("node")));
  const canvas = useRef(null);
  const drawing = useRef(null);
  const shown = useMemo(() => {
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    return nodes.map(
      (node) =>
        (withLoose || node.weight > 0 || words.length > 0 || node.id === route.params.get("node")) &&
        !hidden.has(node.kind) &&
        words.every((word) => `${node.label} ${node.id}`.toLowerCase().includes(word)),
    );
  }, [nodes, hidden, wanted, withLoose]);
  const choose = (index) => {
    setChosen(index);
    go(to("map", "", { node: nodes[index]?.id }), { replace: true });
  };
  const open = (index) => opens(nodes[index]) && go(toPage(nodes[index].id));
  useDrawing(canvas, drawing, { nodes, edges, order, kinds, choose, open });
  useEffect(() => drawing.current.show(shown.every(Boolean) ? null : shown), [shown]);
  useEffect(() => drawing.current.choose(chosen), [chosen]);
  const keys = (event) => {
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (moves) drawing.current.pan(...moves);
    else if ("+=".includes(event.key)) drawing.current.zoom(1.3);
    else if (event.key === "-") drawing.current.zoom(1 / 1.3);
    else if (event.key === "0") drawing.current.fit();
    else if (event.key === "Enter") open(chosen);
    else return;
    event.preventDefault();
  };
  const flip = (kind) => {
    const next = new Set(hidden);
    if (!next.delete(kind)) next.add(kind);
    setHidden(next);
  };
  return html`<div class="map">
    <header class="view-head"><h1>Map</h1>
      <p class="muted" role="status">${plural(shown.filter(Boolean).length, "node")}, ${plural(edges.length, "connection")}
        ${graph.left_out > 0 && `; ${number(graph.left_out)} older pages are not shown`}</p>
      <button type="button" class="quiet" onClick=${again}>Redraw</button></header>
    <div class="map-tools">
      <input type="search" aria-label="Find in the map" placeholder="Find in the map" value=${wanted} onInput=${(event) => setWanted(event.target.value)} />
      <div class="row" role="group" aria-label="Kinds">
        ${kinds.map((kind) => html`<button type="button" class="kind" aria-pressed=${!hidden.has(kind)} onClick=${() => flip(kind)}>
        <span class=${`dot kind-${kind}`}></span>${kind}</button>`)}
        ${loose > 0 && html`<button type="button" class="kind" aria-pressed=${withLoose} onClick=${() => setWithLoose(!withLoose)}>${number(loose)} not connected</button>`}</div>
    </div>
    <div class="map-body">
      <div class="map-canvas"><canvas ref=${canvas} tabindex="0" role="img" onKeyDown=${keys} aria-label="Map of memory: arrows move it, plus and minus zoom, 0 shows all. The list beside it has the same content.">
        </canvas>
        <div class="map-zoom"><button type="button" aria-label="Zoom in" onClick=${() => drawing.current.zoom(1.3)}>+</button>
          <button type="button" aria-label="Zoom out" onClick=${() => drawing.current.zoom(1 / 1.3)}>−</button>
          <button type="button" onClick=${() => drawing.current.fit()}>All</button></div></div>
      <${Side} nodes=${nodes} edges=${edges} order=${order} shown=${shown} chosen=${chosen} onChoose=${choose} />
    </div>
  </div>`;
}

function useDrawing(canvas, drawing, { nodes, edges, order, kinds, choose, open }) {
  const latest = useRef({});
  latest.current = { choose, open };
  useEffect(() => {
    const made = makeDrawing(canvas.current, {
      onHover: () => {},
      onChoose: (index) => latest.current.choose(index),
      onOpen: (index) => latest.current.open(index),
    });
    drawing.current = made;
    made.data(nodes, edges);
    made.state.order = order;
    const paint = () => made.colours(coloursOf(canvas.current, kinds));
    paint();
    const worker = new Worker("/assets/js/layout.js", { type: "module" });
    worker.onmessage = ({ data }) => made.places(data.places, data.settled);
    worker.postMessage({
      count: nodes.length,
      edges: Int32Array.from(edges.flatMap(({ a, b }) => [a, b])),
      hubs: Int32Array.from(nodes.keys()).filter((index) => nodes[index].hub),
      quiet: matchMedia("(prefers-reduced-motion: reduce)").matches,
    });
    const unlisten = onTheme(paint);
    return () => {
      worker.terminate();
      made.stop();
      unlisten();
    };
  }, [nodes]);
}

// The colours of the style sheet, as a canvas understands them.
function coloursOf(element, kinds) {
  const probe = element.parentElement.appendChild(document.createElement("span"));
  const value = (name) => {
    probe.style.color = `var(${name}, var(--kind-other))`;
    return getComputedStyle(probe).color;
  };
  const names = { ink: "--ink", ground: "--surface", accent: "--accent", line: "--line-strong", muted: "--muted" };
  const found = Object.fromEntries(Object.entries(names).map(([name, variable]) => [name, value(variable)]));
  found.kinds = Object.fromEntries(kinds.map((kind) => [kind, value(`--kind-${kind}`)]));
  probe.remove();
  return found;
}

function Side({ nodes, edges, order, shown, chosen, onChoose }) {
  const listed = order.filter((index) => shown[index]);
  const node = nodes[chosen];
  return html`<aside class="map-side" aria-label="What is on the map">
    ${
      node &&
      html`<div class="card"><h2>${node.label}</h2><p><${Chip} kind=${node.kind} /> <span class="path muted">${opens(node) ? node.id : plural(node.size, "page")}</span></p>
      ${opens(node) && html`<a class="button primary" href=${toPage(node.id)}>Open the page</a>`}
      ${!opens(node) && html`<a class="button primary" href=${to("search", "", { q: node.label })}>Search for it</a>`} <button type="button" class="quiet" onClick=${() => onChoose(-1)}>Clear</button>
      <h3>Connected to</h3><${Ties} nodes=${nodes} edges=${edges} chosen=${chosen} onChoose=${onChoose} /></div>`
    }
    <h2>${node ? "All" : "Most mentioned"} <span class="count">${number(listed.length)}</span></h2>
    <ul class="plain nodes">${listed.slice(0, LISTED).map((index) => html`<li key=${nodes[index].id}>
      <button type="button" class="quiet" aria-pressed=${index === chosen} onClick=${() => onChoose(index)}>
      <span class=${`dot kind-${nodes[index].kind}`}></span><span>${nodes[index].label}</span>
      <span class="muted">${nodes[index].hub ? Math.max(nodes[index].size, nodes[index].weight) : nodes[index].weight}</span></button></li>`)}</ul>
    ${listed.length > LISTED && html`<p class="muted">and ${number(listed.length - LISTED)} more: use the filter</p>`}
    ${!listed.length && html`<p class="muted">No match.</p>`}
  </aside>`;
}

const TIES = { link: "links", name: "mentions", tag: "same tag:", key: "same key:" };

function Ties({ nodes, edges, chosen, onChoose }) {
  const ties = edges
    .filter(({ a, b }) => a === chosen || b === chosen)
    .map((edge) => ({ ...edge, other: edge.a === chosen ? edge.b : edge.a }));
  if (!ties.length) return html`<p class="muted">Nothing yet. Write [[its name]] on another page.</p>`;
  return html`<ul class="plain nodes">${ties.slice(0, 60).map((tie) => html`<li>
    <button type="button" class="quiet" onClick=${() => onChoose(tie.other)}>
    <span class=${`dot kind-${nodes[tie.other].kind}`}></span><span>${nodes[tie.other].label}</span>
    <span class="muted">${tie.why === "link" ? "link" : `${TIES[tie.why] ?? tie.why} ${tie.label ?? ""}`}</span>
    </button></li>`)}</ul>`;
}
