import { PREFLIGHTED, type CorsAnswer, type CorsExchange } from "#probe-agent/analysis/web/cors/exchange.ts";
import { probeOrigins } from "#probe-agent/analysis/web/cors/origins.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Maximum number of requests at the same time, the wait for each, and the time reserved for the result. */
const PARALLEL = 4;
const PATIENCE_MS = 5000;
const RESERVE_MS = 1000;
const TOO_MANY_REQUESTS = 429;

/** Requests a URL with each origin, by GET and by preflight. Sends no more requests after a status 429. */
export async function askOrigins(net: Net, url: string, given: string): Promise<CorsExchange[]> {
  const origins = probeOrigins(new URL(url), given);
  const wanted = origins.flatMap((one) => [false, true].map((preflight) => ({ ...one, preflight })));
  const answers = wanted.map((): CorsAnswer => ({ answered: false, reason: "not asked" }));
  let next = 0;
  let limited = false;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < wanted.length; at = next++) {
      const one = wanted[at];
      if (one === undefined || limited || net.remainingMs() <= RESERVE_MS || net.signal.aborted) return;
      const answer = await ask(net, url, one.origin, one.preflight);
      answers[at] = answer;
      limited ||= answer.answered && answer.status === TOO_MANY_REQUESTS;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return wanted.map((one, at) => ({ ...one, answer: answers[at] ?? { answered: false, reason: "not asked" } }));
}

async function ask(net: Net, url: string, origin: string, preflight: boolean): Promise<CorsAnswer> {
  const asked: readonly (readonly [string, string])[] = [
    ["Access-Control-Request-Method", PREFLIGHTED.method],
    ["Access-Control-Request-Headers", PREFLIGHTED.header],
  ];
  const fetched = await net.http.fetch({
    url,
    method: preflight ? "OPTIONS" : "GET",
    headers: [["Origin", origin], ...(preflight ? asked : [])],
    follow: false,
    maxBodyBytes: 0,
    verifiesSentChain: false,
    timeoutMs: Math.min(PATIENCE_MS, net.remainingMs() - RESERVE_MS),
  });
  if (fetched.status === "failed") return { answered: false, reason: fetched.reason };
  if (fetched.status !== "ok") return { answered: false, reason: fetched.status };
  const { code, headers } = fetched.data.final;
  return { answered: true, status: code, headers };
}
