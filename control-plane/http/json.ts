import { isRecord } from "#shared/text/is-record.ts";
import { parseExact } from "#shared/json/exact.ts";
import { findJsonFault } from "#shared/json/faults.ts";

/** A JSON object, or why the text is not one; `field` is the invalid key, if a key is the cause. */
export type JsonObject =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | {
      readonly ok: false;
      readonly reason: "invalid_json" | "unknown" | "duplicate" | "range";
      readonly field?: string;
      readonly message: string;
    };

/** Maximum nesting. */
const DEEPEST = 64;

/**
 * Maximum number of lists and objects in a body of up to 1 MB. Those of the API take more than seven bytes each, and
 * JSON.parse needs longer for more than the loop may be held.
 */
export const MOST_CONTAINERS = 150_000;

/**
 * Parses a request body: a JSON object in UTF-8. An empty body is {}. In addition to JSON.parse it rejects duplicate
 * keys, because parsers differ in which value they use, the key `__proto__`, and more lists and
 * objects than `mostContainers`.
 */
export function parseJsonObject(bytes: Uint8Array, mostContainers = Infinity): JsonObject {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return broken("The body is not valid UTF-8.");
  }
  if (text.trim() === "") return { ok: true, value: {} };
  try {
    const problem = inspectKeys(text, mostContainers);
    if (problem !== null) return problem;
    value = parseExact(text, "value");
  } catch {
    return broken("The body is not valid JSON.");
  }
  if (!isRecord(value)) return broken("The body must be a JSON object.");
  return { ok: true, value };
}

/** Returns the refusal of a text; null if its structure and keys are valid. */
function inspectKeys(text: string, mostContainers: number): JsonObject | null {
  const fault = findJsonFault(text, { deepest: DEEPEST, bannedKey: "__proto__", mostContainers });
  if (fault === null) return null;
  switch (fault.kind) {
    case "repeated": {
      const field = fault.key.slice(0, 200);
      return { ok: false, reason: "duplicate", field, message: `${field} was given twice; give one value.` };
    }
    case "banned":
      return { ok: false, reason: "unknown", field: fault.key, message: "Remove this field." };
    case "crowded": {
      const field = fault.key === "" ? "body" : fault.key.slice(0, 200);
      const message = `${field}: is too large: a body has at most ${mostContainers} lists and objects.`;
      return { ok: false, reason: "range", field, message };
    }
    default:
      return broken(`The body is nested deeper than ${DEEPEST} levels.`);
  }
}

function broken(message: string): JsonObject {
  return { ok: false, reason: "invalid_json", message };
}
