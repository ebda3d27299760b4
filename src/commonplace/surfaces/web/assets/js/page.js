// A page: read it, see its source, edit it, see what it was. It follows what others write to it meanwhile.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { blame, page as read, removePage } from "./api.js";
import { Beside, Neighbours, useBeside } from "./beside.js";
import { draftOf } from "./draft.js";
import { Edit } from "./edit.js";
import { PageHistory } from "./history.js";
import { useKeys } from "./keys.js";
import { useMe } from "./me.js";
import { go, to, toPage } from "./router.js";
import { Busy, Chip, Crumbs, Dialog, Icon, Rendered, Tabs, Trouble, When, tell, titleOf, useAsked, useChanges, useTitle } from "./ui.js";

export function Page({ route }) {
  const path = route.rest;
  const { params } = route;
  const at = params.get("at") || "";
  const me = useMe();
  const shown = useAsked((signal) => read(path, at, signal), [path, at]);
  const { data, problem, again } = shown;
  const editing = params.has("edit") && me.canWrite && !at;
  const [fresh, setFresh] = useState(false);
  const beside = useBeside(path, !at && !editing);
  useTitle(data?.title || path);
  useChanges(
    (change) => {
      if ((change.path !== path && !change.all) || at) return;
      setFresh(!change.all);
      again();
    },
    [path, at],
  );
  useKeys({ e: me.canWrite && !editing && !at && data && problem?.status !== 404 ? () => go(toPage(path, { edit: 1 })) : undefined });
  if (problem && !data) return html`<${Missing} path=${path} problem=${problem} again=${again} />`;
  if (!data) return html`<${Busy} />`;
  if (editing)
    return html`<${Edit} path=${path} page=${data} gone=${problem?.status === 404} onDone=${() => {
      setFresh(false);
      go(toPage(path));
      again();
    }} />`;
  const gone = problem?.status === 404;
  const view = ["source", "history"].find((name) => params.has(name)) || "read";
  return html`<article class="page">
    <${Head} page=${data} at=${at} fresh=${fresh} gone=${gone} />
    <${Trouble} problem=${gone ? null : problem} again=${again} />
    ${!at && html`<${Neighbours} path=${path} found=${beside} />`}
    ${
      !at &&
      html`<${Tabs} label="How to look at it" current=${view} tabs=${[
        ["read", "Read", toPage(path)],
        ["source", "Source", toPage(path, { source: 1 })],
        ["history", "History", toPage(path, { history: 1 })],
      ]} />`
    }
    ${view === "read" && html`<${Reading} page=${data} params=${params} beside=${beside} />`}
    ${view === "source" && html`<${SourceWithAuthors} page=${data} at=${at} params=${params} />`}
    ${view === "history" && html`<${PageHistory} path=${path} now=${data} onChanged=${again} />`}
  </article>`;
}

function Missing({ path, problem, again }) {
  return html`<div><${Crumbs} path=${path} /><h1>${path.split("/").at(-1)}</h1>
    <${Trouble} problem=${problem} again=${problem.status === 404 ? null : again} />
    ${problem.status === 404 && html`<p>It may have been moved or removed. Look at <a href=${to("history", "", { what: path })}>its history</a>, or <a href=${to("search", "", { q: path.split("/").at(-1).replace(/\.md$/, "") })}>search for it</a>.</p>`}</div>`;
}

function Head({ page, at, fresh, gone }) {
  const me = useMe();
  const draft = draftOf(page.path);
  return html`<header class="page-head">
    <${Crumbs} path=${page.path} />
    <div class="view-head"><h1>${titleOf({ title: page.title, path: page.path.split("/").at(-1) })}</h1>
      ${!at && !gone && me.canWrite && html`<div class="row"><a class="button primary" href=${toPage(page.path, { edit: 1 })}>
        <${Icon} name="edit" /> Edit <kbd>e</kbd></a><${Remove} page=${page} /></div>`}</div>
    <p class="meta">${page.kind !== "page" && page.kind !== page.scope && html`<${Chip} kind=${page.kind} />`} ${page.scope && html`<${Chip} kind=${page.scope} />`} ${fresh && !gone ? html`<span class="fresh">changed just now</span>` : html`<${When} at=${page.at} />`}</p>
    ${gone && html`<p class="banner" role="alert"><${Icon} name="warning" />
      <span>This page has been removed. This is its last text; you can restore it from <a href=${to("history", "", { what: page.path })}>its history</a>.</span></p>`}
    ${at && html`<p class="banner">
      <${Icon} name="history" /> <span>The page as of ${at}. <a href=${toPage(page.path)}>Show the current page</a></span></p>`}
    ${draft && me.canWrite && !at && html`<p class="banner">
      <${Icon} name="info" /> <span>This page has unsaved text. <a href=${toPage(page.path, { edit: 1 })}>Continue editing</a></span></p>`}
  </header>`;
}

