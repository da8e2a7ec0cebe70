import { isRecord } from "#shared/text/is-record.ts";
import { unredacted, type Redact } from "#shared/text/redact.ts";
import { parseExact, type ExactNumber } from "#shared/json/exact.ts";
import { compare } from "#shared/json-path/compare.ts";
import { Effort } from "#shared/json-path/effort.ts";
import { parseJsonPath } from "#shared/json-path/parse.ts";
import { selectJson } from "#shared/json-path/select.ts";
import { defineAnalysis } from "#probe-agent/analysis/analysis.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

/** A condition on the first value that a path selects. */
export interface JsonCondition {
  /** JSONPath (RFC 9535). */
  readonly path: string;
  readonly op: "exists" | "equals" | "not_equals" | "less" | "greater";
  readonly value: string | ExactNumber | boolean | null;
}

/** The same for another thread, where a number would lose its digits: `value` is JSON. */
interface WrittenCondition extends Omit<JsonCondition, "value"> {
  readonly value: string;
}

/** Why a condition does not hold: a stable word, and one line for people. */
interface JsonFault {
  readonly reason: "json_path_invalid" | "json_invalid" | "json_too_complex" | "json_missing" | "json_mismatch";
  readonly message: string;
}

/** A fault, or the value that does not meet the condition, as JSON. */
type JsonVerdict = JsonFault | { readonly reason: "json_mismatch"; readonly found: string };

const MAX_PATH_SHOWN = 100;
const MAX_VALUE_SHOWN = 100;

/** Steps of an evaluation: enough to visit each value of a document a few times. */
const BASE_STEPS = 50_000;
const STEPS_PER_OCTET = 4;

/** Words for the expected value of each comparison. */
const EXPECTATIONS = { equals: "", not_equals: "another value than ", less: "less than ", greater: "more than " };

/** Checks a condition on a JSON document in UTF-8. Returns null if it holds. The time is linear in the document. */
export function checkJson(task: { octets: Uint8Array; condition: WrittenCondition }): JsonVerdict | null {
  const { octets } = task;
  const condition = { ...task.condition, value: parseExact(task.condition.value) } as JsonCondition;
  const parsed = parseJsonPath(condition.path);
  const path = printable(condition.path, MAX_PATH_SHOWN);
  if (!parsed.ok) return { reason: "json_path_invalid", message: `the path ${path} is not valid: ${parsed.message}` };
  const document = parseJson(octets);
  if (!document.ok) return { reason: "json_invalid", message: "the body is not JSON" };
  const steps = BASE_STEPS + STEPS_PER_OCTET * octets.byteLength;
  const selected = selectJson(parsed.path, document.value, steps);
  if (selected === null)
    return { reason: "json_too_complex", message: `the path ${path} selects too much of the body` };
  if (selected.length === 0) return { reason: "json_missing", message: `${path} is missing${expected(condition)}` };
  if (holds(condition, selected[0], steps)) return null;
  const [found] = selected;
  // Nothing of the contents of a list or an object is shown.
  return { reason: "json_mismatch", found: JSON.stringify(isRecord(found) ? {} : Array.isArray(found) ? [] : found) };
}

/** Whether a JSON text meets a condition. */
export const jsonConditionAnalysis = defineAnalysis("json-condition", checkJson);

/** Returns the words for a verdict. `redact`: that of the request whose answer the document is. */
export function describeVerdict(verdict: JsonVerdict, condition: JsonCondition, redact: Redact): JsonFault {
  if ("message" in verdict) return verdict;
  const path = printable(condition.path, MAX_PATH_SHOWN);
  const found = show(parseExact(verdict.found), redact);
  return { reason: verdict.reason, message: `${path} is ${found}${expected(condition)}` };
}

function parseJson(octets: Uint8Array): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  try {
    return { ok: true, value: parseExact(new TextDecoder().decode(octets)) };
  } catch {
    return { ok: false };
  }
}

function holds({ op, value }: JsonCondition, found: unknown, steps: number): boolean {
  switch (op) {
    case "exists":
      return true;
    case "equals":
      return compare("==", found, value, new Effort(steps));
    case "not_equals":
      return compare("!=", found, value, new Effort(steps));
    case "less":
      return compare("<", found, value, new Effort(steps));
    case "greater":
      return compare(">", found, value, new Effort(steps));
  }
}

function expected({ op, value }: JsonCondition): string {
  return op === "exists" ? "" : `, expected ${EXPECTATIONS[op]}${show(value, unredacted)}`;
}

function show(value: unknown, redact: Redact): string {
  if (Array.isArray(value)) return "an array";
  if (isRecord(value)) return "an object";
  if (typeof value !== "string") return printable(redact(JSON.stringify(value)), MAX_VALUE_SHOWN);
  return printable(JSON.stringify(redact(value).slice(0, MAX_VALUE_SHOWN)), MAX_VALUE_SHOWN);
}
