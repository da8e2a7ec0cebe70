import { renderInput, renderProblem, type InputField } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** A field with its label; `problem`: what is wrong with its value, null: nothing. */
interface Field {
  readonly name: string;
  readonly label: string;
  readonly problem: string | null;
}

/** A choice of one value. */
interface Choice extends Field {
  readonly options: readonly { readonly value: string; readonly label: string; readonly isSelected: boolean }[];
}

/** Renders a choice of one value. */
export function renderSelect({ name, label, problem, options }: Choice): Html {
  return html`
    <div class="field"><label for="f-${name}">${label}</label>
      ${renderProblem(`p-${name}`, problem)}
      <select id="f-${name}" name="${name}"${problem !== null && html` aria-describedby="p-${name}" aria-invalid="true"`}>
        ${options.map(({ value, label: text, isSelected }) => renderOption(value, text, isSelected))}
      </select>
    </div>`;
}

/** Renders one of the values of a <select>. */
export function renderOption(value: string, label: string, isSelected: boolean): Html {
  return html`<option value="${value}"${isSelected && html` selected`}>${label}</option>`;
}

/** An input of several lines. `id`: of the element, of which a page can have only one. */
interface Text extends Field {
  readonly id: string;
  readonly hint: string;
  readonly value: string;
  readonly maxLength: number;
}

/** Renders an input of several lines. */
export function renderText({ id, name, label, hint, problem, value, maxLength }: Text): Html {
  return html`
    <div class="field"><label for="${id}">${label}</label><p class="hint" id="${id}-hint">${hint}</p>
      ${renderProblem(`${id}-problem`, problem)}
      <textarea id="${id}" name="${name}" rows="4" maxlength="${maxLength}" required
        aria-describedby="${id}-hint${problem !== null && ` ${id}-problem`}"${problem !== null && html` aria-invalid="true"`}>
        ${value}</textarea>
    </div>`;
}

/** A checkbox. */
interface Check {
  readonly name: string;
  readonly value: string;
  readonly label: string;
  readonly isOn: boolean;
}

/** Renders a checkbox. */
export function renderCheck({ name, value, label, isOn }: Check): Html {
  const id = `c-${name}-${value}`;
  return html`
    <div class="choice">
      <input type="checkbox" id="${id}" name="${name}" value="${value}"${isOn && html` checked`}><label for="${id}">${label}</label>
    </div>`;
}

/** Choices of several values, each a checkbox with the name of the field. */
interface CheckList {
  readonly name: string;
  readonly legend: string;
  /** Empty: none. */
  readonly hint: string;
  readonly problem: string | null;
  /** What it says if there is nothing to choose. */
  readonly empty: string;
  readonly options: readonly Omit<Check, "name">[];
}

/** Renders a choice of several values. */
export function renderCheckList({ name, legend, hint, problem, empty, options }: CheckList): Html {
  return html`
    <fieldset class="field"${problem !== null && html` aria-describedby="p-${name}"`}><legend>${legend}</legend>
      ${hint !== "" && html`<p class="hint">${hint}</p>`}
      ${renderProblem(`p-${name}`, problem)}
      ${options.length === 0 && empty !== "" && html`<p class="faint">${empty}</p>`}
      <div class="choices">${options.map((option) => renderCheck({ name, ...option }))}</div>
    </fieldset>`;
}

/** The names of time zones that this runtime offers. */
export const ZONE_NAMES: readonly string[] = Intl.supportedValuesOf("timeZone");

const ZONES = html`<datalist id="zones">${["UTC", ...ZONE_NAMES].map((name) => html`<option value="${name}"></option>`)}</datalist>`;

/** Renders an input of a time zone, which offers those that this runtime knows. A page can have only one. */
export function renderZoneInput(field: Omit<InputField, "type" | "list" | "maxLength">): Html {
  return html`${renderInput({ ...field, maxLength: 64, list: "zones" })}${ZONES}`;
}
