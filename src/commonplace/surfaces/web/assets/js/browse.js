// What there is: the tree of pages, days, topics, records, skills, sessions. One outline from the server feeds them all.

import { html, useMemo, useState } from "../vendor/preact.js";
import { allPages, get } from "./api.js";
import { Days } from "./days.js";
import { useMe } from "./me.js";
import { Records } from "./records.js";
import { to, toPage } from "./router.js";
import { marked } from "./search.js";
import {
  Busy,
  Chip,
  Crumbs,
  Empty,
  Icon,
  Tabs,
  Trouble,
  When,
  bytes,
  number,
  plural,
  useAsked,
  useFreshness,
  useTitle,
} from "./ui.js";

export function Browse({ route }) {
  const tab = route.rest || "pages";
  const me = useMe();
  const { data, problem, again } = useAsked((signal) => get("outline", {}, signal), []);
  useFreshness(again);
  useTitle("Browse");
  const Shown = TABS[tab] || TABS.pages;
  return html`<div class="browse">
    <header class="view-head"><h1>Browse</h1>
      ${me.canWrite && html`<button type="button" onClick=${() => me.open("new")}>
        <${Icon} name="plus" /> New page</button>`}</header>
    <${Tabs} label="What to browse" current=${tab} tabs=${tabs(data ?? {})} />
    <${Trouble} problem=${problem} again=${again} />
    ${data ? html`<${Shown} outline=${data} params=${route.params} />` : !problem && html`<${Busy} />`}
  </div>`;
}

const TABS = {
  pages: Tree,
  days: ({ outline }) => html`<${Days} days=${outline.days ?? []} />`,
  notes: Notes,
  world: Topics,
  globals: Globals,
  channels: Channels,
  skills: Skills,
  sessions: Sessions,
};

function tabs(outline) {
  const many = (name) => outline[name]?.length;
  const notes = ["notes", "summaries", "working", "directives"].reduce((sum, name) => sum + (many(name) ?? 0), 0);
  return [
    ["pages", "Pages", to("browse")],
    ["days", "Days", to("browse", "days"), many("days")],
    ["world", "World", to("browse", "world"), many("topics")],
    ["globals", "Globals", to("browse", "globals"), many("globals")],
    ["channels", "Channels", to("browse", "channels"), many("channels")],
    ["notes", "Notes", to("browse", "notes"), outline.days ? notes : undefined],
    ["skills", "Skills", to("browse", "skills"), many("skills")],
    ["sessions", "Sessions", to("browse", "sessions"), many("sessions")],
  ];
}

// Folders that hold folders and pages, in the order of their names.
function treeOf(pages) {
  const root = { folders: new Map(), pages: [] };
  for (const page of pages) {
    const parts = page.path.split("/");
    let at = root;
    for (const part of parts.slice(0, -1)) {
      if (!at.folders.has(part)) at.folders.set(part, { folders: new Map(), pages: [] });
      at = at.folders.get(part);
    }
    at.pages.push({ ...page, name: parts.at(-1) });
  }
  return root;
}

const sizeOf = (folder) =>
  folder.pages.length + [...folder.folders.values()].reduce((sum, each) => sum + sizeOf(each), 0);

// What is inside a folder of the tree; nothing, if no page is in it.
const inside = (root, folder) =>
  folder.split("/").reduce((at, part) => at.folders.get(part) ?? treeOf([]), root);

function Tree({ params }) {
  const folder = params.get("folder") ?? "";
  const [some, setSome] = useState(null); // of a large memory, what is known while the rest is on its way
  const asked = useAsked((signal) => allPages(signal, 20, setSome), []);
  const { problem, again } = asked;
  const data = asked.data ?? some;
  const [wanted, setWanted] = useState("");
  useFreshness(again);
  const shown = useMemo(() => {
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    const pages = folder ? (data ?? []).filter((page) => page.path.startsWith(`${folder}/`)) : (data ?? []);
    return pages.filter((page) =>
      words.every((word) => `${page.path} ${page.title ?? ""}`.toLowerCase().includes(word)),
    );
  }, [data, wanted, folder]);
  if (problem) return html`<${Trouble} problem=${problem} again=${again} />`;
  if (!data) return html`<${Busy} />`;
  if (!data.length)
    return html`<${Empty} title="No pages yet" command='commonplace remember "The first thing worth keeping"'>
      <p>Every note, fact and record is a Markdown page.</p><//>`;
  const tree = treeOf(shown);
  return html`<section aria-label="Tree of pages">
    ${folder && html`<${Crumbs} path=${folder} />`}
    <input type="search" class="narrow" aria-label="Filter pages" placeholder="Filter by name or title" value=${wanted} onInput=${(event) => setWanted(event.target.value)} />
    <p class="said" role="status">${plural(shown.length, "page")}${!asked.data && " so far…"}</p>
    <${Folder} folder=${folder ? inside(tree, folder) : tree} open=${Boolean(wanted) || shown.length < 60} depth=${0} />
  </section>`;
}

// By name; of days, the latest first.
function inOrder(one, other) {
  const dated = /^\d{4}-\d\d/.test(one.name) && /^\d{4}-\d\d/.test(other.name);
  return one.name.localeCompare(other.name, "en", { numeric: true }) * (dated ? -1 : 1);
}

