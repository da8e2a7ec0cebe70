import { isRawNumber } from "#shared/json/exact.ts";

/**
 * Returns the canonical form of a JSON value, over which a signature can be computed: the JSON Canonicalization Scheme,
 * RFC 8785. Names are sorted by UTF-16 code units (section 3.2.3). Numbers and strings are written as ECMAScript does
 * (3.2.2). There is no whitespace.
 *
 * A number with its digits (RawNumber) is beyond what the scheme can write, and is written with them: what is signed has
 * texts in their place.
 *
 * Throws TypeError for values that JSON cannot represent exactly: NaN and infinities, BigInt, undefined, functions,
 * symbols, lone surrogates (in names too) and cycles. JSON.stringify omits or changes some of these, and a signature
 * would not cover what was omitted. Only own, enumerable properties with string names are written.
 */
export function toCanonicalJson(value: unknown): string {
  return writeValue(value, new Set());
}

/** Writes a value. `above` holds the objects and arrays that contain it. */
function writeValue(value: unknown, above: Set<object>): string {
  switch (typeof value) {
    case "string":
      return writeString(value);
    case "boolean":
      return String(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`);
      // ECMAScript's own form is the canonical one; -0 is written as 0 (section 3.2.2.3).
      return JSON.stringify(value);
    case "object":
      if (isRawNumber(value)) return value.rawJSON;
      return value === null ? "null" : writeContainer(value, above);
    default:
      throw new TypeError(`a value of type ${typeof value} has no form in JSON`);
  }
}

function writeContainer(value: object, above: Set<object>): string {
  if (above.has(value)) throw new TypeError("the value contains itself");
  above.add(value);
  const text = Array.isArray(value)
    ? // Array.from visits holes, which map would skip: they are undefined and refused.
      `[${Array.from(value, (item: unknown) => writeValue(item, above)).join(",")}]`
    : `{${members(value)
        .map(([name, item]) => `${writeString(name)}:${writeValue(item, above)}`)
        .join(",")}}`;
  above.delete(value);
  return text;
}

/** Returns the members in canonical order: the default order of strings is that of their UTF-16 code units. */
function members(value: object): readonly (readonly [name: string, value: unknown])[] {
  return Object.keys(value)
    .toSorted()
    .map((name) => [name, (value as Record<string, unknown>)[name]] as const);
}

/** Writes a string with the escapes of section 3.2.2.2, which are those of ECMAScript's QuoteJSONString. */
function writeString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("a string with half a surrogate pair has no form in UTF-8");
  return JSON.stringify(text);
}
