/** Weight of a value itself, in addition to its characters or octets. */
const ENTRY = 16;

/** Reports whether a plain value holds more than `limit` octets or characters, without the names of its fields. */
export function isHeavy(value: unknown, limit: number): boolean {
  return weigh(value, limit) > limit;
}

/**
 * Returns the weight of a value. Stops counting beyond `limit`, so that a heavy value costs no more than a light one.
 */
function weigh(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== "object" || value === null) return ENTRY;
  let weight = ENTRY;
  for (const one of Array.isArray(value) ? value : Object.values(value)) {
    weight += weigh(one, limit - weight);
    if (weight > limit) break;
  }
  return weight;
}