function Remove({ page }) {
  const [open, setOpen] = useState(false);
  const [problem, setProblem] = useState(null);
  const remove = async () => {
    try {
      await removePage(page.path, page.version);
      tell("Removed. You can restore it from History.", {
        label: "History",
        run: () => go(to("history", "", { what: page.path })),
      });
      go(to("browse"));
    } catch (error) {
      setProblem(
        error.status === 412
          ? { title: "The page has changed", message: "Read it again before you remove it." }
          : error,
      );
    }
  };
  return html`<button type="button" class="quiet" aria-label="Remove this page" title="Remove this page" onClick=${() => setOpen(true)}>
    <${Icon} name="trash" /></button>
    ${
      open &&
      html`<${Dialog} title="Remove this page?" onClose=${() => setOpen(false)}>
      <p>This removes <code>${page.path}</code> for everyone. Its history stays, so you can undo it.</p>
      <${Trouble} problem=${problem} />
      <footer><button type="button" onClick=${() => setOpen(false)}>Cancel</button>
        <button type="button" class="danger" onClick=${remove}>Remove</button></footer>
    <//>`
    }`;
}

function Reading({ page, params, beside }) {
  const body = useRef(null);
  const from = Number(params.get("from")) || 0;
  useLayoutEffect(() => {
    const first = body.current?.firstElementChild; // the title is shown above already
    if (first?.tagName === "H1") first.hidden = first.textContent.trim() === page.title;
  }, [page.html]);
  useEffect(() => {
    if (from && body.current) show(body.current, page.text, from, Number(params.get("to")) || from);
  }, [page.html, from]);
  const front = fieldsOf(page.front ?? {});
  return html`<div class="reading">
    ${front.length > 0 && html`<dl class="front">${front.map(([name, value]) => html`<div><dt title=${name}>${name.split(INSIDE).at(-1)}</dt>
      <dd>${TIMESTAMP.test(value) ? moment(value) : value}</dd></div>`)}</dl>`}
    ${page.html?.trim() ? html`<${Rendered} inner=${body} markup=${page.html} />` : html`<p class="muted">This page is empty.</p>`}
    <${Beside} page=${page} found=${beside} />
  </div>`;
}

const INSIDE = " › ";
const TIMESTAMP = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;
const moment = (at) => new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

// Front matter as it is read: one line a field, what is nested under the names that lead to it.
function fieldsOf(front, above = "") {
  return Object.entries(front).flatMap(([name, value]) => {
    if (value === "" || value === null) return [];
    if (Array.isArray(value))
      return [[above + name, value.map((each) => (typeof each === "object" ? JSON.stringify(each) : each)).join(", ")]];
    return typeof value === "object" ? fieldsOf(value, above + name + INSIDE) : [[above + name, String(value)]];
  });
}

const letters = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

// The lines a hit or a receipt named, found again in what they became.
function show(body, text, from, until) {
  const wanted = letters(
    text
      .split("\n")
      .slice(from - 1, until)
      .join("\n"),
  );
  const blocks = [...body.querySelectorAll("p, li, h1, h2, h3, h4, h5, h6, pre, td, th, blockquote")];
  const found = blocks.filter((block) => letters(block.textContent) && wanted.includes(letters(block.textContent)));
  blocks.forEach((block) =>
    block.classList.toggle("found", found.includes(block) && !found.includes(block.parentElement)),
  );
  found[0]?.scrollIntoView({
    block: "center",
    behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
  });
}

// The source, and on demand who wrote each of its lines.
function SourceWithAuthors({ page, at, params }) {
  const [open, setOpen] = useState(params.has("authors"));
  const { data, problem, again } = useAsked(
    (signal) => (open && !at ? blame(page.path, signal) : null),
    [page.path, page.version, open],
  );
  return html`${!at && html`<p class="row"><label class="check"><input type="checkbox" checked=${open} onChange=${(event) => setOpen(event.target.checked)} /> Who wrote each line</label></p>`}
    <${Trouble} problem=${open ? problem : null} again=${again} />
    <${Source} text=${page.text} params=${params} authors=${(open && data?.lines) || null} />`;
}

// Shown once for the lines of one change that stand together.
function LineAuthor({ row }) {
  if (!row) return html`<span class="line-author"></span>`;
  const title = [row.author || "from before its history", row.at, row.reason].filter(Boolean).join(", ");
  return html`<span class="line-author" title=${title}>${row.author || "?"}
    ${row.at && html` <${When} at=${row.at} />`}</span>`;
}

export function Source({ text, params, authors }) {
  const from = Number(params?.get("from")) || 0;
  const until = Number(params?.get("to")) || from;
  const starts = authors && new Map(authors.map((row) => [row.from, row]));
  return html`<div class="source scroll" tabindex="0" role="region" aria-label="Source">
    ${text
      .replace(/\n$/, "")
      .split("\n")
      .map(
        (line, index) =>
          html`<div class=${`line ${index + 1 >= from && index + 1 <= until ? "found" : ""}`}>
            ${starts && html`<${LineAuthor} row=${starts.get(index + 1)} />`}
            <span class="line-number" aria-hidden="true">${index + 1}</span><code>${line || " "}</code></div>`,
      )}
  </div>`;
}
