// A transcript, read as the conversation it was.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { get, pathOf } from "./api.js";
import { to } from "./router.js";
import { Busy, Empty, Rendered, Trouble, plural, useAsked, useTitle } from "./ui.js";

const AT_ONCE = 200; // turns drawn before one asks for more

export function Session({ route }) {
  const path = route.rest;
  const { data, problem, again } = useAsked((signal) => get(`sessions/${pathOf(path)}`, {}, signal), [path]);
  const name = path
    .split("/")
    .at(-1)
    .replace(/\.jsonl$/, "");
  const from = Number(route.params.get("from")) || 0;
  const until = Number(route.params.get("to")) || from;
  const [most, setMost] = useState(AT_ONCE);
  const turns = useMemo(() => (Array.isArray(data) ? data : data?.turns) ?? [], [data]);
  const list = useRef(null);
  useTitle(name);
  const found = turns.findIndex((turn) => from && turn.line >= from);
  useEffect(() => {
    if (found >= most) setMost(found + 20);
    else list.current?.querySelector(".found")?.scrollIntoView({ block: "center" });
  }, [turns, most]);
  return html`<article class="session">
    <nav class="crumbs" aria-label="Location"><a href=${to("browse", "sessions")}>Sessions</a></nav>
    <h1>${data?.title || name}</h1>
    <p class="muted path">${path}${data && ` · ${plural(turns.length, "turn")}`}</p>
    <${Trouble} problem=${problem} again=${again} />
    ${!data && !problem && html`<${Busy} />`}
    ${data && !turns.length && html`<${Empty} title="No turns">
      <p>The transcript has no readable turns.</p><//>`}
    <ol class="turns" ref=${list}>${turns.slice(0, most).map((turn, index) => html`<${Turn} key=${index} turn=${turn} found=${from > 0 && turn.line >= from && turn.line <= until} />`)}</ol>
    ${turns.length > most && html`<button type="button" onClick=${() => setMost(most + AT_ONCE)}>Show more (${turns.length - most} left)</button>`}
  </article>`;
}

function Turn({ turn, found }) {
  const role = turn.role === "user" || turn.role === "human" ? "user" : "agent";
  return html`<li class=${`turn turn-${role} ${found ? "found" : ""}`}>
    <p class="turn-who"><strong>${turn.name || turn.role}</strong> ${turn.at && html`<time datetime=${turn.at} class="muted">${String(turn.at).slice(0, 16).replace("T", " ")}</time>`}</p>
    ${turn.html ? html`<${Rendered} markup=${turn.html} />` : html`<p class="turn-text" dir="auto">${turn.text}</p>`}
  </li>`;
}
