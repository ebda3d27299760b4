// What a model would read first: section by section with its tokens, what was cut and why, and two receipts compared.

import { html, useEffect, useMemo, useState } from "../vendor/preact.js";
import { get, own, who } from "./api.js";
import { Diff, diff } from "./diff.js";
import { useMe } from "./me.js";
import { replaceParams, to, toSource } from "./router.js";
import {
  Busy,
  Command,
  Empty,
  Icon,
  Tabs,
  Trouble,
  number,
  plural,
  useAsked,
  useDelayed,
  useFreshness,
  useTitle,
} from "./ui.js";

const PIN = own("commonplace-pin");
const MOST = 32000;

export function Context({ route }) {
  const [form, setForm] = useState(() =>
    Object.fromEntries(["user", "channel", "budget", "query"].map((name) => [name, route.params.get(name) ?? ""])),
  );
  const asked = useDelayed(form, 120);
  const tab = route.rest || "sections";
  const question = JSON.stringify(asked);
  useEffect(() => replaceParams("context", asked), [question]);
  const made = useAsked((signal) => get("context", asked, signal), [question, who.agent]);
  const [pin, setPin] = useState(pinned);
  useFreshness(made.again);
  useTitle("Context");
  const keep = (value) => {
    setPin(value);
    if (value) sessionStorage.setItem(PIN, JSON.stringify(value));
    else sessionStorage.removeItem(PIN);
  };
  const { data } = made;
  const link = (name) => to("context", name === "sections" ? "" : name, asked);
  return html`<div class="context">
    <header class="view-head"><h1>Context</h1><p class="muted">What a model reads first.</p></header>
    <${Form} form=${form} onChange=${(name, value) => setForm({ ...form, [name]: value })} />
    <${Trouble} problem=${made.problem} again=${made.again} />
    ${!data && !made.problem && html`<${Busy} />`}
    ${
      data &&
      html`<${Bar} receipt=${data.receipt} />
      <div class="view-head"><${Tabs} label="How to look at it" current=${tab} tabs=${[
        ["sections", "Sections", link("sections")],
        ["text", "Exact text", link("text")],
        ["compare", "Compare", link("compare")],
      ]} />
        <button type="button" onClick=${() => keep({ form: asked, agent: who.agent, ...data })}>
          <${Icon} name="pin" /> ${pin ? "Pin this one instead" : "Pin to compare"}</button></div>
      ${tab === "text" ? html`<${Text} text=${data.text} asked=${asked} />` : tab === "compare" ? html`<${Compare} pin=${pin} now=${data} onUnpin=${() => keep(null)} />` : html`<${Sections} receipt=${data.receipt} />`}`
    }
  </div>`;
}

function pinned() {
  try {
    return JSON.parse(sessionStorage.getItem(PIN));
  } catch {
    return null;
  }
}

// Small budgets get most of the way: the difference between 300 and 600 tokens is what people look at.
const slid = (value) => (Number(value) >= 100 ? "" : String(Math.round((MOST * (value / 100) ** 2) / 50) * 50));

function Form({ form, onChange }) {
  const me = useMe();
  const agents = me.status.agents ?? [];
  const set = (name) => (event) => onChange(name, event.target.value);
  const typed = (name, label, hint, options = []) => html`<label><span>${label}</span>
    <input value=${form[name]} placeholder=${hint} list=${options.length ? `known-${name}` : null} onInput=${set(name)} />
    ${options.length > 0 && html`<datalist id=${`known-${name}`}>
      ${options.map((each) => html`<option value=${each} />`)}</datalist>`}</label>`;
  return html`<form class="filter-fields" onSubmit=${(event) => event.preventDefault()}>
    ${agents.length > 1 && html`<label><span>Agent</span>
      <select value=${me.status.agent} onChange=${(event) => me.become(event.target.value)}>
      ${agents.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
    ${typed("user", "User", "nobody", me.status.users)}
    ${typed("channel", "Channel", "none", me.status.channels)}
    ${typed("query", "Question", "none")}
    <div class="budget"><label for="budget">Budget</label>
      <input type="range" aria-label="Budget, as a slider" aria-valuetext=${form.budget === "" ? "no limit" : `${form.budget} tokens`} min="0" max="100" step="1"
        value=${form.budget === "" ? 100 : Math.sqrt(form.budget / MOST) * 100} onInput=${(event) => onChange("budget", slid(event.target.value))} />
      <input id="budget" type="number" min="0" step="1" placeholder="no limit" value=${form.budget} onInput=${set("budget")} />
        <span class="muted">tokens</span>
      ${form.budget !== "" && html`<button type="button" class="quiet" onClick=${() => onChange("budget", "")}>No limit</button>`}</div>
  </form>`;
}

function Bar({ receipt }) {
  const whole = Math.max(receipt.budget ?? 0, receipt.tokens, 1);
  const sections = receipt.sections.filter((section) => section.tokens);
  const share = receipt.budget === null || receipt.budget === undefined ? "" : ` of ${number(receipt.budget)}`;
  return html`<section class="bar-box" aria-label="Tokens">
    <p role="status"><strong class="big">${number(receipt.tokens)}</strong> tokens${share} <span class="muted" title=${receipt.tokens_are}>· an estimate</span></p>
    <div class="stacked" role="img" aria-label=${sections.map((section) => `${section.title}: ${section.tokens} tokens`).join(", ")}>
      ${sections.map((section, index) => html`<span class=${`part-${index % 8}`} title=${`${section.title}: ${section.tokens}`} style=${{ width: `${(section.tokens / whole) * 100}%` }}>
        </span>`)}
    </div>
    ${(receipt.warnings ?? []).map((text) => html`<p class="banner"><${Icon} name="warning" /> ${text}</p>`)}
  </section>`;
}

function Sections({ receipt }) {
  const shown = receipt.sections.filter((section) => section.tokens);
  if (!receipt.sections.length)
    return html`<${Empty} icon="context" title="Nothing to read yet" command='commonplace reflect "What I know"'>
      <p>Curated memory, directives, handoffs and recalled passages make up the context.</p><//>`;
  return html`<ol class="sections">${receipt.sections.map(
    (section) => html`<li class="section" key=${section.title}><details open=${section.cut.length > 0}>
    <summary><span class=${`dot part-${shown.indexOf(section) % 8}`}></span><strong>${section.title}</strong>
      <span class="muted">${plural(section.sources.length, "source")}</span>
      ${section.cut.length > 0 && html`<span class="cut-count">${section.cut.length} cut</span>`}
      <span class="tokens">${number(section.tokens)}</span></summary>
    <table><caption class="sr">${section.title}</caption><thead><tr><th scope="col">Source</th>
      <th scope="col">Why</th><th scope="col" class="number">Tokens</th></tr></thead><tbody>
      ${section.sources.map((each) => html`<tr><td><${Where} source=${each.source} /></td>
        <td class="muted">included, priority ${section.priority}</td><td class="number">${number(each.tokens)}</td></tr>`)}
      ${section.cut.map((each) => html`<tr class="is-cut"><td><${Where} source=${each.source} /></td>
        <td>cut: ${each.reason}</td><td class="number">${number(each.tokens)}</td></tr>`)}
    </tbody></table></details></li>`,
  )}</ol>`;
}

function Where({ source }) {
  const href = toSource(source);
  return href ? html`<a href=${href}>${source}</a>` : html`<span class="path">${source}</span>`;
}

function Text({ text, asked }) {
  if (!text)
    return html`<${Empty} icon="context" title="The context is empty">
      <p>Nothing fits into this budget, or nothing is known yet.</p><//>`;
  const flags = Object.entries(asked)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => ` --${name} '${String(value).replaceAll("'", "'\\''")}'`);
  return html`<pre class="exact" tabindex="0" aria-label="The exact text">${text}</pre>
    <p class="muted">The same from a terminal:</p><${Command} text=${`commonplace context${flags.join("")}`} />`;
}