function Folder({ folder, open, depth }) {
  const names = [...folder.folders.keys()].sort((a, b) => a.localeCompare(b));
  return html`<ul class="tree">
    ${names.map((name) => html`<li key=${`${name}/`}>
      <${Branch} name=${name} folder=${folder.folders.get(name)} open=${open} depth=${depth} /></li>`)}
    ${folder.pages.sort(inOrder).map((page) => html`<li key=${page.path} class="leaf">
        <a href=${toPage(page.path)}>${page.title || page.name}</a>
      ${page.name !== `${page.title}.md` && html`<span class="muted path">${page.name}</span>`}<span class="muted size">${page.size !== undefined && bytes(page.size)}</span></li>`,
    )}
  </ul>`;
}

const FEW = 12;

// What is folded is not drawn: a tree of ten thousand pages stays light.
function Branch({ name, folder, open, depth }) {
  const [chosen, setChosen] = useState(null);
  const shown = chosen ?? (open || depth < 1 || sizeOf(folder) <= FEW);
  return html`<details open=${shown} onToggle=${(event) => event.target.open !== shown && setChosen(event.target.open)}>
    <summary><${Icon} name="browse" /> ${name} <span class="count">${number(sizeOf(folder))}</span></summary>
    ${shown && html`<${Folder} folder=${folder} open=${open} depth=${depth + 1} />`}
  </details>`;
}

function Topics({ outline }) {
  const topics = outline.topics ?? [];
  if (!topics.length)
    return html`<${Empty} title="No world topics yet" command='commonplace world team "Ada leads, Grace builds."'>
      <p>A world topic is a page of facts that all agents share.</p><//>`;
  return html`<ul class="cards">${topics.map((each) => html`<${Card} key=${each.path} item=${each} title=${each.name} />`)}</ul>`;
}

function Card({ item, title, children }) {
  return html`<li class="card"><a href=${toPage(item.path, item.from ? { from: item.from, to: item.to } : undefined)}>${title || item.path}</a>
    ${item.value ? html`<p class="glance" dir="auto">${marked(item.value, [])}</p>` : !children && html`<p class="muted path">${item.path}</p>`}${children}
    ${(item.at || item.updated) && html`<p class="muted"><${When} at=${item.at || item.updated} /></p>`}</li>`;
}

function Notes({ outline }) {
  const groups = [
    ["Keyed notes", outline.notes, "`commonplace write KEY TEXT` adds one."],
    ["Summaries", outline.summaries, "The curated memory of an agent, rewritten by `reflect`."],
    ["Working notes", outline.working, "Notes for the current task, the handoff and the scratchpad."],
    ["Directives", outline.directives, "Standing instructions at the start of every context."],
  ];
  if (groups.every(([, items]) => !items?.length))
    return html`<${Empty} title="No notes yet" command=${['commonplace write deadline "The report is due on Friday"', 'commonplace handoff "Where the work stands"']}>
      <p>Working notes, handoffs, summaries and directives of this agent appear here.</p><//>`;
  return groups.map(
    ([name, items, about]) => html`<section><h2>${name}</h2>
    ${items?.length ? html`<ul class="cards">
      ${items.map((each) => html`<${Card} key=${`${each.path}#${each.from ?? ""}`} item=${each} title=${each.title || each.key || each.name} />`)}</ul>` : html`<p class="muted">None. ${about.replaceAll("`", "")}</p>`}</section>`,
  );
}

function Globals({ outline }) {
  const records = outline.globals ?? [];
  if (!records.length)
    return html`<${Empty} title="No global records yet" command=${`commonplace call MemoryTool '{"op": "setGlobal", "key": "editor", "value": "vim"}'`}>
      <p>A global record is a fact under a key, for all agents and channels.</p><//>`;
  return html`<${Records} records=${records} label="Global records" />`;
}

function Channels({ outline }) {
  const channels = outline.channels ?? [];
  if (!channels.length)
    return html`<${Empty} title="No channels yet" command=${`commonplace call MemoryTool '{"op": "setChannel", "channelName": "dev", "key": "branch", "value": "main"}'`}>
      <p>Records of one conversation belong to its channel.</p><//>`;
  return channels.map((channel) => html`<section key=${channel.name}><h2>${channel.name} <span class="count">${number(channel.records?.length)}</span></h2>
    <${Records} records=${channel.records ?? []} channel=${channel.name} label=${`Records of ${channel.name}`} /></section>`,
  );
}

function Skills({ outline }) {
  const skills = outline.skills ?? [];
  if (!skills.length)
    return html`<${Empty} title="No skills yet" command="commonplace skills --help">
      <p>A skill is a set of instructions for one kind of task.</p><//>`;
  return html`<ul class="cards">${skills.map((each) => html`<${Card} key=${each.path} item=${each} title=${each.name || each.title}>
    ${each.description && html`<p>${each.description}</p>`}<//>`)}</ul>`;
}

function Sessions({ outline }) {
  const sessions = outline.sessions ?? [];
  if (!sessions.length)
    return html`<${Empty} title="No sessions yet" command="commonplace install claude-code">
      <p>Connected clients store their transcripts, which you can read and search here.</p><//>`;
  return html`<ul class="cards">${sessions.map((each) => html`<li class="card" key=${each.path}><a href=${to("session", each.path)}>${each.title || each.id || each.path}</a>
    <p class="muted">${each.turns !== undefined && `${plural(each.turns, "turn")} · `}<${When} at=${each.at} /></p></li>`,
  )}</ul>`;
}
