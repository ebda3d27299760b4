// Who may look: a one-time code in the address, a key of this tab or of another one, or a token that is pasted.

import { html, useState } from "../vendor/preact.js";
import { Problem, get, onSignedOut, post, who } from "./api.js";
import { Command, Icon, Trouble } from "./ui.js";

const KEPT = "commonplace-key";
const AGENT = "commonplace-agent";
const channel = "BroadcastChannel" in window ? new BroadcastChannel("commonplace-key") : null;

// Other tabs of this server are given the key, when they ask.
channel?.addEventListener("message", ({ data }) => {
  if (data?.ask && who.key) channel.postMessage({ key: who.key });
});

onSignedOut(() => sessionStorage.removeItem(KEPT));

export function keepKey(key) {
  who.key = key;
  sessionStorage.setItem(KEPT, key);
}

export function keepAgent(name) {
  who.agent = name;
  sessionStorage.setItem(AGENT, name);
}

export function forgetKey() {
  who.key = "";
  sessionStorage.removeItem(KEPT);
}

// Taken out of the address at once, so that neither history nor a screenshot has it.
export function takeCode() {
  const [, code] = /^#code=([^&]*)/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, "", `${location.pathname}#/search`);
  return code ?? "";
}

function askOthers() {
  if (!channel) return Promise.resolve("");
  return new Promise((resolve) => {
    const heard = ({ data }) => data?.key && resolve(data.key);
    channel.addEventListener("message", heard);
    channel.postMessage({ ask: true });
    setTimeout(() => {
      channel.removeEventListener("message", heard);
      resolve("");
    }, 150);
  });
}

// The status of this memory, once the server lets us in. A Problem with status 401 asks for a token.
export async function enter(code) {
  who.agent = sessionStorage.getItem(AGENT) || "";
  who.key = sessionStorage.getItem(KEPT) || "";
  const refused = code ? await exchange(code) : "";
  try {
    return await known();
  } catch (problem) {
    if (problem.status !== 401) throw problem;
  }
  const key = await askOthers();
  if (!key) throw new Problem(401, { title: "Sign in", detail: refused });
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

// An agent of an earlier visit that this key may not be any more is let go of.
async function known() {
  try {
    return await get("status");
  } catch (problem) {
    if (!who.agent || ![403, 404, 400].includes(problem.status)) throw problem;
    keepAgent("");
    return get("status");
  }
}

const NOT_HOLDING = {
  title: "This token does not hold",
  message: "It may have been revoked, have ended, or miss a letter. Make another with `commonplace token create`.",
};

export function SignIn({ why, onEntered }) {
  const [token, setToken] = useState("");
  const [failed, setProblem] = useState(null);
  const problem = failed ?? (why ? { message: why } : null);
  const submit = async (event) => {
    event.preventDefault();
    keepKey(token.trim());
    try {
      onEntered(await known());
    } catch (error) {
      forgetKey();
      setProblem(error.status === 401 ? NOT_HOLDING : error);
    }
  };
  return html`<main class="signin" id="main">
    <div class="card signin-card">
      <p class="brand"><${Icon} name="book" /> commonplace</p>
      <h1>Sign in to your memory</h1>
      <p>This memory is kept for those who have a token. <code>commonplace web</code> opens this page already signed in.</p>
      <form onSubmit=${submit}>
        <label for="token">Token</label>
        <input id="token" type="password" autocomplete="current-password" required value=${token}
          onInput=${(event) => setToken(event.target.value)} />
        <button class="primary" type="submit">Sign in</button>
      </form>
      ${problem && html`<${Trouble} problem=${problem} />`}
      <h2>No token at hand?</h2>
      <p>Open the page from a terminal on this machine, or make a token for this browser:</p>
      <${Command} text="commonplace web" />
      <${Command} text="commonplace token create --role write" />
    </div>
  </main>`;
}
