// How memory is: what is wrong and what to do, the index, sizes and growth, what is recalled and what never is.

import { html, useState } from "../vendor/preact.js";
import { get, post } from "./api.js";
import { useMe } from "./me.js";
import { Review } from "./review.js";
import { toPage } from "./router.js";
import {
  Busy,
  Command,
  Icon,
  Sentence,
  Trouble,
  When,
  bytes,
  day,
  number,
  plural,
  useAsked,
  useTitle,
} from "./ui.js";

// What must not wait, what should be looked at, and what is good to know.
const SEVERITY = {
  serious: ["settings", "unreadable", "secrets", "json", "front-matter", "merge-conflicts", "permissions"],
  worth: ["duplicate-notes", "duplicate-records", "unread", "names", "links", "future", "index"],
};
const LEVELS = [
  ["serious", "Needs attention", "warning"],
  ["worth", "Worth a look", "info"],
  ["minor", "Good to know", "info"],
];
const levelOf = (finding) =>
  finding.severity ?? Object.keys(SEVERITY).find((level) => SEVERITY[level].includes(finding.check)) ?? "minor";

export function Health() {
  const me = useMe();
  const { data, problem, again } = useAsked((signal) => get("health", { findings: false }, signal), []);
  // The figures come at once. Then every page is looked at, and last its facts are compared: one after the other, so
  // that neither waits for both.
  const found = useAsked((signal) => (data ? get("findings", {}, signal) : null), [data]);
  useTitle("Health");
  return html`<div class="health">
    <header class="view-head"><h1>Health</h1><div class="row">
      ${me.status.may_export && html`<button type="button" onClick=${() => me.open("export")}>
        <${Icon} name="download" /> Export</button>`}
      <button type="button" onClick=${again}>Check again</button></div></header>
    <${Trouble} problem=${problem} again=${again} />
    ${!data && !problem && html`<${Busy} />`}
    ${me.status.may_export && html`<${Proposals} />`}
    <${Review} isReady=${Boolean(found.data || found.problem || problem)} />
    ${data && html`<${Figures} health=${data} /><${Findings} found=${found} />
      <${Growth} growth=${data.growth ?? []} /><${Recalled} recalled=${data.recalled} />`}
  </div>`;
}

// Rules that came by an import, or from a token for single agents: in no prompt until somebody decides.
function Proposals() {
  const { data, problem, again } = useAsked((signal) => get("proposals", {}, signal), []);
  const [failed, setFailed] = useState(null);
  const send = (where, body) =>
    post(where, body)
      .then(() => setFailed(null), setFailed)
      .then(again);
  const decide = ({ path, version }, decision) => send("proposals", { path, version, decision }); // as it was shown
  const trust = () => send("trust", { review: data.review });
  const waiting = data?.proposals ?? [];
  if (!waiting.length && !data?.left_out && !problem && !failed) return null;
  return html`<section aria-label="Rules waiting for approval"><h2>Rules waiting for approval</h2>
    <${Trouble} problem=${problem} again=${again} /><${Trouble} problem=${failed} />
    ${data?.left_out && html`<p class="banner"><${Icon} name="warning" /> <span>${`This memory was found, not made by you: ${data.left_out} left out. Read it before you trust it.`}</span>
      <button type="button" onClick=${trust}>Trust this memory</button></p>
      ${data.parts.filter(({ name, text }) => !waiting.some((rule) => rule.path === name && rule.text.replace(/^\n+|\n+$/g, "") === text)).map((part) => html`<article class="card" key=${part.name}>
      <h3>${part.name}</h3>${part.text && html`<pre>${part.text}</pre>`}</article>`)}`}
    ${waiting.map((rule) => html`<article class="card" key=${rule.path}>
      <h3><a href=${toPage(rule.path)}>${rule.path}</a></h3>
      <p class="muted">${rule.by ? `By ${rule.by}. ` : ""}It is not in any prompt until you approve it${rule.in_force ? "; the earlier text stays in force" : ""}.</p>
      <pre>${rule.text}</pre>
      <div class="row"><button type="button" onClick=${() => decide(rule, "approve")}>Approve</button>
        <button type="button" onClick=${() => decide(rule, "reject")}>Reject</button></div>
    </article>`)}</section>`;
}

