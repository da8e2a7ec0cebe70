import { Type, type Static, type TObject, type TOptional, type TSchema } from "typebox";
import type { Read } from "#shared/schema/problem.ts";
import type { KeyScope } from "#shared/tools/define.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { type ChangedField, diffResource } from "#control-plane/http/access/diff-resource.ts";
import type { Change } from "#control-plane/http/access/changes.ts";

/** How the dashboard's form asks for a field. The kind of input follows from its schema. */
interface FieldForm {
  readonly label: string;
  /** A sentence below the label. */
  readonly hint?: string;
}

/** A field that users write and the store keeps. Its column and its property in the program have its name, too. */
export interface StoredField<S extends TSchema = TSchema> {
  /** As it is written. */
  readonly given: S;
  /** As answers show it. */
  readonly shown: TSchema;
  /** Its value in a creation that does not have it; absent: a creation must have it. */
  readonly initial?: Static<S>;
  /** Reads a value beyond its schema: rules of one field, and its normal form. It is not asked for null. */
  read?(field: string, given: NonNullable<Static<S>>): Read<NonNullable<Static<S>>>;
  readonly form?: FieldForm;
}

/** A field that users write and that code of its noun reads, stores and shows. */
interface HandledField<S extends TSchema = TSchema, A extends TSchema = TSchema> {
  readonly given: S;
  /** As answers show it; absent: no answer shows it. */
  readonly shown?: A;
  readonly isHandled: true;
  /** Whether a creation must have it. */
  readonly isRequired?: boolean;
  /** Whether only changes have it: a creation ignores it, as it does what only answers have. */
  readonly isOnlyChanged?: boolean;
}

/** A field that only answers have. */
interface AnsweredField<A extends TSchema = TSchema> {
  readonly shown: A;
}

/** The fields of a noun by their names in the API, in the order of its answers. */
export type Fields = Readonly<Record<string, StoredField | HandledField | AnsweredField>>;

type StoredNames<F extends Fields> = {
  [K in keyof F]: F[K] extends { given: TSchema } ? (F[K] extends { isHandled: true } ? never : K) : never;
}[keyof F];

type GivenSchemas<F extends Fields> = {
  [K in keyof F as F[K] extends { given: TSchema } ? K : never]: F[K] extends { given: infer S extends TSchema }
    ? TOptional<S>
    : never;
};

type ShownSchemas<F extends Fields> = {
  [K in keyof F as F[K] extends { shown: TSchema } ? K : never]: K extends StoredNames<F>
    ? F[K] extends { given: infer S extends TSchema }
      ? S
      : never
    : F[K] extends { shown: infer A extends TSchema }
      ? A
      : never;
};

type Shown<F extends Fields> = Static<TObject<ShownSchemas<F>>>;

/** The values that the store keeps of a noun. */
type Stored<F extends Fields> = {
  readonly [K in StoredNames<F>]: F[K] extends { given: infer S extends TSchema } ? Static<S> : never;
};

/**
 * A noun of the API: each field is declared once. Schemas, the columns of its row, the parsing of a write, answers, the log of
 * changes and the dashboard's form follow from it. By hand are rules between fields, effects, and SQL that is no row.
 */
export interface Resource<F extends Fields = Fields> {
  /** Its name in the log of changes, and in the ids of its operations. */
  readonly name: Change["resource"];
  /** One of them in running text, such as "status page". */
  readonly noun: string;
  readonly path: string;
  /** Heading of its operations in the API document. */
  readonly tag: string;
  /** Scope of the keys that write it. */
  readonly scope: KeyScope;
  readonly fields: F;
  /** Body of a creation. */
  readonly create: TObject<GivenSchemas<F>>;
  /** Body of an update: the fields to change. */
  readonly change: TObject<GivenSchemas<F>>;
  /** One of them as answers show it. */
  readonly shown: TObject;
  /** The same where operations name it: a reference if the API document has it under a name. */
  readonly answer: TSchema;
  /** Fields of answers that clients can send back. */
  readonly readOnly: readonly string[];
  /** The same in a creation. */
  readonly ignoredInCreation: readonly string[];
  /** Names of the fields that the store keeps in columns. */
  readonly stored: readonly StoredNames<F>[];
}

/** Fields of a creation or an update, as parsed. */
export type GivenOf<R extends { readonly change: TSchema }> = Static<R["change"]>;
/** The stored fields of a noun. */
export type StoredOf<R> = R extends Resource<infer F> ? Stored<F> : never;
/** A noun as answers show it. */
export type ShownOf<R> = R extends Resource<infer F> ? Shown<F> : never;

/** Declares a field that the store keeps in a column. `shown` describes it in answers. */
export function stored<S extends TSchema>(
  given: S,
  { shown, ...rest }: Omit<StoredField<S>, "given" | "shown"> & { readonly shown: string },
): StoredField<S> {
  return { given, shown: describeAnswer(given, shown), ...rest };
}

