// What controls do besides what browsers do with them: previews, copying and keys.
import { Idiomorph } from "./idiomorph.js";

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

// A button with data-auto is pressed a moment after somebody has typed in its form, which it sends into a frame. Each time
// it is a new frame, so that "Back" does not lead through previews; the old one is seen until the new one is there.
let changed = null;
document.addEventListener("input", ({ target }) => {
  const button = target.form?.querySelector("button[data-auto]");
  if (!button) return;
  clearTimeout(changed);
  changed = setTimeout(() => {
    const old = document.querySelector(`iframe[name="${button.formTarget}"]`);
    const fresh = old.cloneNode();
    // A window that is there keeps its name.
    fresh.name = button.formTarget = `preview-${Date.now()}`;
    fresh.hidden = true;
    old.after(fresh);
    fresh.addEventListener("load", () => {
      for (const frame of fresh.parentElement.querySelectorAll("iframe")) if (frame !== fresh) frame.remove();
      fresh.hidden = false;
    });
    button.form.requestSubmit(button);
  }, 800);
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

// A field with data-zone gets the time zone of the browser.
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
for (const field of document.querySelectorAll("input[data-zone]")) field.value = timeZone ?? "";
