import type { Contract } from "#shared/tools/define.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import { renderOption } from "#control-plane/surfaces/dashboard/layout/choices.ts";
import { renderHidden, renderNote, renderProblem } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { fieldsOf, type ToolField } from "#control-plane/surfaces/dashboard/tools/form-fields.ts";
import type { TypedCall } from "#control-plane/surfaces/dashboard/tools/values.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
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

/** Renders the heading of a tool's form. */
export function renderToolHead({ title, summary }: Contract): Html {
  return html`<p class="back"><a href="/app/tools">All tools</a></p><h1>${title}</h1><p>${summary}</p>`;
}

/** Renders the way back from a result: to the tools, and to the form of this one. */
export function renderPath({ name, title }: Contract): Html {
  return html`<p class="back"><a href="/app/tools">All tools</a> / <a href="/app/tools/${name}">${title}</a></p>`;
}

/** Number of regions with a checkbox; further ones are typed. */
const MOST_BOXES = 60;

/** Renders the form of a tool: what it needs first, then where it runs; the rest opens. */
export function renderToolForm(form: ToolForm): Html {
  const { contract, typed, problem, canRun, formToken } = form;
  const fields = fieldsOf(contract);
  const named = new Set([...fields.map(({ name }) => name), "locations"]);
  const isBeside = problem !== null && problem.field !== null && named.has(problem.field);
  const problemOf = (name: string): string | null => (isBeside && problem.field === name ? problem.message : null);
  const show = (field: ToolField): Html => renderField(field, typed, problemOf(field.name));
  const others = fields.filter((field) => !field.isRequired);
  const isOpen = others.some(({ name, initial }) => problemOf(name) !== null || typed.texts.get(name) !== initial);
  return html`
    ${!canRun && renderNote("warn", VIEWER)}
    ${problem !== null && !isBeside && renderNote("bad", problem.message)}
    <form method="post" action="/app/tools/${contract.name}">${renderHidden("_csrf", formToken)}
      <fieldset class="bare"${!canRun && html` disabled`}><legend class="hidden">Parameters</legend>
        ${fields.filter((field) => field.isRequired).map(show)}
        ${renderLocations(form, problemOf("locations"))}
        ${others.length > 0 && html`<details class="part"${isOpen && html` open`}><summary>More options</summary><div class="stack">${others.map(show)}</div></details>`}
        <div class="choice"><input type="checkbox" id="f-share" name="share" value="1"${typed.share && html` checked`}><label for="f-share">Create a link to the result for everybody</label></div>
        <div class="row"><button class="primary">Run</button></div></fieldset></form>`;
}

const VIEWER =
  "Your role, viewer, may look at everything and run nothing. Ask an owner of the account for the role editor.";

/** Renders a parameter with its label, what it means, and what is wrong with it. */
function renderField(field: ToolField, { texts }: TypedCall, problem: string | null): Html {
  const { name, label, hint, input, initial } = field;
  const value = texts.get(name) ?? initial;
  const described = [hint !== "" && `h-${name}`, problem !== null && `p-${name}`].filter((id) => id !== false);
  const description = described.length > 0 && html` aria-describedby="${described.join(" ")}"`;
  const help = html`${hint !== "" && html`<p class="hint" id="h-${name}">${hint}</p>`}${renderProblem(`p-${name}`, problem)}`;
  if (input === "checkbox") {
    return html`
      <div class="field">${renderHidden(name, "0")}
        <div class="choice"><input type="checkbox" id="f-${name}" name="${name}" value="1"${value === "1" && html` checked`}${description}>
          <label for="f-${name}">${label}</label></div>
        ${help}</div>`;
  }
  const flags = html`${field.isRequired && html` required`}${description}${problem !== null && html` aria-invalid="true" autofocus`}`;
  return html`
    <div class="field"><label for="f-${name}">${label}</label>
      ${help}
      ${input === "select" ? renderChoices(field, value, description) : renderTyped(field, value, flags)}</div>`;
}

function renderChoices({ name, choices }: ToolField, value: string, attributes: Html | false): Html {
  // A value of the address that is no choice stays, so that its problem is beside it.
  const all = choices.includes(value) ? choices : [...choices, value];
  return html`<select id="f-${name}" name="${name}"${attributes}>${all.map((one) => renderOption(one, one === "" ? "automatic" : one, one === value))}</select>`;
}

function renderTyped(field: ToolField, value: string, attributes: Html): Html {
  const { name, input, isList, minimum, maximum, maxLength } = field;
  if (input === "textarea") {
    return html`
      <textarea id="f-${name}" name="${name}" rows="${isList ? 2 : 10}" maxlength="${maxLength}" autocapitalize="none" spellcheck="false"${attributes}>
        ${value}</textarea>`;
  }
  const range = html`${minimum !== null && html` min="${minimum}"`}${maximum !== null && html` max="${maximum}"`}`;
  const bounds = input === "number" ? html` type="number"${range}` : html` maxlength="${maxLength}"`;
  return html`<input id="f-${name}" name="${name}" value="${value}" autocomplete="off" autocapitalize="none" spellcheck="false"${bounds}${attributes}>`;
}

function renderLocations({ typed, regions, mostLocations }: ToolForm, problem: string | null): Html {
  const boxes = regions.slice(0, MOST_BOXES);
  const known = new Set(boxes.map(({ region }) => region));
  const items = typed.locations.split(",").map((item) => item.trim());
  const isOpen = problem !== null || typed.locations !== "" || regions.length > 1;
  const renderBox = ({ region, city, country }: Region, index: number): Html => {
    const where = [city, country].filter((part) => part !== null).join(", ");
    return html`
      <div class="choice"><input type="checkbox" id="at-${index}" name="at" value="${region}"${items.includes(region) && html` checked`}><label for="at-${index}">${where === "" ? region : `${region} (${where})`}</label></div>`;
  };
  return html`
    <details class="part"${isOpen && html` open`}><summary>Locations</summary><fieldset class="bare inside"><legend class="hidden">Locations</legend>
      <p class="faint">None chosen: one probe that the service chooses. Your plan allows ${counted(mostLocations, "probe")} at once.</p>
      ${boxes.length > 0 && html`<div class="choices">${boxes.map(renderBox)}</div>`}
      <div class="field"><label for="f-locations">Other locations</label>
        <p class="hint" id="h-locations">Regions, countries, cities, networks (AS64500), tags or all, separated by commas.</p>
        ${renderProblem("p-locations", problem)}
        <input id="f-locations" name="locations" value="${items.filter((item) => !known.has(item)).join(",")}" maxlength="4096" autocomplete="off" autocapitalize="none" spellcheck="false"
          aria-describedby="h-locations${problem !== null && " p-locations"}"${problem !== null && html` aria-invalid="true"`}></div></fieldset></details>`;
}
