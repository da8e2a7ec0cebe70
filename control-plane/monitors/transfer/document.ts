import { Type, type TSchema } from "typebox";
import type { DocumentPart } from "#control-plane/accounts/document-part.ts";
import { CREATE } from "#control-plane/monitors/settings/fields.ts";
import { ROW_OPTIONS, SECRETS_MISSING } from "#control-plane/monitors/settings/parse.ts";

const { depends_on: _id, ...FIELDS } = CREATE.properties;

/** Maximum number of rows of a document; plans allow fewer monitors. */
const MOST_ROWS = 100_000;
/** Maximum number of rows of a list beside the monitors. */
const MOST_PART_ROWS = 1_000;

/** The newest form of a document. Rows of version 1 need no unique names, and an import always creates them. */
export const VERSION = 2;

/** A row of a document: every field that a user can write. */
const ROW = Type.Object({
  ...FIELDS,
  ...ROW_OPTIONS,
  depends_on: Type.Optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()], {
      description: "Name of another row of the document, which only that row has; null: none",
    }),
  ),
  secrets_missing: Type.Optional(SECRETS_MISSING),
});

const VERSION_FIELD = Type.Integer({
  minimum: 1,
  maximum: VERSION,
  examples: [VERSION],
  description: "Version of the form; an export has 2. Version 1 has monitors alone, which an import always creates",
});

const LISTS = {
  status_pages: "Status pages, oldest first; the slug says which page a row is",
  maintenance: "Maintenance windows that are not over, oldest first; title and starts_at say which window a row is",
} as const satisfies Record<DocumentPart["name"], string>;

/** Returns the form of the document of an export and an import. */
export function documentSchema(parts: readonly Pick<DocumentPart, "name" | "row">[]) {
  const lists = parts.map(({ name, row }): [string, TSchema] => [
    name,
    Type.Optional(Type.Array(row, { maxItems: MOST_PART_ROWS, description: LISTS[name] })),
  ]);
  return Type.Object(
    {
      version: VERSION_FIELD,
      monitors: Type.Array(ROW, {
        maxItems: MOST_ROWS,
        description: "Monitors, oldest first; the name says which monitor a row is. The plan limits their number",
      }),
      ...(Object.fromEntries(lists) as Record<string, TSchema>),
    },
    { examples: [{ version: VERSION, monitors: [{ name: "Shop", url: "https://example.com" }] }] },
  );
}

const Rows = Type.Optional(Type.Array(Type.Unknown(), { maxItems: MOST_PART_ROWS }));

/** The document as an import parses it first: each row is parsed later. */
export const OUTLINE = Type.Object({
  version: VERSION_FIELD,
  monitors: Type.Array(Type.Unknown(), { maxItems: MOST_ROWS }),
  status_pages: Rows,
  maintenance: Rows,
} satisfies Record<DocumentPart["name"], TSchema> & Record<string, TSchema>);
