/** Counted for a value itself, beside its characters or octets. */
const ENTRY = 16;

/** Whether a plain value holds more than `limit` octets or characters, its fields' names left out. */
export function isHeavy(value: unknown, limit: number): boolean {
  return weigh(value, limit) > limit;
}

/** Stops counting beyond `limit`, so that looking at a heavy value costs no more than at a light one. */
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
