// A glance at the page that a link leads to, while the pointer rests on it or the keyboard is on it. Escape closes it.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { page as read } from "./api.js";
import { onChange } from "./changes.js";
import { titleOf } from "./ui.js";

const LINKS = '.prose a[href^="#/page/"], .links a[href^="#/page/"]';
const REST = 350; // milliseconds until it opens
const LEAVE = 200; // and until it closes, so that the pointer can move into it
const SHOWN = 320; // characters
const KEPT = 60;
const known = new Map();
onChange((change) => (change.all ? known.clear() : known.delete(change.path)));

async function glance(path) {
  if (!known.has(path)) {
    const { title, text } = await read(path);
    if (known.size >= KEPT) known.delete(known.keys().next().value);
    known.set(path, { title, text: plain(text) });
  }
  return known.get(path);
}

// What a page says first: without front matter, headings, comments and the signs of Markdown.
function plain(text) {
  const body = text.replace(/^---\n[\s\S]*?\n---\n/, "").replace(/<!--[\s\S]*?-->/g, "");
  const said = body
    .split("\n")
    .filter((line) => line.trim() && !/^\s*(#|```|~~~|\|)/.test(line))
    .join("\n")
    .replace(/\*\*|`|\[\[|\]\]/g, "");
  return said.length > SHOWN ? `${said.slice(0, SHOWN).replace(/\s+\S*$/, "")} …` : said;
}

function pathIn(link) {
  const [path] = link.getAttribute("href").slice("#/page/".length).split("?");
  return path.split("/").map(decodeURIComponent).join("/");
}

export function Previews() {
  const [shown, setShown] = useState(null);
  const timer = useRef(0);
  const box = useRef(null);
  useEffect(() => {
    const listening = new AbortController();
    const on = (name, run) => document.addEventListener(name, run, { signal: listening.signal });
    const later = (milliseconds, run) => {
      clearTimeout(timer.current);
      timer.current = setTimeout(run, milliseconds);
    };
    let isPointed = false; // what the keyboard opened, the pointer does not close
    const close = () => (clearTimeout(timer.current), setShown(null));
    const open = (link, byPointer) => {
      isPointed = byPointer;
      later(REST, async () => {
        const found = await glance(pathIn(link)).catch(() => null);
        if (found && link.isConnected) setShown({ ...found, link, place: link.getBoundingClientRect() });
      });
    };
    on("pointerover", (event) => {
      const link = event.pointerType === "mouse" && event.target.closest?.(LINKS);
      if (link) open(link, true);
      else if (box.current?.contains(event.target)) clearTimeout(timer.current);
      else if (isPointed) later(LEAVE, close);
    });
    on("focusin", (event) => (event.target.matches?.(LINKS) ? open(event.target, false) : close()));
    on("keydown", (event) => event.key === "Escape" && close());
    on("pointerdown", (event) => box.current?.contains(event.target) || close());
    window.addEventListener("hashchange", close, { signal: listening.signal });
    window.addEventListener("scroll", close, { signal: listening.signal, passive: true });
    return () => (listening.abort(), clearTimeout(timer.current));
  }, []);
  useEffect(() => {
    shown?.link.setAttribute("aria-describedby", "preview");
    return () => shown?.link.removeAttribute("aria-describedby");
  }, [shown]);
  if (!shown) return null;
  return html`<div ref=${box} id="preview" class="preview" role="tooltip" style=${placed(shown.place)}>
    <strong>${titleOf(shown)}</strong>
    <p dir="auto">${shown.text || "This page is empty."}</p></div>`;
}

const WIDTH = 352;
const HEIGHT = 190;

function placed(place) {
  const left = Math.max(8, Math.min(place.left, document.documentElement.clientWidth - WIDTH - 8));
  const isBelow = place.bottom + HEIGHT < window.innerHeight;
  return isBelow
    ? { left: `${left}px`, top: `${place.bottom + 6}px` }
    : { left: `${left}px`, bottom: `${window.innerHeight - place.top + 6}px` };
}
