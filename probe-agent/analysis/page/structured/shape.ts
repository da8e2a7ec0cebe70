/** Paths of which one is enough, e.g. ["price", "priceSpecification.price"]; the first is the usual one. */
export type Need = readonly string[];

/** What a search engine asks of a thing. */
export interface Shape {
  readonly required: readonly Need[];
  readonly recommended: readonly Need[];
  /** Required of every thing of a list but the last. */
  readonly requiredButLast: readonly Need[];
  /** What it asks of the things a property holds, by their type; "*": of any other. */
  readonly nested: Readonly<Record<string, Readonly<Record<string, Shape>>>>;
  /** Properties that must hold at least so many things. */
  readonly least: Readonly<Record<string, number>>;
  /** Paths whose number must be above zero. */
  readonly positive: readonly Need[];
  /** Properties whose things must be of one of these types; a thing without a type passes. */
  readonly typed: Readonly<Record<string, ReadonlySet<string>>>;
  /** A text in the place of the thing counts as its name (schema.org/docs/gs.html, expected types vs text). */
  readonly textNames: boolean;
}

/** Reads a row of a table: paths apart by spaces, alternatives by "|", e.g. "name offers|review". */
export function needs(row: string): readonly Need[] {
  return row === "" ? [] : row.split(" ").map((need) => need.split("|"));
}

/** A shape from the rows of a table. */
export function shape(
  required: string,
  recommended = "",
  more: Partial<Omit<Shape, "required" | "recommended">> = {},
): Shape {
  return {
    required: needs(required),
    recommended: needs(recommended),
    requiredButLast: [],
    nested: {},
    least: {},
    positive: [],
    typed: {},
    textNames: false,
    ...more,
  };
}
