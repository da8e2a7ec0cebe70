import type { TypedPage } from "#control-plane/surfaces/dashboard/status-pages/values.ts";
import { STATUS_PAGES } from "#control-plane/surfaces/dashboard/strings/status-pages.ts";
import { readLogo } from "#control-plane/public/status-pages/logos/logo.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

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

const renderFile: (
  field: Texts & { readonly shown: string | null; readonly kept: string | null; readonly removes: boolean },
) => string = compileTemplate(`
<div class="field"><label for="f-logo"><%= it.label %></label><p class="hint" id="h-logo"><%= it.hint %></p>
<% if (it.problem !== null) { %><p class="problem" id="p-logo"><%= it.problem %></p><% } %>
<% if (it.shown !== null) { %><p><img class="logo" src="<%= it.shown %>" alt="<%= it.kept === null ? "${STATUS_PAGES.logoPresent}" : "${STATUS_PAGES.logoChosen}" %>"></p><% } %>
<% if (it.kept !== null) { %><input type="hidden" name="logo_kept" value="<%= it.kept %>"><% } %>
<input type="file" id="f-logo" name="logo" accept="image/png,image/jpeg,image/webp" aria-describedby="<%= it.described %>"<% if (it.problem !== null) { %> aria-invalid="true"<% } %>>
<% if (it.shown !== null) { %><div class="choice"><input type="checkbox" id="f-remove_logo" name="remove_logo" value="on"<% if (it.removes) { %> checked<% } %>><label for="f-remove_logo">${STATUS_PAGES.removeLogo}</label></div><% } %></div>
`);

/**
 * Renders the field of the logo. `stored`: that of the saved page, as a data URI. One that was chosen goes along with the
 * form: browsers do not keep the choice of a file.
 */
export function renderLogoField(
  { logo, removesLogo: removes }: Pick<TypedPage, "logo" | "removesLogo">,
  stored: string | null,
  problem: string | null,
): string {
  const kept = logo !== null && readLogo(logo).ok ? logo : null;
  return renderFile({ ...textsOf("logo", problem), shown: kept ?? stored, kept, removes });
}

function textsOf(name: keyof typeof STATUS_PAGES.fields, problem: string | null): Texts {
  const { label, hint } = STATUS_PAGES.fields[name];
  const described = [...(hint === "" ? [] : [`h-${name}`]), ...(problem === null ? [] : [`p-${name}`])].join(" ");
  return { name, label, hint, problem, described };
}
