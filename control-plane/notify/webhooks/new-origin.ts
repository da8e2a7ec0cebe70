import { LONGEST_PARAMETER, type Warning } from "#control-plane/http/warnings.ts";
import { FORMATS } from "#control-plane/notify/webhooks/formats/formats.ts";
import type { Given } from "#control-plane/notify/webhooks/resource.ts";
import { MASK } from "#control-plane/notify/webhooks/secrets.ts";
import type { WebhookDraft } from "#control-plane/notify/webhooks/webhook.ts";

/** What a change of a subscription may use of its stored secrets. */
interface Departure {
  /** Whether the url leads to another origin. */
  readonly isMoved: boolean;
  /** The subscription to which the fields are applied: without its secrets if it is moved. */
  readonly base: WebhookDraft;
  /** The fields to apply. */
  readonly given: Given;
  /** Secrets whose stored values the change does not get: `headers.` or `format_options.` and the name. */
  readonly removed: readonly string[];
}

/**
 * Takes the secrets out of a change to another origin (RFC 6454, section 4: scheme, host and port). Who may change a
 * subscription may not read its secrets, so they are not sent to a server of the caller's choice: only those that come
 * with the change are. No format sends to another origin than that of the url.
 */
export function leaveSecrets(present: WebhookDraft, given: Given): Departure {
  const { settings, secrets } = present;
  if (!isMoved(settings.url, given.url)) return { isMoved: false, base: present, given, removed: [] };
  const { format = settings.format } = given;
  const { options: known } = FORMATS[format];
  const isSecret = (name: string) => known.some((one) => one.secret && one.name === name);
  const headers = leaveMasks(given.headers, Object.keys(secrets.headers), () => true);
  // Options of another format than the present one begin empty.
  const stored = format === settings.format ? Object.keys(secrets.format_options) : [];
  const options = leaveMasks(given.format_options, stored, isSecret);
  const open = Object.entries(secrets.format_options).filter(([name]) => !isSecret(name));
  return {
    isMoved: true,
    base: { settings, secrets: { ...secrets, headers: {}, format_options: Object.fromEntries(open) } },
    given: {
      ...given,
      ...(headers.given === undefined ? {} : { headers: headers.given }),
      ...(options.given === undefined ? {} : { format_options: options.given }),
    },
    removed: [
      ...headers.removed.map((name) => `headers.${name}`),
      ...options.removed.map((name) => `format_options.${name}`),
    ],
  };
}

/** Warns of a secret that a change to another origin leaves out. `secret` is the one before the present one. */
export function warnOfRemoval(field: string): Warning {
  const parameter = field.slice(0, LONGEST_PARAMETER);
  const message =
    field === "secret"
      ? "The secret before the present one does not sign any more, because the url leads to another origin."
      : `"${parameter}" is left out, because the url leads to another origin: send it with the url.`;
  return { parameter, message, did_you_mean: null };
}

/** An address that is no URL is refused when it is read. A creation has no present address. */
function isMoved(present: string, given: string | undefined): boolean {
  const origin = given === undefined ? undefined : URL.parse(given.trim())?.origin;
  return present !== "" && origin !== undefined && origin !== URL.parse(present)?.origin;
}

/** Takes masked secrets out of values by name; without any values the stored secrets are what is removed. */
function leaveMasks<T>(
  given: Readonly<Record<string, T>> | undefined,
  stored: readonly string[],
  isSecret: (name: string) => boolean,
): { readonly given: Record<string, T> | undefined; readonly removed: readonly string[] } {
  if (given === undefined) return { given, removed: stored.filter(isSecret) };
  const isMasked = ([name, value]: readonly [string, T]) => value === MASK && isSecret(name);
  const entries = Object.entries(given);
  return {
    given: Object.fromEntries(entries.filter((one) => !isMasked(one))),
    removed: entries.filter(isMasked).map(([name]) => name),
  };
}
