import type { ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns/contract.ts";
import type { TypeAnswer } from "#probe-agent/tools/dns/rows.ts";
import {
  hasAnswer,
  needsRootProbe,
  readResolverVerdict,
  type DnssecObservation,
  describeSilence,
  servfailReasons,
  type ResolverVerdict,
} from "#probe-agent/tools/dns/dnssec-resolver.ts";
import type { DnsAnswer } from "#probe-agent/port/dns.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Resolver } from "#probe-agent/tools/dns/lookups.ts";
import { validateOurselves } from "#probe-agent/tools/dns/validate.ts";
import type { Verdict } from "#probe-agent/tools/dns/dnssec.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";

type Dnssec = NonNullable<ResultOf<typeof dns>["dnssec"]>;

// The whole result is limited to 256 KB.
const MAX_CHAIN_BYTES = 30_000;
const MAX_REASONS = 16;
const MAX_REASON_CHARACTERS = 700;

/**
 * Merges two verdicts into one: our own validation if it reached a verdict, otherwise the resolver's. If they differ,
 * the reasons say so. `ours` is null if there was nothing to validate.
 */
function mergeVerdicts(
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

/** Time for each further question, in milliseconds. */
const DNSSEC_MS = 3_000;
// Kept for computing the verdict, so that a slow resolver gives a result and not a missed deadline.
const MARGIN_MS = 200;

/**
 * Determines the DNSSEC status by our own validation and the resolver's. A question that failed is asked again with
 * checking disabled.
 */
export async function determineStatus(
  net: Net,
  domain: string,
  answers: readonly TypeAnswer[],
  where: Omit<Resolver, "server">,
): Promise<Dnssec> {
  const observations = await Promise.all(
    answers.map(async ({ type, answer }): Promise<DnssecObservation> => {
      if (answer.status !== "SERVFAIL") return { type, answer, unchecked: null };
      const unchecked = await ask(
        net,
        { ...where, server: answer.server },
        { name: domain, type, checkingDisabled: true },
      );
      return { type, answer, unchecked };
    }),
  );
  const asked = observations.flatMap(({ type, answer, unchecked }) => {
    const reply = [answer, unchecked].find((candidate) => candidate !== null && hasAnswer(candidate));
    return reply === undefined || reply === null ? [] : [{ name: domain, type, reply }];
  });
  const server = asked[0]?.reply.server;
  const resolver = server === undefined ? null : { ...where, server };
  const ours = resolver === null ? null : await validateOurselves(net, resolver, domain, asked);
  if (ours !== null && ours.status !== "indeterminate") return mergeVerdicts(observations, ours, null);
  const probe = resolver !== null && needsRootProbe(observations);
  const root = probe ? await ask(net, resolver, { name: ".", type: "NS" }) : null;
  return mergeVerdicts(observations, ours, readResolverVerdict(observations, root));
}

function ask(
  net: Net,
  resolver: Resolver,
  question: { name: string; type: string; checkingDisabled?: boolean },
): Promise<DnsAnswer> {
  const timeoutMs = Math.max(0, Math.min(DNSSEC_MS, net.remainingMs() - MARGIN_MS));
  return net.dns.query({ ...resolver, ...question, dnssecOk: true, timeoutMs });
}
