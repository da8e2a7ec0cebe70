import { extendedErrorName } from "#probe-agent/analysis/dns/extended-errors.ts";
import type { DnsAnswer } from "#probe-agent/port/dns.ts";

/**
 * Answers for one type, requested with DO. `unchecked` is the answer with checking disabled (CD), asked for only if the
 * first answer was SERVFAIL.
 */
export interface DnssecObservation {
  readonly type: string;
  readonly answer: DnsAnswer;
  readonly unchecked: DnsAnswer | null;
}

/** Verdict on a name that follows from the resolver's own validation. */
export interface ResolverVerdict {
  readonly status: "secure" | "insecure" | "bogus" | "indeterminate";
  /** "resolver_ad" if the resolver validated the answers. Null if nobody did. */
  readonly validated_by: "resolver_ad" | null;
  readonly denial: "nsec" | "nsec3" | null;
  readonly reasons: string[];
}

/**
 * Reports whether the answer makes a statement about the zone: there are records, there are none, or there can be none
 * (YXDOMAIN, caused by a DNAME).
 */
export function hasAnswer(answer: Pick<DnsAnswer, "status">): boolean {
  return ["NOERROR", "NXDOMAIN", "YXDOMAIN"].includes(answer.status);
}

/** Reports whether the resolver's verdict on these answers depends on whether it validates at all. */
export function needsRootProbe(observations: readonly DnssecObservation[]): boolean {
  const spoken = observations.filter(({ answer }) => hasAnswer(answer));
  return (
    spoken.length > 0 && !spoken.some(({ answer }) => answer.flags.ad) && servfailReasons(observations).length === 0
  );
}

/**
 * Derives the verdict from AD and CD (RFC 4035 section 3.2, RFC 6840 sections 5.7 to 5.9). `root` is the answer to a
 * query for the root's NS with DO, made if `needsRootProbe` returns true. The root is signed, so this answer shows
 * whether the resolver validates.
 */
export function readResolverVerdict(
  observations: readonly DnssecObservation[],
  root: DnsAnswer | null,
): ResolverVerdict {
  const denial = denialOf(observations);
  const bogus = servfailReasons(observations);
  if (bogus.length > 0) return { status: "bogus", validated_by: "resolver_ad", denial, reasons: bogus };
  const spoken = observations.filter(({ answer }) => hasAnswer(answer));
  const silent = observations.filter(({ answer }) => !hasAnswer(answer)).map(describeSilence);
  if (spoken.length === 0) return { status: "indeterminate", validated_by: null, denial, reasons: silent };
  const without = spoken.filter(({ answer }) => !answer.flags.ad).map(({ type }) => type);
  if (without.length === 0) {
    const reasons = ["The resolver validated every answer that it returned (AD)", ...silent];
    return { status: "secure", validated_by: "resolver_ad", denial, reasons };
  }
  if (without.length < spoken.length) {
    const reason = `The resolver validated other types but not ${without.join(", ")}: an alias leads to an unsigned zone, or part of the name is not signed`;
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
      : "The resolver validates and found that the zone is not signed";
    return { status: "insecure", validated_by: "resolver_ad", reasons: [reason] };
  }
  if (signatures) {
    const reason = "The answers carry signatures, but the resolver does not validate";
    return { status: "indeterminate", validated_by: null, reasons: [reason] };
  }
  if (root !== null && hasSignatures(root)) {
    const reason =
      "The answers have no signatures, although the resolver passes signatures on. It does not validate, so this is not proven";
    return { status: "insecure", validated_by: null, reasons: [reason] };
  }
  return {
    status: "indeterminate",
    validated_by: null,
    reasons: ["The resolver does not validate and does not pass signatures on"],
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

/** Returns one sentence for each type that fails only while the resolver validates. */
export function servfailReasons(observations: readonly DnssecObservation[]): string[] {
  return observations
    .filter(({ answer, unchecked }) => answer.status === "SERVFAIL" && unchecked !== null && hasAnswer(unchecked))
    .map(({ type, answer, unchecked }) => {
      const errors = answer.ede.map(({ code, text }) => {
        const name = extendedErrorName(code) ?? "extended error";
        return `; ${name} (${code})${text === "" ? "" : `: ${text}`}`;
      });
      return `${type}: SERVFAIL, but ${unchecked?.status} with checking disabled${errors.join("")}`;
    });
}

/** Describes the failure of a resolver that gave no usable answer. */
export function describeSilence({ type, answer, unchecked }: DnssecObservation): string {
  const also = unchecked === null ? "" : `, ${unchecked.status} with checking disabled`;
  return `${type}: ${answer.status}${also}`;
}
