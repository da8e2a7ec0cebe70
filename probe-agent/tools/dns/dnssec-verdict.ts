import type { Verdict } from "#probe-agent/tools/dns/dnssec.ts";
import {
  hasAnswer,
  describeSilence,
  servfailReasons,
  type DnssecObservation,
  type ResolverVerdict,
} from "#probe-agent/tools/dns/dnssec-resolver.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns/contract.ts";

type Dnssec = NonNullable<ResultOf<typeof dns>["dnssec"]>;

// The whole result is limited to 256 KB.
const MAX_CHAIN_BYTES = 30_000;
const MAX_REASONS = 16;
const MAX_REASON_CHARACTERS = 700;

/**
 * Merges two verdicts into one: our own validation if it reached a verdict, otherwise the resolver's. If they differ,
 * the reasons say so. `ours` is null if there was nothing to validate.
 */
export function mergeVerdicts(
  observations: readonly DnssecObservation[],
  ours: Verdict | null,
  resolver: ResolverVerdict | null,
): Dnssec {
  const spoken = observations.filter(({ answer }) => hasAnswer(answer));
  const common = {
    resolver_ad: spoken.length === 0 ? null : spoken.every(({ answer }) => answer.flags.ad),
    chain: leading(ours?.chain ?? [], MAX_CHAIN_BYTES).map((zone) => ({
      ...zone,
      ds: [...zone.ds],
      dnskeys: [...zone.dnskeys],
    })),
    algorithms: [...(ours?.algorithms ?? [])],
    expires_at: ours?.expires_at ?? null,
  };
  if (ours !== null && ours.status !== "indeterminate") {
    const silent = observations
      .filter((one) => !hasAnswer(one.answer) && !failsOnlyWithValidation(one))
      .map(describeSilence);
    const reasons = [
      ...ours.reasons,
      ...servfailReasons(observations),
      ...disagreements(observations, ours),
      ...silent,
    ];
    return { status: ours.status, validated_by: "local", denial: ours.denial, reasons: bounded(reasons), ...common };
  }
  const theirs = resolver ?? { status: "indeterminate", validated_by: null, denial: null, reasons: [] };
  const why = (ours?.reasons ?? []).map((reason) => `Not validated here: ${reason}`);
  return { ...theirs, reasons: bounded([...theirs.reasons, ...why]), ...common };
}

function bounded(reasons: readonly string[]): string[] {
  return reasons.slice(0, MAX_REASONS).map((reason) => reason.slice(0, MAX_REASON_CHARACTERS));
}

/** Reports whether the resolver failed only because it validates: without checking there is an answer. */
function failsOnlyWithValidation({ answer, unchecked }: DnssecObservation): boolean {
  return answer.status === "SERVFAIL" && unchecked !== null && hasAnswer(unchecked);
}

function disagreements(observations: readonly DnssecObservation[], ours: Verdict): string[] {
  const types = new Map<string, string[]>();
  for (const { type, answer } of observations) {
    const status = ours.answers.find((one) => one.type === type)?.status;
    const difference = status === undefined ? null : differenceOf(status, answer);
    if (difference !== null) types.set(difference, [...(types.get(difference) ?? []), type]);
  }
  return [...types].map(([difference, all]) => `${all.join(", ")}: ${difference}`);
}

function differenceOf(ours: Verdict["status"], answer: DnssecObservation["answer"]): string | null {
  const { ad } = answer.flags;
  if (answer.status === "SERVFAIL") {
    return ours === "bogus"
      ? null
      : `Our validation says ${ours}, but the resolver fails: it may have other trust anchors or old data`;
  }
  if (ours === "secure") return ad ? null : "Our validation says secure, but the resolver does not confirm it (no AD)";
  if (ad) return `Our validation says ${ours}, but the resolver confirms the answer as secure (AD)`;
  return ours === "bogus"
    ? "Our validation says bogus, but the resolver returns the answer without validating it"
    : null;
}
