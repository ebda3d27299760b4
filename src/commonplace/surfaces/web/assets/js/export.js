// All of memory as a file to keep. It comes with the key of the session, so a plain link cannot fetch it: it is taken in
// here, whole or not at all, and then handed to the browser to be saved.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { Problem, problemOf, send } from "./api.js";
import { useMe } from "./me.js";
import { Command, Dialog, Trouble, bytes, tell } from "./ui.js";

const FORMATS = [
  ["tar", "tar archive", "opens with any tool and contains the pages as they are"],
  ["jsonl", "JSON lines", "for programs, one file per line"],
];
const HELD_MS = 60_000; // how long a file stays at hand for the browser to save it

async function fetched(format, signal, onSome) {
  const answer = await send("GET", "export", { params: { format }, accept: "*/*", signal });
  if (!answer.ok) throw await problemOf(answer);
  let size = 0;
  const counted = new TransformStream({
    transform(piece, out) {
      onSome((size += piece.byteLength));
      out.enqueue(piece);
    },
  });
  try {
    return await new Response(answer.body.pipeThrough(counted)).blob();
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Problem(0, {
      title: "The export was interrupted",
      detail: "Nothing was saved. Look at the server's output, then try again.",
    });
  }
}

function save(file, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), HELD_MS);
}

export function Export({ onClose }) {
  const { memory } = useMe().status;
  const [format, setFormat] = useState("tar");
  const [came, setCame] = useState(null);
  const [problem, setProblem] = useState(null);
  const stop = useRef(null);
  useEffect(() => () => stop.current?.abort(), []);
  const name = `${memory || "memory"}-${new Date().toISOString().slice(0, 10)}.${format}`;
  const begin = async (event) => {
    event.preventDefault();
    stop.current = new AbortController();
    setProblem(null);
    setCame(0);
    try {
      const file = await fetched(format, stop.current.signal, setCame);
      save(file, name);
      tell(`${name}, ${bytes(file.size)}, is in your downloads`);
      onClose();
    } catch (error) {
      if (error.name !== "AbortError") setProblem(error);
    }
    setCame(null);
  };
  return html`<${Dialog} title="Export all of memory" onClose=${onClose}>
    <form onSubmit=${begin}>
      <p>One file with everything in this memory, for <strong>all agents</strong>, as of now: pages, records, days,
        skills with their files, directives, sessions and settings.</p>
      <p class="muted">Not included: earlier versions of pages, tokens, and the index, which is rebuilt. The file is not
        encrypted: keep it as safe as the memory itself.</p>
      <fieldset class="choices"><legend class="sr">File format</legend>${FORMATS.map(
        ([value, title, what]) => html`<label class="check" key=${value}>
          <input type="radio" name="format" value=${value} checked=${format === value} onChange=${() => setFormat(value)} />
          <span><strong>${title}</strong> <span class="muted">${what}</span></span></label>`,
      )}</fieldset>
      <${Trouble} problem=${problem} />
      <p class="muted">Restore it, byte for byte, with</p>
      <${Command} text=${`commonplace import ${name}`} />
      <footer><span class="muted" role="status">${came === null ? "" : `${bytes(came)} so far…`}</span>
        <button type="submit" class="primary" disabled=${came !== null}>Save ${name}</button></footer>
    </form>
  <//>`;
}
