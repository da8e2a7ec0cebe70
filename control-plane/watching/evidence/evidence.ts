import type { CheckError } from "#control-plane/checks/answer.ts";
import type { CheckFault } from "#control-plane/outages/state/state.ts";
import type { ShownPing } from "#control-plane/watching/heartbeats/shown-pings.ts";

/** PostgreSQL notification channel: rows were inserted, or lost their claim. */
export const EVIDENCE_CHANNEL = "vantage_evidence";

/** Maximum size of the stored evidence of one incident, octets of JSON. */
export const MOST_BYTES = 256 * 1024;

/** Result of one tool. */
export type ToolAnswer =
  | { readonly status: "ok"; readonly data: unknown }
  | { readonly status: "failed"; readonly error: CheckError };

/** The check of a monitor at one location, with the full result of the matching tool. */
interface CheckEvidence {
  readonly verdict: "up" | "down" | "unknown";
  readonly response_ms: number | null;
  readonly http_status: number | null;
  readonly error: CheckFault | null;
  /** Result of the tool; null if there is none, because the target gave no answer. */
  readonly result: unknown;
}

/** What one location found. */
export interface PlaceEvidence {
  /** Location as the monitor names it, or the region of another probe. */
  readonly location: string;
  readonly check: CheckEvidence;
  /** Route to the target; null if nothing can be traced. */
  readonly trace: ToolAnswer | null;
}

/** DNS as the failing location sees it. */
export interface DnsEvidence {
  readonly location: string;
  /** Addresses and aliases of the host. */
  readonly host: ToolAnswer;
  /** Name servers and SOA of its domain; null if the host is none of a registered domain. */
  readonly zone: ToolAnswer | null;
}

/** The certificate of the target's server. */
export interface CertificateEvidence {
  readonly location: string;
  readonly trusted: boolean;
  readonly trust_error: string | null;
  readonly subject: string;
  readonly issuer: string;
  readonly fingerprint_sha256: string;
  readonly not_before: string;
  readonly not_after: string;
}

/** A fact that differs from the last good check. */
export interface Change {
  readonly field: string;
  readonly before: string;
  readonly after: string;
  /** Time of the good check, ISO 8601. */
  readonly last_good_at: string;
}

/** What is known about an outage, as it is stored and shown. */
export interface Evidence {
  /** ISO 8601. */
  readonly gathered_at: string;
  readonly failing: PlaceEvidence | null;
  readonly healthy: PlaceEvidence | null;
  readonly dns: DnsEvidence | null;
  readonly certificate: CertificateEvidence | null;
  readonly changed: readonly Change[];
  /** Newest pings of a heartbeat; null for other monitors. */
  readonly pings: readonly ShownPing[] | null;
  /** Cause, changes, places: one line each. */
  readonly summary: readonly string[];
  /** Whether parts were left out because of the size limit. */
  readonly truncated: boolean;
}
