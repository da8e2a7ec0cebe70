import type { AnalysesPort } from "#probe-agent/toolkit/analyses.ts";
import type { BlackboxPort } from "#probe-agent/port/blackbox.ts";
import type { BrowserPort } from "#probe-agent/port/browser.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";
import type { DnsPort, TrustAnchor } from "#probe-agent/port/dns.ts";
import type { HttpPort } from "#probe-agent/port/http.ts";
import type { IcmpPort, TcpPort, TracePort } from "#probe-agent/port/packets.ts";
import type { QuicPort } from "#probe-agent/port/quic.ts";
import type { SmtpPort } from "#probe-agent/port/smtp.ts";
import type { StreamPort } from "#probe-agent/port/stream.ts";
import type { TechPort } from "#probe-agent/toolkit/tech.ts";
import type { TlsPort } from "#probe-agent/port/tls.ts";
import type { WhoisPort } from "#probe-agent/port/whois.ts";

/**
 * Everything that a tool's implementation can access outside itself. Implementations fetch through it and analyse with
 * pure functions. Nothing under probe-agent/tools or probe-agent/analysis opens a socket or reads a clock or a file.
 */
export interface Net {
  /** Aborts at the job's deadline and when the caller cancels. Every port below already observes it. */
  readonly signal: AbortSignal;
  /** Milliseconds left until the deadline, never negative. */
  remainingMs(): number;
  /** Returns the control plane's time, advanced by the monotonic clock. */
  now(): Date;
  /** Monotonic milliseconds with a fraction, for durations. */
  monotonic(): number;
  random(count: number): Uint8Array;
  /** Sends live progress of a running check (an echo reply, a hop, a resolver's answer), at most 16 KB. */
  emit(event: ProgressEvent): void;
  /** Sends a file with the result, at most 4 MiB; only for checks whose contract has one. A later file replaces it. */
  attachFile(bytes: Uint8Array): void;
  readonly http: HttpPort;
  readonly dns: DnsPort;
  readonly tls: TlsPort;
  readonly tcp: TcpPort;
  readonly icmp: IcmpPort;
  readonly trace: TracePort;
  readonly quic: QuicPort;
  readonly whois: WhoisPort;
  readonly smtp: SmtpPort;
  readonly stream: StreamPort;
  readonly analyses: AnalysesPort;
  readonly tech: TechPort;
  /** null if the agent has no browser (capability browser). */
  readonly browser: BrowserPort | null;
  /** The exporter's probers; null where only tools run. */
  readonly blackbox: BlackboxPort | null;
  readonly services: Services;
  /** The operator's data files and the small built-in tables. */
  readonly data: DataPort;
  /** Trust anchors of DNSSEC validation (VANTAGE_TRUST_ANCHORS). Default: IANA's anchors of the root. */
  readonly trustAnchors: readonly TrustAnchor[];
}

/** One live event. `kind` names it ("reply", "hop", ...). `data` has the shape of a row of the result. */
export interface ProgressEvent {
  readonly kind: string;
  readonly data: unknown;
}

/**
 * External services from the settings. URLs have no trailing slash. All belong to the operator, so requests to them are
 * `trusted`.
 */
export interface Services {
  /** `/dns.json`, `/ipv4.json`, `/ipv6.json`, `/asn.json` are appended (RFC 9224). */
  readonly rdapBootstrapUrl: string;
  /** First WHOIS server to ask; null to start with IANA's referral. */
  readonly whoisServer: { readonly host: string; readonly port: number } | null;
  /** Team Cymru's DNS zones: origin (IPv4), origin6, asn. */
  readonly cymruZones: { readonly origin: string; readonly origin6: string; readonly asn: string };
  readonly waybackUrl: string;
  readonly waybackCdxUrl: string;
  readonly psiUrl: string;
  readonly psiKey: string | null;
  readonly greencheckUrl: string;
  /** Passive DNS service with Common Output Format; null if there is none. */
  readonly pdnsUrl: string | null;
}
