// Program that runs the dns tool in this process's network namespace, several lookups at the same time, and prints
// their outcomes as a JSON array. Argument: JSON of a DnsOrder. Roots for encrypted transports are in
// NODE_EXTRA_CA_CERTS.
import { createEgress } from "#shared/internet/egress.ts";
import { parseParams } from "#shared/schema/schema.ts";
import { dns as contract } from "#shared/tools/dns/contract.ts";
import { createDns } from "#probe-agent/net/dns/create.ts";
import { dns } from "#probe-agent/tools/dns/dns.ts";
import { readTrustAnchors } from "#probe-agent/data/trust-anchors.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { jobLimits, netOf } from "#test/support/net.ts";

type Given = Readonly<Record<string, unknown>>;

/** The lookups to make. */
export interface DnsOrder {
  readonly lookups: readonly { readonly params: Given; readonly input: Given }[];
  /** Resolvers of the agent. */
  readonly servers: readonly string[];
  readonly allow: readonly string[];
  readonly trustAnchorFile: string;
}

const order = JSON.parse(process.argv[2] ?? "{}") as DnsOrder;
const anchors = readTrustAnchors(order.trustAnchorFile);
if (!anchors.ok) throw new Error(anchors.fault);
const createPort = createDns({
  servers: order.servers,
  egress: createEgress({ targets: order.allow, names: ["test"] }),
  clock: systemClock,
  random: systemRandom,
});
const outcomes = await Promise.all(
  order.lookups.map(async ({ params, input }) => {
    const parsed = parseParams(contract.params, params, { from: "json", unknown: "refuse" });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problem));
    const given = parsed.value as Parameters<typeof dns.run>[1];
    const limits = jobLimits(contract.deadlineMs(given));
    const net = netOf({ dns: createPort(limits), trustAnchors: anchors.anchors }, limits);
    return dns.run(net, given, input);
  }),
);
process.stdout.write(JSON.stringify(outcomes));
