import type { TSchema } from "typebox";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Fields, Resource, StoredField } from "#control-plane/http/resource.ts";
import type { Form } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { renderInput } from "#control-plane/surfaces/dashboard/layout/fields.ts";

/** The fields of a noun as its form shows them. */
export interface TypedFields {
  /** By the name of the field; "" is null. */
  readonly texts: Readonly<Record<string, string>>;
  /** Names of those that are set. */
  readonly checked: ReadonlySet<string>;
}

/** A field for which the form asks. */
interface AskedField {
  readonly name: string;
  readonly input: "checkbox" | "number" | "lines" | "line";
  readonly label: string;
  readonly hint: string | null;
  readonly maxLength: number;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  readonly initial: unknown;
}

/** A noun whose fields a form asks for. */
type Asked = Pick<Resource, "fields">;

/** Returns the fields for which the form of a noun asks, in the order of its answers. */
export function askedFields({ fields }: Asked): readonly AskedField[] {
  return Object.entries<Fields[string]>(fields).flatMap(([name, field]) =>
    "form" in field && field.form !== undefined ? [toAsked(name, field, field.form)] : [],
  );
}

function toAsked(name: string, { given, initial }: StoredField, form: NonNullable<StoredField["form"]>): AskedField {
  const { anyOf = [given] } = given as { readonly anyOf?: readonly TSchema[] };
  const schema = anyOf[0] as { readonly type?: string; readonly "x-kind"?: string; readonly maxLength?: number };
  const kinds = { boolean: "checkbox", integer: "number" } as const;
  const input = schema["x-kind"] === "text" ? "lines" : (kinds[schema.type as keyof typeof kinds] ?? "line");
  return {
    name,
    input,
    label: form.label,
    hint: form.hint ?? null,
    maxLength: schema.maxLength ?? LONGEST_NUMBER,
    isRequired: initial === undefined,
    isNullable: initial === null,
    initial,
  };
}

/** Characters of a number that can be typed. */
const LONGEST_NUMBER = 5;

/** Returns what a form shows of a noun; null: of one that is created. Pure. */
export function typedFields(resource: Asked, shown: Readonly<Record<string, unknown>> | null): TypedFields {
  const asked = askedFields(resource);
  const valueOf = ({ name, initial }: AskedField): unknown => (shown === null ? initial : shown[name]) ?? "";
  const [set, texts] = [asked.filter(isCheckbox), asked.filter((one) => !isCheckbox(one))];
  return {
    texts: Object.fromEntries(texts.map((one) => [one.name, String(valueOf(one))])),
    checked: new Set(set.filter((one) => valueOf(one) === true).map(({ name }) => name)),
  };
}

/** Returns what was typed into a form. Pure. */
export function fieldsIn(resource: Asked, form: Form): TypedFields {
  const asked = askedFields(resource);
  const texts = asked
    .filter((one) => !isCheckbox(one))
    .map(({ name }) => [name, form.text(name).replaceAll("\r\n", "\n")]);
  return {
    texts: Object.fromEntries(texts) as Readonly<Record<string, string>>,
    checked: new Set(asked.filter((one) => isCheckbox(one) && form.has(one.name)).map(({ name }) => name)),
  };
}

function isCheckbox({ input }: AskedField): boolean {
  return input === "checkbox";
}

/** Returns the body of a creation for the API's own parser, which checks it. What is no number stays text. Pure. */
export function toFields(resource: Asked, { texts, checked }: TypedFields): Readonly<Record<string, unknown>> {
  const entries = askedFields(resource).flatMap(({ name, input, isNullable }): readonly [string, unknown][] => {
    if (input === "checkbox") return [[name, checked.has(name)]];
    const text = (texts[name] ?? "").trim();
    if (input === "number") return text === "" ? [] : [[name, /^\d{1,9}$/.test(text) ? Number(text) : text]];
    return [[name, text === "" && isNullable ? null : text]];
  });
  return Object.fromEntries(entries);
}

/** Renders the fields of a noun. `before` has what stands before a field; problems are by the names of the fields. */
export function renderFields(
  resource: Asked,
  typed: TypedFields,
  problems: ReadonlyMap<string, string>,
  before: Readonly<Record<string, Html | null>>,
): readonly Html[] {
  return askedFields(resource).map((asked) => {
    const field = { ...asked, problem: problems.get(asked.name) ?? null };
    return html`${before[asked.name] ?? null}${renderField(field, typed)}`;
  });
}

function renderField(field: AskedField & Labelled, { texts, checked }: TypedFields): Html {
  const { name, label, hint, problem, maxLength, isRequired } = field;
  const value = texts[name] ?? "";
  switch (field.input) {
    case "checkbox":
      return html`
        <div class="field"><div class="choice"><input type="checkbox" id="f-${name}" name="${name}" value="on"${checked.has(name) && html` checked`}${describedBy(field)}>
        <label for="f-${name}">${label}</label></div>${renderTexts(field)}</div>`;
    case "lines":
      return html`
        <div class="field"><label for="f-${name}">${label}</label>${renderTexts(field)}
        <textarea id="f-${name}" name="${name}" rows="3" maxlength="${maxLength}"${describedBy(field)}${problem !== null && html` aria-invalid="true"`}>
        ${value}</textarea></div>`;
    default:
      return renderInput({ name, label, value, problem, maxLength, isRequired, ...(hint === null ? {} : { hint }) });
  }
}

/** What is written beside an input; null if it has no hint, or nothing is wrong with it. */
interface Labelled {
  readonly name: string;
  readonly hint: string | null;
  readonly problem: string | null;
}

/** Renders the hint and the problem of an input. */
export function renderTexts({ name, hint, problem }: Labelled): Html {
  return html`
    ${hint !== null && html`<p class="hint" id="h-${name}">${hint}</p>`}
    ${problem !== null && html`<p class="problem" id="p-${name}">${problem}</p>`}`;
}

/** Returns the attribute by which an input names them; null if it has neither. */
export function describedBy({ name, hint, problem }: Labelled): Html | null {
  const ids = [...(hint === null ? [] : [`h-${name}`]), ...(problem === null ? [] : [`p-${name}`])];
  return ids.length === 0 ? null : html` aria-describedby="${ids.join(" ")}"`;
}
