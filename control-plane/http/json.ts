import { isRecord } from "#shared/is-record.ts";
import { findJsonFault } from "#shared/json/faults.ts";

/** A JSON object, or why the text is not one; `field` is the invalid key, if a key is the cause. */
export type JsonObject =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | {
      readonly ok: false;
      readonly reason: "invalid_json" | "unknown" | "duplicate";
      readonly field?: string;
      readonly message: string;
    };

/** Maximum nesting. */
const DEEPEST = 64;

/**
 * Parses a request body: a JSON object in UTF-8. An empty body is {}. In addition to JSON.parse it rejects duplicate
 * keys, because parsers differ in which value they use, and the key `__proto__`.
 */
export function parseJsonObject(bytes: Uint8Array): JsonObject {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return broken("The body is not valid UTF-8.");
  }
  if (text.trim() === "") return { ok: true, value: {} };
  try {
    const problem = inspectKeys(text);
    if (problem !== null) return problem;
    value = JSON.parse(text);
  } catch {
    return broken("The body is not valid JSON.");
  }
  if (!isRecord(value)) return broken("The body must be a JSON object.");
  return { ok: true, value };
}

/** Returns the refusal of a text; null if its nesting and keys are valid. */
function inspectKeys(text: string): JsonObject | null {
  const fault = findJsonFault(text, { deepest: DEEPEST, bannedKey: "__proto__" });
  if (fault === null) return null;
  switch (fault.kind) {
    case "repeated": {
      const field = fault.key.slice(0, 200);
      return { ok: false, reason: "duplicate", field, message: `${field} was given twice; give one value.` };
    }
    case "banned":
      return { ok: false, reason: "unknown", field: fault.key, message: "Remove this field." };
    default:
      return broken(`The body is nested deeper than ${DEEPEST} levels.`);
  }
}

function broken(message: string): JsonObject {
  return { ok: false, reason: "invalid_json", message };
}
