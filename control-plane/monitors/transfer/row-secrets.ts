import type { MonitorSecrets } from "#control-plane/outages/kinds/common.ts";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { isMoved } from "#control-plane/monitors/settings/new-origin.ts";
import { MASK } from "#control-plane/outages/kinds/mask.ts";
import {
  SECRET_PLACES,
  secretNameOf,
  secretPlacesOf,
  valuesAt,
  withValues,
  type SecretPlace,
} from "#control-plane/outages/kinds/secrets.ts";

/** Header fields that say what a client is and reads: probes send them to every origin too, so they are no secrets. */
const OPEN = /^(?:accept(?:-.*)?|user-agent|content-type)$/i;

/** Secrets of a row: those that it shows, and the names of the others. */
interface ShownSecrets extends MonitorSecrets {
  readonly secrets_missing: readonly string[];
}

/** Takes the secrets out of a row of a type; header fields that are none stay. */
export function leaveOutSecrets({ request_headers: all, body }: MonitorSecrets, checkType: CheckType): ShownSecrets {
  const names = Object.keys(all).filter((name) => !OPEN.test(name));
  return {
    request_headers: Object.fromEntries(Object.entries(all).filter(([name]) => OPEN.test(name))),
    body: null,
    secrets_missing: [...names.map((name) => secretNameOf(checkType, name)), ...(body === null ? [] : ["body"])],
  };
}

/** Returns the index of the first name that is none of a secret; -1 if all are. */
export function findNoSecret(names: readonly string[]): number {
  return names.findIndex((name) => name !== "body" && !SECRET_PLACES.some((place) => isIn(name, place)));
}

/** Reports whether a dotted name is that of a value in a place. */
function isIn(name: string, { prefix, field, isText }: SecretPlace): boolean {
  return isText ? name === `${prefix}${field}` : name.startsWith(prefix) && name.length > prefix.length;
}

/** Puts a mask in the place of each secret that a row of a type leaves out. A value that the row has counts. */
export function maskMissing(given: Given, names: readonly string[], checkType: CheckType): Given {
  if (names.length === 0) return given;
  let masked = given;
  for (const place of secretPlacesOf(checkType)) {
    const shown = valuesAt(given, place) ?? {};
    const present = new Set(Object.keys(shown).map((name) => name.toLowerCase()));
    const named = names.filter((name) => isIn(name, place)).map((name) => name.slice(place.prefix.length));
    const absent = named.filter((name) => !present.has(name.toLowerCase()));
    if (absent.length === 0) continue;
    masked = withValues(masked, place, { ...shown, ...Object.fromEntries(absent.map((name) => [name, MASK])) });
  }
  const lacksBody = names.includes("body") && (given.body ?? null) === null;
  return { ...masked, ...(lacksBody ? { body: MASK } : {}) };
}

/**
 * Removes the masks of secrets that the row's own monitor does not have, or that must not leave its origin,
 * and sorts the values by name as it has them. `missing` names what was removed.
 */
export function fitMasks(
  present: MonitorDraft,
  given: Given,
): { readonly given: Given; readonly missing: readonly string[] } {
  const isLeft = isMoved(present, given);
  const missing: string[] = [];
  let fitted = given;
  for (const place of secretPlacesOf(given.check_type ?? present.check_type)) {
    const own = Object.keys(valuesAt(present, place) ?? {});
    const ranks = new Map(own.map((name, index) => [name.toLowerCase(), index]));
    const all = valuesAt(given, place);
    if (all === undefined) continue;
    const isLost = ([name, value]: readonly [string, string]) =>
      value === MASK && (isLeft || !ranks.has(name.toLowerCase()));
    const rank = ([name]: readonly [string, string]) => ranks.get(name.toLowerCase()) ?? ranks.size;
    const kept = Object.entries(all).filter((one) => !isLost(one));
    const sorted = kept.toSorted((one, other) => rank(one) - rank(other));
    fitted = withValues(fitted, place, Object.fromEntries(sorted));
    missing.push(
      ...Object.entries(all)
        .filter(isLost)
        .map(([name]) => `${place.prefix}${name}`),
    );
  }
  const hasLostBody = given.body === MASK && (isLeft || present.body === null);
  return {
    given: { ...fitted, ...(hasLostBody ? { body: null } : {}) },
    missing: [...missing, ...(hasLostBody ? ["body"] : [])],
  };
}
