import { isRecord } from "#shared/text/is-record.ts";
import { MOST_BYTES, type Evidence } from "#control-plane/watching/evidence/evidence.ts";

/** Limits of nested values. */
interface Limits {
  /** Characters of a text. */
  readonly text: number;
  /** Items of a list, and fields of an object. */
  readonly items: number;
  readonly depth: number;
}

/** Limits in the order in which they are tried. The first keeps every ordinary result whole. */
const STEPS: readonly Limits[] = [
  { text: 16_384, items: 500, depth: 16 },
  { text: 1_024, items: 100, depth: 12 },
  { text: 256, items: 30, depth: 10 },
  { text: 100, items: 10, depth: 8 },
];

/** Maximum length of the name of a field. */
const MOST_KEY = 100;

/**
 * Returns evidence as JSON of at most 256 KB. The results of tools come from probes and targets: if they are too large,
 * long texts and lists are cut, and in the end results are left out, so that the JSON stays valid.
 */
export function writeEvidence(evidence: Evidence): string {
  for (const [index, limits] of STEPS.entries()) {
    const cut = index === 0 ? evidence : { ...evidence, truncated: true };
    const pruned = prune(cut, limits);
    const text = JSON.stringify(
      index === 0 && pruned.isCut ? prune({ ...evidence, truncated: true }, limits).value : pruned.value,
    );
    if (Buffer.byteLength(text) <= MOST_BYTES) return text;
  }
  const bare = {
    ...evidence,
    failing: null,
    healthy: null,
    dns: null,
    certificate: null,
    pings: null,
    truncated: true,
  };
  return JSON.stringify(prune(bare, STEPS[3] ?? { text: 100, items: 10, depth: 8 }).value);
}

/** Copies a value within limits. `isCut`: something was left out. */
function prune(value: unknown, limits: Limits): { readonly value: unknown; readonly isCut: boolean } {
  let isCut = false;
  const copy = (one: unknown, depth: number): unknown => {
    if (typeof one === "string") {
      if (one.length <= limits.text) return one.toWellFormed();
      isCut = true;
      return one.slice(0, limits.text).toWellFormed();
    }
    if (typeof one !== "object" || one === null) return one;
    if (depth >= limits.depth) {
      isCut = true;
      return null;
    }
    if (Array.isArray(one)) {
      if (one.length > limits.items) isCut = true;
      return one.slice(0, limits.items).map((item) => copy(item, depth + 1));
    }
    if (!isRecord(one)) return null;
    const fields = Object.entries(one);
    if (fields.length > limits.items) isCut = true;
    return Object.fromEntries(
      fields
        .slice(0, limits.items)
        .map(([key, item]) => [key.slice(0, MOST_KEY).toWellFormed(), copy(item, depth + 1)]),
    );
  };
  return { value: copy(value, 0), isCut };
}
