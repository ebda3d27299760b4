// Two wrote the same page: what both did where they did not meet, and a choice where they did.

import { html, useState } from "../vendor/preact.js";
import { Diff, diff } from "./diff.js";
import { Icon, Trouble, plural } from "./ui.js";

const CHOICES = [
  ["theirs", "Theirs"],
  ["mine", "Mine"],
  ["both", "Both"],
];

const ended = (text) => (!text || text.endsWith("\n") ? text : `${text}\n`);

// The whole text, once each place has its choice. Until then both sides stand there, theirs first.
function textOf(parts, choices) {
  const conflicts = parts.filter((part) => part.kind === "conflict");
  return parts
    .map((part) => {
      if (part.kind !== "conflict") return part.text;
      const choice = choices[conflicts.indexOf(part)] || "both";
      const { theirs = "", mine = "" } = part;
      return choice === "both" ? ended(theirs) + mine : choice === "mine" ? mine : theirs;
    })
    .join("");
}

export function Merge({ path, base, mine, found, onBack, onSave, problem }) {
  const parts = found.parts ?? [{ kind: "same", text: found.text }];
  const conflicts = parts.filter((part) => part.kind === "conflict");
  const [choices, setChoices] = useState(() => conflicts.map(() => ""));
  const [own, setOwn] = useState(null);
  const whole = own ?? (conflicts.length ? textOf(parts, choices) : found.text);
  const open = own === null && choices.some((choice) => !choice);
  const choose = (index, choice) => {
    setOwn(null);
    setChoices(choices.map((last, at) => (at === index ? choice : last)));
  };
  return html`<article class="merge">
    <header class="view-head"><div><p class="path muted">${path}</p><h1>Merge two edits</h1></div>
      <div class="row"><button type="button" onClick=${onBack}>Back to my text</button>
        <button type="button" class="primary" disabled=${open} onClick=${() => onSave(whole)}>Save the merged text</button>
          </div></header>
    <p role="status">${found.gone ? "The page has been removed. Saving creates it again, with your text." : !conflicts.length ? "Both sets of changes fit together. Nothing is lost." : `The changes conflict in ${plural(conflicts.length, "place")}: choose what to keep there.`}</p>
    <${Trouble} problem=${problem} />
    ${conflicts.map((part, index) => html`<${Conflict} key=${index} part=${part} index=${index} choice=${choices[index]} onChoose=${choose} />`)}
    <h2>Merged</h2>
    <textarea class="merged" aria-label="Merged text" value=${whole} onInput=${(event) => setOwn(event.target.value)}></textarea>
    <details><summary>What they changed</summary>
      <${Diff} label="What they changed" rows=${diff(base, found.theirs ?? "")} /></details>
    <details><summary>What I changed</summary><${Diff} label="What I changed" rows=${diff(base, mine)} /></details>
  </article>`;
}

function Conflict({ part, index, choice, onChoose }) {
  const side = (name, label, text) =>
    html`<div class=${`side ${choice === name || choice === "both" ? "is-chosen" : ""}`}><h3>${label}</h3>
      <pre tabindex="0" aria-label=${`${label}, place ${index + 1}`}>${text || "(nothing)"}</pre></div>`;
  return html`<section class="conflict" aria-label=${`Place ${index + 1}`}>
    <div class="sides">${side("theirs", "Theirs", part.theirs)}${side("mine", "Mine", part.mine)}</div>
    <div class="row" role="group" aria-label=${`What to keep in place ${index + 1}`}>
      ${CHOICES.map(([name, label]) => html`<button type="button" aria-pressed=${choice === name} onClick=${() => onChoose(index, name)}>
        ${choice === name && html`<${Icon} name="check" />`} ${label}</button>`)}
    </div>
  </section>`;
}
