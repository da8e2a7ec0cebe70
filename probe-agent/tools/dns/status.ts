import type { ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns/contract.ts";
import type { TypeAnswer } from "#probe-agent/tools/dns/rows.ts";
import {
  hasAnswer,
  needsRootProbe,
  readResolverVerdict,
  type DnssecObservation,
} from "#probe-agent/tools/dns/dnssec-resolver.ts";
import { mergeVerdicts } from "#probe-agent/tools/dns/dnssec-verdict.ts";
import type { DnsAnswer } from "#probe-agent/port/dns.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Resolver } from "#probe-agent/tools/dns/lookups.ts";
import { validateOurselves } from "#probe-agent/tools/dns/validate.ts";

/** DNSSEC verdict in the dns tool's result. */
type Dnssec = NonNullable<ResultOf<typeof dns>["dnssec"]>;

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
