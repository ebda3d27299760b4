// What memory learned, sentence by sentence, newest first. Each can be kept, fixed where it stands, or forgotten (and
// brought back).

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { get, post } from "./api.js";
import { useKeys } from "./keys.js";
import { useMe } from "./me.js";
import { to, toPage } from "./router.js";
import { Chip, Icon, Rendered, Trouble, When, day, tell, titleOf, useAsked, useFreshness } from "./ui.js";

const FIRST = 30;
const MORE = 60;
const nameOf = (fact) => `${fact.path}\n${fact.text}`;

// `isAlone`: while nothing else of memory is known yet, and it may be empty.
export function Feed({ isAlone }) {
  const [unapproved, setUnapproved] = useState(false);
  const [older, setOlder] = useState({ facts: [], next: "" });
  const [gone, setGone] = useState(() => new Set());
  const first = useAsked(
    (signal) => get("statements", { limit: FIRST, unapproved: unapproved || null }, signal),
    [unapproved],
  );
  useFreshness(first.again);
  useEffect(() => setOlder({ facts: [], next: "" }), [unapproved]);
  useKeys(rowKeys());
  if (!first.data) return html`<${Trouble} problem=${first.problem} again=${first.again} />`;
  if (isAlone && !first.data.statements.length) return null;
  const next = older.facts.length ? older.next : first.data.next;
  const showOlder = async () => {
    const found = await get("statements", { limit: MORE, unapproved: unapproved || null, after: next });
    setOlder({ facts: [...older.facts, ...found.statements], next: found.next });
  };
  const change = { gone, setGone, again: first.again };
  return html`<section class="feed" aria-label="Learned lately">
    <header class="feed-head"><h2>Learned lately</h2>
      <label class="check"><input type="checkbox" checked=${unapproved} onChange=${(event) => setUnapproved(event.target.checked)} /> Only unchecked</label></header>
    <${Facts} facts=${distinct([...first.data.statements, ...older.facts]).filter((fact) => !gone.has(nameOf(fact)))} change=${change} />
    ${next && html`<button type="button" onClick=${showOlder}>Show older</button>`}
  </section>`;
}

function distinct(facts) {
  const seen = new Set();
  return facts.filter((fact) => !seen.has(nameOf(fact)) && seen.add(nameOf(fact)));
}

function Facts({ facts, change }) {
  if (!facts.length)
    return html`<p class="muted">Nothing left to check. <a href=${to("history")}>History</a> has every change.</p>`;
  return days(facts).map(
    ([date, entries]) => html`<h3 key=${date}>${date ? dayName(date) : "Before history began"}</h3>
    ${entries.map((entry) => html`<${Entry} key=${nameOf(entry[0])} facts=${entry} change=${change} />`)}`,
  );
}

// Sentences that one change wrote on one page stand together, under their day.
function days(facts) {
  const found = new Map();
  let last = null;
  for (const fact of facts) {
    const date = fact.at && local(fact.at);
    if (!found.has(date)) found.set(date, []);
    const entries = found.get(date);
    if (last && last.path === fact.path && last.at === fact.at) entries.at(-1).push(fact);
    else entries.push([fact]);
    last = fact;
  }
  return [...found];
}

function local(at) {
  const moment = new Date(at);
  return new Date(moment - moment.getTimezoneOffset() * 60000).toISOString().slice(0, 10);
}

function dayName(date) {
  const today = local(new Date());
  const yesterday = local(new Date(Date.now() - 86400000));
  return { [today]: "Today", [yesterday]: "Yesterday" }[date] ?? day(date);
}

function Entry({ facts, change }) {
  const { path, at, author, scope } = facts[0];
  return html`<article class="entry">
    <ul class="plain">${facts.map((fact) => html`<${Fact} key=${nameOf(fact)} fact=${fact} change=${change} />`)}</ul>
    <p class="entry-where"><a href=${toPage(path, { from: facts[0].from, to: facts.at(-1).to })}>${titleOf(facts[0])}</a>
      ${!scope.startsWith("agent") && html` <${Chip} kind=${scope} />`} <span>by ${author || "unknown"}</span> <${When} at=${at} /></p>
  </article>`;
}

