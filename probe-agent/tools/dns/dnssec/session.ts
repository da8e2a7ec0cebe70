import { algorithmName, findAlgorithm } from "#probe-agent/tools/dns/dnssec/algorithms.ts";
import { readDs, type Ds, type Trust } from "#probe-agent/tools/dns/dnssec/delegations.ts";
import { Effort } from "#probe-agent/tools/dns/dnssec/effort.ts";
import type { ZoneKey } from "#probe-agent/tools/dns/dnssec/keys.ts";
import { parseName, type Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import { isoTime, type Bounds, type Signed } from "#probe-agent/tools/dns/dnssec/signatures.ts";
import type { DnsRecord, TrustAnchor } from "#probe-agent/port/dns.ts";

/** Status of a validated answer or zone (RFC 4033 section 5). */
export type Status = "secure" | "insecure" | "bogus" | "indeterminate";

/** A question that the validator needs answered, with checking disabled (CD) and with DNSSEC records (DO). */
export interface Question {
  readonly name: string;
  readonly type: string;
}

/** Reply of a resolver. An answer of the DNS port fits this type. */
export interface Reply {
  /** Name of the RCODE, or the reason why there is none (TIMEOUT, MALFORMED, ...). */
  readonly status: string;
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
}

/** A computation that yields the questions whose replies it needs, and finally returns its result. */
export type Asking<T> = Generator<Question, T, Reply>;

/** A zone of the chain of trust, as shown in results. */
export interface ZoneReport {
  readonly zone: string;
  readonly ds: readonly { key_tag: number; algorithm: number; digest_type: number; digest: string }[];
  readonly dnskeys: readonly { key_tag: number; algorithm: number; flags: number; bits: number | null }[];
  /** Signature over the DNSKEY records, with times in ISO 8601 UTC. Null if none is valid. */
  readonly rrsig: {
    readonly signer: string;
    readonly algorithm: number;
    readonly inception: string;
    readonly expiration: string;
    readonly key_tag: number;
  } | null;
  readonly status: Status;
  readonly reason: string | null;
}

/** Trust in a zone. `zone` is the zone at which the secure chain ends. */
export type ZoneTrust =
  | { readonly status: "secure"; readonly zone: Name; readonly keys: readonly ZoneKey[] }
  | {
      readonly status: Exclude<Status, "secure">;
      readonly zone: Name;
      readonly reasons: readonly string[];
      /** The parent says that nothing has the name of the zone (NXDOMAIN), but an opt-out range does not prove it. */
      readonly denied?: boolean;
    };

/**
 * Result of one step down from a secure zone: the trust in the child zone, "no_cut" if no zone begins there, or
 * "absent" if nothing exists at the name or below it.
 */
export type Step = ZoneTrust | { readonly status: "no_cut" } | { readonly status: "absent" };

// Maximum number of DS records and keys shown for a zone. No real zone has more.
const MAX_SHOWN = 16;

/** Knowledge and remaining budget of one lookup. All questions of the lookup share it. */
export interface Session extends Bounds {
  readonly anchors: ReadonlyMap<string, { readonly zone: Name; readonly trust: Trust }>;
  /** Keyed by the anchor's zone. */
  readonly entered: Map<string, ZoneTrust>;
  /** Keyed by the secure zone and the name below it that was asked about. */
  readonly steps: Map<string, Step>;
  readonly reports: Map<string, ZoneReport>;
  readonly warnings: Set<string>;
  readonly used: Map<string, Signed>;
}

/** Starts a lookup. Signatures must be valid at the time `now`. */
export function startSession(anchors: readonly TrustAnchor[], now: Date): Session {
  const byZone = new Map<string, { zone: Name; trust: { ds: Ds[]; keys: Uint8Array[]; anchored: true } }>();
  for (const { zone: text, type, raw } of anchors) {
    const zone = parseName(text);
    if (zone === null) continue;
    const entry = byZone.get(zone.text) ?? { zone, trust: { ds: [], keys: [], anchored: true } };
    byZone.set(zone.text, entry);
    const ds = type === "DS" ? readDs(raw) : null;
    if (ds !== null) entry.trust.ds.push(ds);
    else if (type === "DNSKEY") entry.trust.keys.push(raw);
  }
  return {
    now: Math.floor(now.getTime() / 1000),
    effort: new Effort(),
    anchors: byZone,
    entered: new Map(),
    steps: new Map(),
    reports: new Map(),
    warnings: new Set(),
    used: new Map(),
  };
}

/** Records a signature that the verdict relies on. */
export function noteUse(session: Session, signed: Signed): void {
  const { algorithm, expiration, signer, keyTag } = signed.signature;
  session.used.set(`${signer.text} ${keyTag} ${algorithm} ${expiration}`, signed);
  if (findAlgorithm(algorithm)?.deprecated === true) {
    session.warnings.add(
      `${signer.text} signs with ${algorithmName(algorithm)}, which RFC 8624 and RFC 9905 deprecate`,
    );
  }
}

/** Records a zone of the chain for the result. Only the first report on a zone is kept. */
export function report(
  session: Session,
  zone: Name,
  found: {
    readonly ds?: readonly Ds[];
    readonly keys?: readonly ZoneKey[];
    readonly signed?: Signed;
    readonly status: Status;
    readonly reason?: string;
  },
): void {
  if (session.reports.has(zone.text)) return;
  session.reports.set(zone.text, {
    zone: zone.text,
    ds: (found.ds ?? []).slice(0, MAX_SHOWN).map(({ keyTag, algorithm, digestType, digest }) => ({
      key_tag: keyTag,
      algorithm,
      digest_type: digestType,
      digest: digest.slice(0, 128),
    })),
    dnskeys: (found.keys ?? []).slice(0, MAX_SHOWN).map(({ tag, algorithm, flags, bits }) => ({
      key_tag: tag,
      algorithm,
      flags,
      bits,
    })),
    rrsig: found.signed === undefined ? null : describeSignature(found.signed, session.now),
    status: found.status,
    reason: found.reason ?? null,
  });
}

function describeSignature({ signature }: Signed, now: number): ZoneReport["rrsig"] {
  return {
    signer: signature.signer.text,
    algorithm: signature.algorithm,
    inception: isoTime(signature.inception, now),
    expiration: isoTime(signature.expiration, now),
    key_tag: signature.keyTag,
  };
}
