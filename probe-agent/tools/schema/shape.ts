/** Alternative paths, e.g. ["price", "priceSpecification.price"]. One of them is enough; the first is the usual one. */
export type Need = readonly string[];

/** Requirements of a search engine for an item. */
export interface Shape {
  readonly required: readonly Need[];
  readonly recommended: readonly Need[];
  /** Required of every item of a list except the last. */
  readonly requiredExceptLast: readonly Need[];
  /** Shapes of the items that a property holds, keyed by property and then by type. "*" is for all other types. */
  readonly nested: Readonly<Record<string, Readonly<Record<string, Shape>>>>;
  /** Minimum number of values, keyed by property. Applies if the property has a value. */
  readonly minCount: Readonly<Record<string, number>>;
  /** Paths whose number must be above zero. */
  readonly positive: readonly Need[];
  /** Allowed types of the items that a property holds, keyed by property. An item without a type is allowed. */
  readonly allowedTypes: Readonly<Record<string, ReadonlySet<string>>>;
  /** Whether a text instead of an item counts as its name (schema.org/docs/gs.html, expected types vs text). */
  readonly textIsName: boolean;
}

/** Parses a table row. Spaces separate paths and "|" separates alternatives, e.g. "name offers|review". */
export function parseNeeds(row: string): readonly Need[] {
  return row === "" ? [] : row.split(" ").map((need) => need.split("|"));
}

/** Makes a shape from the rows of a table, which have the format of parseNeeds. */
export function shape(
  required: string,
  recommended = "",
  more: Partial<Omit<Shape, "required" | "recommended">> = {},
): Shape {
  return {
    required: parseNeeds(required),
    recommended: parseNeeds(recommended),
    requiredExceptLast: [],
    nested: {},
    minCount: {},
    positive: [],
    allowedTypes: {},
    textIsName: false,
    ...more,
  };
}
