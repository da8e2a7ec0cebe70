import { extendedErrorName } from "#probe-agent/analysis/dns/extended-errors.ts";
import type { DnsAnswer } from "#probe-agent/port/dns.ts";

/** One type's answers with DO: as the resolver gives them, and with checking disabled where the first was SERVFAIL. */
export interface DnssecObservation {
  readonly type: string;
  readonly answer: DnsAnswer;
  readonly unchecked: DnsAnswer | null;
}

/** What a resolver's own validation tells about a name. */
export interface ResolverVerdict {
  readonly status: "secure" | "insecure" | "bogus" | "indeterminate";
  /** resolver_ad where the resolver validated, null where nobody did. */
  readonly validated_by: "resolver_ad" | null;
  readonly denial: "nsec" | "nsec3" | null;
  readonly reasons: string[];
}

/** The answer speaks for the zone: there are records, there are none, or there can be none (YXDOMAIN, by a DNAME). */
export function answered(answer: DnsAnswer): boolean {
  return ["NOERROR", "NXDOMAIN", "YXDOMAIN"].includes(answer.status);
}

/** Whether the resolver's verdict on these answers cannot be told without knowing if it validates at all. */
export function needsRootProbe(observations: readonly DnssecObservation[]): boolean {
  const spoken = observations.filter(({ answer }) => answered(answer));
  return (
    spoken.length > 0 && !spoken.some(({ answer }) => answer.flags.ad) && servfailReasons(observations).length === 0
  );
}

/**
 * Reads the verdict from AD and CD (RFC 4035 section 3.2, RFC 6840 section 5.7 to 5.9). `root` is the answer to the
 * root's own NS with DO, where `needsRootProbe`: the root is signed, so it shows whether the resolver validates.
 */
export function readResolverVerdict(
  observations: readonly DnssecObservation[],
  root: DnsAnswer | null,
): ResolverVerdict {
  const denial = denialOf(observations);
  const bogus = servfailReasons(observations);
  if (bogus.length > 0) return { status: "bogus", validated_by: "resolver_ad", denial, reasons: bogus };
  const spoken = observations.filter(({ answer }) => answered(answer));
  const silent = observations.filter(({ answer }) => !answered(answer)).map(describeSilence);
  if (spoken.length === 0) return { status: "indeterminate", validated_by: null, denial, reasons: silent };
  const without = spoken.filter(({ answer }) => !answer.flags.ad).map(({ type }) => type);
  if (without.length === 0) {
    const reasons = ["The resolver validated every answer it gave (AD)", ...silent];
    return { status: "secure", validated_by: "resolver_ad", denial, reasons };
  }
  if (without.length < spoken.length) {
    const reason = `The resolver validated other types but not ${without.join(", ")}: an alias leads out of signed zones, or part of the name is not signed`;
    return { status: "insecure", validated_by: "resolver_ad", denial, reasons: [reason, ...silent] };
  }
  return {
    ...unsigned(
      spoken.some(({ answer }) => hasSignatures(answer)),
      root,
    ),
    denial,
  };
}

function unsigned(signatures: boolean, root: DnsAnswer | null): Omit<ResolverVerdict, "denial"> {
  if (root?.flags.ad === true) {
    const reason = signatures
      ? "The zone is signed, but the resolver validates and found no chain of trust to it: its parent has no DS record"
      : "The resolver validates and found the zone not signed";
    return { status: "insecure", validated_by: "resolver_ad", reasons: [reason] };
  }
  if (signatures) {
    const reason = "The answers carry signatures, but the resolver does not validate";
    return { status: "indeterminate", validated_by: null, reasons: [reason] };
  }
  if (root !== null && hasSignatures(root)) {
    const reason =
      "The answers carry no signatures though the resolver passes them on; it does not validate, so this is not proven";
    return { status: "insecure", validated_by: null, reasons: [reason] };
  }
  return {
    status: "indeterminate",
    validated_by: null,
    reasons: ["The resolver neither validates nor passes signatures on"],
  };
}

function hasSignatures(answer: DnsAnswer): boolean {
  return [...answer.answers, ...answer.authority].some((record) => record.type === "RRSIG");
}

function denialOf(observations: readonly DnssecObservation[]): ResolverVerdict["denial"] {
  const types = new Set(observations.flatMap(({ answer }) => answer.authority.map((record) => record.type)));
  if (types.has("NSEC3")) return "nsec3";
  return types.has("NSEC") ? "nsec" : null;
}

/** One sentence for each type that fails only while the resolver checks. */
export function servfailReasons(observations: readonly DnssecObservation[]): string[] {
  return observations
    .filter(({ answer, unchecked }) => answer.status === "SERVFAIL" && unchecked !== null && answered(unchecked))
    .map(({ type, answer, unchecked }) => {
      const errors = answer.ede.map(({ code, text }) => {
        const name = extendedErrorName(code) ?? "extended error";
        return `; ${name} (${code})${text === "" ? "" : `: ${text}`}`;
      });
      return `${type}: SERVFAIL, but ${unchecked?.status} with checking disabled${errors.join("")}`;
    });
}

/** What a resolver without a usable answer did, for people. */
export function describeSilence({ type, answer, unchecked }: DnssecObservation): string {
  const also = unchecked === null ? "" : `, ${unchecked.status} with checking disabled`;
  return `${type}: ${answer.status}${also}`;
}
