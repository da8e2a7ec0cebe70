import type { EventFacts, EventType } from "#control-plane/notify/events/event.ts";

/** A monitor as events show it. */
interface EventMonitor {
  readonly id: number;
  readonly name: string;
  readonly url: string;
  readonly check_type: string;
}

/** A certificate as events show it. Times are ISO 8601 UTC. */
export interface EventCertificate {
  /** The server that sends it. */
  readonly host: string;
  readonly port: number;
  /** leaf: the server's own one; others are sent with it. Absent in events of earlier releases, which are about the leaf. */
  readonly role?: "leaf" | "intermediate" | "root";
  readonly subject: string;
  readonly issuer: string;
  readonly fingerprint_sha256: string;
  readonly not_before: string;
  readonly not_after: string;
}

/** A registration as events show it. */
export interface EventDomain {
  readonly name: string;
  readonly registrar: string | null;
  /** ISO 8601 UTC; null if the registry does not state it. */
  readonly expires_at: string | null;
  readonly status: readonly string[];
}

/** The field `data` of an event about a certificate or a registration. */
export interface ExpiryEventData {
  readonly monitor: EventMonitor;
  readonly certificate?: EventCertificate;
  /** ssl.chain_changed: the certificate before. Fields that are not known any more are null. */
  readonly previous?: {
    readonly issuer: string | null;
    readonly fingerprint_sha256: string;
    readonly not_after: string | null;
  };
  /** ssl.chain_changed: what differs. */
  readonly changed?: readonly ("issuer" | "fingerprint")[];
  /** ssl.chain_changed: same issuer and names, valid for longer. */
  readonly looks_like_renewal?: boolean;
  readonly domain?: EventDomain;
  /** domain.expired: why the registration is lost. */
  readonly cause?: { readonly code: string; readonly message: string };
  /** Whole days until the expiry, negative after it; null if the registry does not state it. */
  readonly days_left: number | null;
  /** Days at which the notice is due; null for other events than ssl.expiring and domain.expiring. */
  readonly threshold: number | null;
}

/** Describes what happened to a certificate or a registration as an event of a monitor. */
export function toExpiryEvent(
  type: Extract<EventType, `ssl.${string}` | `domain.${string}`>,
  { accountId, createdAt, data }: Pick<EventFacts, "accountId" | "createdAt"> & { readonly data: ExpiryEventData },
): EventFacts {
  return { accountId, type, createdAt, data, monitorId: data.monitor.id, incidentId: null, isFlapping: false };
}
