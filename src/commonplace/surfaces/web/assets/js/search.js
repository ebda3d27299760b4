// Search as you type. The address carries the question and its filters; the last hits stay until the next are there.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { get } from "./api.js";
import { Feed, focusFact } from "./feed.js";
import { useKeys } from "./keys.js";
import { useMe } from "./me.js";
import { go, here, replaceParams, to, toPage } from "./router.js";
import {
  Chip,
  Command,
  Empty,
  Icon,
  Trouble,
  When,
  day,
  number,
  plural,
  titleOf,
  useAsked,
  useDelayed,
  useFreshness,
  useTitle,
} from "./ui.js";

const FILTERS = ["scope", "agent_filter", "channel", "tag", "since", "until", "source", "author", "as_of"];
const SCOPES = ["agent", "shared", "world", "global", "channel", "skill", "extra"];
const REASONS = {
  words: "words of the question",
  meaning: "similar meaning",
  support: "other passages of its page",
  phrase: "words next to each other",
  key: "its key is in the question",
  date: "the date asked about",
  recent: "recency",
  recency: "recency",
  read: "reranker",
};

export function Search({ route }) {
  const { params } = route;
  const [text, setText] = useState(params.get("q") || "");
  const field = useRef(null);
  const asked = useDelayed(text.trim(), 60);
  useTitle(asked ? `“${asked}”` : "Search");
  useEffect(() => field.current.focus({ preventScroll: true }), []);
  // The address follows the field, and the field the address when a person goes back.
  useEffect(() => replaceParams("search", { ...filtersOf(here().params), q: asked }), [asked]);
  useEffect(() => {
    if ((params.get("q") || "") !== asked) setText(params.get("q") || "");
  }, [params.get("q")]);
  const filters = filtersOf(params);
  const question = JSON.stringify([asked, filters]);
  const found = useAsked(async (signal) => {
    if (!asked) return null;
    return { question, ...(await get("search", { q: asked, limit: 20, explain: true, ...filters }, signal)) };
  }, [question]);
  useFreshness(found.again);
  return html`<div class="search">
    <h1 class="sr">Search</h1>
    <form class="question" role="search" onSubmit=${(event) => {
      event.preventDefault();
      focusHit(0);
    }}>
      <${Icon} name="search" />
      <input ref=${field} id="question" type="search" aria-label="Search memory" placeholder="What do you want to know?" autocomplete="off"
        spellcheck="false" value=${text} onInput=${(event) => setText(event.target.value)}
        onKeyDown=${onQuestionKey} />
      <kbd aria-hidden="true">/</kbd>
    </form>
    <${Filters} filters=${filters} asked=${asked} />
    ${asked ? html`<${Results} asked=${asked} question=${question} found=${found} filtered=${Object.keys(filters).length > 0} />` : html`<${Start} />`}
  </div>`;
}

// "/" leads to the field, where it is no part of a question yet; Escape leaves the field and keeps the question.
function onQuestionKey(event) {
  if (event.key === "ArrowDown") event.target.value.trim() ? focusHit(0) : focusFact(0);
  else if (event.key === "Escape") event.target.blur();
  else if (event.key !== "/" || event.target.value) return;
  event.preventDefault();
}

function filtersOf(params) {
  const found = {};
  for (const name of FILTERS) {
    const values = params.getAll(name).filter(Boolean);
    if (values.length) found[name] = name === "tag" ? values : values[0];
  }
  return found;
}

function Filters({ filters, asked }) {
  const me = useMe();
  const [open, setOpen] = useState(Object.keys(filters).length > 0);
  const set = (name) => (event) => {
    const value = event.target.value.trim();
    go(to("search", "", { ...filters, [name]: name === "tag" ? value.split(/[\s,]+/) : value, q: asked }), {
      replace: true,
    });
  };
  const choice = (name, label, values) => html`<label><span>${label}</span>
    <select value=${filters[name] ?? ""} onChange=${set(name)}><option value="">any</option>
      ${values.map((value) => html`<option value=${value}>${value}</option>`)}</select></label>`;
  const typed = (name, label, type = "text", hint = "") =>
    html`<${TypedFilter} label=${label} type=${type} hint=${hint} value=${[filters[name] ?? ""].flat().join(", ")} onChange=${set(name)} />`;
  const count = Object.keys(filters).length;
  return html`<div class="filters">
    <button type="button" class="quiet" aria-expanded=${open} aria-controls="filters" onClick=${() => setOpen(!open)}>
      <${Icon} name="filter" /> Filters${count ? ` (${count})` : ""}</button>
    ${count > 0 && html`<button type="button" class="quiet" onClick=${() => go(to("search", "", { q: asked }), { replace: true })}>Clear</button>`}
    <div id="filters" class="filter-fields" hidden=${!open}>
      ${choice("scope", "Scope", SCOPES)}
      ${(me.status.agents ?? []).length > 1 && choice("agent_filter", "Agent", me.status.agents)}
      ${me.status.channels?.length ? choice("channel", "Channel", me.status.channels) : typed("channel", "Channel")}
      ${typed("tag", "Tags", "text", "all of these")}
      ${typed("since", "From", "date")}
      ${typed("until", "Until", "date")}
      ${choice("source", "Source", ["memory", "session", "extra"])}
      ${typed("author", "Author", "text", "an agent, person, outside …")}
      ${typed("as_of", "As of", "date")}
    </div>
  </div>`;
}

