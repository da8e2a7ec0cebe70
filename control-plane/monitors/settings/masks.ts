import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import type { MonitorSecrets } from "#control-plane/outages/kinds/common.ts";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { MASK } from "#control-plane/outages/kinds/mask.ts";
import { secretPlacesOf, valuesAt, withValues } from "#control-plane/outages/kinds/secrets.ts";

/** The secrets that a row of a document, or a change, gives as masks. */
export interface Masks {
  /** Dotted names of the values, such as `request_headers.Authorization`. */
  readonly names: readonly string[];
  readonly hasBody: boolean;
}

/** A masked value that no monitor of the account has. */
interface Missing {
  /** `body`, or `request_headers.` and the name of the field, or the same of the kind's own options. */
  readonly field: string;
  readonly reason: "unknown" | "ambiguous";
}

/** Takes the place of a masked body while its row is checked. */
const SOME_BODY = "-";

/**
 * Takes the masks out of the fields of a monitor of a type. Those that are returned have other values in their places, so
 * that the rules for names, numbers of fields and methods still hold for them.
 */
export function hideMasks(given: Given, checkType: CheckType): { readonly given: Given; readonly masks: Masks } {
  const names: string[] = [];
  let hidden = given;
  for (const place of secretPlacesOf(checkType)) {
    const all = Object.entries(valuesAt(given, place) ?? {});
    const masked = all.filter(([, value]) => value === MASK).map(([name]) => name);
    if (masked.length === 0) continue;
    names.push(...masked.map((name) => `${place.prefix}${name}`));
    hidden = withValues(hidden, place, { ...Object.fromEntries(all), ...blank(masked) });
  }
  const hasBody = given.body === MASK;
  return { given: { ...hidden, ...(hasBody ? { body: SOME_BODY } : {}) }, masks: { names, hasBody } };
}

const blank = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, ""]));

/** Reports whether a row has masks. */
export function areMasked({ names, hasBody }: Masks): boolean {
  return hasBody || names.length > 0;
}

/**
 * Puts secrets in the places of masks. `known` are the secrets of the monitors that the row can be of: a value that they
 * do not have, or that differs between them, is left out.
 */
export function fillMasks(
  draft: MonitorDraft,
  { names, hasBody }: Masks,
  known: readonly MonitorSecrets[],
): { readonly draft: MonitorDraft; readonly missing: readonly Missing[] } {
  const missing: Missing[] = [];
  const find = (field: string, values: readonly (string | null)[]): string | null => {
    const [value, other] = new Set(values.filter((one) => one !== null));
    if (value !== undefined && other === undefined) return value;
    missing.push({ field, reason: value === undefined ? "unknown" : "ambiguous" });
    return null;
  };
  let filled = draft;
  for (const place of secretPlacesOf(draft.check_type)) {
    const fields = Object.entries(valuesAt(draft, place) ?? {}).flatMap(([name, given]): [string, string][] => {
      const field = `${place.prefix}${name}`;
      if (!names.includes(field)) return [[name, given]];
      const value = find(
        field,
        known.map((secrets) => valueOf(secrets, name)),
      );
      return value === null ? [] : [[name, value]];
    });
    filled = withValues(filled, place, Object.fromEntries(fields));
  }
  const body = hasBody
    ? find(
        "body",
        known.map((one) => one.body),
      )
    : draft.body;
  return { draft: { ...filled, body }, missing };
}

function valueOf({ request_headers: all }: MonitorSecrets, name: string): string | null {
  const key = name.toLowerCase();
  return Object.entries(all).find(([stored]) => stored.toLowerCase() === key)?.[1] ?? null;
}