const named = (made) =>
  [
    made.agent || "main",
    made.form?.user && `for ${made.form.user}`,
    made.form?.channel && `in ${made.form.channel}`,
    made.form?.budget && `${made.form.budget} tokens`,
    made.form?.query && `“${made.form.query}”`,
  ]
    .filter(Boolean)
    .join(", ");

// Every source of either receipt, with what it weighs on both sides.
function compared(before, after) {
  const rows = new Map();
  const add = (receipt, side) => {
    for (const section of receipt.sections)
      for (const each of section.sources) {
        const source = each.source.replace(/ \(first \d+ lines\)$/, "");
        const row = rows.get(source) ?? { source, section: section.title, before: 0, after: 0 };
        row[side] += each.tokens;
        rows.set(source, row);
      }
  };
  add(before, "before");
  add(after, "after");
  return [...rows.values()].map((row) => ({
    ...row,
    state: !row.before
      ? "added"
      : !row.after
        ? "removed"
        : row.after > row.before
          ? "grown"
          : row.after < row.before
            ? "smaller"
            : "same",
  }));
}

function Compare({ pin, now, onUnpin }) {
  const rows = useMemo(() => (pin ? compared(pin.receipt, now.receipt) : []), [pin, now]);
  if (!pin)
    return html`<${Empty} icon="pin" title="Nothing pinned yet">
      <p>Pin this context, choose another agent, budget or question, and compare the two side by side.</p><//>`;
  const change = now.receipt.tokens - pin.receipt.tokens;
  const moved = rows.filter((row) => row.state !== "same");
  return html`<section class="compare" aria-label="Two receipts">
    <div class="pair"><div class="card"><h2>Pinned</h2><p>${named(pin)}</p><p>
      <strong class="big">${number(pin.receipt.tokens)}</strong> tokens</p>
      <button type="button" class="quiet" onClick=${onUnpin}>Unpin</button></div>
      <div class="card"><h2>Now</h2><p>${named({ agent: who.agent, form: Object.fromEntries(new URLSearchParams(location.hash.split("?")[1])) })}</p>
        <p><strong class="big">${number(now.receipt.tokens)}</strong> tokens <span class="muted">(${change >= 0 ? "+" : "−"}${number(Math.abs(change))})</span>
        </p></div></div>
    <p>${moved.length ? `${plural(moved.length, "source differs", "sources differ")}, ${number(rows.length - moved.length)} the same.` : "Both have the same sources."}</p>
    ${
      moved.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-label="Sources that differ"><table><thead><tr>
        <th scope="col">Source</th><th scope="col">Section</th><th scope="col">What</th>
        <th scope="col" class="number">Pinned</th><th scope="col" class="number">Now</th></tr></thead>
      <tbody>${moved.map((row) => html`<tr class=${`is-${row.state}`}><td><${Where} source=${row.source} /></td>
        <td>${row.section}</td><td><span class=${`state state-${row.state}`}>${row.state}</span></td>
        <td class="number">${number(row.before)}</td><td class="number">${number(row.after)}</td></tr>`)}</tbody></table></div>`
    }
    <details><summary>Both texts, line by line</summary>
      <${Diff} rows=${diff(pin.text, now.text)} label="From the pinned text to this one" /></details>
  </section>`;
}
