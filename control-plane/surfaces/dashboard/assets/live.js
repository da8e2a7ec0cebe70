// Keeps a view fresh: loads the page of this address again while its tab is seen, and changes what differs. A page that
// is refreshed has <main data-live="seconds">. Focus, selections, open details and what was typed stay as they are.
import { Idiomorph } from "./idiomorph.js";
import { keepOrder, keptRows, loadAhead, noteLost } from "./rows.js";

const main = () => document.querySelector("main[data-live]");
/** After so many failures in a row the page says that it could not be refreshed. */
const MOST_FAILURES = 2;

let tag = null;
let timer = null;
let failures = 0;
let isSignedOut = false;
let running = Promise.resolve();

function keepsState(old, fresh) {
  if (old.isEqualNode(fresh)) return false;
  if (!(old instanceof Element)) return true;
  if (old.tagName === "DETAILS" && old.open) fresh.setAttribute("open", "");
  // What people are typing or choosing is theirs until the form is sent.
  return !old.matches("form[data-kept], form[data-kept] *");
}

async function refresh(isAgain = false) {
  const view = main();
  const headers = { accept: "text/html", "x-view": "live", "x-rows": keptRows() };
  if (tag !== null) headers["if-none-match"] = tag;
  const answer = await fetch(location.href, { headers, redirect: "manual", signal: AbortSignal.timeout(8_000) });
  isSignedOut = answer.type === "opaqueredirect";
  if (isSignedOut && !view.querySelector(".ended"))
    view.prepend(document.querySelector("#ended").content.cloneNode(true));
  if (isSignedOut || answer.status === 304) return;
  if (answer.status !== 200) throw new Error(`the server answers ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (noteLost(view, page) && !isAgain) return refresh(true);
  tag = answer.headers.get("etag");
  document.title = page.title;
  keepOrder(view, page);
  const callbacks = { beforeNodeMorphed: keepsState };
  Idiomorph.morph(view, page.querySelector("main"), { ignoreActiveValue: true, callbacks });
}

// A view that could not be loaded is loaded again later, each time after twice the time, up to 32 times.
function schedule() {
  clearTimeout(timer);
  const seconds = Number(main()?.dataset.live) * 2 ** Math.min(failures, 5);
  if (seconds > 0 && !document.hidden && !isSignedOut) timer = setTimeout(update, seconds * 1_000);
}

// One load after the other: an older one never replaces what a newer one has shown.
function update() {
  clearTimeout(timer);
  if (!main() || document.hidden) return;
  const note = (count) => {
    failures = count;
    document.querySelector("#lost").hidden = failures < MOST_FAILURES;
  };
  const load = () =>
    refresh().then(
      () => note(0),
      () => note(failures + 1),
    );
  running = running.then(load).finally(schedule);
}

document.addEventListener("visibilitychange", update);
addEventListener("online", update);
schedule();
if (main()) loadAhead(update);
