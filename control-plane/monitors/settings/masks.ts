import type { MonitorDraft } from "#control-plane/kinds/monitor.ts";
import type { MonitorSecrets } from "#control-plane/kinds/common.ts";
import type { CheckType } from "#control-plane/kinds/kinds.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { MASK } from "#control-plane/kinds/mask.ts";
import { secretPlaceOf, valuesAt, withValues } from "#control-plane/kinds/secrets.ts";

/** The secrets that a row of a document, or a change, gives as masks. */
export interface Masks {
  /** Names of the values, such as those of header fields. */
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
  const place = secretPlaceOf(checkType);
  const all = valuesAt(given, place) ?? {};
  const names = Object.keys(all).filter((name) => all[name] === MASK);
  const hasBody = given.body === MASK;
  const hidden = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value === MASK ? "" : value]));
  return {
    given: {
      ...(names.length > 0 ? withValues(given, place, hidden) : given),
      ...(hasBody ? { body: SOME_BODY } : {}),
    },
    masks: { names, hasBody },
  };
}

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
  const place = secretPlaceOf(draft.check_type);
  const fields = Object.entries(valuesAt(draft, place) ?? {}).flatMap(([name, given]): [string, string][] => {
    if (!names.includes(name)) return [[name, given]];
    const values = known.map((secrets) => valueOf(secrets, name));
    const value = find(`${place.prefix}${name}`, values);
    return value === null ? [] : [[name, value]];
  });
  const bodies = hasBody ? known.map(({ body }) => body) : [];
  const body = hasBody ? find("body", bodies) : draft.body;
  return { draft: { ...withValues(draft, place, Object.fromEntries(fields)), body }, missing };
}

function valueOf({ request_headers: all }: MonitorSecrets, name: string): string | null {
  const key = name.toLowerCase();
  return Object.entries(all).find(([stored]) => stored.toLowerCase() === key)?.[1] ?? null;
}
