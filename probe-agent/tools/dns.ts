import { ok } from "#shared/outcome.ts";
import { dns as contract } from "#shared/tools/dns.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";
import { typeResult, type TypeAnswer } from "#probe-agent/analysis/dns/dns-rows.ts";
import { jsonBytes } from "#probe-agent/analysis/text/json-size.ts";
import { findCircle } from "#probe-agent/tools/dns/circle.ts";
import { isFailing, reportLookup } from "#probe-agent/tools/dns/report.ts";
import { chooseServer } from "#probe-agent/tools/dns/server.ts";
import { determineStatus } from "#probe-agent/tools/dns/status.ts";
import { implement } from "#probe-agent/tools/implement.ts";

// Within the deadline of 10 s, with the further questions for DNSSEC: first all types at the same time.
const LOOKUP_MS = 5_000;

// Space in a progress event of 16 KB (shared/wire.ts). A longer entry is only in the result.
const MAX_EVENT_BYTES = 15_000;

/**
 * Looks up DNS records: one question for each type, all at the same time. A resolver that fails or does not answer is a
 * result, never a failure of the check.
 */
export const dns = implement(contract, async (net, { domain, types, dnssec }, input = {}) => {
  const observedAt = net.now();
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
  const [verdict, circle] = await Promise.all([
    dnssec ? determineStatus(net, domain, answers, where) : null,
    answers.some(isFailing) && chosen.data === null ? findCircle(net, domain) : null,
  ]);
  const server =
    chosen.data === null ? null : { ip: chosen.data.ip, resolve_ms: toMicroseconds(chosen.data.resolveMs) };
  return ok(reportLookup({ domain, answers, dnssec: verdict, circle, server, observedAt }));
});
