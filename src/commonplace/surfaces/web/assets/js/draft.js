// Text that was typed and not saved yet. It stays in this tab until it is saved or thrown away.

import { own, who } from "./api.js";

const nameOf = (path) => own(`commonplace-draft:${who.agent}:${path}`);

export function draftOf(path) {
  try {
    return JSON.parse(sessionStorage.getItem(nameOf(path)));
  } catch {
    return null;
  }
}

// `base` is the page as it was when the typing began: what a later merge starts from.
export function keepDraft(path, text, base) {
  try {
    sessionStorage.setItem(nameOf(path), JSON.stringify({ text, base, at: new Date().toISOString() }));
    return true;
  } catch {
    return false; // no room: the editor says so, and holds the text itself
  }
}

export const dropDraft = (path) => sessionStorage.removeItem(nameOf(path));
