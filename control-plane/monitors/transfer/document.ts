import { Type } from "typebox";
import { CREATE } from "#control-plane/monitors/settings/fields.ts";

const { depends_on: _id, ...FIELDS } = CREATE.properties;

/** Maximum number of rows of a document; plans allow fewer monitors. */
const MOST_ROWS = 100_000;

/** A row of a document: every field that a user can write. */
const ROW = Type.Object({
  ...FIELDS,
  depends_on: Type.Optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()], {
      description: "Name of another row of the document, which only that row has; null: none",
    }),
  ),
});

/** The document of an export and an import. */
export const DOCUMENT = Type.Object(
  {
    version: Type.Literal(1, { description: "Version of the form" }),
    monitors: Type.Array(ROW, {
      minItems: 1,
      maxItems: MOST_ROWS,
      description: "Monitors, oldest first. The plan limits their number",
    }),
  },
  { examples: [{ version: 1, monitors: [{ name: "Shop", url: "https://example.com" }] }] },
);

/** The document as an import parses it first: each row is parsed later. */
export const OUTLINE = Type.Object({
  version: Type.Literal(1, { description: "Version of the form" }),
  monitors: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MOST_ROWS }),
});
