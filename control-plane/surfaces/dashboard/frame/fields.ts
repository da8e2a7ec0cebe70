import { sentence } from "#control-plane/surfaces/dashboard/frame/problems.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** One line of input of a form. */
export interface InputField {
  readonly name: string;
  readonly label: string;
  /** Default: text. */
  readonly type?: "text" | "email" | "password" | "url" | "number" | "search" | "datetime-local";
  /** What is in it. Default: empty. */
  readonly value?: string;
  /** A sentence below the label. */
  readonly hint?: string;
  /** What is wrong with the value; null: nothing. */
  readonly problem?: string | null;
  /** The token of the HTML specification by which browsers fill it in. Default: off. */
  readonly autocomplete?: string;
  readonly isRequired?: boolean;
  /** Whether the page opens with the cursor in it. */
  readonly hasFocus?: boolean;
  readonly maxLength?: number;
  /** Id of a <datalist> with values to choose from. */
  readonly list?: string;
}

const render: (field: InputField & { readonly describedBy: string }) => string = compileTemplate(`
<div class="field"><label for="f-<%= it.name %>"><%= it.label %></label>
<% if (it.hint) { %><p class="hint" id="h-<%= it.name %>"><%= it.hint %></p><% } %>
<% if (it.problem) { %><p class="problem" id="p-<%= it.name %>"><%= it.problem %></p><% } %>
<input id="f-<%= it.name %>" name="<%= it.name %>" type="<%= it.type ?? "text" %>" value="<%= it.value ?? "" %>"
 maxlength="<%= it.maxLength ?? 2000 %>" autocomplete="<%= it.autocomplete ?? "off" %>"<% if (it.list) { %> list="<%= it.list %>"<% } %><% if (it.describedBy !== "") { %> aria-describedby="<%= it.describedBy %>"<% } %>
<% if (it.problem) { %> aria-invalid="true"<% } %><% if (it.isRequired) { %> required<% } %><% if (it.hasFocus) { %> autofocus<% } %>></div>
`);

/** Renders a line of input with its label, its hint and what is wrong with it. A value is cut to what can be typed. */
export function renderInput(field: InputField): string {
  const { name, hint, problem = null, value = "" } = field;
  const described = [...(hint === undefined ? [] : [`h-${name}`]), ...(problem === null ? [] : [`p-${name}`])];
  const said = problem === null ? null : sentence(problem);
  return render({ ...field, problem: said, value: value.slice(0, field.maxLength), describedBy: described.join(" ") });
}

const hidden: (field: { readonly name: string; readonly value: string }) => string = compileTemplate(
  `<input type="hidden" name="<%= it.name %>" value="<%= it.value %>">`,
);

/** Renders a field that nobody sees, such as `_csrf`. */
export function renderHidden(name: string, value: string): string {
  return hidden({ name, value });
}

const note: (line: { readonly tone: string; readonly text: string }) => string = compileTemplate(
  `<p class="note <%= it.tone %>" role="alert"><%= it.text %></p>`,
);

/** Renders a sentence that stands out, such as why a form was not accepted. */
export function renderNote(tone: "good" | "warn" | "bad", text: string): string {
  return note({ tone, text: sentence(text) });
}

const formTop: (form: { readonly action: string }) => string = compileTemplate(
  `<form class="stack" method="post" action="<%= it.action %>">`,
);

const button: (label: { readonly label: string }) => string = compileTemplate(
  `<div class="row"><button class="primary"><%= it.label %></button></div></form>`,
);

/** Renders a form of one column. `parts` are what this file and compiled templates have rendered. */
export function renderForm(action: string, parts: readonly string[], submit: string): string {
  return [formTop({ action }), ...parts, button({ label: submit })].join("");
}
