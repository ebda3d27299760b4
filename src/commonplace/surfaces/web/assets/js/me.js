// Who looks and what they may do, for every view; and the colours they look in.

import { createContext, useContext } from "../vendor/preact.js";

export const Me = createContext(null);
export const useMe = () => useContext(Me);

const KEPT = "commonplace-theme";
const NEXT = { auto: "light", light: "dark", dark: "auto" };

export function theme() {
  const kept = localStorage.getItem(KEPT);
  return kept in NEXT ? kept : "auto";
}

export function nextTheme() {
  const next = NEXT[theme()];
  localStorage.setItem(KEPT, next);
  if (next === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  window.dispatchEvent(new Event("themechange"));
}

export function onTheme(listener) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  window.addEventListener("themechange", listener);
  system.addEventListener("change", listener);
  return () => {
    window.removeEventListener("themechange", listener);
    system.removeEventListener("change", listener);
  };
}