function Figures({ health }) {
  const { sizes = {}, index = {} } = health;
  const figures = [
    [number(sizes.pages), sizes.pages === 1 ? "page" : "pages"],
    [bytes(sizes.bytes), "of Markdown"],
    ...[
      ["history", sizes.history_bytes],
      ["index", sizes.index_bytes],
    ]
      .filter(([, size]) => size != null)
      .map(([name, size]) => [bytes(size), `of ${name}`]),
  ];
  return html`<section aria-label="Sizes"><ul class="figures">${figures.map(([value, what]) => html`<li class="card">
    <strong class="big">${value}</strong> <span class="muted">${what}</span></li>`)}</ul>
    <div class="card index-state"><h2>Index</h2>
      <p>${index.up_to_date === false ? html`<${Icon} name="warning" /> Out of date. The next search updates it.` : html`<${Icon} name="check" /> Up to date.`}</p>
      <dl class="front">${Object.entries(index)
        .filter(([, value]) => ["string", "number"].includes(typeof value))
        .map(([name, value]) => html`<div key=${name}><dt>${name.replaceAll("_", " ")}</dt><dd>${typeof value === "number" ? number(value) : value}</dd></div>`)}</dl>
    </div></section>`;
}

function Findings({ found }) {
  const { findings = [], notes } = found.data ?? {};
  if (found.problem) return html`<${Trouble} problem=${found.problem} again=${found.again} />`;
  if (!found.data) return html`<section><${Busy} what="Checking every page" /></section>`;
  if (notes?.length)
    return html`<section>${notes.map((text) => html`<p class="banner">
      <${Icon} name="info" /> <span><${Sentence} text=${text} /></span></p>`)}</section>`;
  const open = findings.filter((finding) => !finding.fixed);
  if (!open.length)
    return html`<section class="card well"><h2><${Icon} name="check" /> No problems found</h2>
      <p class="muted">Every page was checked.</p></section>`;
  return html`<section aria-label="Findings"><h2>${plural(open.length, "finding")}</h2>
    ${LEVELS.map(([level, title, icon]) => html`<${Level} key=${level} title=${title} level=${level} icon=${icon} findings=${open.filter((each) => levelOf(each) === level)} />`)}
    ${open.some((each) => each.fixable) && html`<p class="muted">This fixes what can be fixed safely:</p>
      <${Command} text="commonplace doctor --fix" />`}
  </section>`;
}

function Level({ title, level, icon, findings }) {
  if (!findings.length) return null;
  return html`<div class=${`level level-${level}`}><h3>
    <${Icon} name=${icon} /> ${title} <span class="count">${findings.length}</span></h3>
    <ul class="plain">${findings.map(
      (finding) => html`<li class="finding">
      <p>${/\.(md|jsonl)$/.test(finding.path) ? html`<a href=${toPage(finding.path, { from: finding.line || "" })}>${finding.path}</a>` : html`<code>${finding.path === "." ? "the folder of this memory" : finding.path}</code>`}${finding.line > 0 && html`<span class="muted">, line ${finding.line}</span>`}</p>
      <p><${Sentence} text=${finding.what} /></p><p class="advice"><${Sentence} text=${finding.advice} /></p></li>`,
    )}</ul></div>`;
}

const WIDE = 720;
const HIGH = 180;

