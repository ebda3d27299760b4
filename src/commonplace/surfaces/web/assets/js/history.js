// What happened: changes newest first, what each did, and the ways back (undo one, restore a page as of a time).

import { html, useState } from "../vendor/preact.js";
import { get, page as read, post } from "./api.js";
import { Diff, diff } from "./diff.js";
import { useKeys } from "./keys.js";
import { useMe } from "./me.js";
import { go, to, toPage } from "./router.js";
import { marked } from "./search.js";
import { Busy, Chip, Dialog, Empty, Icon, Trouble, When, plural, tell, useAsked, useFreshness, useTitle } from "./ui.js";

const PAGE = 50;

export function History({ route }) {
  const what = route.params.get("what") || "";
  const since = route.params.get("since") || "";
  useTitle("History");
  return html`<div class="history">
    <h1>History</h1>
    <form class="filter-fields" onSubmit=${(event) => {
      event.preventDefault();
      const form = new FormData(event.target);
      go(to("history", "", Object.fromEntries(form)));
    }}>
      <label><span>Page or key</span><input name="what" value=${what} placeholder="all" /></label>
      <label><span>Since</span><input type="date" name="since" value=${since} /></label>
      <button type="submit">Show</button>
    </form>
    <${Changes} what=${what} since=${since} showPath />
  </div>`;
}

export function PageHistory({ path, now, onChanged }) {
  return html`<div class="history"><${AsOf} page=${now} onChanged=${onChanged} />
    <${Changes} what=${path} onChanged=${onChanged} /></div>`;
}

function Changes({ what, since, showPath, onChanged }) {
  const [more, setMore] = useState([]);
  const [end, setEnd] = useState(false);
  const first = useAsked(
    async (signal) => {
      const found = await get("history", { what, since, limit: PAGE, sentences: true }, signal);
      setMore([]);
      setEnd(!found.more);
      return found.changes;
    },
    [what, since],
  );
  useFreshness(first.again);
  const all = [...(first.data ?? []), ...more];
  const next = async () => {
    const found = await get("history", { what, since, limit: PAGE, before: all.at(-1).id, sentences: true });
    setMore([...more, ...found.changes]);
    setEnd(!found.more);
  };
  const step = (by) => {
    const rows = [...document.querySelectorAll(".change > summary")];
    rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(document.activeElement) + by))]?.focus();
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
  if (first.problem)
    return html`<${Trouble} problem=${first.problem} again=${first.problem.status === 404 ? null : first.again} />`;
  if (!first.data) return html`<${Busy} />`;
  if (!all.length)
    return html`<${Empty} icon="history" title="No changes" command="commonplace log">
      <p>Every change to a page is recorded here, whoever made it, and can be undone.</p><//>`;
  return html`<section aria-label="Changes">
    <ol class="plain changes">${all.map(
      (change) =>
        html`<li key=${change.id}><${Change} change=${change} showPath=${showPath} onDone=${() => {
          first.again();
          onChanged?.();
        }} /></li>`,
    )}</ol>
    ${!end && html`<button type="button" onClick=${next}>Show older</button>`}
  </section>`;
}

function Change({ change, showPath, onDone }) {
  const [open, setOpen] = useState(false);
  return html`<details class="change" onToggle=${(event) => setOpen(event.target.open)}>
    <summary><${Chip} kind=${change.kind} />
      <span class="change-words"><${Words} change=${change} />
        <span class="change-where">${showPath && html`<span class="path">${change.path}</span>`}<span class="author">by ${change.by}</span></span></span>
      <span class="muted"><${When} at=${change.at} /></span></summary>
    ${change.reason && html`<p class="muted">${change.reason}</p>`}
    ${open && html`<${Inside} change=${change} showPath=${showPath} onDone=${onDone} />`}
  </details>`;
}

// What was said: sentences that came, and those that went.
function Words({ change }) {
  const { added = [], removed = [], more = 0 } = change.sentences ?? {};
  return html`${added.map((text) => html`<p dir="auto"><span class="sr">said: </span>${marked(text, [])}</p>`)}
    ${removed.map((text) => html`<p class="gone-words" dir="auto"><span class="sr">no longer said: </span>${marked(text, [])}</p>`)}
    ${more > 0 && html`<p class="muted">and ${plural(more, "more sentence")}</p>`}`;
}

function Inside({ change, showPath, onDone }) {
  const me = useMe();
  const { data, problem } = useAsked((signal) => get(`history/${change.id}`, {}, signal), [change.id]);
  const [failed, setFailed] = useState(null);
  const undo = async () => {
    try {
      tell(said(await post("undo", { changes: [change.id] })));
      onDone();
    } catch (error) {
      setFailed(error);
    }
  };
  if (problem) return html`<${Trouble} problem=${problem} />`;
  if (!data) return html`<${Busy} />`;
  return html`<div class="change-inside">
    <${Diff} rows=${data.hunks} />
    <${Trouble} problem=${failed} />
    <p class="row">${me.canWrite && html`<button type="button" onClick=${undo}><${Icon} name="undo" /> Undo this change</button>`}
      ${showPath ? html`<a class="button" href=${toPage(change.path)}>Open the page</a>` : html`<a class="button" href=${toPage(change.path, { at: change.at })}>The page as it was then</a>`}
      <code class="muted">${change.id}</code></p>
  </div>`;
}

// What undo answers, as one sentence.
function said(answer) {
  const left = answer.undone.filter((row) => !row.done);
  return left.length ? left.map((row) => `${row.path}: ${row.problem}`).join("; ") : "Undone";
}

const local = (date) => new Date(date - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16);

function AsOf({ page, onChanged }) {
  const me = useMe();
  const [when, setWhen] = useState(() => local(new Date(Date.now() - 86400000)));
  const [old, setOld] = useState(null);
  const [problem, setProblem] = useState(null);
  const stamp = () => new Date(when).toISOString();
  const look = async (event) => {
    event.preventDefault();
    setProblem(null);
    await read(page.path, stamp()).then(setOld, (error) =>
      setProblem(
        error.status === 404
          ? { title: "The page did not exist then", message: "Choose a later time: the list below shows when it was created." }
          : error,
      ),
    );
  };
  const restore = async () => {
    try {
      await post("restore", { path: page.path, when: stamp() });
      tell("Restored. The text it replaced is in the history.");
      setOld(null);
      onChanged();
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<form class="as-of" onSubmit=${look}>
    <label><span>As of</span>
      <input type="datetime-local" required value=${when} onInput=${(event) => setWhen(event.target.value)} /></label>
    <button type="submit">Show</button>
    <${Trouble} problem=${old ? null : problem} />
    ${
      old &&
      html`<${Dialog} className="large" title=${`As of ${when.replace("T", " ")}`} onClose=${() => setOld(null)}>
      <p>${old.text === page.text ? "The page has not changed since." : "Restoring would change:"}</p>
      <${Diff} label="What restoring would change" rows=${diff(page.text, old.text)} />
      <${Trouble} problem=${problem} />
      <footer><a href=${toPage(page.path, { at: stamp() })}>Read it as it was</a>
        ${me.canWrite && html`<button type="button" class="primary" disabled=${old.text === page.text} onClick=${restore}>Restore this text</button>`}</footer>
    <//>`
    }
  </form>`;
}
