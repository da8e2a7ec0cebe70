import { valuesOf, type Entities, type Entity } from "#probe-agent/analysis/page/structured/entity.ts";

/** A value that does not have the form that its property requires. */
export interface ValueWarning {
  /** Index of the top-level item. */
  readonly item: number;
  /** Path of the property within the item, e.g. offers.price. */
  readonly path: string;
  /** The first 60 characters of the value, as JSON. */
  readonly value: string;
  /** The required form, as a noun phrase. */
  readonly wanted: string;
}

/** An ISO 8601 date, or date and time, in the forms of schema.org's Date and DateTime. */
const DATE = /^\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?)?$/i;
const DURATION = /^P(?=.)(?:\d+(?:\.\d+)?[YMWD])*(?:T(?:\d+(?:\.\d+)?[HMS])+)?$/;
const FORMS: readonly (readonly [names: readonly string[], form: RegExp, wanted: string])[] = [
  [
    [
      "datePublished",
      "dateModified",
      "dateCreated",
      "uploadDate",
      "startDate",
      "endDate",
      "datePosted",
      "validThrough",
    ],
    DATE,
    "an ISO 8601 date",
  ],
  [["priceValidUntil", "validFrom", "expires", "previousStartDate"], DATE, "an ISO 8601 date"],
  [["duration", "cookTime", "prepTime", "totalTime"], DURATION, "an ISO 8601 duration, e.g. PT30M"],
  [
    ["price", "lowPrice", "highPrice", "minPrice", "maxPrice"],
    /^\d{1,15}(?:\.\d{1,10})?$/,
    "a number with a decimal point and no other sign, e.g. 12.50",
  ],
  [["priceCurrency", "currency"], /^[A-Z]{3}$/, "a three-letter ISO 4217 code"],
  [["ratingValue", "bestRating", "worstRating"], /^\d{1,9}(?:[.,]\d{1,9})?%?$|^\d{1,9}\/\d{1,9}$/, "a number"],
  [["ratingCount", "reviewCount", "position"], /^\d{1,15}$/, "a whole number"],
];
const BY_NAME = new Map(
  FORMS.flatMap(([names, form, wanted]) => names.map((name) => [name, { form, wanted }] as const)),
);
const MAX_WARNINGS = 100;
const MAX_DEPTH = 8;

/** Finds values of well-known properties that machines cannot read. */
export function findInvalidValues({ top, byId }: Entities): ValueWarning[] {
  const warnings: ValueWarning[] = [];
  for (const [item, { entity }] of top.entries()) check(entity, "", 0, item);
  return warnings;

  function check(entity: Entity, at: string, depth: number, item: number): void {
    for (const name of entity.properties.keys()) {
      if (warnings.length >= MAX_WARNINGS) return;
      const known = BY_NAME.get(name);
      for (const value of entity.properties.get(name) ?? []) {
        if (typeof value === "object") {
          if (!("ref" in value) && depth < MAX_DEPTH) check(value, `${at}${name}.`, depth + 1, item);
        } else if (
          known !== undefined &&
          !known.form.test(value.trim().slice(0, 200)) &&
          warnings.length < MAX_WARNINGS
        ) {
          warnings.push({
            item,
            path: `${at}${name}`,
            value: JSON.stringify(value.slice(0, 60)),
            wanted: known.wanted,
          });
        }
      }
      if (known === undefined) continue;
      checkRating(entity, at, item, name);
    }
  }

  /** Warns of a rating above the best value of its scale, which is 5 by default (schema.org/Rating). */
  function checkRating(entity: Entity, at: string, item: number, name: string): void {
    if (name !== "ratingValue") return;
    const number = (property: string): number => Number(valuesOf(entity, property, byId)[0]);
    const value = number("ratingValue");
    const best = entity.properties.has("bestRating") ? number("bestRating") : 5;
    if (value > best) {
      warnings.push({
        item,
        path: `${at}ratingValue`,
        value: String(value),
        wanted: `a number up to bestRating (${best})`,
      });
    }
  }
}
