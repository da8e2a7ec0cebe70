import { ok, failed, type Outcome } from "#shared/contracts/outcome.ts";
import { dns as contract, SERVER_INPUT as INPUT } from "#shared/tools/dns/contract.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import { typeResult, type TypeAnswer } from "#probe-agent/tools/dns/rows.ts";
import { jsonBytes } from "#probe-agent/analysis/text/json-size.ts";
import { isFailing, reportLookup } from "#probe-agent/tools/dns/report.ts";
import { determineStatus } from "#probe-agent/tools/dns/status.ts";
import { implement, type JobInput } from "#probe-agent/tools/implement.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { Value } from "typebox/value";
import type { DnsQuestion } from "#probe-agent/port/dns.ts";

// Within the deadline of 10 s, with the further questions for DNSSEC: first all types at the same time.
const LOOKUP_MS = 5_000;

// Space in a progress event of 16 KB (shared/protocol/wire.ts). A longer entry is only in the result.
const MAX_EVENT_BYTES = 15_000;

// Resolvers give up earlier (unbound at 12).
const MAX_LINKS = 16;
const WALK_MS = 2_000;
// Kept for the result itself, in milliseconds.
const MARGIN_MS = 300;

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

/** The vetted server that a job names in place of the agent's resolvers. */
interface ChosenServer {
  /** Parts of every question to it. */
  readonly question: Pick<DnsQuestion, "server" | "transport" | "serverName" | "path">;
  readonly ip: string;
  /** Time for the lookup of its name in milliseconds. 0 for an address. */
  readonly resolveMs: number;
}

/**
 * Looks for a circle of aliases that a resolver hides behind a failure: most resolvers answer SERVFAIL to such a
 * circle, but return each alias alone. Returns the names from the first one back to one already passed. Null if there
 * is no circle, or if it was not found within 2 s.
 */
async function findCircle(net: Net, name: string): Promise<readonly string[] | null> {
  const until = net.monotonic() + Math.min(WALK_MS, net.remainingMs() - MARGIN_MS);
  const passed: string[] = [];
  let at = name.replace(/\.$/, "").toLowerCase();
  while (!passed.includes(at)) {
    passed.push(at);
    const timeoutMs = until - net.monotonic();
    if (timeoutMs <= 0 || passed.length > MAX_LINKS) return null;
    const { answers } = await net.dns.query({ name: at, type: "CNAME", timeoutMs });
    const alias = answers.find((record) => record.type === "CNAME" && record.name.toLowerCase() === at);
    const target = alias?.typed["cname"];
    if (typeof target !== "string") return null;
    at = target.toLowerCase();
  }
  return [...passed, at];
}

/**
 * Reads and vets the server in a job's input. Null if the input names none. Its address is checked against the egress
 * rules like any target's. Failures are those of `resolve`, and stage dns, source probe, for an unreadable input.
 */
async function chooseServer(net: Net, input: JobInput): Promise<Outcome<ChosenServer | null>> {
  if (Object.keys(input).length === 0) return ok(null);
  if (!Value.Check(INPUT, input))
    return failed("dns", "probe", "bad_server", "the server in the job's input cannot be read");
  const { host, port, path, transport } = input;
  const resolved = await net.dns.resolve(host);
  if (resolved.status !== "ok") return resolved;
  const [address] = resolved.data.allowed;
  if (address === undefined) throw new Error("resolved to no allowed address");
  const literal = address.version === 6 ? `[${address.ip}]` : address.ip;
  const encrypted = transport === "dot" || transport === "doh";
  return ok({
    question: {
      server: port === undefined ? literal : `${literal}:${port}`,
      transport,
      ...(encrypted ? { serverName: host } : {}),
      ...(path === undefined ? {} : { path }),
    },
    ip: address.ip,
    resolveMs: resolved.data.elapsedMs,
  });
}