/** Declares a noun. `example` is the body of a creation; `ref` names its schema in the API document. */
export function defineResource<const F extends Fields>({
  fields,
  example,
  ref,
  ...names
}: Pick<Resource, "name" | "noun" | "path" | "tag" | "scope"> & {
  readonly fields: F;
  readonly example: object;
  readonly ref?: { readonly $id: string; readonly description: string };
}): Resource<F> {
  const all = Object.entries<StoredField | HandledField | AnsweredField>(fields);
  const written = all.flatMap(([name, field]) => ("given" in field ? [[name, field] as const] : []));
  const [required, optional] = [
    written.filter(([, field]) => isRequired(field)),
    written.filter(([, field]) => !isRequired(field)),
  ];
  const schemas = [...required, ...optional].map(([name, { given }]) => [name, given] as const);
  const change = Type.Partial(Type.Object(Object.fromEntries(schemas)));
  const onlyChanged = written.flatMap(([name, field]) => ("isOnlyChanged" in field ? [name] : []));
  const created = Object.fromEntries(Object.entries(change.properties).filter(([name]) => !onlyChanged.includes(name)));
  const readOnly = all.flatMap(([name, field]) => ("given" in field ? [] : [name]));
  const needed = Object.fromEntries(required.map(([name, { given }]) => [name, given]));
  const shown = all.flatMap(([name, field]) => (field.shown === undefined ? [] : [[name, field.shown] as const]));
  const answered = Type.Object(Object.fromEntries(shown), ref ?? {});
  return {
    ...names,
    fields,
    create: Type.Object({ ...created, ...needed }, { examples: [example] }) as unknown as Resource<F>["create"],
    change: change as unknown as Resource<F>["change"],
    shown: answered,
    answer: ref === undefined ? answered : Type.Ref(`${ref.$id}#`),
    readOnly,
    ignoredInCreation: [...readOnly, ...onlyChanged],
    stored: written.flatMap(([name, field]) =>
      "isHandled" in field ? [] : [name],
    ) as unknown as Resource<F>["stored"],
  };
}

function isRequired(field: StoredField | HandledField): boolean {
  return "isHandled" in field ? field.isRequired === true : field.initial === undefined;
}

/** Returns the schema of a value in an answer: its type, without the limits of what is written. */
function describeAnswer(given: TSchema, description: string): TSchema {
  const {
    anyOf,
    type,
    enum: values,
  } = given as { anyOf?: readonly TSchema[]; type?: string; enum?: readonly unknown[] };
  if (anyOf !== undefined) return Nullable(describeAnswer(anyOf[0] ?? {}, description));
  return Type.Unsafe({
    ...(type === undefined ? {} : { type }),
    ...(values === undefined ? {} : { enum: values }),
    description,
  });
}

/**
 * Reads the stored fields of a creation (`current` is null), or applies a change to present ones. Fields that are not given,
 * or given as they are, keep their values, also if a newer rule forbids them.
 */
export function readStored<F extends Fields>(
  { fields, stored: names }: Resource<F>,
  given: Readonly<Record<string, unknown>>,
  current: Stored<F> | null,
): Read<Stored<F>> {
  const values: Record<string, unknown> = {};
  for (const name of names as readonly string[]) {
    const field = fields[name] as StoredField;
    const present = current === null ? field.initial : (current as Readonly<Record<string, unknown>>)[name];
    const value = given[name];
    if (value === undefined || value === null || value === present || field.read === undefined) {
      values[name] = value === undefined ? present : value;
      continue;
    }
    const read = field.read(name, value);
    if (!read.ok) return read;
    values[name] = read.value;
  }
  return { ok: true, value: values as Stored<F> };
}

/** Returns a record as answers show it, in the order of its fields. `rest` has those that are not stored as they are shown. */
export function show<F extends Fields>(
  { shown }: Resource<F>,
  record: Stored<F>,
  rest: Omit<Shown<F>, keyof Stored<F>>,
): Shown<F> {
  const all: Readonly<Record<string, unknown>> = { ...record, ...rest };
  const names = Object.keys(shown.properties).filter((name) => all[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

/** Returns the stored fields of a record: the columns of its row. */
export function columnsOf<F extends Fields>({ stored: names }: Resource<F>, record: Stored<F>): Stored<F> {
  return Object.fromEntries(names.map((name) => [name, record[name]])) as Stored<F>;
}

/** Returns the fields that users write of one that is shown, for the log of changes and for documents. */
export function writableOf(
  { readOnly }: Pick<Resource, "readOnly">,
  shown: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(shown).filter(([name]) => !readOnly.includes(name)));
}

/** Returns what a change has changed of the fields that users write. `secrets` are dotted names of those that have changed. */
export function changedFields(
  resource: Pick<Resource, "readOnly">,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  secrets: readonly string[] = [],
): readonly ChangedField[] {
  return diffResource(writableOf(resource, before), writableOf(resource, after), secrets);
}
