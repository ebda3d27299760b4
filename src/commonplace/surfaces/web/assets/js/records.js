// Records as a table: sorted, narrowed, and edited in their row. Only so many rows are drawn as were scrolled to.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { get, post, tool } from "./api.js";
import { useMe } from "./me.js";
import { toPage } from "./router.js";
import { Chip, Icon, Trouble, When, number, tell } from "./ui.js";

const COLUMNS = [
  ["key", "Key"],
  ["value", "Value"],
  ["category", "Category"],
  ["tags", "Tags"],
  ["updated", "Updated"],
];
const DRAWN = 100;
const order = new Intl.Collator("en", { numeric: true });
const plain = (value) => (Array.isArray(value) ? value.join(", ") : String(value ?? ""));

function choose(records, wanted, sort) {
  const words = wanted.toLowerCase();
  const kept = records.filter((record) => COLUMNS.some(([name]) => plain(record[name]).toLowerCase().includes(words)));
  const sign = sort.down ? -1 : 1;
  return kept.sort((a, b) => sign * order.compare(plain(a[sort.by]), plain(b[sort.by])));
}

export function Records({ records, label, channel }) {
  const [sort, setSort] = useState({ by: "key", down: false });
  const [wanted, setWanted] = useState("");
  const rows = useMemo(() => choose(records, wanted, sort), [records, sort, wanted]);
  const [drawn, end] = useDrawn(`${wanted} ${sort.by} ${sort.down}`, rows.length);
  return html`<div>
    ${records.length > 8 && html`<input type="search" class="narrow" aria-label=${`Filter ${label}`} placeholder="Filter" value=${wanted} onInput=${(event) => setWanted(event.target.value)} />`}
    <div class="scroll" tabindex="0" role="region" aria-label=${label}><table class="records" aria-rowcount=${rows.length + 1}>
      <thead><tr>${COLUMNS.map(([name, text]) => html`<${Column} key=${name} name=${name} text=${text} sort=${sort} onSort=${setSort} />`)}</tr></thead>
      <tbody>${rows.slice(0, drawn).map((record, index) => html`<${Row} key=${record.path} record=${record} channel=${channel} index=${index + 2} />`)}</tbody>
    </table></div>
    <p ref=${end} class="muted said">${drawn < rows.length && `${number(drawn)} of ${number(rows.length)}: scroll for more`}</p>
    ${!rows.length && html`<p class="muted">Nothing matches “${wanted}”.</p>`}
  </div>`;
}

// How many rows are drawn: more whenever the end of them comes near.
function useDrawn(question, count) {
  const [drawn, setDrawn] = useState(DRAWN);
  const end = useRef(null);
  useEffect(() => setDrawn(DRAWN), [question]);
  useEffect(() => {
    if (drawn >= count) return undefined;
    const watching = new IntersectionObserver(
      ([seen]) => seen.isIntersecting && setDrawn((last) => last + DRAWN),
      { rootMargin: "600px" },
    );
    watching.observe(end.current);
    return () => watching.disconnect();
  }, [drawn, count]);
  return [drawn, end];
}

function Column({ name, text, sort, onSort }) {
  const isSorted = sort.by === name;
  return html`<th scope="col" aria-sort=${isSorted ? (sort.down ? "descending" : "ascending") : null}>
    <button type="button" class="sort" onClick=${() => onSort({ by: name, down: isSorted && !sort.down })}>${text}<span aria-hidden="true">${isSorted ? (sort.down ? " ↓" : " ↑") : ""}</span></button></th>`;
}

// A text that is shown whole can be edited here; anything else on its page.
const isEditable = ({ value, cut }) => !cut && typeof value === "string" && !/^\s*[[{]/.test(value);

function Row({ record, channel, index }) {
  const me = useMe();
  const [editing, setEditing] = useState(false);
  const canEdit = me.canWrite && isEditable(record);
  return html`<tr aria-rowindex=${index}>
    <th scope="row"><a href=${toPage(record.path)}>${record.key}</a></th>
    <td class="value" dir="auto" onDblClick=${canEdit && !editing ? () => setEditing(true) : undefined}>
      ${editing ? html`<${EditValue} record=${record} channel=${channel} onClose=${() => setEditing(false)} />` : plain(record.value)}
      ${canEdit && !editing && html` <button type="button" class="quiet edit-value" aria-label=${`Edit ${record.key}`} title="Edit here" onClick=${() => setEditing(true)}><${Icon} name="edit" /></button>`}</td>
    <td>${record.category}</td>
    <td>${(record.tags ?? []).map((tag) => html`<${Chip} kind="tag">#${tag}<//> `)}</td>
    <td class="nowrap"><${When} at=${record.updated} /></td></tr>`;
}

function EditValue({ record, channel, onClose }) {
  const [text, setText] = useState(record.value);
  const [problem, setProblem] = useState(null);
  const field = useRef(null);
  useEffect(() => field.current.focus(), []);
  const save = async () => {
    try {
      await write(record, channel, text.trim());
      tell("Saved", { label: "Undo", run: () => takeBack(record.path) });
      onClose();
    } catch (error) {
      setProblem(error);
    }
  };
  const keys = (event) => {
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<form class="fix" onSubmit=${(event) => (event.preventDefault(), save())}>
    <textarea ref=${field} rows=${Math.min(8, 1 + Math.ceil(record.value.length / 50))} aria-label=${`Value of ${record.key}`} value=${text} onInput=${(event) => setText(event.target.value)} onKeyDown=${keys}></textarea>
    <${Trouble} problem=${problem} />
    <p class="row"><button type="submit" class="primary" disabled=${!text.trim() || text.trim() === record.value}>Save</button>
      <button type="button" onClick=${onClose}>Cancel</button></p></form>`;
}

async function write({ key, category, tags }, channel, value) {
  const args = channel
    ? { op: "setChannel", channelName: channel, key, value, tags }
    : { op: "setGlobal", key, value, category, tags };
  const answer = await tool("MemoryTool", args, "registry");
  if (answer.success === false) throw { title: "It was not saved", message: answer.error ?? "" };
}

async function takeBack(path) {
  const { changes } = await get("history", { what: path, limit: 1 });
  await post("undo", { changes: [changes[0].id] });
  tell("It is as it was");
}
