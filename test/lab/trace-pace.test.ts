import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChain, whyNoChain, type Chain } from "#test/lab/chain.ts";
import { traceFrom } from "#test/lab/from.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoChain() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

/** Less than eight hops take one after the other with a second between them, as mtr takes. */
const BUDGET_MS = 5_000;

describe.skipIf(why !== null)("a trace of eight hops with one query each", () => {
  let chain: Chain;
  beforeAll(() => {
    chain = buildChain(7, { limited: false });
  });
  afterAll(() => chain?.close());

  it.each(["icmp", "udp", "tcp"] as const)(
    "is whole within a budget that leaves no time for a pause at each hop, by %s",
    async (protocol) => {
      const ip = chain.hops4.at(-1) ?? "";
      const trace = await traceFrom(chain, { ip, protocol, maxHops: 30, queries: 1, budgetMs: BUDGET_MS });
      expect(trace.hops.map(({ replies }) => replies.map((reply) => reply.ip))).toEqual(
        chain.hops4.map((hop) => [hop]),
      );
      expect(trace.reached).toBe(true);
    },
  );
});
