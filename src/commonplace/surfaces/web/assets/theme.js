// Before anything is painted: the colours a person chose, where they chose some.
(() => {
  const chosen = localStorage.getItem("commonplace-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
