// Beside a page: its links, what is about the same, what mentions it; and of a day, the ones before and after.

import { html } from "../vendor/preact.js";
import { get, pathOf } from "./api.js";
import { useKeys } from "./keys.js";
import { go, to, toPage } from "./router.js";
import { marked } from "./search.js";
import { Icon, day, titleOf, useAsked, useFreshness } from "./ui.js";

export function useBeside(path, isShown) {
  const { data, again } = useAsked(
    (signal) => (isShown ? get(`related/${pathOf(path)}`, {}, signal).catch(() => null) : null),
    [path, isShown],
  );
  useFreshness(again);
  return data;
}

export function Beside({ page, found }) {
  const links = page.links ?? [];
  return html`<aside class="links" aria-label="What belongs to it">
    ${links.length > 0 && html`<h2>Links</h2><ul class="plain">${links.map((link) => html`<li><${Linked} link=${link} /></li>`)}</ul>`}
    <${Rows} title="Mentioned in" rows=${found?.mentions ?? []} />
    <${Rows} title="Related" rows=${found?.related ?? []} />
    <p><a href=${to("map", "", { node: page.path })}>On the map</a></p>
  </aside>`;
}

function Linked({ link }) {
  if (link.path) return html`<a href=${toPage(link.path)}>${link.text || link.path}</a>`;
  return html`<span class="muted">${link.text || link.target}: no such page yet</span>`;
}

const FEW = 6;

function Rows({ title, rows }) {
  if (!rows.length) return null;
  const row = (each) => html`<li key=${each.path}><a href=${toPage(each.path, { from: each.from, to: each.to })}>${titleOf(each)}</a>
    <p class="muted glance" dir="auto">${marked(each.text, [])}</p></li>`;
  return html`<h2>${title} <span class="count">${rows.length}</span></h2>
    <ul class="plain beside">${rows.slice(0, FEW).map(row)}</ul>
    ${rows.length > FEW && html`<details><summary>${rows.length - FEW} more</summary><ul class="plain beside">${rows.slice(FEW).map(row)}</ul></details>`}`;
}

// The days around a day, by links and by the keys [ and ].
export function Neighbours({ path, found }) {
  const { previous, next } = found ?? {};
  useKeys({
    "[": previous ? () => go(toPage(previous.path)) : undefined,
    "]": next ? () => go(toPage(next.path)) : undefined,
  });
  if (!found && /\d{4}-\d\d-\d\d\.md$/.test(path)) return html`<div class="neighbours"></div>`; // nothing moves when they come
  if (!previous && !next) return null;
  return html`<nav class="row neighbours" aria-label="Days around it">
    ${previous && html`<a class="button quiet" href=${toPage(previous.path)} title="The day before ([)"><${Icon} name="back" /> ${day(previous.title)}</a>`}
    ${next && html`<a class="button quiet next" href=${toPage(next.path)} title="The day after (])">${day(next.title)} <span class="turned"><${Icon} name="back" /></span></a>`}
  </nav>`;
}
