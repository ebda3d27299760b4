// qmd: its keyword search over a folder of notes. Its vectors and its reranker need models that it downloads.

import { join } from "node:path";
import { createStore } from "@tobilu/qmd";
import { DEPTH, number, work, writeNotes } from "./worker.mjs";

await work(async (task) => {
  const path = join(task.folder, "notes");
  writeNotes(task, path);
  const collections = { notes: { path, pattern: "**/*.md" } };
  const store = await createStore({ dbPath: join(task.folder, "index.sqlite"), config: { collections } });
  await store.update();
  return async (question) => {
    const found = await store.searchLex(question, { limit: DEPTH });
    return found.map((each) => number(each.filepath ?? each.file));
  };
});
