// The keyboard: single keys, two in a row ("g s"), and with Ctrl or Cmd ("Mod+k"). Who came last is asked first.

import { useEffect, useRef } from "../vendor/preact.js";

const OFF = "commonplace-keys-off";
const TOGETHER = 2000; // milliseconds within which two keys are one after the other
const layers = [];
let first = "";
let firstAt = 0;

// Keys without a modifier can be switched off: they get in the way of speech input and some screen readers.
export const keysAreOn = () => localStorage.getItem(OFF) !== "yes";
export const switchKeys = (on) => (on ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "yes"));

export const modifier = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";

export function useKeys(bindings, active = true) {
  const latest = useRef(bindings);
  latest.current = bindings;
  useEffect(() => {
    if (!active) return undefined;
    const layer = (name) => latest.current[name];
    layers.push(layer);
    return () => layers.splice(layers.indexOf(layer), 1);
  }, [active]);
}

const isTyping = (element) =>
  element?.matches?.("input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]");

function nameOf(event) {
  const mod = event.ctrlKey || event.metaKey ? "Mod+" : "";
  return mod + (event.key.length === 1 && mod ? event.key.toLowerCase() : event.key);
}

function found(name) {
  for (const layer of [...layers].reverse()) {
    const run = layer(name);
    if (run) return run;
  }
  return null;
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const name = nameOf(event);
  const plain = !name.startsWith("Mod+") && name !== "Escape";
  if (plain && (isTyping(event.target) || !keysAreOn() || document.querySelector("dialog[open]"))) return;
  // By when the keys were pressed: a page that is busy answers late, and both still belong together.
  const run = (event.timeStamp - firstAt < TOGETHER && found(`${first} ${name}`)) || found(name);
  first = run || !plain ? "" : name;
  firstAt = event.timeStamp;
  if (run) {
    event.preventDefault();
    run(event);
  }
});
