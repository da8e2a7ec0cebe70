/**
 * A JSON value in the one form that a signature can be made over: the JSON Canonicalization Scheme, RFC 8785. Names are
 * sorted by UTF-16 code units (section 3.2.3), numbers and strings written as ECMAScript does (3.2.2), nothing else.
 *
 * Throws TypeError on whatever JSON cannot say exactly: NaN and infinities, BigInt, undefined, functions, symbols, lone
 * surrogates (in names too) and cycles. JSON.stringify leaves some of these out or rewrites them, and a signature over
 * what was left out would be worth nothing. Only own, enumerable properties with string names count.
 */
export function canonicalize(value: unknown): string {
  return writeValue(value, new Set());
}

/** `above`: the objects and arrays the value lies in. */
function writeValue(value: unknown, above: Set<object>): string {
  switch (typeof value) {
    case "string":
      return writeString(value);
    case "boolean":
      return String(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`);
      // ECMAScript's own form is the canonical one, -0 is 0 (section 3.2.2.3).
      return JSON.stringify(value);
    case "object":
      return value === null ? "null" : writeContainer(value, above);
    default:
      throw new TypeError(`a value of type ${typeof value} has no form in JSON`);
  }
}

function writeContainer(value: object, above: Set<object>): string {
  if (above.has(value)) throw new TypeError("the value contains itself");
  above.add(value);
  const text = Array.isArray(value)
    ? // Array.from visits holes, which map would pass over: they are undefined and refused.
      `[${Array.from(value, (item: unknown) => writeValue(item, above)).join(",")}]`
    : `{${members(value)
        .map(([name, item]) => `${writeString(name)}:${writeValue(item, above)}`)
        .join(",")}}`;
  above.delete(value);
  return text;
}

/** In canonical order: the default order of strings is that of their UTF-16 code units. */
function members(value: object): readonly (readonly [name: string, value: unknown])[] {
  return Object.keys(value)
    .toSorted()
    .map((name) => [name, (value as Record<string, unknown>)[name]] as const);
}

/** Escapes as section 3.2.2.2 has them, which is ECMAScript's QuoteJSONString. */
function writeString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("a string with half a surrogate pair has no form in UTF-8");
  return JSON.stringify(text);
}
