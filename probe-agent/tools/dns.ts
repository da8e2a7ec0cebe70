import { domainToUnicode } from "node:url";
import { registeredDomain } from "#shared/registrable-domain.ts";
import { ok } from "#shared/outcome.ts";
import { dns as contract } from "#shared/tools/dns.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";
import { typeResult, typeResults, type TypeAnswer } from "#probe-agent/analysis/dns/dns-rows.ts";
import {
  answered,
  needsRootProbe,
  readResolverVerdict,
  type DnssecObservation,
} from "#probe-agent/analysis/dns/dnssec-resolver.ts";
import { mergeVerdicts } from "#probe-agent/analysis/dns/dnssec-verdict.ts";
import { jsonBytes } from "#probe-agent/analysis/text/json-size.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsAnswer } from "#probe-agent/port/dns.ts";
import { findCircle } from "#probe-agent/tools/dns/circle.ts";
import type { Resolver } from "#probe-agent/tools/dns/lookups.ts";
import { chooseServer } from "#probe-agent/tools/dns/server.ts";
import { validateOurselves } from "#probe-agent/tools/dns/validate.ts";
import { implement, type Untimed } from "#probe-agent/tools/implement.ts";
import { dnsFindings } from "#probe-agent/analysis/dns/dns-findings.ts";

type Result = Untimed<ResultOf<typeof contract>>;

// Together within the deadline of 10 s: first all types at the same time, then the further questions for DNSSEC.
const LOOKUP_MS = 5_000;
const DNSSEC_MS = 3_000;
// Kept for computing the verdict, so that a slow resolver gives a result and not a missed deadline.
const MARGIN_MS = 200;

// Space in a progress event of 16 KB (shared/wire.ts). A longer entry is only in the result.
const MAX_EVENT_BYTES = 15_000;

/**
 * Looks up DNS records: one question for each type, all at the same time. A resolver that fails or does not answer is a
 * result, never a failure of the check.
 */
export const dns = implement(contract, async (net, { domain, types, dnssec }, input = {}) => {
  const observedAt = net.now().toISOString();
  const chosen = await chooseServer(net, input);
  if (chosen.status !== "ok") return chosen;
  const where = chosen.data?.question ?? {};
  const answers = await Promise.all(
    types.map(async (type): Promise<TypeAnswer> => {
      const answer = await net.dns.query({ ...where, name: domain, type, dnssecOk: dnssec, timeoutMs: LOOKUP_MS });
      const entry = typeResult(domain, { type, answer });
      if (jsonBytes(entry) <= MAX_EVENT_BYTES) net.emit({ kind: "answer", data: entry });
      return { type, answer };
    }),
  );
  const failing = answers.filter(({ answer }) => answer.status === "SERVFAIL" && answer.answers.length === 0);
  const [verdict, circle] = await Promise.all([
    dnssec ? determineStatus(net, domain, answers, where) : null,
    failing.length > 0 && chosen.data === null ? findCircle(net, domain) : null,
  ]);
  const { results, limitations } = typeResults(domain, answers);
  const groups = results.map(({ type, records }) => [type, records.map(({ data }) => data)]);
  return ok<Result>({
    domain: domainToUnicode(domain) || domain,
    ascii: domain,
    registrable_domain: registeredDomain(domain),
    results,
    records: Object.fromEntries(groups) as Result["records"],
    dnssec: verdict,
    findings: dnsFindings({ results, dnssec: verdict, circle }),
    server: chosen.data === null ? null : { ip: chosen.data.ip, resolve_ms: toMicroseconds(chosen.data.resolveMs) },
    observed_at: observedAt,
    limitations: circle === null ? limitations : [...limitations, describeCircle(failing, circle)],
  });
});

function describeCircle(failing: readonly TypeAnswer[], circle: readonly string[]): string {
  return `${failing.map(({ type }) => type).join(", ")}: the aliases (CNAME) lead in a circle: ${circle.join(", ")}`;
}

/**
 * Determines the DNSSEC status by our own validation and the resolver's. A question that failed is asked again with
 * checking disabled.
 */
async function determineStatus(
  net: Net,
  domain: string,
  answers: readonly TypeAnswer[],
  where: Omit<Resolver, "server">,
): Promise<Result["dnssec"]> {
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
    const reply = [answer, unchecked].find((candidate) => candidate !== null && answered(candidate));
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
