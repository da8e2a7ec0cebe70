import type { MonitorDraft } from "#control-plane/kinds/monitor.ts";
import type { MonitorSecrets } from "#control-plane/kinds/common.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { isMoved } from "#control-plane/monitors/settings/new-origin.ts";
import { MASK } from "#control-plane/kinds/secrets.ts";

const HEADERS = "request_headers.";

/** Header fields that say what a client is and reads: probes send them to every origin too, so they are no secrets. */
const OPEN = /^(?:accept(?:-.*)?|user-agent|content-type)$/i;

/** Secrets of a row: those that it shows, and the names of the others. */
interface ShownSecrets extends MonitorSecrets {
  readonly secrets_missing: readonly string[];
}

/** Takes the secrets out of a row; header fields that are none stay. */
export function leaveOutSecrets({ request_headers: all, body }: MonitorSecrets): ShownSecrets {
  const names = Object.keys(all).filter((name) => !OPEN.test(name));
  return {
    request_headers: Object.fromEntries(Object.entries(all).filter(([name]) => OPEN.test(name))),
    body: null,
    secrets_missing: [...names.map((name) => `${HEADERS}${name}`), ...(body === null ? [] : ["body"])],
  };
}

/** Returns the index of the first name that is none of a secret; -1 if all are. */
export function findNoSecret(names: readonly string[]): number {
  return names.findIndex((name) => name !== "body" && !(name.startsWith(HEADERS) && name.length > HEADERS.length));
}

/** Puts a mask in the place of each secret that a row leaves out. A value that the row has counts. */
export function maskMissing(given: Given, names: readonly string[]): Given {
  if (names.length === 0) return given;
  const { request_headers: shown = {}, body } = given;
  const present = new Set(Object.keys(shown).map((name) => name.toLowerCase()));
  const headers = names.flatMap((name) => (name.startsWith(HEADERS) ? [name.slice(HEADERS.length)] : []));
  const absent = headers.filter((name) => !present.has(name.toLowerCase()));
  return {
    ...given,
    ...(absent.length > 0
      ? { request_headers: { ...shown, ...Object.fromEntries(absent.map((name) => [name, MASK])) } }
      : {}),
    ...(names.includes("body") && (body ?? null) === null ? { body: MASK } : {}),
  };
}

/**
 * Removes the masks of secrets that the row's own monitor does not have, or that must not leave its origin,
 * and sorts the header fields as it has them. `missing` names what was removed.
 */
export function fitMasks(
  present: MonitorDraft,
  given: Given,
): { readonly given: Given; readonly missing: readonly string[] } {
  const known = isMoved(present, given) ? { request_headers: {}, body: null } : present;
  const places = new Map(Object.keys(present.request_headers).map((name, index) => [name.toLowerCase(), index]));
  const stored = new Set(Object.keys(known.request_headers).map((name) => name.toLowerCase()));
  const { request_headers: all, body } = given;
  const isLost = ([name, value]: readonly [string, string]) => value === MASK && !stored.has(name.toLowerCase());
  const headers = Object.entries(all ?? {});
  const place = ([name]: readonly [string, string]) => places.get(name.toLowerCase()) ?? places.size;
  const kept = headers.filter((header) => !isLost(header)).toSorted((one, other) => place(one) - place(other));
  const hasLostBody = body === MASK && known.body === null;
  return {
    given: {
      ...given,
      ...(all === undefined ? {} : { request_headers: Object.fromEntries(kept) }),
      ...(hasLostBody ? { body: null } : {}),
    },
    missing: [...headers.filter(isLost).map(([name]) => `${HEADERS}${name}`), ...(hasLostBody ? ["body"] : [])],
  };
}