function Growth({ growth }) {
  if (growth.length < 2)
    return html`<section><h2>Growth</h2><p class="muted">Growth is shown from the second day on.</p></section>`;
  const times = growth.map((each) => new Date(`${each.day}T00:00:00Z`).getTime());
  const x = (time) => 8 + ((WIDE - 16) * (time - times[0])) / Math.max(1, times.at(-1) - times[0]);
  const most = Math.max(...growth.map((each) => each.pages), 1);
  const y = (value) => HIGH - 22 - ((HIGH - 40) * value) / most;
  const line = growth
    .map((each, at) => `${at ? "L" : "M"}${x(times[at]).toFixed(1)} ${y(each.pages).toFixed(1)}`)
    .join("");
  const area = `${line}L${x(times.at(-1)).toFixed(1)} ${HIGH - 22}L${x(times[0]).toFixed(1)} ${HIGH - 22}Z`;
  const short = (each) => day(each.day, { day: "numeric", month: "short", year: "numeric" });
  return html`<section aria-label="Growth"><h2>Growth</h2>
    <svg class="growth" viewBox=${`0 0 ${WIDE} ${HIGH}`} role="img" aria-label=${`From ${growth[0].pages} to ${plural(growth.at(-1).pages, "page")} between ${short(growth[0])} and ${short(growth.at(-1))}`}>
      ${[0, 0.5, 1].map((part) => html`<line x1="8" x2=${WIDE - 8} y1=${y(most * part)} y2=${y(most * part)} />
        <text x="8" y=${y(most * part) - 4}>${number(Math.round(most * part))}</text>`)}
      <path class="area" d=${area} /><path class="curve" d=${line} />
      <text x="8" y=${HIGH - 6}>${short(growth[0])}</text>
        <text x=${WIDE - 8} y=${HIGH - 6} text-anchor="end">${short(growth.at(-1))}</text>
    </svg>
    <details><summary>As a table</summary><div class="scroll" tabindex="0" role="region" aria-label="Growth as a table">
      <table><thead><tr><th scope="col">Day</th><th scope="col" class="number">Pages</th>
      <th scope="col" class="number">Size</th></tr></thead>
      <tbody>${[...growth].reverse().map((each) => html`<tr><th scope="row">${short(each)}</th>
        <td class="number">${number(each.pages)}</td><td class="number">${bytes(each.bytes)}</td></tr>`)}</tbody>
        </table></div></details>
  </section>`;
}

function Recalled({ recalled }) {
  const isInDatabase = useMe().status.home.includes("://"); // where nobody counts
  if (!recalled || isInDatabase)
    return html`<section><h2>Recalled</h2><p class="muted">Recalls are not counted for this memory.</p></section>`;
  const most = recalled.most ?? [];
  const never = recalled.never ?? [];
  const top = Math.max(...most.map((each) => each.times), 1);
  return html`<section class="pair" aria-label="What is recalled">
    <div><h2>Recalled most</h2>${recalled.since && html`<p class="muted">Since ${day(recalled.since)}</p>`}
      ${
        most.length
          ? html`<ol class="plain">${most.map(
              (each) => html`<li class="recall"><a href=${toPage(each.path)}>${each.title || each.path}</a>
        <span class="recall-bar" aria-hidden="true"><span style=${{ width: `${(100 * each.times) / top}%` }}></span>
          </span><span class="muted">${plural(each.times, "time")}, <${When} at=${each.last} /></span></li>`,
            )}</ol>`
          : html`<p class="muted">Nothing has been recalled yet. Searches and contexts of agents are counted.</p>`
      }</div>
    <div><h2>Never recalled</h2>${never.length ? html`<ul class="plain never">${never.slice(0, 30).map((each) => html`<li>
      <a href=${toPage(each.path)}>${each.title || each.path}</a></li>`)}</ul>
      ${never.length > 30 && html`<p class="muted">and ${number(never.length - 30)} more</p>`}` : html`<p class="muted">${recalled.since ? "Every page has been recalled." : "Pages that are never recalled are listed here."}</p>`}</div>
  </section>`;
}
