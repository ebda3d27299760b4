// Go to anything: views, actions, agents, memories and pages, by a few letters. Pages that match by what they say come as well.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { allPages, get } from "./api.js";
import { nextTheme, useMe } from "./me.js";
import { go, here, to, toHome, toPage } from "./router.js";
import { Dialog, Icon, useAsked, useDelayed } from "./ui.js";

const SHOWN = 40;

// How well letters in a row fit a name: none is null, whole words and beginnings weigh most.
export function fit(wanted, name) {
  const text = name.toLowerCase();
  let weight = 0;
  let at = 0;
  for (const word of wanted.toLowerCase().split(/\s+/).filter(Boolean)) {
    const found = text.indexOf(word);
    if (found >= 0) {
      weight += 10 + word.length + (found === 0 || /[^\p{L}\p{N}]/u.test(text[found - 1]) ? 6 : 0);
      continue;
    }
    at = 0;
    for (const letter of word) {
      at = text.indexOf(letter, at) + 1;
      if (!at) return null;
    }
    weight += 1;
  }
  return weight - text.length / 200;
}

const folded = (text) => text.toLowerCase().replace(/\.md$/, "").replace(/[\s_-]+/g, " ").trim();
const EXACT = 1000;
const BEGINS = 100;

// How well a thing of these names fits: one that is called exactly so comes first, then names that begin so.
function fitName(wanted, names, place = "") {
  const asked = folded(wanted);
  const called = names.filter(Boolean).map(folded);
  const weight = fit(wanted, [...names, place].join(" "));
  if (called.includes(asked)) return EXACT + (weight ?? 0);
  if (weight === null) return null;
  return weight + (called.some((name) => name.startsWith(asked)) ? BEGINS : 0);
}

function useItems(places, onClose) {
  const me = useMe();
  const { view, rest } = here();
  return useMemo(() => {
    const onPage = view === "page" && rest;
    const views = places.map(([name, text, key]) => ({
      group: "Go to",
      icon: name,
      name: text,
      hint: `g ${key}`,
      run: () => go(to(name)),
    }));
    const inside = ["days", "world", "globals", "channels", "notes", "skills", "sessions"].map((name) => ({
      group: "Go to",
      icon: "browse",
      name: `Browse ${name}`,
      run: () => go(to("browse", name)),
    }));
    const actions = [
      me.canWrite &&
        onPage && { icon: "edit", name: "Edit this page", hint: "e", run: () => go(toPage(rest, { edit: 1 })) },
      onPage && { icon: "history", name: "History of this page", run: () => go(toPage(rest, { history: 1 })) },
      me.canWrite && { icon: "plus", name: "Add a note to today", hint: "n", run: () => me.open("note"), stays: true },
      me.canWrite && { icon: "plus", name: "New page", run: () => me.open("new"), stays: true },
      me.status.may_export && { icon: "download", name: "Export all of memory", run: () => me.open("export"), stays: true },
      { icon: "auto", name: "Change theme: system, light, dark", run: nextTheme },
      { icon: "keyboard", name: "Keyboard shortcuts", hint: "?", run: () => me.open("help"), stays: true },
    ].filter(Boolean);
    const agents = (me.status.agents ?? [])
      .filter((name) => name !== me.status.agent)
      .map((name) => ({ group: "Agents", icon: "person", name: `Look as ${name}`, run: () => me.become(name) }));
    const homes = me.status.homes
      .filter(({ name }) => name !== me.status.memory)
      .map(({ name }) => ({
        group: "Memories",
        icon: "shelf",
        name: `Open the memory ${name || "default"}`,
        run: () => location.assign(toHome(name)),
      }));
    return [...actions.map((each) => ({ group: "Actions", ...each })), ...views, ...inside, ...agents, ...homes];
  }, [onClose]);
}

export function Palette({ onClose, places }) {
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  const items = useItems(places, onClose);
  const pages = useAsked((signal) => allPages(signal, 5), []);
  const delayed = useDelayed(wanted.trim(), 80);
  const hits = useAsked(
    (signal) => (delayed.length > 2 ? get("search", { q: delayed, limit: 5 }, signal) : null),
    [delayed],
  );
  const list = useRef(null);
  const shown = useMemo(
    () => choose(wanted, items, pages.data ?? [], hits.data?.results ?? []),
    [wanted, items, pages.data, hits.data],
  );
  useEffect(() => setAt(0), [wanted]);
  useEffect(
    () => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }),
    [at, shown],
  );
  const run = (item) => {
    if (!item) return;
    if (!item.stays) onClose();
    item.run();
  };
  const keys = (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) setAt((at + by + shown.length) % Math.max(1, shown.length));
    else if (event.key === "Enter") run(shown[at]);
    else return;
    event.preventDefault();
  };
  return html`<${Dialog} title="Go to anything" className="palette" onClose=${onClose}>
    <input autofocus role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list" aria-label="Pages, views, actions, agents"
      aria-activedescendant=${shown.length ? `palette-${at}` : null} placeholder="Pages, views, actions, agents" autocomplete="off" spellcheck="false"
      value=${wanted} onInput=${(event) => setWanted(event.target.value)} onKeyDown=${keys} />
    <ul id="palette-list" role="listbox" aria-label="What fits" ref=${list}>
      ${shown.map((item, index) => html`<li id=${`palette-${index}`} role="option" aria-selected=${index === at} onClick=${() => run(item)} onMouseMove=${() => index !== at && setAt(index)}>
        <${Icon} name=${item.icon} /><span class="palette-name">${item.name}</span>
          ${item.path && html`<span class="muted path">${item.path}</span>`}
        <span class="muted palette-group">${item.group}</span>${item.hint && html`<kbd>${item.hint}</kbd>`}</li>`,
      )}
    </ul>
    <p class="sr" role="status">${shown.length} choices</p>
    ${!shown.length && html`<p class="muted">No match.</p>`}
  <//>`;
}

function choose(wanted, items, pages, hits) {
  const open = (page, group) => ({
    group,
    icon: "book",
    name: page.title || page.path,
    path: page.title ? page.path : "",
    run: () => go(toPage(page.path, { from: page.from, to: page.to })),
  });
  if (!wanted.trim()) return [...items, ...pages.slice(0, 12).map((page) => open(page, "Pages"))].slice(0, SHOWN);
  const fits = [
    ...items.map((item) => [fitName(wanted, [item.name]), item]),
    ...pages.map((page) => [fitName(wanted, [page.title, page.path.split("/").at(-1)], page.path), page]),
  ].filter(([weight]) => weight !== null);
  fits.sort((a, b) => b[0] - a[0]);
  const named = fits.slice(0, SHOWN).map(([, item]) => (item.run ? item : open(item, "Pages")));
  const seen = new Set(named.map((item) => item.path));
  const question = {
    group: "Search",
    icon: "search",
    name: `Search for “${wanted.trim()}”`,
    run: () => go(to("search", "", { q: wanted.trim() })),
  };
  return [
    ...named.slice(0, 12),
    ...hits.filter((hit) => !seen.has(hit.path)).map((hit) => open(hit, "In the text")),
    question,
    ...named.slice(12),
  ];
}
