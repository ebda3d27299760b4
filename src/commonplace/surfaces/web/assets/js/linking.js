// While `[[` is open in the editor: the pages it may mean. Arrows choose, Enter or Tab takes, Escape lets be.

import { html, useEffect, useMemo, useState } from "../vendor/preact.js";
import { allPages } from "./api.js";
import { fit } from "./palette.js";
import { useAsked } from "./ui.js";

const SHOWN = 6;
const OPEN = /\[\[([^[\]\n|#]{0,80})$/;

const nameOf = (path) => path.replace(/\.md$/, "").split("/").at(-1);

// What is written between the brackets: the name alone where only one page has it.
function written(path, pages) {
  const same = pages.filter((page) => nameOf(page.path).toLowerCase() === nameOf(path).toLowerCase());
  return same.length > 1 ? path.replace(/\.md$/, "") : nameOf(path);
}

export function useLinking(field, onType) {
  const [open, setOpen] = useState(null);
  const [at, setAt] = useState(0);
  const pages = useAsked((signal) => (open ? allPages(signal, 5) : null), [open !== null]).data ?? [];
  const shown = useMemo(() => (open ? choose(open.name, pages) : []), [open?.name, pages]);
  useEffect(() => setAt(0), [open?.name]);
  const look = () => {
    const { value, selectionStart, selectionEnd } = field.current;
    const found =
      selectionStart === selectionEnd && OPEN.exec(value.slice(Math.max(0, selectionStart - 90), selectionStart));
    setOpen(found ? { name: found[1], caret: selectionStart } : null);
  };
  const take = (page) => {
    const { value } = field.current;
    const before = value.slice(0, open.caret - open.name.length) + written(page.path, pages);
    onType(`${before}]]${value.slice(open.caret).replace(/^\]\]/, "")}`);
    setOpen(null);
    requestAnimationFrame(() => {
      field.current.focus();
      field.current.setSelectionRange(before.length + 2, before.length + 2);
    });
  };
  const keys = (event) => {
    if (!shown.length || event.ctrlKey || event.metaKey || event.isComposing) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) setAt((at + by + shown.length) % shown.length);
    else if (event.key === "Enter" || event.key === "Tab") take(shown[at]);
    else if (event.key === "Escape") setOpen(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return { shown, at, look, keys, take };
}

function choose(name, pages) {
  const fits = pages
    .filter((page) => page.path.endsWith(".md"))
    .map((page) => [fit(name, `${page.title ?? ""} ${page.path}`), page])
    .filter(([weight]) => weight !== null);
  return fits
    .sort((a, b) => b[0] - a[0])
    .slice(0, SHOWN)
    .map(([, page]) => page);
}

export function Pages({ linking }) {
  const { shown, at, take } = linking;
  if (!shown.length) return null;
  return html`<ul id="linking" class="linking" role="listbox" aria-label="Pages to link to">
    ${shown.map(
      (page, index) => html`<li id=${`linking-${index}`} key=${page.path} role="option" aria-selected=${index === at}
        onMouseDown=${(event) => (event.preventDefault(), take(page))}>${page.title || nameOf(page.path)} <span class="muted path">${page.path}</span></li>`,
    )}
  </ul>`;
}
