import { STATUS_PAGES } from "#control-plane/dashboard/strings/status-pages.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

interface Texts {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly problem: string | null;
  readonly described: string;
}

const renderLines: (field: Texts & { readonly value: string; readonly most: number }) => string = compileTemplate(`
<div class="field"><label for="f-<%= it.name %>"><%= it.label %></label>
<% if (it.hint !== "") { %><p class="hint" id="h-<%= it.name %>"><%= it.hint %></p><% } %>
<% if (it.problem !== null) { %><p class="problem" id="p-<%= it.name %>"><%= it.problem %></p><% } %>
<textarea id="f-<%= it.name %>" name="<%= it.name %>" rows="3" maxlength="<%= it.most %>"<% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %><% if (it.problem !== null) { %> aria-invalid="true"<% } %>>
<%= it.value %></textarea></div>
`);

/** Renders a field of several lines. */
export function renderTextarea(
  name: "description" | "footer",
  value: string,
  { problem, most }: { readonly problem: string | null; readonly most: number },
): string {
  return renderLines({ ...textsOf(name, problem), value, most });
}

const renderChoice: (field: Texts & { readonly isChecked: boolean }) => string = compileTemplate(`
<div class="field"><div class="choice"><input type="checkbox" id="f-<%= it.name %>" name="<%= it.name %>" value="on"<% if (it.isChecked) { %> checked<% } %><% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %>>
<label for="f-<%= it.name %>"><%= it.label %></label></div>
<% if (it.hint !== "") { %><p class="hint" id="h-<%= it.name %>"><%= it.hint %></p><% } %>
<% if (it.problem !== null) { %><p class="problem" id="p-<%= it.name %>"><%= it.problem %></p><% } %></div>
`);

/** Renders a field that is set or not. */
export function renderCheckbox(
  name: keyof typeof STATUS_PAGES.fields,
  isChecked: boolean,
  problem: string | null,
): string {
  return renderChoice({ ...textsOf(name, problem), isChecked });
}

function textsOf(name: keyof typeof STATUS_PAGES.fields, problem: string | null): Texts {
  const { label, hint } = STATUS_PAGES.fields[name];
  const described = [...(hint === "" ? [] : [`h-${name}`]), ...(problem === null ? [] : [`p-${name}`])].join(" ");
  return { name, label, hint, problem, described };
}
