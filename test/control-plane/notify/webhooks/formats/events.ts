import type { EventFacts, EventType } from "#control-plane/notify/events/event.ts";
import { toExpiryEvent, type ExpiryEventData } from "#control-plane/notify/events/expiry-event.ts";
import { toMonitorEvent, type MonitorChangeFacts } from "#control-plane/notify/events/monitor-event.ts";
import { toChangedEvent } from "#control-plane/notify/events/visual-event.ts";
import type { FormatEvent, FormatTarget } from "#control-plane/notify/webhooks/formats/format.ts";

/** Address of the service. */
export const BASE = "https://vantage.example";
/** When everything happens. */
export const AT = Date.parse("2026-11-23T02:41:12Z");

const MONITOR = { id: 7, name: "shop", url: "https://shop.example/", check_type: "http" };
const FAULT = { stage: "tls", source: "target", reason: "expired", message: "certificate expired 3 minutes ago" };
const DOWN: MonitorChangeFacts = {
  kind: "down",
  accountId: 1,
  monitor: MONITOR,
  at: AT,
  previous: "up",
  startedAt: AT - 245_000,
  recoveredAt: null,
  incidentId: 12,
  cause: { code: "tls_certificate_expired", message: "Certificate not trusted from eu-west: certificate expired" },
  failing: [{ location: "eu-west", fault: FAULT, since: AT - 245_000 }],
  responseMs: null,
  isFlapping: false,
};
/** Certificates of the monitor, and its domain. */
const CERTIFICATE = {
  host: "shop.example",
  port: 443,
  subject: "CN=shop.example",
  issuer: "CN=R1",
  fingerprint_sha256: "ab".repeat(32),
  not_before: "2026-09-01T00:00:00.000Z",
  not_after: "2026-11-30T02:41:12.000Z",
};
const PREVIOUS = { issuer: "CN=R1", fingerprint_sha256: "cd".repeat(32), not_after: "2026-11-25T00:00:00.000Z" };
const DOMAIN = { name: "shop.example", registrar: "Reg Inc", expires_at: "2026-12-07T00:00:00.000Z", status: ["ok"] };

/** Describes a change of the monitor as receivers get it. */
export function monitorEvent(change: Partial<MonitorChangeFacts> = {}): FormatEvent {
  return toFormatEvent(toMonitorEvent({ ...DOWN, ...change }));
}

/** Describes what happened to the certificate or the domain of the monitor. */
export function expiryEvent(
  type: Extract<EventType, `ssl.${string}` | `domain.${string}`>,
  data: Partial<ExpiryEventData> = {},
): FormatEvent {
  const subject = type.startsWith("ssl.") ? { certificate: CERTIFICATE } : { domain: DOMAIN };
  const whole = { monitor: MONITOR, days_left: 7, threshold: null, ...subject, ...data };
  return toFormatEvent(toExpiryEvent(type, { accountId: 1, createdAt: new Date(AT), data: whole }));
}

/** Another certificate than before. */
export function changedCertificate(isRenewal: boolean, notAfter: string | null = PREVIOUS.not_after): FormatEvent {
  const previous = { ...PREVIOUS, not_after: notAfter };
  return expiryEvent("ssl.chain_changed", { previous, changed: ["fingerprint"], looks_like_renewal: isRenewal });
}

/** The expiry of the certificate before that change. */
export function previousExpiry(type: "ssl.expiring" | "ssl.expired"): FormatEvent {
  const fingerprint_sha256 = PREVIOUS.fingerprint_sha256;
  return expiryEvent(type, { certificate: { ...CERTIFICATE, fingerprint_sha256 } });
}

/** The page of the monitor looks different. */
export function visualEvent(name = "shop"): FormatEvent {
  const change = {
    accountId: 1,
    monitor: { id: 7, name, url: MONITOR.url },
    location: "eu-west",
    at: new Date(AT),
    ratio: 12.34,
    threshold: 5,
    acceptedId: 1,
    latestId: 2,
    differenceId: 3,
    mailTo: undefined,
  };
  return toFormatEvent(toChangedEvent(change, BASE));
}

/** A test that a person asked for. */
export function testEvent(id = "evt_1"): FormatEvent {
  const facts = { accountId: 1, createdAt: new Date(AT), monitorId: null, incidentId: null, isFlapping: false };
  return toFormatEvent({ ...facts, type: "test", data: { message: "hello" } }, id);
}

/** One event of each type, with both ends of slowness and both kinds of changes of a certificate. */
export const EVENTS: Readonly<Record<string, FormatEvent>> = {
  "monitor.down": monitorEvent(),
  "monitor.up": monitorEvent({ kind: "up", previous: "down", recoveredAt: AT - 5_000 }),
  "monitor.degraded": monitorEvent({ kind: "degraded", startedAt: null, cause: null, failing: [], responseMs: 4_200 }),
  "monitor.up after slowness": monitorEvent({ kind: "recovered_speed", startedAt: null, cause: null, failing: [] }),
  "ssl.expiring": expiryEvent("ssl.expiring", { threshold: 7 }),
  "ssl.expired": expiryEvent("ssl.expired", { days_left: -1 }),
  "ssl.chain_changed": changedCertificate(false),
  "ssl.chain_changed by a renewal": changedCertificate(true),
  "domain.expiring": expiryEvent("domain.expiring", { days_left: 14, threshold: 14 }),
  "domain.expired": expiryEvent("domain.expired", {
    days_left: null,
    cause: { code: "gone", message: "The registry does not know the domain any more" },
  }),
  "visual.changed": visualEvent(),
  "monitor.unwatched": monitorEvent({
    kind: "no_data",
    cause: { code: "no_results", message: "No recent result has come from eu-west, us-east" },
    failing: [],
  }),
  "monitor.advisory": monitorEvent({
    kind: "advisory",
    startedAt: null,
    advisory: { since: new Date(AT), locations: ["eu-west"], message: "Fails from eu-west alone" },
  }),
  "monitor.watched": monitorEvent({ kind: "data_returned", current: "up", cause: null, failing: [] }),
  test: testEvent(),
};

/** Writes keys as an installation does. */
export const keyOf = (key: string): string => `vantage-0123456789ab-${key}`;

/** Where the tests send to, with every option that a format has. */
export function targetOf(url: string, options: Readonly<Record<string, string>> = {}): FormatTarget {
  return { url, options, pageUrl: BASE, keyOf };
}

/** Gives an event its id and its body, as it is stored. */
function toFormatEvent({ type, createdAt, data }: EventFacts, id = "evt_1"): FormatEvent {
  const at = createdAt.toISOString();
  const body = JSON.stringify({ id, type, created_at: at, api_version: "4.0", data });
  return { id, type: type as EventType, createdAt: at, body, data: JSON.parse(JSON.stringify(data)) as unknown };
}
