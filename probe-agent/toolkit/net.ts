import type { AnalysesPort } from "#probe-agent/toolkit/analyses.ts";
import type { BrowserPort } from "#probe-agent/port/browser.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";
import type { DnsPort, TrustAnchor } from "#probe-agent/port/dns.ts";
import type { HttpPort } from "#probe-agent/port/http.ts";
import type { IcmpPort, TcpPort, TracePort } from "#probe-agent/port/packets.ts";
import type { QuicPort } from "#probe-agent/port/quic.ts";
import type { SmtpPort } from "#probe-agent/port/smtp.ts";
import type { TechPort } from "#probe-agent/toolkit/tech.ts";
import type { TlsPort } from "#probe-agent/port/tls.ts";
import type { WhoisPort } from "#probe-agent/port/whois.ts";

/**
 * Everything an implementation may do to the world. Implementations fetch through it and analyse with pure
 * functions; nothing under probe-agent/tools or probe-agent/analysis opens a socket, reads a clock or a file.
 */
export interface Net {
  /** Aborts at the job's deadline and when the caller cancels; every port below obeys it by itself. */
  readonly signal: AbortSignal;
  /** Milliseconds left until the deadline, never negative. */
  remainingMs(): number;
  /** The control plane's time carried on by the monotonic clock. */
  now(): Date;
  /** Milliseconds with a fraction; for durations. */
  monotonic(): number;
  random(count: number): Uint8Array;
  /** Live progress of a running check (an echo reply, a hop, a resolver's answer), at most 16 KB. */
  emit(event: ProgressEvent): void;
  readonly http: HttpPort;
  readonly dns: DnsPort;
  readonly tls: TlsPort;
  readonly tcp: TcpPort;
  readonly icmp: IcmpPort;
  readonly trace: TracePort;
  readonly quic: QuicPort;
  readonly whois: WhoisPort;
  readonly smtp: SmtpPort;
  readonly analyses: AnalysesPort;
  readonly tech: TechPort;
  /** Null where the agent has no browser (capability browser). */
  readonly browser: BrowserPort | null;
  readonly services: Services;
  /** The operator's data files and the small tables that are built in. */
  readonly data: DataPort;
  /** Where DNSSEC validation begins (VANTAGE_TRUST_ANCHORS); the root's of IANA where the operator names none. */
  readonly trustAnchors: readonly TrustAnchor[];
}

/** One live event: `kind` names it ("reply", "hop", ...), `data` has the shape of the result's own rows. */
export interface ProgressEvent {
  readonly kind: string;
  readonly data: unknown;
}

/** Outside sources (settings). URLs have no slash at their end; all are the operator's own: `trusted`. */
export interface Services {
  /** `/dns.json`, `/ipv4.json`, `/ipv6.json`, `/asn.json` are appended (RFC 9224). */
  readonly rdapBootstrapUrl: string;
  /** Where WHOIS begins; null: with IANA's referral. */
  readonly whoisServer: { readonly host: string; readonly port: number } | null;
  /** Team Cymru's zones: origin (IPv4), origin6, asn. */
  readonly cymruZones: { readonly origin: string; readonly origin6: string; readonly asn: string };
  readonly waybackUrl: string;
  readonly waybackCdxUrl: string;
  readonly psiUrl: string;
  readonly psiKey: string | null;
  readonly greencheckUrl: string;
  /** Passive DNS in Common Output Format; null: none. */
  readonly pdnsUrl: string | null;
}
