// OpenClaw: the manager behind its memory_search, words alone (`provider: "none"`), over a workspace's memory folder.

import { join } from "node:path";
import { getActiveMemorySearchManager } from "openclaw/plugin-sdk/memory-host-search";
import { DEPTH, number, work, writeNotes } from "./worker.mjs";

await work(async (task) => {
  process.env.OPENCLAW_STATE_DIR = join(task.folder, "state");
  const workspace = join(task.folder, "workspace");
  writeNotes(task, join(workspace, "memory"));
  const tokenizer = task.level === "passages" ? "trigram" : "unicode61";
  const cfg = {
    agents: { defaults: { workspace } },
    memory: { search: { provider: "none", store: { fts: { tokenizer } } } },
  };
  const { manager, error } = await getActiveMemorySearchManager({ cfg, agentId: "main" });
  if (!manager) throw new Error(error);
  await manager.sync({ reason: "bench", force: true });
  return async (question) => {
    const found = await manager.search(question, { maxResults: DEPTH, minScore: 0 });
    return [...new Set(found.map((hit) => number(hit.path)))];
  };
});
