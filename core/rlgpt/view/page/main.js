// Chooses the page by the address, and tells it what has changed.

import { askTabs, follow, takeToken } from "/api.js";
import { compare } from "/compare.js";
import { h } from "/dom.js";
import { list } from "/list.js";
import { run } from "/run.js";

const main = document.getElementById("main"), crumbs = document.getElementById("crumbs"), link = document.getElementById("link");
let page = null, stop = () => {};

function open() {
  stop();
  const [kind, argument = ""] = location.hash.replace(/^#\/?/, "").split("/");
  const ids = argument.split(",").filter((id) => /^[0-9a-f]{16}$/.test(id));
  crumbs.textContent = kind === "run" ? "/ Run" : kind === "compare" ? "/ Comparison" : "";
  page = kind === "run" && ids.length ? run(main, ids[0]) : kind === "compare" && ids.length ? compare(main, ids) : list(main);
  stop = follow(kind === "run" ? ids[0] : null, (event) => Promise.resolve(page.changed(event)).catch(() => {}),
    (connected) => { link.textContent = connected ? "live" : "not connected: is rlgpt view still running?"; });
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === "/" && page?.focus) { event.preventDefault(); page.focus(); }
  if (event.key === "u") location.hash = "#/";
});
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) takeToken();
  open();
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
});

if (takeToken() || await askTabs()) open();
else main.replaceChildren(h("h1", {}, "This page needs its link"), h("p", {}, "Open the link that rlgpt view printed: it holds a token."));
