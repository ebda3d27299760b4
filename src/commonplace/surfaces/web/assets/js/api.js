// The interface: every request goes through here, with the key of the session, the name of the agent who asks, and, where
// a server has several memories, the one that the address names.

export const who = { key: "", agent: "", home: new URLSearchParams(location.search).get("home") ?? "" };

// What a tab keeps for this memory is not for another.
export const own = (name) => (who.home ? `${name}@${who.home}` : name);

// What went wrong, as the server's problem details say it.
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `the server answered ${status}`);
    this.status = status;
    this.title = body.title || "";
    this.body = body;
  }
}

const unreachable = () =>
  new Problem(0, {
    title: "The server is not responding",
    detail: "It may have been stopped. Start it again with `commonplace web`; nothing you typed here is lost.",
  });

export function pathOf(path) {
  return path.split("/").map(encodeURIComponent).join("/");
}

function query(params) {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(params || {}))
    for (const each of [value].flat()) if (each !== undefined && each !== null && each !== "") out.append(name, each);
  return out.size ? `?${out}` : "";
}

// A response, whatever its status. Objects travel as JSON, text as Markdown.
export async function send(method, path, { params, body, headers, signal, accept } = {}) {
  const sent = { Accept: accept || "application/json", ...headers };
  if (who.key) sent.Authorization = `Bearer ${who.key}`;
  if (who.agent) sent["Commonplace-Agent"] = encodeURIComponent(who.agent);
  if (who.home) sent["Commonplace-Home"] = encodeURIComponent(who.home);
  if (body !== undefined)
    sent["Content-Type"] ??= typeof body === "string" ? "text/markdown; charset=utf-8" : "application/json";
  try {
    return await fetch(`/v1/${path}${query(params)}`, {
      method,
      headers: sent,
      signal,
      cache: "no-store",
      body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw unreachable();
  }
}

export async function problemOf(answer) {
  let body = {};
  try {
    body = await answer.json();
  } catch {
    body = { title: answer.statusText };
  }
  if (answer.status === 401) signedOut();
  return new Problem(answer.status, body ?? {});
}

// What a JSON request answers; a Problem where it says no.
export async function ask(method, path, options) {
  const answer = await send(method, path, options);
  if (!answer.ok) throw await problemOf(answer);
  return answer.status === 204 ? null : answer.json();
}

export const get = (path, params, signal) => ask("GET", path, { params, signal });
export const post = (path, body, signal) => ask("POST", path, { body, signal });

export const page = (path, at, signal) => get(`pages/${pathOf(path)}`, { at }, signal);

export const blame = (path, signal) => get(`blame/${pathOf(path)}`, {}, signal);

// Write a page that is still what was read (`version`), or that is not there yet (no version).
export async function savePage(path, text, version) {
  const headers = version ? { "If-Match": `"${version}"` } : { "If-None-Match": "*" };
  const answer = await send("PUT", `pages/${pathOf(path)}`, { body: text, headers });
  if (!answer.ok) throw await problemOf(answer);
  return answer.json();
}

export const removePage = (path, version) =>
  send("DELETE", `pages/${pathOf(path)}`, { headers: { "If-Match": `"${version}"` } }).then(async (answer) => {
    if (!answer.ok) throw await problemOf(answer);
  });

export const tool = (name, args, toolset) => ask("POST", `tools/${name}`, { body: args, params: { toolset } });

// All pages that can be seen, in a bounded number of requests: few pages first, which are there soon. `onSome` gets those so far.
export async function allPages(signal, most = 5, onSome = () => {}) {
  const found = [];
  for (let after, turn = 0; turn < most; turn++) {
    const answer = await get("pages", { limit: turn ? 5000 : 1000, after }, signal);
    found.push(...answer.pages);
    after = answer.next;
    if (!after) break;
    if (!signal?.aborted) onSome([...found]);
  }
  return found;
}

const leaving = new Set();
export const onSignedOut = (listener) => leaving.add(listener);
const signedOut = () => leaving.forEach((listener) => listener());
