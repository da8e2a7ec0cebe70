const MAX_TEXT = 300;

/** Returns visible text of up to 300 characters. Null for blank text and for anything else. */
export function textOf(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const text = value
    .slice(0, MAX_TEXT)
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return text === "" ? null : text.toWellFormed();
}

/** Returns the first `limit` elements of an array. Empty for anything else. */
export function arrayOf(value: unknown, limit: number): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]).slice(0, limit) : [];
}

/** Returns the texts among the first `limit` elements of an array. */
export function textsOf(value: unknown, limit: number): string[] {
  return arrayOf(value, limit)
    .map(textOf)
    .filter((text) => text !== null);
}

/** Returns a JSON object, or null for anything else. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}

const INSTANT = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2}(?:\.\d{1,12})?) ?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Converts a date and time of RFC 3339 to ISO 8601 UTC. Returns null for anything else. Some services omit the zone,
 * the T or the time; a time without a zone counts as UTC, as in WHOIS.
 */
export function instantOf(value: unknown): string | null {
  const [, day, time = "00:00:00", zone = "Z"] = INSTANT.exec(typeof value === "string" ? value.trim() : "") ?? [];
  if (day === undefined) return null;
  const at = new Date(`${day}T${time}${zone.toUpperCase()}`);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
