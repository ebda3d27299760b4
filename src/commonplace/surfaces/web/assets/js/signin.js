// Who may look: a one-time code in the address, a key of this tab or of another one, or a token that is pasted.

import { html, useEffect, useState } from "../vendor/preact.js";
import { Problem, get, onSignedOut, own, post, who } from "./api.js";
import { toHome } from "./router.js";
import { Command, Icon, Trouble } from "./ui.js";

const KEPT = "commonplace-key";
const AGENT = own("commonplace-agent");
const channel = "BroadcastChannel" in window ? new BroadcastChannel("commonplace-key") : null;

// Other tabs of this server are given the key, when they ask.
channel?.addEventListener("message", ({ data }) => {
  if (data?.ask && who.key) channel.postMessage({ key: who.key, home: who.home });
});

onSignedOut(forgetKey);

// A token is of one memory; the key of `commonplace web` is good for all. So the one of this memory is tried first, and
// then the last that was used.
const mine = () => `${KEPT}:${who.home}`;

export function keepKey(key) {
  who.key = key;
  sessionStorage.setItem(mine(), key);
  sessionStorage.setItem(KEPT, key);
}

export function keepAgent(name) {
  who.agent = name;
  sessionStorage.setItem(AGENT, name);
}

export function forgetKey() {
  if (sessionStorage.getItem(KEPT) === who.key) sessionStorage.removeItem(KEPT);
  sessionStorage.removeItem(mine());
  who.key = "";
}

// Taken out of the address at once, so that neither history nor a screenshot has it.
export function takeCode() {
  const [, code] = /^#code=([^&]*)/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, "", `${location.pathname}${location.search}#/search`);
  return code ?? "";
}

// Calls back with the keys that other tabs send, until the function that it returns is called.
function listenForKeys(take) {
  const hear = ({ data }) => data?.key && take(data);
  channel?.addEventListener("message", hear);
  return () => channel?.removeEventListener("message", hear);
}

function askOthers() {
  if (!channel) return Promise.resolve("");
  return new Promise((resolve) => {
    let other = "";
    const stop = listenForKeys(({ key, home }) => {
      if (home === who.home) resolve(key);
      else other ||= key;
    });
    channel.postMessage({ ask: true });
    setTimeout(() => {
      stop();
      resolve(other);
    }, 150);
  });
}

// The status of this memory, once the server lets us in. A Problem with status 401 asks for a token.
export async function enter(code) {
  who.agent = sessionStorage.getItem(AGENT) || "";
  who.key = sessionStorage.getItem(mine()) || sessionStorage.getItem(KEPT) || "";
  const refused = code ? await exchange(code) : "";
  let why = { detail: refused };
  try {
    return await known();
  } catch (problem) {
    if (problem.status !== 401) throw problem;
    if (problem.body.homes) why = problem.body;
  }
  const key = await askOthers();
  if (!key || key === who.key) throw new Problem(401, why);
  keepKey(key);
  return known();
}

// A key for the code, or why there is none: a used code is no reason not to try a key that this tab has.
async function exchange(code) {
  try {
    keepKey((await post("session", { code })).key);
    return "";
  } catch (problem) {
    if (problem.status === 0 || problem.status >= 500) throw problem;
    return problem.message;
  }
}

// The memory of this page among those that the key opens. One that is named by mistake is not opened: that would make it.
async function chosen() {
  const { homes } = await get("homes");
  const found = homes.find((home) => (who.home ? home.name === who.home : home.default));
  if (found) return { homes, memory: found.name };
  if (!who.home && homes.length === 1) {
    location.replace(toHome(homes[0].name, location.hash));
    await new Promise(() => {}); // the page is leaving
  }
  const said = who.home
    ? `There is no memory ${who.home} here, or it needs another token.`
    : "Choose a memory: this token does not open the default one.";
  throw new Problem(401, { detail: said, homes });
}

async function known() {
  const home = await chosen();
  return { ...(await status()), ...home };
}

// An agent of an earlier visit that this key may not be any more is let go of.
async function status() {
  try {
    return await get("status");
  } catch (problem) {
    if (!who.agent || ![403, 404, 400].includes(problem.status)) throw problem;
    keepAgent("");
    return get("status");
  }
}

const NOT_HOLDING = {
  title: "This token is not valid",
  message: "It may have been revoked, have expired, or be incomplete. Create another with `commonplace token create`.",
};

export function SignIn({ why, onEntered }) {
  const [token, setToken] = useState("");
  const [failed, setProblem] = useState(null);
  const problem = failed ?? (why?.body?.detail ? why : null);
  const homes = problem?.body?.homes ?? [];
  // A busy tab may answer when this form is already there.
  useEffect(() => listenForKeys(async ({ key, home }) => {
    if (key === who.key || home !== who.home) return;
    keepKey(key);
    try {
      onEntered(await known());
    } catch {
      forgetKey();
    }
  }), []);
  const submit = async (event) => {
    event.preventDefault();
    keepKey(token.trim());
    try {
      onEntered(await known());
    } catch (error) {
      if (!error.body?.homes) forgetKey();
      setProblem(error.status === 401 && !error.body?.homes ? NOT_HOLDING : error);
    }
  };
  return html`<main class="signin" id="main">
    <div class="card signin-card">
      <p class="brand"><${Icon} name="book" /> commonplace</p>
      ${homes.length ? html`<${Others} homes=${homes} why=${problem} />` : html`<${Welcome} />`}
      <form onSubmit=${submit}>
        <label for="token">Token</label>
        <input id="token" type="password" autocomplete="current-password" required value=${token}
          onInput=${(event) => setToken(event.target.value)} />
        <button class="primary" type="submit">Sign in</button>
      </form>
      ${problem && !homes.length && html`<${Trouble} problem=${problem} />`}
      <h2>No token?</h2>
      <p>Open the page from a terminal on this machine, or create a token for this browser:</p>
      <${Command} text="commonplace web" />
      <${Command} text="commonplace token create --role write" />
    </div>
  </main>`;
}

const Welcome = () => html`<h1>${who.home ? `Sign in to the memory ${who.home}` : "Sign in to your memory"}</h1>
  <p>You need a token to open this memory. <code>commonplace web</code> opens this page already signed in.</p>`;

// One memory was meant, and the key opens others. Whether the one that was meant is there is not told.
const Others = ({ homes, why }) => html`<h1>Which memory?</h1>
  <p>${why.message}</p>
  <ul class="plain others">${homes.map((home) => html`<li key=${home.name}>
    <a class="button" href=${toHome(home.name)}><${Icon} name="shelf" /> ${home.name || "default"}</a></li>`)}</ul>
  <h2>Or use another token</h2>`;
