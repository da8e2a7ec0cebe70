import { completeUrl } from "#shared/internet/target-url.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { checkTypesOf } from "#control-plane/outages/kinds/defaults.ts";
import { kindOf, optionsOf, type CheckType, type KindOptions } from "#control-plane/outages/kinds/kinds.ts";
import { secretPlacesOf, valuesAt, withSecrets } from "#control-plane/outages/kinds/secrets.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { hideMasks, type Masks } from "#control-plane/monitors/settings/masks.ts";

/** What a change of a monitor may use of its stored secrets. */
interface Departure {
  /** The monitor to which the fields are applied: without its secrets if the url leads to another origin. */
  readonly base: MonitorDraft;
  /** The fields to apply. */
  readonly given: Given;
  /** Masked secrets whose stored values the change does not get. */
  readonly masks: Masks;
  /** Fields that the change removes: `body`, or `request_headers.` and the name of the field. */
  readonly removed: readonly string[];
}

/**
 * Takes the secrets out of a change to another origin (RFC 6454, section 4: scheme, host and port; of a server without a
 * scheme whether there is TLS). Who may change a
 * monitor may not read its secrets, so they are not sent to a server of the caller's choice: only those that come with
 * the change are.
 */
export function leaveSecrets(present: MonitorDraft, given: Given): Departure {
  if (!isMoved(present, given)) return { base: present, given, masks: { names: [], hasBody: false }, removed: [] };
  const { check_type: checkType = present.check_type } = given;
  const { given: hidden, masks } = hideMasks(given, checkType);
  const hasLostBody = given.body === undefined ? present.body !== null : masks.hasBody;
  const omitted = secretPlacesOf(checkType).filter((place) => valuesAt(given, place) === undefined);
  const lost = omitted.flatMap((place) =>
    Object.keys(valuesAt(present, place) ?? {}).map((name) => `${place.prefix}${name}`),
  );
  return {
    base: { ...withSecrets(present, present.check_type, {}), body: null },
    given: hidden,
    masks,
    removed: [...(hasLostBody ? ["body"] : []), ...lost, ...masks.names],
  };
}

/** Reports whether a change leads to another origin. */
export function isMoved(present: MonitorDraft, given: Given): boolean {
  const { url = present.url, port = present.port, check_type: checkType = present.check_type } = given;
  const isOther =
    originOf(url) !== originOf(present.url) || port !== present.port || haveMoved(present, given, checkType);
  return hasSecrets(present.check_type) && hasSecrets(checkType) && isOther;
}

/** Reports whether the options of a kind send its secrets another way, such as in clear text. */
function haveMoved(present: MonitorDraft, given: Given, checkType: CheckType): boolean {
  const [before, after] = [present, given].map((one) => optionsOf(checkType, one as KindOptions) as Options);
  const fields = kindOf(checkType).options?.originFields ?? [];
  return fields.some((field) => after?.[field] !== undefined && after[field] !== before?.[field]);
}

type Options = Readonly<Record<string, unknown>> | null | undefined;

function hasSecrets(checkType: CheckType): boolean {
  const hasOwn = secretPlacesOf(checkType).some(({ kind }) => kind !== null);
  return hasOwn || (checkTypesOf("request_headers")?.includes(checkType) ?? false);
}

/** Returns the origin of the completed URL; the text itself if it is no URL, which the checks of the target refuse. */
function originOf(url: string): string {
  return URL.parse(completeUrl(url) ?? "")?.origin ?? url;
}
