import { renderHidden, renderInput } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import type { PastedLine } from "#control-plane/surfaces/dashboard/paste/read-lines.ts";
import { STATE_WORDS } from "#control-plane/surfaces/dashboard/monitors/words.ts";
import { PASTE } from "#control-plane/surfaces/dashboard/strings/monitors.ts";
import type { ListedState } from "#control-plane/monitors/overview.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** What the first page of pasting shows. */
interface PasteForm {
  readonly text: string;
  readonly tags: string;
  readonly problem: string | null;
  readonly formToken: string;
}

const renderTop: (form: PasteForm) => string = compileTemplate(`
<h1>${PASTE.title}</h1><p>${PASTE.hint}</p>
<% if (it.problem !== null) { %><p class="note bad" role="alert"><%= it.problem %></p><% } %>
<form class="stack" method="post" action="/app/monitors/paste"><input type="hidden" name="_csrf" value="<%= it.formToken %>">
<div class="field"><label for="f-lines">${PASTE.lines}</label>
<textarea id="f-lines" name="lines" rows="12" maxlength="100000" required autofocus autocapitalize="none" spellcheck="false">
<%= it.text %></textarea></div>
`);

const PASTE_END = `<div class="row"><button class="primary" name="do" value="try">${PASTE.try}</button> <a href="/app/monitors">${PASTE.cancel}</a></div></form>`;

/** Renders the page where addresses are pasted. */
export function renderPaste(form: PasteForm): string {
  const tags = renderInput({ name: "tags", label: PASTE.tags, hint: PASTE.tagsHint, value: form.tags });
  return `${renderTop(form)}${tags}${PASTE_END}`;
}

/** A pasted address with what its try has found. */
export interface TriedLine {
  readonly line: PastedLine;
  /** null: it cannot be a monitor, as `message` says. */
  readonly state: ListedState | null;
  readonly message: string;
}

const renderResults: (results: {
  readonly formToken: string;
  readonly text: string;
  readonly rows: readonly {
    readonly index: number;
    readonly address: string;
    readonly name: string;
    readonly word: string;
    readonly tone: string;
    readonly message: string;
    readonly canCreate: boolean;
    readonly isChosen: boolean;
  }[];
}) => string = compileTemplate(`
<h1>${PASTE.resultsTitle}</h1><p>${PASTE.resultsHint}</p>
<form class="stack" method="post" action="/app/monitors/paste"><input type="hidden" name="_csrf" value="<%= it.formToken %>">
<input type="hidden" name="lines" value="<%= it.text %>">
<div class="scroll" role="group" tabindex="0" aria-label="${PASTE.resultsTitle}"><table class="cards"><thead><tr><th scope="col">${PASTE.create}</th><th scope="col">${PASTE.address}</th><th scope="col">${PASTE.result}</th></tr></thead><tbody>
<% for (const row of it.rows) { %><tr><td><% if (row.canCreate) { %><input type="checkbox" id="c-<%= row.index %>" name="line" value="<%= row.index %>"<% if (row.isChosen) { %> checked<% } %>><% } %></td>
<td><label for="c-<%= row.index %>"><%= row.address %></label> <span class="faint"><%= row.name %></span></td>
<td><span class="badge <%= row.tone %>"><%= row.word %></span> <%= row.message %></td></tr><% } %>
</tbody></table></div>
`);

const RESULTS_END = `<div class="row"><button class="primary" name="do" value="create">${PASTE.submit}</button> <button name="do" value="back">${PASTE.back}</button></div></form>`;

/** Renders what the tries of pasted addresses have found; those that work are chosen. */
export function renderPasteResults(form: Omit<PasteForm, "problem">, tried: readonly TriedLine[]): string {
  const rows = tried.map(({ line, state, message }, index) => ({
    index,
    ...line,
    word: state === null ? PASTE.refused : STATE_WORDS[state].word,
    tone: state === null ? "bad" : STATE_WORDS[state].tone,
    message,
    canCreate: state !== null,
    isChosen: state === "up" || state === "degraded",
  }));
  const results = renderResults({ formToken: form.formToken, text: form.text, rows });
  return `${results}${renderHidden("tags", form.tags)}${RESULTS_END}`;
}
