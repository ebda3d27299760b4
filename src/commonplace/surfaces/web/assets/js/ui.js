// The small parts that all views are made of. `Rendered` is the only place where HTML goes in as HTML, and it only ever
// gets what the server has sanitised.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { who } from "./api.js";
import { onChange } from "./changes.js";
import { useMe } from "./me.js";
import { to } from "./router.js";

const ICONS = {
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM20 20l-4.8-4.8",
  browse: "M4 5h5l2 2h9v12H4z",
  context: "M4 6h16M4 11h16M4 16h10",
  health: "M3 12h4l2.5-6 4 12 2.5-6h5",
  map: "M6 6m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M18 8m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M10 18m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M8 6.4l8 1.2M7 8l2.4 8M11.3 16.5l5.4-6.9",
  history: "M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.5M12 8v4.5l3 2",
  book: "M12 6.5C10 4.8 7 4.5 4 5.4v13c3-.9 6-.6 8 1.1 2-1.7 5-2 8-1.1v-13c-3-.9-6-.6-8 1.1zM12 6.5v13",
  edit: "M4 20l1-4L16.5 4.5l3 3L8 19zM14 7l3 3",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h10v11H9zM5 15V4h10",
  check: "M5 12.5l4.5 4.5L19 7.5",
  warning: "M12 4l9 16H3zM12 10v4.5M12 17v.5",
  info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5.5M12 7.5v.5",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  moon: "M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z",
  auto: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 3v18M12 7h6M12 11h8.5M12 15h8",
  keyboard: "M3 7h18v11H3zM7 11h.1M11 11h.1M15 11h.1M18 11h.1M8 15h8",
  undo: "M8 5L4 9l4 4M4 9h10a6 6 0 0 1 0 12h-4",
  pin: "M9 4h6l-1 6 3 3H7l3-3zM12 13v7",
  filter: "M4 6h16M7 12h10M10 18h4",
  back: "M14 6l-6 6 6 6",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  shelf: "M4 20h16M5 5h4v15H5zM9 8h4v12H9zM14.5 8.6l3.4-.9L21 19.2",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 20c1-4 4-6 8-6s7 2 8 6",
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${ICONS[name]} /></svg>`;
}

export function Rendered({ markup, className = "", inner }) {
  return html`<div ref=${inner} dir="auto" class=${`prose ${className}`} onClick=${leave} dangerouslySetInnerHTML=${{ __html: markup }} />`;
}

// A link that leads away opens beside this page, which keeps its place and tells nobody where it was.
function leave(event) {
  const link = event.target.closest("a[href]");
  if (!link || link.origin === location.origin) return;
  event.preventDefault();
  window.open(link.href, "_blank", "noopener,noreferrer");
}

// A value that is asked for: the last one stays while the next is on its way, and an older answer never wins.
export function useAsked(load, deps) {
  const [state, setState] = useState({ data: null, problem: null, busy: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setState((last) => ({ ...last, busy: true }));
    Promise.resolve(load(stop.signal)).then(
      (data) => stop.signal.aborted || setState({ data, problem: null, busy: false }),
      (problem) => stop.signal.aborted || setState((last) => ({ ...last, problem, busy: false })),
    );
    return () => stop.abort();
  }, [...deps, turn]);
  return { ...state, again: () => setTurn((last) => last + 1) };
}

export function useChanges(listener, deps) {
  useEffect(() => onChange(listener), deps);
}

// Called again a moment after pages changed, however many did.
export function useFreshness(again) {
  const timer = useRef(0);
  useChanges(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(again, 400);
  }, []);
}

export function useDelayed(value, milliseconds) {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return delayed;
}

export function useTitle(title) {
  useEffect(() => {
    document.title = [title, who.home, "commonplace"].filter(Boolean).join(" · ");
  }, [title]);
}

// `code` in a sentence of ours or of the server, and the rest as text.
export function Sentence({ text }) {
  return String(text)
    .split(/(`[^`]+`)/)
    .map((part) => (part.startsWith("`") && part.length > 2 ? html`<code>${part.slice(1, -1)}</code>` : part));
}

export function Trouble({ problem, again }) {
  if (!problem) return null;
  return html`<div class="trouble" role="alert">
    <${Icon} name="warning" />
    <div>
      ${problem.title && html`<strong>${problem.title}</strong>`}
      <p><${Sentence} text=${problem.message} /></p>
      ${again && html`<button type="button" onClick=${again}>Try again</button>`}
    </div>
  </div>`;
}

// A command that says which memory it means, where the page shows one of several.
function meant(text, me) {
  const place = me?.status.home;
  if (!who.home || !place) return text;
  const quoted = /^[\w./-]+$/.test(place) ? place : `'${place.replaceAll("'", "'\\''")}'`;
  return text.replace(/^commonplace /, `commonplace --home ${quoted} `);
}

export function Command({ text: said }) {
  const text = meant(said, useMe());
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text).catch(() => {});
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return html`<div class="command">
    <code>${text}</code>
    <button type="button" class="quiet" onClick=${copy} aria-label=${copied ? "Copied" : `Copy the command ${text}`}>
      <${Icon} name=${copied ? "check" : "copy"} />
    </button>
  </div>`;
}

