import { renderInput, type InputField } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** A field with its label; `problem`: what is wrong with its value, null: nothing. */
interface Field {
  readonly name: string;
  readonly label: string;
  readonly problem: string | null;
}

/** Renders a choice of one value. */
export const renderSelect: (
  field: Field & {
    readonly options: readonly { readonly value: string; readonly label: string; readonly isSelected: boolean }[];
  },
) => string = compileTemplate(`
<div class="field"><label for="f-<%= it.name %>"><%= it.label %></label>
<% if (it.problem !== null) { %><p class="problem" id="p-<%= it.name %>"><%= it.problem %></p><% } %>
<select id="f-<%= it.name %>" name="<%= it.name %>"<% if (it.problem !== null) { %> aria-describedby="p-<%= it.name %>" aria-invalid="true"<% } %>>
<% for (const option of it.options) { %><option value="<%= option.value %>"<% if (option.isSelected) { %> selected<% } %>><%= option.label %></option><% } %>
</select></div>
`);

/** Renders an input of several lines. `id`: of the element, of which a page can have only one. */
export const renderText: (
  field: Field & { readonly id: string; readonly hint: string; readonly value: string; readonly maxLength: number },
) => string = compileTemplate(`
<div class="field"><label for="<%= it.id %>"><%= it.label %></label><p class="hint" id="<%= it.id %>-hint"><%= it.hint %></p>
<% if (it.problem !== null) { %><p class="problem" id="<%= it.id %>-problem"><%= it.problem %></p><% } %>
<textarea id="<%= it.id %>" name="<%= it.name %>" rows="4" maxlength="<%= it.maxLength %>" required aria-describedby="<%= it.id %>-hint<% if (it.problem !== null) { %> <%= it.id %>-problem<% } %>"<% if (it.problem !== null) { %> aria-invalid="true"<% } %>>
<%= it.value %></textarea></div>
`);

/** Renders a checkbox. */
export const renderCheck: (field: {
  readonly name: string;
  readonly value: string;
  readonly label: string;
  readonly isOn: boolean;
}) => string = compileTemplate(`
<div class="choice"><input type="checkbox" id="c-<%= it.name %>-<%= it.value %>" name="<%= it.name %>" value="<%= it.value %>"<% if (it.isOn) { %> checked<% } %>><label for="c-<%= it.name %>-<%= it.value %>"><%= it.label %></label></div>
`);

const renderListTop: (list: {
  readonly name: string;
  readonly legend: string;
  readonly hint: string;
  readonly problem: string | null;
  readonly empty: string;
}) => string = compileTemplate(`
<fieldset class="field"<% if (it.problem !== null) { %> aria-describedby="p-<%= it.name %>"<% } %>><legend><%= it.legend %></legend>
<% if (it.hint !== "") { %><p class="hint"><%= it.hint %></p><% } %>
<% if (it.problem !== null) { %><p class="problem" id="p-<%= it.name %>"><%= it.problem %></p><% } %>
<% if (it.empty !== "") { %><p class="faint"><%= it.empty %></p><% } %>
<div class="choices">`);

/** Choices of several values, each a checkbox with the name of the field. */
interface CheckList {
  readonly name: string;
  readonly legend: string;
  /** Empty: none. */
  readonly hint: string;
  readonly problem: string | null;
  /** What it says if there is nothing to choose. */
  readonly empty: string;
  readonly options: readonly { readonly value: string; readonly label: string; readonly isOn: boolean }[];
}

/** Renders a choice of several values. */
export function renderCheckList({ options, empty, ...list }: CheckList): string {
  const { name } = list;
  const top = renderListTop({ ...list, empty: options.length === 0 ? empty : "" });
  return [top, ...options.map((option) => renderCheck({ name, ...option })), "</div></fieldset>"].join("");
}

/** The names of time zones that this runtime offers. */
export const ZONE_NAMES: readonly string[] = Intl.supportedValuesOf("timeZone");

const ZONES = `<datalist id="zones">${["UTC", ...ZONE_NAMES]
  .map((name) => `<option value="${name}"></option>`)
  .join("")}</datalist>`;

/** Renders an input of a time zone, which offers those that this runtime knows. A page can have only one. */
export function renderZoneInput(field: Omit<InputField, "type" | "list" | "maxLength">): string {
  return renderInput({ ...field, maxLength: 64, list: "zones" }) + ZONES;
}
