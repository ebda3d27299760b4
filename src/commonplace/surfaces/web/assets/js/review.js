// Facts that may not hold, with both sides and one key for each answer: n, o, b, l. A person decides.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { get, post } from "./api.js";
import { useKeys } from "./keys.js";
import { useMe } from "./me.js";
import { toPage } from "./router.js";
import { marked } from "./search.js";
import { Trouble, When, plural, useAsked } from "./ui.js";

const ANSWERS = {
  new: ["n", "The new one is true"],
  old: ["o", "The old one is true"],
  both: ["b", "Both are true"],
  later: ["l", "Ask later"],
};
const TITLES = { replaced: "Is the old one still true?", over: "This is over", stale: "Its file changed. Is it still true?" };

// `isReady`: what comes before it has been loaded, so that comparing facts keeps nothing waiting.
export function Review({ isReady }) {
  const me = useMe();
  const { data, problem, again } = useAsked((signal) => (isReady ? get("review", {}, signal) : null), [isReady]);
  const [failed, setFailed] = useState(null);
  const list = useRef(null);
  const isAnswered = useRef(false);
  const open = data?.open ?? [];
  // After an answer, the next question has the keys.
  useEffect(() => {
    if (isAnswered.current && open.length) list.current?.querySelector(".doubt")?.focus();
    isAnswered.current = false;
  }, [data]);
  const answer = (doubt, value) => {
    if (!me.canWrite || !doubt.answers.includes(value)) return;
    setFailed(null);
    isAnswered.current = true;
    post("review", { id: doubt.id, answer: value }).then(again, (error) => (setFailed(error), again()));
  };
  const current = () => open.find((doubt) => doubt.id === document.activeElement?.closest?.(".doubt")?.dataset.id);
  // Only while a question has the focus: elsewhere these keys mean other things.
  const key = (value) => (current() ? () => answer(current(), value) : undefined);
  useKeys(
    {
      get n() {
        return key("new");
      },
      get o() {
        return key("old");
      },
      get b() {
        return key("both");
      },
      get l() {
        return key("later");
      },
    },
    me.canWrite && open.length > 0,
  );
  if (!open.length && !problem && !failed) return null;
  return html`<section aria-label="Facts to decide on" ref=${list}><h2>${plural(data?.count ?? 0, "fact")} to decide on</h2>
    <${Trouble} problem=${problem ?? failed} again=${again} />
    ${open.map((doubt) => html`<${Doubt} key=${doubt.id} doubt=${doubt} answer=${answer} canWrite=${me.canWrite} />`)}
    ${data && data.count > open.length && html`<p class="muted">and ${data.count - open.length} more, once these are decided</p>`}
  </section>`;
}

function Doubt({ doubt, answer, canWrite }) {
  const name = `${TITLES[doubt.kind]} ${doubt.older.text}`;
  return html`<article class="card doubt" tabindex="0" data-id=${doubt.id} aria-label=${name}>
    <h3>${TITLES[doubt.kind]}</h3><p class="muted">${doubt.newer ? `The new one ${doubt.reason}` : doubt.reason}</p>
    <div class="sides">${doubt.newer && html`<${Side} name="New" side=${doubt.newer} />`}
      <${Side} name=${doubt.newer ? "Old" : "Note"} side=${doubt.older} isOld=${doubt.newer != null} /></div>
    ${canWrite && html`<div class="row">${doubt.answers.map(
      (value) => html`<button type="button" onClick=${() => answer(doubt, value)}>${doubt.newer || value === "later" ? ANSWERS[value][1] : "It is still true"} <kbd>${ANSWERS[value][0]}</kbd></button>`,
    )}</div>`}
  </article>`;
}

function Side({ name, side, isOld }) {
  const [path, lines] = side.citation.split("#L");
  const [from, to] = lines.split("-L");
  return html`<div class="side"><strong>${name}</strong>
    <p class=${isOld ? "side-text was" : "side-text"} dir="auto">${marked(side.text, [])}</p>
    <p class="muted"><a href=${toPage(path, { from, to })}>${path}</a> <${When} at=${side.at} />${side.author && html` by ${side.author}`}</p></div>`;
}