// What is typed stays until it is applied, although the filters are drawn again when hits come.
function TypedFilter({ label, type, hint, value, onChange }) {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  return html`<label><span>${label}</span>
    <input type=${type} placeholder=${hint} value=${draft} onInput=${(event) => setDraft(event.target.value)} onChange=${onChange} /></label>`;
}

function focusHit(index) {
  const hits = [...document.querySelectorAll(".hit-title")];
  hits[Math.max(0, Math.min(hits.length - 1, index))]?.focus();
}

function step(by) {
  const at = [...document.querySelectorAll(".hit-title")].indexOf(document.activeElement);
  focusHit(at < 0 ? 0 : at + by);
}

function Results({ asked, question, found, filtered }) {
  const { data, problem, busy } = found;
  useKeys({ j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1) });
  const time = data?.took_ms === undefined ? "" : ` in ${number(Math.round(data.took_ms))} ms`;
  const said = !data ? "" : data.verdict === "found" ? plural(likely(data).length, "hit") + time : `No likely hit${time}`;
  return html`<section aria-label="Hits" aria-busy=${busy}>
    <p class="said" role="status" aria-live="polite">${said}${data?.provider && html`<span class="muted" title=${data.model}> · ${data.provider === "none" ? "by words only" : "by words and meaning"}</span>`}</p>
    ${notes(data).map((text) => html`<p class="banner"><${Icon} name="info" /> ${text}</p>`)}
    <${Trouble} problem=${problem} again=${found.again} />
    ${data && !data.results.length && !busy && html`<${Nothing} filtered=${filtered} />`}
    <${Hits} key=${asked} data=${data} isOld=${data?.question !== question} />
  </section>`;
}

const LEAST_LIKELY = 0.1;
const NEAREST = 5;
const WAS_SHOWN = 2; // of what a hit replaced

// The hits without those that another one names as what it replaced.
function fold(hits) {
  const named = (hit) => (older) => older.path === hit.path && hit.from <= older.from && older.from <= hit.to;
  return hits.filter((hit) => !isReplaced(hit) || !hits.some((other) => other.supersedes?.some(named(hit))));
}

// The hits that are shown at first: where nothing fits well, the nearest.
function likely({ verdict, results }) {
  const hits = fold(results);
  return verdict === "found" ? hits.filter((hit) => hit.score >= LEAST_LIKELY) : hits.slice(0, NEAREST);
}

function Hits({ data, isOld }) {
  const [open, setOpen] = useState(false);
  const all = data ? fold(data.results) : [];
  const first = data ? likely(data) : [];
  const shown = open ? all : first;
  useEffect(() => {
    if (open) focusHit(first.length); // the button that had the focus is gone
  }, [open]);
  return html`<ol class=${`hits ${isOld ? "is-old" : ""}`}>
      ${shown.map((hit) => html`<${Hit} key=${`${hit.path}:${hit.from}`} hit=${hit} />`)}</ol>
    ${shown.length < all.length && html`<p class="tail"><button type="button" aria-expanded="false" onClick=${() => setOpen(true)}>Show ${plural(all.length - shown.length, "less likely hit")}</button></p>`}`;
}

function notes(data) {
  if (!data) return [];
  return [
    ...(data.results.length && data.verdict !== "found" ? ["Nothing fits well. These come nearest:"] : []),
    ...(data.fallback ? ["The configured embedding model did not answer: the model in the package was used instead."] : []),
    ...(data.stale ? ["The index is behind: recent changes may be missing."] : []),
    ...(data.warnings ?? []),
  ];
}

const parts = (why) => Object.entries(why ?? {}).filter(([name, value]) => REASONS[name] && value > 0);
const total = (why) => parts(why).reduce((sum, [, value]) => sum + value, 0);

