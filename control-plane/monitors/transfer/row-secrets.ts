import type { MonitorSecrets } from "#control-plane/kinds/common.ts";
import type { CheckType } from "#control-plane/kinds/kinds.ts";
import type { MonitorDraft } from "#control-plane/kinds/monitor.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { isMoved } from "#control-plane/monitors/settings/new-origin.ts";
import { MASK } from "#control-plane/kinds/mask.ts";
import { SECRET_PLACES, secretPlaceOf, valuesAt, withValues, type SecretPlace } from "#control-plane/kinds/secrets.ts";

/** Header fields that say what a client is and reads: probes send them to every origin too, so they are no secrets. */
const OPEN = /^(?:accept(?:-.*)?|user-agent|content-type)$/i;

/** Secrets of a row: those that it shows, and the names of the others. */
interface ShownSecrets extends MonitorSecrets {
  readonly secrets_missing: readonly string[];
}

/** Takes the secrets out of a row of a type; header fields that are none stay. */
export function leaveOutSecrets({ request_headers: all, body }: MonitorSecrets, checkType: CheckType): ShownSecrets {
  const { prefix } = secretPlaceOf(checkType);
  const names = Object.keys(all).filter((name) => !OPEN.test(name));
  return {
    request_headers: Object.fromEntries(Object.entries(all).filter(([name]) => OPEN.test(name))),
    body: null,
    secrets_missing: [...names.map((name) => `${prefix}${name}`), ...(body === null ? [] : ["body"])],
  };
}

/** Returns the index of the first name that is none of a secret; -1 if all are. */
export function findNoSecret(names: readonly string[]): number {
  const isIn = (name: string, { prefix, field, isText }: SecretPlace) =>
    isText ? name === `${prefix}${field}` : name.startsWith(prefix) && name.length > prefix.length;
  return names.findIndex((name) => name !== "body" && !SECRET_PLACES.some((place) => isIn(name, place)));
}

/** Puts a mask in the place of each secret that a row of a type leaves out. A value that the row has counts. */
export function maskMissing(given: Given, names: readonly string[], checkType: CheckType): Given {
  if (names.length === 0) return given;
  const place = secretPlaceOf(checkType);
  const { prefix } = place;
  const shown = valuesAt(given, place) ?? {};
  const present = new Set(Object.keys(shown).map((name) => name.toLowerCase()));
  const named = names.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
  const absent = named.filter((name) => !present.has(name.toLowerCase()));
  const masked = { ...shown, ...Object.fromEntries(absent.map((name) => [name, MASK])) };
  return {
    ...(absent.length > 0 ? withValues(given, place, masked) : given),
    ...(names.includes("body") && (given.body ?? null) === null ? { body: MASK } : {}),
  };
}

/**
 * Removes the masks of secrets that the row's own monitor does not have, or that must not leave its origin,
 * and sorts the values by name as it has them. `missing` names what was removed.
 */
export function fitMasks(
  present: MonitorDraft,
  given: Given,
): { readonly given: Given; readonly missing: readonly string[] } {
  const place = secretPlaceOf(given.check_type ?? present.check_type);
  const own = valuesAt(present, place) ?? {};
  const isLeft = isMoved(present, given);
  const places = new Map(Object.keys(own).map((name, index) => [name.toLowerCase(), index]));
  const stored = isLeft ? new Map<string, number>() : places;
  const all = valuesAt(given, place);
  const isLost = ([name, value]: readonly [string, string]) => value === MASK && !stored.has(name.toLowerCase());
  const values = Object.entries(all ?? {});
  const rank = ([name]: readonly [string, string]) => places.get(name.toLowerCase()) ?? places.size;
  const kept = values.filter((one) => !isLost(one)).toSorted((one, other) => rank(one) - rank(other));
  const hasLostBody = given.body === MASK && (isLeft || present.body === null);
  return {
    given: {
      ...(all === undefined ? given : withValues(given, place, Object.fromEntries(kept))),
      ...(hasLostBody ? { body: null } : {}),
    },
    missing: [...values.filter(isLost).map(([name]) => `${place.prefix}${name}`), ...(hasLostBody ? ["body"] : [])],
  };
}
