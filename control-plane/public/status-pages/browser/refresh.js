// Keeps a status page fresh in the browser: fetches it every minute while its tab is visible, and changes what has changed.
// Without it the page refreshes itself by <meta http-equiv="refresh">, which loses the place and what has been typed.
import { Idiomorph } from "./idiomorph.js";

const EVERY_MS = 60_000;
/** After so many failures in a row the page says that it could not be refreshed. */
const MOST_FAILURES = 2;

let text = "";
let timer = 0;
let dueAt = performance.now() + EVERY_MS;
let failures = 0;

/** Style and scripts, which the policy of the document that is shown would not let change. */
const assetsOf = (page) =>
  Array.from(page.head.querySelectorAll("style, script"), (one) => one.getAttribute("src") ?? one.textContent).join();

function show(html) {
  const next = new DOMParser().parseFromString(html, "text/html");
  if (assetsOf(next) !== assetsOf(document)) return location.reload();
  if (document.title !== next.title) document.title = next.title;
  const [icon, newIcon] = [document, next].map((page) => page.head.querySelector("link[rel=icon]"));
  if (icon.href !== newIcon.href) icon.href = newIcon.href;
  Idiomorph.morph(document.body, [...next.body.childNodes], {
    morphStyle: "innerHTML",
    // What a visitor has typed, ticked and opened stays.
    callbacks: {
      beforeNodeMorphed: (node) => node.localName !== "input",
      beforeAttributeUpdated: (name, node) => !(name === "open" && node.localName === "details"),
    },
  });
}

async function refresh() {
  let waitMs = EVERY_MS;
  try {
    const answer = await fetch(location.href, { cache: "no-cache" });
    if (!answer.ok) throw Object.assign(new Error(answer.statusText), { after: answer.headers.get("retry-after") });
    const now = await answer.text();
    failures = 0;
    if (now !== text) show(now);
    text = now;
  } catch (error) {
    waitMs = Math.max(EVERY_MS, Number(error.after) * 1_000 || 0);
    failures += 1;
    if (failures >= MOST_FAILURES) document.getElementById("lost")?.removeAttribute("hidden");
  }
  dueAt = performance.now() + waitMs;
  plan();
}

function plan() {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(refresh, Math.max(0, dueAt - performance.now()));
}

document.addEventListener("visibilitychange", plan);
plan();