export function Empty({ title, children, command, icon = "book" }) {
  return html`<div class="empty">
    <${Icon} name=${icon} />
    <h2>${title}</h2>
    <div>${children}</div>
    ${[command]
      .flat()
      .filter(Boolean)
      .map((each) => html`<${Command} text=${each} />`)}
  </div>`;
}

export function Busy({ what = "Loading" }) {
  return html`<p class="busy" role="status"><span class="spinner" aria-hidden="true"></span>${what}…</p>`;
}

export function Dialog({ title, onClose, children, className = "" }) {
  const box = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    if (!box.current.open) box.current.showModal();
    return () => before?.focus?.();
  }, []);
  return html`<dialog ref=${box} class=${className} aria-label=${title} onClose=${onClose}
    onClick=${(event) => event.target === box.current && onClose()}>
    <div class="dialog-body">
      <header><h2>${title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button></header>
      ${children}
    </div>
  </dialog>`;
}

// Short news at the foot of the page, read out by screen readers.
const toasts = new Set();
export const tell = (text, action) => toasts.forEach((show) => show({ text, action, id: performance.now() }));

export function Toasts() {
  const [shown, setShown] = useState([]);
  useEffect(() => {
    const show = (toast) => {
      setShown((last) => [...last.slice(-2), toast]);
      const time = 6000 + 60 * Math.max(0, toast.text.length - 40); // to read it in
      setTimeout(() => setShown((last) => last.filter((each) => each !== toast)), time);
    };
    toasts.add(show);
    return () => toasts.delete(show);
  }, []);
  return html`<div class="toasts" role="status" aria-live="polite">
    ${shown.map(
      (toast) => html`<div class="toast" key=${toast.id}><span><${Sentence} text=${toast.text} /></span>
      ${
        toast.action &&
        html`<button type="button" class="quiet" onClick=${() => {
          toast.action.run();
          setShown([]);
        }}>${toast.action.label}</button>`
      }
    </div>`,
    )}
  </div>`;
}

export const number = (value) => Number(value ?? 0).toLocaleString("en");

export function bytes(value) {
  const units = ["B", "KB", "MB", "GB"];
  let size = Number(value ?? 0);
  let unit = 0;
  for (; size >= 1000 && unit < 3; unit++) size /= 1000;
  return `${size < 10 && unit ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

const DAY = 86400000;
const STEPS = [
  ["year", 365 * DAY],
  ["month", 30 * DAY],
  ["week", 7 * DAY],
  ["day", DAY],
  ["hour", 3600000],
  ["minute", 60000],
];
const relative = new Intl.RelativeTimeFormat("en");
const byName = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const midnight = (moment) => new Date(moment).setHours(0, 0, 0, 0);

// How long ago something was: in calendar days from a day on, so that the evening before last is not "yesterday".
export function ago(at) {
  const elapsed = new Date(at) - Date.now();
  if (Number.isNaN(elapsed)) return at;
  const days = Math.round((midnight(at) - midnight(Date.now())) / DAY);
  const since = Math.abs(elapsed) < DAY ? elapsed : days * DAY;
  for (const [unit, length] of STEPS)
    if (Math.abs(since) >= length) return (unit === "day" ? byName : relative).format(Math.round(since / length), unit);
  return "just now";
}

export function day(date, options = { weekday: "short", day: "numeric", month: "short", year: "numeric" }) {
  const found = new Date(`${String(date).slice(0, 10)}T12:00:00`);
  return Number.isNaN(+found) ? String(date) : found.toLocaleDateString("en-GB", options);
}

// A page as it is called; a day as a date.
export const titleOf = ({ title, path }) => (/^\d{4}-\d\d-\d\d$/.test(title) ? day(title) : title || path);

export function When({ at }) {
  if (!at) return null;
  const dated = /^\d{4}-\d\d-\d\d$/.test(at);
  return html`<time datetime=${at} title=${at}>${dated ? day(at) : ago(at)}</time>`;
}

export function plural(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

// Scopes and kinds look the same everywhere they are named.
export function Chip({ kind, children }) {
  return html`<span class=${`chip chip-${String(kind ?? "").split(":")[0]}`}>${children ?? kind}</span>`;
}

// Where a page or a folder is. Each folder above it leads to what is in that folder.
export function Crumbs({ path }) {
  const parts = path.split("/");
  return html`<nav class="crumbs" aria-label="Location"><a href=${to("browse")}>Pages</a>
    ${parts.slice(0, -1).map((part, at) => html`<a key=${at} href=${to("browse", "", { folder: parts.slice(0, at + 1).join("/") })}>${part}</a>`)}<span>${parts.at(-1)}</span></nav>`;
}

export function Tabs({ label, tabs, current }) {
  const bar = useRef(null);
  useEffect(() => {
    const at = bar.current.querySelector("[aria-current]"); // on a phone it may be out of sight
    if (at) bar.current.scrollLeft = at.offsetLeft - bar.current.offsetLeft - 16;
  }, [current, tabs.map(([, , , count]) => count).join()]);
  return html`<nav class="tabs" aria-label=${label} ref=${bar}><ul>
    ${tabs.map(
      ([name, text, href, count]) => html`<li><a href=${href} aria-current=${name === current ? "page" : null}>
      ${text}${count !== undefined && html` <span class="count">${number(count)}</span>`}</a></li>`,
    )}
  </ul></nav>`;
}
