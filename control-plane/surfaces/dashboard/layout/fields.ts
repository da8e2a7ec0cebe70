import { sentence } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

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

/** Renders a line of input with its label, its hint and what is wrong with it. A value is cut to what can be typed. */
export function renderInput(field: InputField): Html {
  const { name, label, hint, problem = null, value = "", list, isRequired = false, hasFocus = false } = field;
  const described = [hint !== undefined && `h-${name}`, problem !== null && `p-${name}`].filter((id) => id !== false);
  const description = described.length > 0 && html` aria-describedby="${described.join(" ")}"`;
  const flags = html`${problem !== null && html` aria-invalid="true"`}${isRequired && html` required`}${hasFocus && html` autofocus`}`;
  return html`
    <div class="field"><label for="f-${name}">${label}</label>
      ${hint !== undefined && html`<p class="hint" id="h-${name}">${hint}</p>`}
      ${renderProblem(`p-${name}`, problem === null ? null : sentence(problem))}
      <input id="f-${name}" name="${name}" type="${field.type ?? "text"}" value="${value.slice(0, field.maxLength)}"
        maxlength="${field.maxLength ?? 2000}" autocomplete="${field.autocomplete ?? "off"}"${list !== undefined && html` list="${list}"`}${description}${flags}></div>`;
}

/** Renders what is wrong with the value of a field; null: nothing. */
export function renderProblem(id: string, problem: string | null): Html | null {
  return problem === null ? null : html`<p class="problem" id="${id}">${problem}</p>`;
}

/** Renders a field that nobody sees, such as `_csrf`. */
export function renderHidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** Renders a sentence that stands out, such as why a form was not accepted. */
export function renderNote(tone: "good" | "warn" | "bad", text: string): Html {
  return html`<p class="note ${tone}" role="alert">${sentence(text)}</p>`;
}

/** Renders a form of one column. */
export function renderForm(action: string, parts: readonly Html[], submit: string): Html {
  return html`
    <form class="stack" method="post" action="${action}">
      ${parts}
      <div class="row"><button class="primary">${submit}</button></div>
    </form>`;
}
