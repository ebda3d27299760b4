// Where the page is: `#/view/rest?params`. The address alone says what is shown, so that it can be kept and shared.

import { useEffect, useState } from "../vendor/preact.js";
import { pathOf } from "./api.js";

export function here() {
  const [path, params] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...rest] = path.split("/").map(decoded);
  return { view: view || "search", rest: rest.join("/"), params: new URLSearchParams(params || "") };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function to(view, rest = "", params = {}) {
  const kept = Object.entries(params).flatMap(([name, value]) =>
    [value]
      .flat()
      .filter((each) => each !== "" && each !== undefined && each !== null)
      .map((each) => [name, each]),
  );
  const query = new URLSearchParams(kept).toString();
  return `#/${view}${rest ? `/${pathOf(rest)}` : ""}${query ? `?${query}` : ""}`;
}

export const toPage = (path, params) => to(path.endsWith(".jsonl") ? "session" : "page", path, params);

// A place in a page as receipts and hits name it: path#L3-L5.
export function toSource(source) {
  const [, path, from, end] = /^([^#\s]+)(?:#L(\d+)(?:-L(\d+))?)?/.exec(source) || [];
  return path && /\.(md|jsonl)$/.test(path) ? toPage(path, { from, to: end }) : "";
}

// The same view of another memory: its name stands before the hash, so that every link, and going back, keeps it.
export function toHome(name, hash = to({ page: "browse", session: "browse" }[here().view] ?? here().view)) {
  return `${location.pathname}${name ? `?home=${encodeURIComponent(name)}` : ""}${hash}`;
}

export function go(hash, { replace = false } = {}) {
  if (hash === location.hash) return;
  if (!replace) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, "", hash);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

// Show what a form of a view asks for in the address. An effect may run after the click on a link: where that link leads stays.
export function replaceParams(view, params) {
  const now = here();
  if (now.view === view) go(to(view, now.rest, params), { replace: true });
}

export function useRoute() {
  const [route, setRoute] = useState(here);
  useEffect(() => {
    const changed = () => setRoute(here());
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  return route;
}
