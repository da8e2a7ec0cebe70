import { isRawNumber } from "#shared/json/exact.ts";

/** Reports whether a value is a JSON object: neither null, nor an array, nor a number with its digits. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}
