import type { ExpiryEventData } from "#control-plane/notify/events/expiry-event.ts";
import type { MonitorEventData } from "#control-plane/notify/events/monitor-event.ts";
import { isRecord } from "#shared/text/is-record.ts";
import type { FormatEvent } from "#control-plane/notify/webhooks/formats/format.ts";

/** How urgent an alert is: wake somebody up, look at it today, or nothing to do. */
export type Severity = "critical" | "warning" | "info";

const SEVERITIES = {
  MonitorDown: "critical",
  MonitorDegraded: "warning",
  MonitorAdvisory: "warning",
  CertificateExpired: "critical",
  CertificateExpiring: "warning",
  CertificateChanged: "warning",
  DomainExpired: "critical",
  DomainExpiring: "warning",
  PageChanged: "warning",
  MonitorUnwatched: "warning",
  Test: "info",
} as const satisfies Readonly<Record<string, Severity>>;

/** Kinds of alerts that can be open at a provider. */
export type AlertName = keyof typeof SEVERITIES;

/** An alert at a provider that keeps alerts open until they are resolved. */
export interface AlertId {
  readonly name: AlertName;
  /** The same for all events about one problem of one monitor. Letters, digits, "-" and "_". */
  readonly key: string;
  readonly severity: Severity;
  /** null if it is about no monitor. */
  readonly monitorId: number | null;
}

/** What an event does to alerts. */
export interface AlertChange {
  readonly opens: AlertId | null;
  /** Alerts that the event ends, the most urgent first: most providers end one with a request. */
  readonly resolves: readonly AlertId[];
}

/** What keys depend on, of the data of every type of event. */
type KnownData = Partial<ExpiryEventData> & Partial<Pick<MonitorEventData, "previous_status">>;

/** Characters of a fingerprint in a key: 64 bits, enough to tell the certificates of one monitor apart. */
const FINGERPRINT_PART = 16;

/**
 * Decides which alerts an event opens and resolves.
 *
 * An outage has the id of its monitor as key. Each kind of problem has a key of its own, because providers add a second
 * event with the key of an open alert to that alert without raising its urgency: an outage after slowness, or an expiry
 * after its announcement, would wake nobody up.
 *
 * - The end of an outage also ends the slowness before it, because no further event is sent about that.
 * - Another certificate ends the expiry of the one before.
 * - Nothing ends the alerts about a certificate above the server's own one, a domain, a page or an advisory; people close
 *   them.
 */
export function alertChange({ id, type, createdAt, data }: FormatEvent): AlertChange {
  const known = (isRecord(data) ? data : {}) as KnownData;
  const { monitor, certificate, previous } = known;
  const monitorId = monitor?.id ?? null;
  const alert = (name: AlertName, key: string): AlertId => ({ name, key, severity: SEVERITIES[name], monitorId });
  const opening = (opens: AlertId): AlertChange => ({ opens, resolves: [] });
  const down = alert("MonitorDown", `${monitorId}`);
  const degraded = alert("MonitorDegraded", `${monitorId}-degraded`);
  const expired = (print: string): AlertId => alert("CertificateExpired", `${monitorId}-expired-${shorten(print)}`);
  const expiring = (print: string): AlertId => alert("CertificateExpiring", `${monitorId}-expiring-${shorten(print)}`);
  const fingerprint = certificate?.fingerprint_sha256 ?? "";
  switch (type) {
    case "monitor.down":
      return opening(down);
    case "monitor.degraded":
      return opening(degraded);
    case "monitor.advisory":
      return opening(alert("MonitorAdvisory", `${monitorId}-advisory`));
    case "monitor.up":
      return { opens: null, resolves: known.previous_status === "degraded" ? [degraded] : [down, degraded] };
    case "ssl.expiring":
      return opening(expiring(fingerprint));
    case "ssl.expired":
      return opening(expired(fingerprint));
    case "ssl.chain_changed": {
      const last = previous?.fingerprint_sha256 ?? "";
      const hadExpired = previous?.not_after != null && Date.parse(previous.not_after) <= Date.parse(createdAt);
      const resolves = [...(hadExpired ? [expired(last)] : []), expiring(last)];
      if (known.looks_like_renewal === true) return { opens: null, resolves };
      return { opens: alert("CertificateChanged", `${monitorId}-changed-${shorten(fingerprint)}`), resolves };
    }
    case "domain.expiring":
      return opening(alert("DomainExpiring", `${monitorId}-domain-expiring`));
    case "domain.expired":
      return opening(alert("DomainExpired", `${monitorId}-domain-expired`));
    case "visual.changed":
      return opening(alert("PageChanged", `${monitorId}-page`));
    case "monitor.unwatched":
      return opening(alert("MonitorUnwatched", `${monitorId}-unwatched`));
    case "monitor.watched":
      return { opens: null, resolves: [alert("MonitorUnwatched", `${monitorId}-unwatched`)] };
    case "test":
      // Each test is visible, also while an earlier one is open.
      return opening(alert("Test", `test-${id}`));
  }
}

/**
 * Reports whether later events about the same alert overtake an event: the alert that it opens, or the most urgent one
 * that it ends.
 */
export function isOvertaken(event: FormatEvent, later: readonly FormatEvent[]): boolean {
  const { opens, resolves } = alertChange(event);
  const key = opens?.key ?? resolves[0]?.key;
  return later.some((other) => {
    const change = alertChange(other);
    return [change.opens, ...change.resolves].some((alert) => alert !== null && alert.key === key);
  });
}

function shorten(fingerprint: string): string {
  return fingerprint.replaceAll(/[^0-9A-Za-z]/g, "").slice(0, FINGERPRINT_PART);
}
