// Keeps a view fresh: loads the page of this address again while its tab is seen, and changes what differs. A page that
// is refreshed has <main data-live="seconds">. Focus, selections, open details and what was typed stay as they are.
import { Idiomorph } from "./idiomorph.js";

const main = () => document.querySelector("main[data-live]");
let tag = null;
let timer = null;

function keepsState(old, fresh) {
  if (!(old instanceof Element)) return true;
  if (old.tagName === "DETAILS" && old.open) fresh.setAttribute("open", "");
  // What people are typing or choosing is theirs until the form is sent.
  return !old.matches("form[data-kept], form[data-kept] *");
}

// Rows stay where they are while somebody looks at them: new ones come last. The next load of the page sorts them.
function keepOrder(view, fresh) {
  const list = fresh.querySelector("#rows");
  const order = Array.from(view.querySelectorAll("#rows > [id]"), ({ id }) => id);
  if (list === null) return;
  const place = ({ id }) => (order.includes(id) ? order.indexOf(id) : order.length);
  list.append(...Array.from(list.children).toSorted((one, other) => place(one) - place(other)));
}

async function refresh() {
  const view = main();
  if (view === null || document.hidden) return;
  const headers = { accept: "text/html", "x-view": "live" };
  if (tag !== null) headers["if-none-match"] = tag;
  const answer = await fetch(location.href, { headers, redirect: "manual", signal: AbortSignal.timeout(8_000) });
  // The session has ended: the server says where to go.
  if (answer.type === "opaqueredirect") return location.reload();
  if (answer.status !== 200) return;
  tag = answer.headers.get("etag");
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("main");
  if (fresh === null) return;
  document.title = page.title;
  keepOrder(view, fresh);
  Idiomorph.morph(view, fresh, { ignoreActiveValue: true, callbacks: { beforeNodeMorphed: keepsState } });
}

function schedule() {
  const seconds = Number(main()?.dataset.live);
  clearTimeout(timer);
  if (seconds > 0 && !document.hidden) timer = setTimeout(turn, seconds * 1_000);
}

// A view that could not be loaded is loaded at the next turn.
const turn = () => refresh().then(schedule, schedule);

document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : turn()));
schedule();

// A part with data-preview="path" shows what the service makes of its fields, a moment after somebody has typed.
let typed = null;
document.addEventListener("input", ({ target }) => {
  const part = target.closest("[data-preview]");
  if (part === null) return;
  clearTimeout(typed);
  const own = (typed = setTimeout(async () => {
    const fields = new URLSearchParams(Array.from(part.querySelectorAll("input"), ({ name, value }) => [name, value]));
    const asked = { redirect: "manual", signal: AbortSignal.timeout(8_000) };
    const answer = fetch(`${part.dataset.preview}?${fields}`, asked);
    const shown = await answer.then((one) => (one.status === 200 ? one.text() : "")).catch(() => "");
    if (own === typed) Idiomorph.morph(part.querySelector("[aria-live]"), shown, { morphStyle: "innerHTML" });
  }, 400));
});

// A button with data-copy="id" copies the text of the element with this id.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button[data-copy]") : null;
  const source = button && document.getElementById(button.dataset.copy);
  if (!source) return;
  navigator.clipboard.writeText(source.value ?? source.textContent.trim()).then(
    () => button.setAttribute("data-copied", ""),
    () => {},
  );
});

// Keys: "/" to the search, j and k through the rows, "?" to the list of keys. Not while somebody types.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest("input, select, textarea, [contenteditable]")) return;
  const rows = Array.from(document.querySelectorAll("[data-row]"));
  const at = rows.indexOf(document.activeElement);
  const focus = (element) => {
    if (!element) return;
    event.preventDefault();
    element.focus();
  };
  if (event.key === "/") focus(document.querySelector("[data-search]"));
  else if (event.key === "j") focus(rows[Math.min(at + 1, rows.length - 1)]);
  else if (event.key === "k") focus(rows[Math.max(at - 1, 0)]);
  else if (event.key === "?") document.querySelector("#keys")?.showModal?.();
});
