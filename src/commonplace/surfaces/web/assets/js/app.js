// The shell: who looks, the rail, and the view the address names.

import { html, render, useEffect, useErrorBoundary, useRef, useState } from "../vendor/preact.js";
import { get, onSignedOut } from "./api.js";
import { Browse } from "./browse.js";
import { follow, onLink } from "./changes.js";
import { Context } from "./context.js";
import { Export } from "./export.js";
import { Health } from "./health.js";
import { Help, NewPage, Note } from "./dialogs.js";
import { History } from "./history.js";
import { modifier, useKeys } from "./keys.js";
import { Map } from "./map.js";
import { Me, nextTheme, onTheme, theme, useMe } from "./me.js";
import { Page } from "./page.js";
import { Palette } from "./palette.js";
import { Previews } from "./previews.js";
import { go, to, toHome, useRoute } from "./router.js";
import { Search } from "./search.js";
import { Session } from "./session.js";
import { SignIn, enter, keepAgent, takeCode } from "./signin.js";
import { Busy, Icon, Sentence, Toasts, Trouble, useFreshness } from "./ui.js";

const PLACES = [
  ["search", "Search", "s"],
  ["browse", "Browse", "b"],
  ["context", "Context", "c"],
  ["health", "Health", "h"],
  ["map", "Map", "m"],
  ["history", "History", "t"],
];
const VIEWS = {
  search: Search,
  browse: Browse,
  context: Context,
  health: Health,
  map: Map,
  history: History,
  page: Page,
  session: Session,
};
const UNDER = { page: "browse", session: "browse" };

function Rail({ view, open }) {
  return html`<nav class="rail" aria-label="Views">
    <a class="brand" href=${to("search")}><${Icon} name="book" /><span>commonplace</span></a>
    <ul>
      ${PLACES.map(
        ([name, text, key]) => html`<li>
        <a href=${to(name)} aria-current=${(UNDER[view] || view) === name ? "page" : null} title=${`${text} (g then ${key})`}>
          <${Icon} name=${name} /><span>${text}</span></a></li>`,
      )}
    </ul>
    <div class="rail-foot"><${Foot} open=${open} /></div>
  </nav>`;
}

function Foot({ open }) {
  const me = useMe();
  return html`
    ${me.canWrite && html`<button type="button" class="primary" onClick=${() => open("note")}><${Icon} name="plus" />
      <span>Add a note</span></button>`}
    <button type="button" class="quiet wide" onClick=${() => open("palette")}><${Icon} name="search" />
      <span>Go to anything</span><kbd>${modifier} K</kbd></button>
    <${Homes} />
    <${Agents} />
    <div class="row">
      <${Theme} />
      <button type="button" class="quiet" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick=${() => open("help")}>
        <${Icon} name="keyboard" /></button>
    </div>`;
}

// Where a server has several memories: which one this is, and the others. What is typed and not saved stays with its own.
function Homes() {
  const { status } = useMe();
  const names = status.homes.map((home) => home.name);
  const called = (name) => name || "default";
  if (names.length < 2 && !status.memory) return null;
  if (names.length < 2)
    return html`<p class="who home" title=${status.home}><${Icon} name="shelf" /> <span>${called(status.memory)}</span></p>`;
  return html`<label class="who" title=${status.home}><${Icon} name="shelf" /><span class="sr">Memory</span>
    <select value=${status.memory} onChange=${(event) => {
      const name = event.target.value;
      event.target.value = status.memory; // should the person stay after all
      location.assign(toHome(name));
    }}>
      ${names.map((name) => html`<option value=${name}>${called(name)}</option>`)}
    </select></label>`;
}

function Agents() {
  const me = useMe();
  const names = me.status.agents ?? [];
  if (names.length < 2) return html`<p class="who"><${Icon} name="person" /> <span>${me.status.agent}</span></p>`;
  return html`<label class="who"><${Icon} name="person" /><span class="sr">Look as agent</span>
    <select value=${me.status.agent} onChange=${(event) => me.become(event.target.value)}>
      ${names.map((name) => html`<option value=${name}>${name}</option>`)}
    </select></label>`;
}

const THEMES = {
  auto: ["auto", "Theme: system"],
  light: ["sun", "Theme: light"],
  dark: ["moon", "Theme: dark"],
};

function Theme() {
  const [now, setNow] = useState(theme);
  useEffect(() => onTheme(() => setNow(theme())), []);
  const [icon, text] = THEMES[now];
  return html`<button type="button" class="quiet" aria-label=${`${text}. Change`} title=${text} onClick=${nextTheme}>
    <${Icon} name=${icon} /></button>`;
}

