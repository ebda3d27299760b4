// worker.py for the peers written for Node or Bun: index the texts, ask every question, write rankings and CPU seconds.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

export const DEPTH = 30; // hits asked for: what is among the first ten, and which sessions come first
const [given, result] = process.argv.slice(2);

/** CPU seconds of this process and its threads. */
function cpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** `index(task)` resolves to a function from a question to the numbers of the texts that answer it, best first. */
export async function work(index) {
  const task = JSON.parse(readFileSync(given, "utf8"));
  const began = cpu();
  const search = await index(task);
  const indexed = cpu();
  await search(task.questions[0]);
  const warm = cpu();
  const rankings = [];
  for (const question of task.questions) rankings.push(await search(question));
  const query_s = (cpu() - warm) / rankings.length;
  writeFileSync(result, JSON.stringify({ index_s: indexed - began, query_s, rankings }));
  process.exit(0);
}

/** The texts as Markdown pages; `number` finds a text again by its page's name. */
export function writeNotes(task, folder) {
  mkdirSync(folder, { recursive: true });
  task.texts.forEach((text, at) => writeFileSync(join(folder, `note-${String(at).padStart(5, "0")}.md`), text));
}

export function number(path) {
  return Number(basename(path, ".md").replace("note-", ""));
}
