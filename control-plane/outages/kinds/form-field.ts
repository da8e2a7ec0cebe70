/** Key of the option of a schema that says how a form asks for its field. No published document has it. */
const FORM: unique symbol = Symbol("form");

/** How a value is typed. zone: the name of a time zone; lines: one item a line; words: items with spaces or commas; ids, codes: numbers so; pairs: "Name: value" a line. */
export type Input =
  | "text"
  | "zone"
  | "number"
  | "textarea"
  | "checkbox"
  | "select"
  | "lines"
  | "words"
  | "ids"
  | "codes"
  | "pairs"
  | "json-value";

/** Parts of the form, in their order; those after the first two are folded. */
export const GROUPS = ["what", "who", "when", "expect", "request", "more"] as const;
/** A part of the form. */
export type Group = (typeof GROUPS)[number];

/** How a form asks for a field. */
interface FieldForm {
  readonly label: string;
  /** A sentence below the label. */
  readonly hint?: string;
  readonly group: Group;
  /** Default: the input for values of the schema. */
  readonly input?: Input;
  /** What an empty field means for a monitor that exists. Default: null where the schema has null, else nothing is sent. */
  readonly empty?: string | number | undefined;
}

/** Returns the option of a schema that says how a form asks for its field. */
export function asked(label: string, group: Group, more: Omit<FieldForm, "label" | "group"> = {}) {
  return { [FORM]: { label, group, ...more } satisfies FieldForm };
}

/** Returns how a form asks for the field of a schema, which is an alternative of it or the whole; null if it does not. */
export function formOf(schema: object): FieldForm | null {
  return FORM in schema ? (schema[FORM] as FieldForm) : null;
}