function Top({ open }) {
  const me = useMe();
  return html`<header class="top">
    <a class="brand" href=${to("search")} aria-label="commonplace: search"><${Icon} name="book" /></a>
    <${Homes} />
    <${Agents} />
    ${me.canWrite && html`<button type="button" class="quiet" aria-label="Add a note" onClick=${() => open("note")}>
      <${Icon} name="plus" /></button>`}
    <button type="button" class="quiet" aria-label="Go to anything" onClick=${() => open("palette")}>
      <${Icon} name="search" /></button>
    <${Theme} />
  </header>`;
}

// A view that fails takes neither the rail nor the text of an editor with it.
function View({ route }) {
  const [error, reset] = useErrorBoundary();
  useEffect(() => {
    if (error) reset();
  }, [route.view, route.rest]);
  if (error) {
    console.error(error);
    return html`<${Trouble} problem=${{ title: "This view failed", message: `${error.message}. Choose another view, or reload the page. Unsaved text is kept.` }} />`;
  }
  const Shown = VIEWS[route.view] || Nowhere;
  return html`<${Shown} key=${`${route.view}/${["page", "session"].includes(route.view) ? route.rest : ""}`} route=${route} />`;
}

const Nowhere = () =>
  html`<h1>No such view</h1><p>This address leads nowhere. <a href=${to("search")}>Search</a> instead.</p>`;

function Banners({ status }) {
  const [isUp, setUp] = useState(true);
  useEffect(() => onLink(setUp), []);
  return html`
    <div role="status">${!isUp && html`<p class="banner"><${Icon} name="warning" />
      The server is not responding. What you see may be out of date; what you type is kept in this tab.</p>`}</div>
    ${status.read_only && html`<p class="banner">
      <${Icon} name="info" /> This server is read-only: nothing can be changed here.</p>`}
    <${Warnings} first=${status.warnings ?? []} />`;
}

// What is wrong with memory, in one line however much it is; it goes once it is mended.
function Warnings({ first }) {
  const [texts, setTexts] = useState(first);
  useFreshness(() => first.length > 0 && get("status").then(({ warnings }) => setTexts(warnings), () => {}));
  if (!texts.length) return null;
  return html`<p class="banner"><${Icon} name="warning" />
    <span><${Sentence} text=${texts[0]} />${texts.length > 1 && html` <a href=${to("health")}>and ${texts.length - 1} more</a>`}</span></p>`;
}

// A new view begins at its top, and the next Tab goes into it, but for one that has put the cursor somewhere itself.
function useArrival(route) {
  const arrived = useRef(false);
  useEffect(() => {
    window.scrollTo(0, 0);
    const main = document.getElementById("main");
    if (arrived.current && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
    arrived.current = true;
  }, [route.view, route.rest]);
}

const DIALOGS = { palette: Palette, help: Help, note: Note, new: NewPage, export: Export };

function Shell({ status, setStatus }) {
  const route = useRoute();
  const [dialog, setDialog] = useState("");
  const become = async (name) => {
    keepAgent(name);
    setStatus(await enter(""));
    follow();
  };
  const me = {
    status,
    become,
    open: setDialog,
    canWrite: !status.read_only && ["write", "admin"].includes(status.role ?? "admin"),
  };
  useArrival(route);
  useKeys({
    "Mod+k": () => setDialog((last) => (last === "palette" ? "" : "palette")),
    "?": () => setDialog("help"),
    "/": () => (document.getElementById("question") ? document.getElementById("question").focus() : go(to("search"))),
    n: me.canWrite ? () => setDialog("note") : undefined,
    ...Object.fromEntries(PLACES.map(([name, , key]) => [`g ${key}`, () => go(to(name))])),
  });
  const Open = DIALOGS[dialog];
  return html`<${Me.Provider} value=${me}>
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("main").focus();
    }}>Skip to the content</a>
    <${Rail} view=${route.view} open=${setDialog} />
    <${Top} open=${setDialog} />
    <main id="main" tabindex="-1" key=${status.agent}>
      <${Banners} status=${status} />
      <${View} route=${route} />
    </main>
    ${Open && html`<${Open} onClose=${() => setDialog("")} places=${PLACES} />`}
    <${Previews} />
    <${Toasts} />
  <//>`;
}

function App({ code }) {
  const [status, setStatus] = useState(null);
  const [problem, setProblem] = useState(null);
  const begin = () => {
    setProblem(null);
    enter(code).then(setStatus, setProblem);
  };
  useEffect(() => {
    onSignedOut(() => {
      setStatus(null);
      setProblem({ status: 401 });
    });
    begin();
  }, []);
  useEffect(() => {
    if (status) follow();
  }, [!status]);
  if (status) return html`<${Shell} status=${status} setStatus=${setStatus} />`;
  if (problem?.status === 401) return html`<${SignIn} why=${problem} onEntered=${setStatus} />`;
  if (problem)
    return html`<main class="signin"><h1>commonplace</h1><${Trouble} problem=${problem} again=${begin} /></main>`;
  return html`<${Busy} what="Opening memory" />`;
}

const code = takeCode();
const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} code=${code} />`, root);