function Fact({ fact, change }) {
  const me = useMe();
  const [fixing, setFixing] = useState(false);
  const [kept, setKept] = useState(fact.approved);
  const [problem, setProblem] = useState(null);
  const row = useRef(null);
  useEffect(() => setKept(fact.approved), [fact.approved]);
  const decide = (decision, text) =>
    post("statements", { path: fact.path, line: fact.from, sentence: decision === "keep" ? fact.lines : fact.text, decision, ...(text && { text }) });
  const attempt = (run) => () => run().catch(setProblem);
  const keep = attempt(async () => {
    await decide("keep");
    setKept(true);
    change.again(); // the rest of its line is kept with it
  });
  const forget = attempt(async () => {
    const done = await decide("forget");
    focusBeside(row.current);
    const hide = (isGone) => change.setGone((last) => withName(last, nameOf(fact), isGone));
    hide(true);
    tell("Forgotten", { label: "Undo", run: () => takeBack(done.change, () => hide(false), change.again) });
  });
  const fix = async (text) => {
    const done = await decide("fix", text);
    setFixing(false);
    tell(["Fixed", done.warning].filter(Boolean).join(". "), { label: "Undo", run: () => takeBack(done.change, () => {}, change.again) });
    change.again();
  };
  const canWrite = me.canWrite && fact.writable;
  return html`<li class=${`fact ${kept ? "is-kept" : ""}`} ref=${row} tabindex="-1">
    ${
      fixing
        ? html`<${Fix} text=${fact.text} onSave=${fix} onClose=${() => (setFixing(false), row.current.focus())} />`
        : html`<${Rendered} className="fact-text" markup=${fact.html} />`
    }
    ${!fixing && fact.keepable && !kept && saysMore(fact) && html`<p class="fact-line">The whole line: ${fact.lines}</p>`}
    ${!fixing && html`<div class="fact-does">
      ${kept && html`<span class="kept" title="A person wrote or kept it"><${Icon} name="check" /><span class="sr">A person wrote or kept it</span></span>`}
      ${canWrite && fact.keepable && !kept && html`<${Do} name="keep" icon="check" label="Keep" hint="y" fact=${fact} run=${keep} />`}
      ${canWrite && html`<${Do} name="fix" icon="edit" label="Fix" hint="e" fact=${fact} run=${() => setFixing(true)} />
        <${Do} name="forget" icon="trash" label="Forget" hint="x" fact=${fact} run=${forget} />`}</div>`}
    <${Trouble} problem=${problem} />
  </li>`;
}

// A line is kept as a whole: what else it says is shown, comments as well.
const saysMore = ({ lines, text }) => unmarked(lines) !== unmarked(text);
const unmarked = (text) => text.replace(/^([-*+>]|\d+[.)])\s+(\[[ xX]\]\s+)?/, "").split(/\s+/).join(" ");

function withName(names, name, isIn) {
  const next = new Set(names);
  if (isIn) next.add(name);
  else next.delete(name);
  return next;
}

async function takeBack(id, onDone, again) {
  try {
    const { undone } = await post("undo", { changes: [id] });
    const left = undone.filter((page) => !page.done);
    tell(left.length ? left[0].problem : "Restored");
    onDone();
  } catch (error) {
    tell(error.message);
  }
  again();
}

function Do({ name, icon, label, hint, fact, run }) {
  return html`<button type="button" class="quiet" data-does=${name} onClick=${run} title=${`${label} (${hint})`} aria-label=${`${label}: ${fact.text.slice(0, 60)}`}>
    <${Icon} name=${icon} /></button>`;
}

function Fix({ text: was, onSave, onClose }) {
  const [text, setText] = useState(was);
  const [problem, setProblem] = useState(null);
  const field = useRef(null);
  useEffect(() => field.current.focus(), []);
  const save = () => onSave(text.trim()).catch(setProblem);
  const keys = (event) => {
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey || !event.shiftKey) && !event.isComposing) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<form class="fix" onSubmit=${(event) => (event.preventDefault(), save())}>
    <textarea ref=${field} dir="auto" rows=${Math.min(8, 1 + Math.ceil(was.length / 70))} aria-label="What it should say" value=${text} onInput=${(event) => setText(event.target.value)} onKeyDown=${keys}></textarea>
    <${Trouble} problem=${problem} />
    <p class="row"><button type="submit" class="primary" disabled=${!text.trim() || text.trim() === was}>Save</button>
      <button type="button" onClick=${onClose}>Cancel</button><span class="muted">Enter saves, Escape cancels</span></p>
  </form>`;
}

const rows = () => [...document.querySelectorAll(".fact")];

export function focusFact(index) {
  const all = rows();
  all[Math.max(0, Math.min(all.length - 1, index))]?.focus();
}

function focusBeside(row) {
  const all = rows();
  const at = all.indexOf(row);
  (all[at + 1] ?? all[at - 1])?.focus();
}

// On the sentence that has the focus.
function rowKeys() {
  const step = (by) => () => {
    const at = rows().findIndex((row) => row.contains(document.activeElement));
    focusFact(at < 0 ? 0 : at + by);
  };
  const press = (name) => () =>
    document.activeElement?.closest(".fact")?.querySelector(`[data-does=${name}]`)?.click();
  return { j: step(1), k: step(-1), y: press("keep"), e: press("fix"), x: press("forget") };
}
