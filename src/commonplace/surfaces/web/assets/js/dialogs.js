// Small windows over the page: a note for today, a new page, the keys.

import { html, useState } from "../vendor/preact.js";
import { own, savePage, tool } from "./api.js";
import { keysAreOn, modifier, switchKeys } from "./keys.js";
import { go, toPage } from "./router.js";
import { Dialog, Trouble, tell } from "./ui.js";

const DRAFT = own("commonplace-note");

export function Note({ onClose }) {
  const [text, setText] = useState(sessionStorage.getItem(DRAFT) || "");
  const [problem, setProblem] = useState(null);
  const type = (value) => {
    setText(value);
    sessionStorage.setItem(DRAFT, value);
  };
  const save = async () => {
    if (!text.trim()) return;
    try {
      await tool("remember", { content: text }, "journal");
      sessionStorage.removeItem(DRAFT);
      tell("Added to today");
      onClose();
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<${Dialog} title="Add a note to today" onClose=${onClose}>
    <form onSubmit=${(event) => {
      event.preventDefault();
      save();
    }}
      onKeyDown=${(event) => (event.ctrlKey || event.metaKey) && ["Enter", "s"].includes(event.key) && (event.preventDefault(), save())}>
      <label for="note">What should be remembered? You can use Markdown and #tags.</label>
      <textarea id="note" dir="auto" rows="6" autofocus value=${text} onInput=${(event) => type(event.target.value)}></textarea>
      <${Trouble} problem=${problem} />
      <footer><span class="muted">${modifier} Enter</span><button type="submit" class="primary">Remember</button></footer>
    </form>
  <//>`;
}

export function NewPage({ onClose }) {
  const [path, setPath] = useState("memory/world/");
  const [problem, setProblem] = useState(null);
  const make = async (event) => {
    event.preventDefault();
    const name = path
      .trim()
      .replace(/^\/+/, "")
      .replace(/(\.md)?$/, ".md");
    const title = name.split("/").at(-1).replace(/\.md$/, "").replaceAll("-", " ");
    try {
      await savePage(name, `# ${title}\n\n`, "");
      onClose();
      go(toPage(name, { edit: 1 }));
    } catch (error) {
      setProblem(
        error.status === 412
          ? { title: "This page already exists", message: "Choose another name, or edit the existing page." }
          : error,
      );
    }
  };
  return html`<${Dialog} title="New page" onClose=${onClose}>
    <form onSubmit=${make}>
      <label for="new-path">Path</label>
      <input id="new-path" autofocus value=${path} onInput=${(event) => setPath(event.target.value)} aria-describedby="new-hint" />
      <p class="muted" id="new-hint">
        <code>memory/world/topic.md</code> is known to all agents; anything under <code>memory/</code> is searched.</p>
      <${Trouble} problem=${problem} />
      <footer><button type="submit" class="primary">Create page</button></footer>
    </form>
  <//>`;
}

const KEYS = [
  ["/", "Search"],
  [`${modifier} K`, "Go to anything: pages, views, actions, agents"],
  ["j k", "Move through hits and lists"],
  ["Enter", "Open"],
  ["g then s b c h m t", "Search, browse, context, health, map, history"],
  ["n", "Add a note to today"],
  ["e", "Edit the page, or fix a sentence"],
  ["y x", "Keep or forget a sentence"],
  ["[ ]", "The day before, the day after"],
  [`${modifier} S`, "Save"],
  ["Escape", "Close, or leave the editor"],
  ["?", "This list"],
];

export function Help({ onClose }) {
  const [on, setOn] = useState(keysAreOn());
  const change = (event) => {
    switchKeys(event.target.checked);
    setOn(event.target.checked);
  };
  return html`<${Dialog} title="Keyboard shortcuts" onClose=${onClose}>
    <dl class="keys">${KEYS.map(([keys, what]) => html`<div><dt>
      ${keys.split(" ").map((key) => (key === "then" ? " then " : html`<kbd>${key}</kbd> `))}</dt><dd>${what}</dd></div>`)}</dl>
    <label class="check"><input type="checkbox" checked=${on} onChange=${change} /> Single-key shortcuts</label>
    <p class="muted">Memory is Markdown on your disk: what you see here, an editor and your agents see too.</p>
  <//>`;
}
