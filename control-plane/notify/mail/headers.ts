import type { ClaimedDelivery } from "#control-plane/notify/deliveries/delivery.ts";

/** What programs that read mails need to know. */
export interface MailHead {
  /** Type of the event, or digest, reminder or confirm. */
  readonly kind: string;
  readonly incidentId: number | null;
}

/**
 * Returns the header fields for programs that sort and answer mails. `host` is that of the service. `unsubscribeUrl`
 * ends the alerts to the recipient; null if it gets none.
 */
export function headersOf(
  { kind, incidentId }: MailHead,
  host: string,
  unsubscribeUrl: string | null,
): Readonly<Record<string, string>> {
  return {
    // One-click unsubscription (RFC 8058).
    ...(unsubscribeUrl === null
      ? {}
      : { "List-Unsubscribe": `<${unsubscribeUrl}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
    "X-Service-Event": kind,
    ...(incidentId === null ? {} : { "X-Service-Incident": String(incidentId) }),
    "List-Id": `Vantage alerts <alerts.${domainOf(host)}>`,
    // RFC 3834; the second field is that of Exchange. They keep absence notes from being sent.
    "Auto-Submitted": "auto-generated",
    "X-Auto-Response-Suppress": "All",
  };
}

/** Returns the Message-ID of a delivery: the same on every attempt, so that a repeated mail can be recognised. */
export function messageIdOf({ id, events }: ClaimedDelivery, host: string): string {
  return `<${events[0].id}.${id}@${domainOf(host)}>`;
}

/** Returns the Message-ID of a mail that is no delivery. `name`: unique, of letters, digits, points and hyphens. */
export function messageIdFor(name: string, host: string): string {
  return `<${name}@${domainOf(host)}>`;
}

/** Largest number of incidents that a digest refers to: a header field has at most 998 octets a line. */
const MOST_THREADS = 10;

/** Returns the Message-IDs that all mails of these incidents refer to, so that mail programs show them together. */
export function threadsOf(incidentIds: readonly number[], host: string): readonly string[] {
  const distinct = [...new Set(incidentIds)].slice(0, MOST_THREADS);
  return distinct.map((id) => `<incident.${id}@${domainOf(host)}>`);
}

/** Returns a host as the domain of an id; an IPv6 address is a domain literal (RFC 5322, section 3.4.1). */
function domainOf(host: string): string {
  return host.startsWith("[") ? `[IPv6:${host.slice(1, -1)}]` : host;
}
