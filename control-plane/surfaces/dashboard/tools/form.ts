import type { Contract } from "#shared/tools/define.ts";
import { renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { TOOLS } from "#control-plane/surfaces/dashboard/strings/tools.ts";
import { fieldsOf, type ToolField } from "#control-plane/surfaces/dashboard/tools/form-fields.ts";
import type { TypedCall } from "#control-plane/surfaces/dashboard/tools/values.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { Region } from "#control-plane/surfaces/catalogue/region-routes.ts";

/** The form of a tool. */
export interface ToolForm {
  readonly contract: Contract;
  readonly typed: TypedCall;
  /** Regions with probes that are online. */
  readonly regions: readonly Region[];
  /** Number of probes of one call that the plan allows. */
  readonly mostLocations: number;
  /** Value of the field `_csrf`. */
  readonly formToken: string;
  /** Whether the member may run tools. */
  readonly canRun: boolean;
  /** What is wrong; `field` is null: the call as a whole. */
  readonly problem: { readonly field: string | null; readonly message: string } | null;
}

const renderHead: (contract: Pick<Contract, "title" | "summary">) => string = compileTemplate(
  `<p class="back"><a href="/app/tools">${TOOLS.back}</a></p><h1><%= it.title %></h1><p><%= it.summary %></p>`,
);

/** Renders the way back from a result: to the tools, and to the form of this one. */
export const renderPath: (contract: Pick<Contract, "name" | "title">) => string = compileTemplate(
  `<p class="back"><a href="/app/tools">${TOOLS.back}</a> / <a href="/app/tools/<%= it.name %>"><%= it.title %></a></p>`,
);

const renderTop: (top: { readonly action: string; readonly formToken: string; readonly canRun: boolean }) => string =
  compileTemplate(`
<form method="post" action="<%= it.action %>"><input type="hidden" name="_csrf" value="<%= it.formToken %>">
<fieldset class="bare"<% if (!it.canRun) { %> disabled<% } %>><legend class="hidden">${TOOLS.parameters}</legend>
`);

const renderField: (field: ShownField) => string = compileTemplate(`
<% if (it.input === "checkbox") { %>
<div class="field"><input type="hidden" name="<%= it.name %>" value="0"><div class="choice"><input type="checkbox" id="f-<%= it.name %>" name="<%= it.name %>" value="1"<% if (it.value === "1") { %> checked<% } %><% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %>>
<label for="f-<%= it.name %>"><%= it.label %></label></div>
<% } else { %>
<div class="field"><label for="f-<%= it.name %>"><%= it.label %></label>
<% } %>
<% if (it.hint !== "") { %><p class="hint" id="h-<%= it.name %>"><%= it.hint %></p><% } %>
<% if (it.problem !== null) { %><p class="problem" id="p-<%= it.name %>"><%= it.problem %></p><% } %>
<% if (it.input === "select") { %>
<select id="f-<%= it.name %>" name="<%= it.name %>"<% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %>><% for (const choice of it.choices) { %><option value="<%= choice.value %>"<% if (choice.value === it.value) { %> selected<% } %>><%= choice.label %></option><% } %></select>
<% } else if (it.input === "textarea") { %>
<textarea id="f-<%= it.name %>" name="<%= it.name %>" rows="<%= it.rows %>" maxlength="<%= it.maxLength %>" autocapitalize="none" spellcheck="false"<% if (it.isRequired) { %> required<% } %><% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %><% if (it.problem !== null) { %> aria-invalid="true" autofocus<% } %>>
<%= it.value %></textarea>
<% } else if (it.input !== "checkbox") { %>
<input id="f-<%= it.name %>" name="<%= it.name %>" value="<%= it.value %>" autocomplete="off" autocapitalize="none" spellcheck="false"
<% if (it.input === "number") { %> type="number"<% if (it.minimum !== null) { %> min="<%= it.minimum %>"<% } %><% if (it.maximum !== null) { %> max="<%= it.maximum %>"<% } %><% } else { %> maxlength="<%= it.maxLength %>"<% } %>
<% if (it.isRequired) { %> required<% } %><% if (it.described !== "") { %> aria-describedby="<%= it.described %>"<% } %><% if (it.problem !== null) { %> aria-invalid="true" autofocus<% } %>>
<% } %></div>
`);

interface ShownField extends Omit<ToolField, "choices"> {
  readonly value: string;
  readonly problem: string | null;
  readonly described: string;
  readonly rows: number;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
}

const renderPlaces: (places: {
  readonly most: string;
  readonly regions: readonly { readonly region: string; readonly label: string; readonly isChecked: boolean }[];
  readonly text: string;
  readonly problem: string | null;
  readonly isOpen: boolean;
}) => string = compileTemplate(`
<details class="part"<% if (it.isOpen) { %> open<% } %>><summary>${TOOLS.locations}</summary><fieldset class="bare inside"><legend class="hidden">${TOOLS.locations}</legend><p class="faint"><%= it.most %></p>
<% if (it.regions.length > 0) { %><div class="choices"><% it.regions.forEach((one, index) => { %>
<div class="choice"><input type="checkbox" id="at-<%= index %>" name="at" value="<%= one.region %>"<% if (one.isChecked) { %> checked<% } %>><label for="at-<%= index %>"><%= one.label %></label></div>
<% }) %></div><% } %>
<div class="field"><label for="f-locations">${TOOLS.expression}</label><p class="hint" id="h-locations">${TOOLS.expressionHint}</p>
<% if (it.problem !== null) { %><p class="problem" id="p-locations"><%= it.problem %></p><% } %>
<input id="f-locations" name="locations" value="<%= it.text %>" maxlength="4096" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="h-locations<% if (it.problem !== null) { %> p-locations<% } %>"<% if (it.problem !== null) { %> aria-invalid="true"<% } %>></div></fieldset></details>
`);

const renderEnd: (end: { readonly share: boolean; readonly canRun: boolean }) => string = compileTemplate(`
<div class="choice"><input type="checkbox" id="f-share" name="share" value="1"<% if (it.share) { %> checked<% } %>><label for="f-share">${TOOLS.share}</label></div>
<div class="row"><button class="primary">${TOOLS.run}</button></div></fieldset></form>
`);

/** Renders the heading of a tool's form. */
export function renderToolHead({ title, summary }: Contract): string {
  return renderHead({ title, summary });
}

/** Number of regions with a checkbox; further ones are typed. */
const MOST_BOXES = 60;

/** Renders the form of a tool: what it needs first, then where it runs; the rest opens. */
export function renderToolForm(form: ToolForm): string {
  const { contract, typed, problem, canRun, formToken } = form;
  const fields = fieldsOf(contract);
  const named = new Set([...fields.map(({ name }) => name), "locations"]);
  const isBeside = problem !== null && problem.field !== null && named.has(problem.field);
  const problemOf = (name: string): string | null => (isBeside && problem.field === name ? problem.message : null);
  const show = (field: ToolField): string => renderField(showField(field, typed, problemOf(field.name)));
  const others = fields.filter((field) => !field.isRequired);
  const isOpen = others.some(({ name, initial }) => problemOf(name) !== null || typed.texts.get(name) !== initial);
  return [
    canRun ? "" : renderNote("warn", TOOLS.viewer),
    problem === null || isBeside ? "" : renderNote("bad", problem.message),
    renderTop({ action: `/app/tools/${contract.name}`, formToken, canRun }),
    ...fields.filter((field) => field.isRequired).map(show),
    renderLocations(form, problemOf("locations")),
    others.length === 0
      ? ""
      : `<details class="part"${isOpen ? " open" : ""}><summary>${TOOLS.more}</summary><div class="stack">${others.map(show).join("")}</div></details>`,
    renderEnd({ share: typed.share, canRun }),
  ].join("");
}

function showField(field: ToolField, { texts }: TypedCall, problem: string | null): ShownField {
  const { name, hint, choices, initial, input, isList } = field;
  const value = texts.get(name) ?? initial;
  const described = [...(hint === "" ? [] : [`h-${name}`]), ...(problem === null ? [] : [`p-${name}`])].join(" ");
  // A value of the address that is no choice stays, so that its problem is beside it.
  const all = input === "select" && !choices.includes(value) ? [...choices, value] : choices;
  return {
    ...field,
    value,
    problem,
    described,
    rows: isList ? 2 : 10,
    choices: all.map((one) => ({ value: one, label: one === "" ? TOOLS.automatic : one })),
  };
}

function renderLocations({ typed, regions, mostLocations }: ToolForm, problem: string | null): string {
  const boxes = regions.slice(0, MOST_BOXES);
  const known = new Set(boxes.map(({ region }) => region));
  const items = typed.locations.split(",").map((item) => item.trim());
  const chosen = new Set(items.filter((item) => known.has(item)));
  return renderPlaces({
    most: TOOLS.mostLocations(mostLocations),
    regions: boxes.map(({ region, city, country }) => {
      const where = [city, country].filter((part) => part !== null).join(", ");
      return { region, label: where === "" ? region : `${region} (${where})`, isChecked: chosen.has(region) };
    }),
    text: items.filter((item) => !known.has(item)).join(","),
    problem,
    isOpen: problem !== null || typed.locations !== "" || regions.length > 1,
  });
}
