// The timeline of days: a strip of weeks that is darker where more was written, and the days themselves, newest first.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { page } from "./api.js";
import { go, toPage } from "./router.js";
import { Busy, Empty, Rendered, Trouble, day, plural, useAsked } from "./ui.js";

const DAY = 86400000;
const WEEKS = 53;
const CELL = 17;

const MONTHS = 12; // at once: years of days would be slow to draw

export function Days({ days }) {
  const [shown, setShown] = useState(MONTHS);
  const sorted = useMemo(() => [...days].sort((a, b) => b.date.localeCompare(a.date)), [days]);
  if (!sorted.length)
    return html`<${Empty} title="No days yet" command='commonplace remember "What happened today"'>
      <p>Each day is a page: what happened, in order.</p><//>`;
  const months = Object.groupBy ? Object.groupBy(sorted, (each) => each.date.slice(0, 7)) : grouped(sorted);
  return html`<div class="days">
    <${Strip} days=${sorted} />
    ${Object.entries(months).slice(0, shown).map(
      ([
        month,
        inside,
      ]) => html`<section key=${month}>
        <h2>${day(`${month}-15`, { month: "long", year: "numeric" })} <span class="count">${inside.length}</span></h2>
      <ul class="plain">${inside.map((each) => html`<li key=${each.path}><${Day} item=${each} /></li>`)}</ul></section>`,
    )}
    ${shown < Object.keys(months).length && html`<button type="button" onClick=${() => setShown(shown + MONTHS)}>Show older months</button>`}
  </div>`;
}

function grouped(days) {
  const out = {};
  for (const each of days) (out[each.date.slice(0, 7)] ??= []).push(each);
  return out;
}

// For the eye and the mouse: the list below says the same to everybody.
function Strip({ days }) {
  const box = useRef(null);
  useEffect(() => box.current.scrollTo(box.current.scrollWidth, 0), []);
  const counts = new Map(days.map((each) => [each.date, each]));
  const most = Math.max(...days.map((each) => each.entries || 1));
  const last = new Date(`${days[0].date > today() ? days[0].date : today()}T00:00:00Z`).getTime();
  const weekday = (new Date(last).getUTCDay() + 6) % 7;
  const first = last - (weekday + 7 * (WEEKS - 1)) * DAY;
  const cells = [];
  const months = [];
  for (let at = first, index = 0; at <= last; at += DAY, index++) {
    const date = new Date(at).toISOString().slice(0, 10);
    const found = counts.get(date);
    const level = found ? Math.min(4, 1 + Math.floor((3.99 * ((found.entries || 1) - 1)) / Math.max(1, most - 1))) : 0;
    const x = Math.floor(index / 7) * CELL;
    if (date.endsWith("-01")) months.push([x, day(date, { month: "short" })]);
    cells.push(html`<rect class=${`heat-${level}`} x=${x} y=${16 + (index % 7) * CELL} width=${CELL - 2} height=${CELL - 2} rx="2" onClick=${found && (() => go(toPage(found.path)))}>
      <title>${`${day(date)}: ${found ? plural(found.entries, "entry", "entries") : "nothing"}`}</title></rect>`);
  }
  return html`<div ref=${box} class="strip scroll" tabindex="0" role="region" aria-label="A year of days">
    <svg viewBox=${`0 0 ${WEEKS * CELL} ${16 + 7 * CELL}`} width=${WEEKS * CELL} height=${16 + 7 * CELL} role="img" aria-label=${`${plural(days.length, "day")} with entries`}>
      ${months.map(([x, name]) => html`<text x=${x} y="10">${name}</text>`)}${cells}
    </svg></div>`;
}

const today = () => new Date().toISOString().slice(0, 10);

function Day({ item }) {
  const [open, setOpen] = useState(false);
  return html`<details class="day" onToggle=${(event) => setOpen(event.target.open)}>
    <summary><strong>${day(item.date, { weekday: "long", day: "numeric", month: "long" })}</strong>
      <span class="muted">${plural(item.entries ?? 0, "entry", "entries")}</span></summary>
    ${open && html`<${Inside} path=${item.path} />`}
  </details>`;
}

function Inside({ path }) {
  const { data, problem, again } = useAsked((signal) => page(path, "", signal), [path]);
  if (problem) return html`<${Trouble} problem=${problem} again=${again} />`;
  if (!data) return html`<${Busy} />`;
  return html`<div class="day-inside"><${Rendered} markup=${data.html} /><p><a href=${toPage(path)}>Open the page</a></p></div>`;
}
