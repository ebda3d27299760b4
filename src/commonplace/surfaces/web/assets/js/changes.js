// News of pages that changed, whoever changed them. A browser opens only a few connections to one server, so one tab
// listens for all tabs that look at the same memory as the same agent, and passes on what it hears; when it goes, the
// next takes its place.

import { send, who } from "./api.js";

const SHORTEST = 500; // milliseconds between two tries
const LONGEST = 15000;
const listeners = new Set();
const channel = "BroadcastChannel" in window ? new BroadcastChannel("commonplace-changes") : null;

export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// Whether the server is there, as far as the one who listens knows.
const watchers = new Set();
export function onLink(watcher) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

const mine = () => JSON.stringify([who.home, who.agent]);

function link(isUp) {
  watchers.forEach((watcher) => watcher(isUp));
  channel?.postMessage({ from: mine(), isUp, last });
}

const tellAll = (change) => listeners.forEach((listener) => listener(change));

channel?.addEventListener("message", ({ data }) => {
  if (data.from !== mine()) return;
  last = data.last;
  if (data.change) tellAll(data.change);
  if ("isUp" in data) watchers.forEach((watcher) => watcher(data.isUp));
});

let last = ""; // what was heard last, here or in the tab that listens: who takes its place goes on from there
let following = null;

export function follow() {
  following?.abort();
  last = "";
  following = new AbortController();
  const { signal } = following;
  // Only pages of this machine, or over TLS, have locks: elsewhere each tab listens for itself.
  if (!navigator.locks || !channel) listen(signal);
  else navigator.locks.request(`commonplace-changes:${mine()}`, { signal }, () => listen(signal)).catch(() => {});
}

async function listen(signal) {
  for (let wait = SHORTEST; !signal.aborted; wait = Math.min(wait * 2, LONGEST)) {
    const began = performance.now();
    const ended = await hear(signal).catch(() => false);
    if (ended || signal.aborted) return;
    link(false);
    if (performance.now() - began > LONGEST) wait = SHORTEST; // it held for a while: the server is well
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

// One connection, for as long as it holds; true when there is no use in trying again.
async function hear(signal) {
  const resumes = Boolean(last);
  const headers = resumes ? { "Last-Event-ID": last } : {};
  const answer = await send("GET", "changes", { headers, signal, accept: "text/event-stream" });
  if (!answer.ok) return answer.status === 401 || answer.status === 404;
  link(true);
  for await (const event of events(answer.body)) {
    last = event.id || last;
    // What is on the screen was read before anybody listened: it may have changed since.
    pass(event.event === "ready" && !resumes ? { ...event, event: "reset" } : event);
  }
  return false;
}

// After a reset nobody knows what was missed: it is as if every page had changed.
function pass(event) {
  const news = event.event === "change" || event.event === "reset";
  const change = news ? { ...JSON.parse(event.data), all: event.event === "reset" } : null;
  if (change) tellAll(change);
  channel?.postMessage({ from: mine(), change, last });
}

async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value.replaceAll("\r", "")).split("\n\n");
    rest = parts.pop();
    for (const part of parts) yield eventOf(part);
  }
}

function eventOf(part) {
  const event = { event: "message", data: "", id: "" };
  for (const line of part.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) event[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
  }
  return event;
}
