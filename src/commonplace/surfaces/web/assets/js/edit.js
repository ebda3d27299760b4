// The editor: source and what it becomes side by side. It saves only over what was read; when somebody was faster, both
// texts go into a merge and nothing is lost.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { page as read, post, savePage } from "./api.js";
import { draftOf, dropDraft, keepDraft } from "./draft.js";
import { modifier, useKeys } from "./keys.js";
import { Pages, useLinking } from "./linking.js";
import { Merge } from "./merge.js";
import { Icon, Rendered, Trouble, ago, tell, useAsked, useDelayed, useTitle } from "./ui.js";

export function Edit({ path, page, gone, onDone }) {
  const [kept] = useState(() => draftOf(path));
  const [base, setBase] = useState(kept?.base ?? { text: page.text, version: page.version });
  const [text, setText] = useState(kept?.text ?? page.text);
  const [problem, setProblem] = useState(null);
  const [merge, setMerge] = useState(null);
  const [saving, setSaving] = useState(false);
  const dirty = text !== base.text;
  useTitle(`${dirty ? "• " : ""}${page.title || path}`);
  useUnload(dirty);
  const type = (value) => {
    setText(value);
    if (value === base.text) dropDraft(path);
    else if (!keepDraft(path, value, base))
      setProblem({
        title: "No space left in this tab",
        message: "Save before you leave: there is no room to keep unsaved text.",
      });
  };
  const done = (said) => {
    dropDraft(path);
    tell(said);
    onDone();
  };
  const save = async (what = text, from = base) => {
    if (saving) return;
    setSaving(true);
    setProblem(null);
    try {
      const saved = await savePage(path, what, from.version);
      done(["Saved", saved.conflict, saved.warning].filter(Boolean).join(". "));
    } catch (error) {
      if (error.status === 412) await meet(path, from, what).then(setMerge, setProblem);
      else setProblem(error);
    }
    setSaving(false);
  };
  // What was merged holds theirs already: should somebody be faster once more, that is where the next merge begins.
  const saveMerged = (whole) => {
    const now = { text: merge.theirs, version: merge.current };
    setBase(now);
    setText(whole);
    keepDraft(path, whole, now);
    save(whole, now);
  };
  const leave = () => (
    dirty ? tell("Your text is kept in this tab. Edit again to continue.") : dropDraft(path),
    onDone()
  );
  useKeys({ "Mod+s": () => (merge ? null : save()), Escape: merge ? undefined : leave });
  if (merge)
    return html`<${Merge} key=${merge.current} path=${path} base=${base.text} mine=${text} found=${merge}
      onBack=${() => setMerge(null)}
      onSave=${saveMerged} problem=${problem} />`;
  return html`<article class="edit">
    <header class="view-head"><div><p class="path muted">${path}</p><h1>Edit ${page.title || path.split("/").at(-1)}</h1></div>
      <div class="row"><span class="muted" role="status">${dirty ? "Not saved yet" : "No changes"}</span>
        <button type="button" onClick=${leave}>Close</button>
        <button type="button" class="primary" disabled=${!dirty || saving} onClick=${() => save()}>Save <kbd>${modifier} S</kbd>
          </button></div></header>
    <${Trouble} problem=${problem} />
    <${Notice} kept=${kept} gone=${gone} moved=${page.version !== base.version} dirty=${dirty}
      onLook=${async () => setMerge(await meet(path, base, text).catch(setProblem))}
      onReload=${async () => {
        const now = await read(path);
        setBase({ text: now.text, version: now.version });
        setText(now.text);
        dropDraft(path);
      }} />
    <${Panes} path=${path} text=${text} onType=${type} />
  </article>`;
}

// What both sides made of it, from the server. Where the page is gone, mine stands alone; where nobody knows any more
// what both began from, all of both is one place to choose at.
async function meet(path, base, text) {
  try {
    const met = await post("merge", { path, base: base.version, text });
    return met.current ? met : { text, current: "", theirs: "", gone: true };
  } catch (error) {
    if (error.status !== 404) throw error;
    const now = await read(path);
    return {
      text,
      current: now.version,
      theirs: now.text,
      parts: [{ kind: "conflict", theirs: now.text, mine: text }],
    };
  }
}

function useUnload(dirty) {
  useEffect(() => {
    const stay = (event) => event.preventDefault();
    if (dirty) window.addEventListener("beforeunload", stay);
    return () => window.removeEventListener("beforeunload", stay);
  }, [dirty]);
}

function Notice({ kept, gone, moved, dirty, onLook, onReload }) {
  if (gone)
    return html`<div class="banner" role="alert">
      <${Icon} name="warning" /> <span>This page was removed elsewhere. Saving creates it again, with your text.</span></div>`;
  if (moved)
    return html`<div class="banner" role="alert">
      <${Icon} name="warning" /> <span>This page was changed elsewhere while you were editing.</span>
      <button type="button" onClick=${dirty ? onLook : onReload}>${dirty ? "Compare" : "Load the new text"}</button></div>`;
  if (kept)
    return html`<div class="banner">
      <${Icon} name="info" /> <span>This is the text you left unsaved ${ago(kept.at)}.</span> <button type="button" onClick=${onReload}>Discard</button></div>`;
  return null;
}

function Panes({ path, text, onType }) {
  const [pane, setPane] = useState("write");
  const field = useRef(null);
  const linking = useLinking(field, onType);
  const rendered = useDelayed(text, 200);
  const { data, problem } = useAsked((signal) => post("render", { text: rendered, path }, signal), [rendered]);
  useEffect(() => field.current.focus({ preventScroll: true }), []);
  return html`<div class=${`panes show-${pane}`}>
    <div class="pane-switch" role="group" aria-label="What to show">
      ${[
        ["write", "Write"],
        ["preview", "Preview"],
      ].map(
        ([name, label]) =>
          html`<button type="button" aria-pressed=${pane === name} onClick=${() => setPane(name)}>${label}</button>`,
      )}
    </div>
    <div class="pane pane-write"><label class="sr" for="source">Source of the page</label>
      <textarea id="source" dir="auto" ref=${field} spellcheck="true" value=${text} aria-describedby="source-hint"
        aria-controls=${linking.shown.length ? "linking" : null} aria-activedescendant=${linking.shown.length ? `linking-${linking.at}` : null}
        onInput=${(event) => (onType(event.target.value), linking.look())} onClick=${linking.look} onKeyDown=${linking.keys}>
          </textarea>
      <p class="sr" id="source-hint">Two opening brackets offer pages to link to.</p>
      <${Pages} linking=${linking} /></div>
    <section class="pane pane-preview" aria-label="Preview" tabindex="0"><${Trouble} problem=${problem} />
      ${data && html`<${Rendered} markup=${data.html} />`}</section>
  </div>`;
}