// An entry of a day begins with its time, which belongs to the title.
const ENTRY_TIME = /^## (\d\d:\d\d)\n+/;

function hitTitle(hit) {
  const time = ENTRY_TIME.exec(hit.text)?.[1];
  return time ? `${titleOf(hit)}, ${time}` : titleOf(hit);
}

function textOf({ text, marks = [] }) {
  const start = ENTRY_TIME.exec(text)?.[0].length ?? 0;
  const moved = marks.map(([from, to]) => [from - start, to - start]).filter(([from]) => from >= 0);
  return marked(text.slice(start), moved);
}

// The agent whose own page a hit is, if that is another than the one who looks.
const otherOwner = (hit, me) => {
  const [kind, name] = (hit.scope ?? "").split(/:(.*)/s);
  return kind === "agent" && name !== me.status.agent && me.status.agents?.includes(name) ? name : "";
};

function Hit({ hit }) {
  const me = useMe();
  const owner = otherOwner(hit, me);
  return html`<li class="hit">
    <a class="hit-title" href=${toPage(hit.path, { from: hit.from, to: hit.to, at: hit.as_of })} onClick=${owner ? () => me.become(owner) : undefined}>${hitTitle(hit)}</a>
    <p class="hit-where"><span class="path">${hit.path}</span> ${hit.scope && hit.scope !== `agent:${me.status.agent}` && html`<${Chip} kind=${hit.scope} />`}
      ${hit.source === "session" && html`<${Chip} kind="session" />`}
      ${(hit.tags ?? []).map((tag) => html`<${Chip} kind="tag">#${tag}<//>`)} <${When} at=${hit.at} />
      ${hit.author && html`<span class="author">by ${hit.author}</span>`}</p>
    <p class=${isReplaced(hit) ? "hit-text was" : "hit-text"} dir="auto">${textOf(hit)}</p>
    ${hit.superseded_by && html`<${Newer} newer=${hit.superseded_by} />`}
    <${Versions} versions=${hit.supersedes ?? []} />
    ${remarks(hit).map((text) => html`<p class="hit-remark">${text}</p>`)}
    <${Why} hit=${hit} />
  </li>`;
}

const isReplaced = (hit) => hit.superseded_by != null && !hit.superseded_by.partial;

// What replaced a fact, in one line: "26 Nov, changed 26 Oct by main". What it replaced is struck through above, unless
// the hit says more than that.
function Newer({ newer }) {
  return html`<p class="hit-newer" dir="auto">Now:${" "}
    <a href=${toPage(newer.path, { from: newer.from, to: newer.to })}>${marked(newer.text, [])}</a>${" "}
    <span class="muted">${newer.partial && html`was: ${marked(newer.was.replace(/[.。]$/, ""), [])}; `}changed <${When} at=${newer.at} />${newer.author ? ` by ${newer.author}` : ""}</span></p>`;
}

// What a hit replaced: the latest first, the rest on demand.
function Versions({ versions }) {
  const row = (older) => html`<${Older} key=${older.citation} older=${older} />`;
  const rest = versions.slice(WAS_SHOWN);
  return html`${versions.slice(0, WAS_SHOWN).map(row)}
    ${rest.length > 0 && html`<details class="earlier"><summary>${plural(rest.length, "earlier version")}</summary>${rest.map(row)}</details>`}`;
}

// What a hit replaced, struck through.
function Older({ older }) {
  return html`<p class="hit-newer" dir="auto"><span class="muted">Was:${" "}</span>
    <a class="was" href=${toPage(older.path, { from: older.from, to: older.to })}>${marked(older.text, [])}</a>${" "}
    <span class="muted"><${When} at=${older.at} /></span></p>`;
}

// What may not hold, and which days the words of a note mean.
function remarks(hit) {
  const named = (hit.days ?? []).map(({ words, day }) => `${words}: ${day}`).join(", ");
  const first = hit.valid_from && hit.validity !== "over" ? `from ${day(hit.valid_from)}` : "";
  const last = hit.valid_until ? `until ${day(hit.valid_until)}` : "";
  const state = { over: ": over", ahead: ": not yet" }[hit.validity] ?? "";
  const span = [first, last].filter(Boolean).join(" ");
  return [named, span && span + state, hit.stale].filter(Boolean);
}

// Signs of Markdown that only get in the way of a glance, and lines with nothing on them.
const SIGNS = /^#{1,6} |\*\*|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])|`{1,3}(?:\w*\n)?|\[\[|\]\]|(?<=\n)\n+/gm;

// The words of the question, where the server says they stand.
export function marked(text, marks) {
  const gone = [...text.matchAll(SIGNS)].map((found) => [found.index, found.index + found[0].length]);
  const cuts = [...new Set([0, text.length, ...marks.flat(), ...gone.flat()])]
    .filter((at) => at <= text.length)
    .sort((a, b) => a - b);
  const within = (spans, at) => spans.some(([from, to]) => from <= at && at < to);
  return cuts.slice(1).map((end, index) => {
    const from = cuts[index];
    if (within(gone, from)) return "";
    const part = text.slice(from, end);
    return within(marks, from) ? html`<mark>${part}</mark>` : part;
  });
}

// The bar is as long as the score; its colours are what made it.
function Why({ hit }) {
  const found = parts(hit.why);
  const whole = total(hit.why) / (hit.score ?? 0);
  const share = Math.round((hit.score ?? 0) * 100);
  return html`<details class="why">
    <summary><span class="score" title="How likely this answers the question">${share}%</span>
      <span class="why-bar" role="img" aria-label=${`Why: ${found.map(([name, value]) => `${name} ${value.toFixed(1)}`).join(", ") || "not known"}`}>
        ${found.map(([name, value]) => html`<span class=${`why-${name}`} style=${{ width: `${(value / whole) * 100}%` }}></span>`)}
      </span><span class="why-word">why</span></summary>
    <dl>${found.map(([name, value]) => html`<div><dt><span class=${`dot why-${name}`}></span>${REASONS[name]}</dt>
      <dd>${value.toFixed(2)}</dd></div>`)}</dl>
  </details>`;
}

function Nothing({ filtered }) {
  const me = useMe();
  return html`<${Empty} icon="search" title="Nothing in memory about that">
    <p>${filtered ? "Try fewer filters." : "Try other words. If it should be in memory, add it."}</p>
    ${!filtered && me.canWrite && html`<button type="button" onClick=${() => me.open("note")}>Add a note to today</button>`}
  <//>`;
}

// Before anything is asked: what was learned lately, and the latest days; or how to begin.
function Start() {
  const me = useMe();
  const { data: found, problem, again } = useAsked(
    (signal) => Promise.all([get("outline", {}, signal), get("status", {}, signal)]),
    [],
  );
  useFreshness(again);
  if (problem) return html`<${Trouble} problem=${problem} again=${again} />`;
  const [data, status] = found ?? [{}, me.status];
  const days = [...(data.days ?? [])].sort((a, b) => b.date.localeCompare(a.date)).slice(0, 6);
  const topics = (data.topics ?? []).slice(0, 8);
  if (found && !days.length && !topics.length && !(data.globals ?? []).length)
    return html`<${Empty} title="Nothing is remembered yet" command=${['commonplace remember "The first thing worth keeping"', "commonplace install claude-code", "commonplace import --help"]}>
      <p>Write a note, connect an agent, or import what another system has.</p>
      ${me.canWrite && html`<button type="button" class="primary" onClick=${() => me.open("note")}>Add a note to today</button>`}
    <//>`;
  return html`<p class="said muted">${plural(status.pages, "page")}${status.passages != null && ` with ${plural(status.passages, "passage")}`}, for ${status.agent}</p>
  <div class="start">
    <${Feed} isAlone=${!found} />
    ${found && html`<aside aria-label="What there is">
    <section><h2>Latest days</h2>${
      days.length
        ? html`<ul class="plain">
      ${days.map((each) => html`<li><a href=${toPage(each.path)}>${day(each.date)}</a> <span class="muted">${plural(each.entries ?? 0, "entry", "entries")}</span></li>`)}</ul>`
        : html`<p class="muted">None yet. What ${status.agent} remembers appears here, day by day.</p>`
    }</section>
    <section><h2>World topics</h2>${
      topics.length
        ? html`<ul class="plain">
      ${topics.map((each) => html`<li><a href=${toPage(each.path)}>${each.name}</a></li>`)}</ul>`
        : html`<p class="muted">None yet. Facts that all agents share appear here.</p>
          <${Command} text='commonplace world team "Who we are"' />`
    }</section>
    <section><h2>Good to know</h2><ul class="plain tips">
      <li><kbd>/</kbd> searches from anywhere, <kbd>j</kbd> <kbd>k</kbd> move through hits and sentences</li>
      <li><kbd>y</kbd> keeps the sentence, <kbd>e</kbd> fixes it, <kbd>x</kbd> forgets it</li>
      <li>Ask in your own words: <a href=${to("search", "", { q: "what did we decide last week?" })}>what did we decide last week?</a></li>
      <li><a href=${to("context")}>Context</a> shows exactly what a model reads first</li>
    </ul></section>
    </aside>`}
  </div>`;
}
