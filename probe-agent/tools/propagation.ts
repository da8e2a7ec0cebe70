import { isIP } from "node:net";
import { domainToUnicode } from "node:url";
import { failed, ok } from "#shared/contracts/outcome.ts";
import { propagation as contract } from "#shared/tools/propagation.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import {
  gradeRow,
  summarisePropagation,
  type AnswersByNetwork,
  type ComparableAnswer,
  type ResolverRow,
} from "#probe-agent/analysis/dns/propagation.ts";
import { implement, type Implementation } from "#probe-agent/tools/implement.ts";
import { askAuthoritative, type AuthoritativeAnswer } from "#probe-agent/tools/propagation/authoritative.ts";
import { askResolvers, readVantages } from "#probe-agent/tools/propagation/resolvers.ts";
import { propagationFindings } from "#probe-agent/analysis/dns/propagation-findings.ts";

/** Maximum number of networks for which the domain's servers are asked again. */
const MOST_NETWORKS = 12;
const RESERVE_MS = 500;
/** Time limit of the second round of questions in milliseconds. The first round has ended by then. */
const NETWORKS_MS = 4_000;

/** Creates the propagation tool. `port` is the port of the domain's own servers. */
export function propagationOn(
  port: number,
): Implementation<typeof contract.params.properties, typeof contract.result.properties> {
  return implement(contract, async (net, { domain, type }, input = {}) => {
    const observedAt = net.now().toISOString();
    const patience = net.remainingMs() - NETWORKS_MS - RESERVE_MS;
    const [rows, own] = await Promise.all([
      askResolvers(net, domain, type),
      waitAtMost(patience, askAuthoritative(net, { name: domain, type, port }), null),
    ]);
    const ungraded = [...rows, ...readVantages(input, type)];
    if (own === null && ungraded.every(({ status }) => status === "TIMEOUT")) {
      return failed("dns", "resolver", "no_answer", "no resolver and no server of the domain answered");
    }
    const authoritative = own?.authoritative ?? null;
    const byNetwork = await waitAtMost(NETWORKS_MS, askNetworks(own, ungraded), new Map<string, ComparableAnswer>());
    const graded = ungraded.map((row) => gradeRow(row, authoritative, byNetwork));
    const summary = summarisePropagation(graded, authoritative);
    return ok({
      domain: domainToUnicode(domain) || domain,
      ascii: domain,
      type,
      resolvers: graded,
      authoritative,
      ...summary,
      findings: propagationFindings({ ...summary, authoritative, resolvers: graded }),
      source: ["dns"],
      observed_at: observedAt,
      limitations: [
        ...(authoritative === null
          ? ["The domain's own servers could not be asked, so the answers are compared only with each other."]
          : []),
        ...(ungraded.some(({ kind }) => kind === "agent") ? [] : ["No other probe was asked."]),
      ],
    });
  });
}

/** DNS propagation on the usual port. */
export const propagation = propagationOn(53);

/** Asks the domain's servers for clients in the networks of those resolvers whose answers differ. */
async function askNetworks(own: AuthoritativeAnswer | null, rows: readonly ResolverRow[]): Promise<AnswersByNetwork> {
  const askFor = own?.askFor ?? null;
  if (own === null || askFor === null) return new Map();
  const differing = rows
    .filter((row) => gradeRow(row, own.authoritative, new Map()).authoritative_match === false)
    .flatMap(({ id, server }) => {
      const ip = server?.replace(/#\d+$/, "") ?? "";
      return isIP(ip) === 0 ? [] : [{ id, ip }];
    })
    .slice(0, MOST_NETWORKS);
  return new Map(await Promise.all(differing.map(async ({ id, ip }) => [id, await askFor(ip)] as const)));
}
