// Runs the ping tool once with a real network in this process's own namespace and rights, and prints its outcome and events.
// Arguments: JSON of {params, allow: CIDRs, deadlineMs?}.
import { createEgress } from "#shared/egress.ts";
import { parseParams } from "#shared/schema.ts";
import { ping as contract } from "#shared/tools/ping.ts";
import { createNet } from "#probe-agent/net/create.ts";
import { startIcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { ProgressEvent } from "#probe-agent/net/port.ts";
import { ping } from "#probe-agent/tools/ping.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { jobLimits } from "#test/support/net.ts";

interface Order {
  readonly params: Readonly<Record<string, unknown>>;
  readonly allow: readonly string[];
  readonly deadlineMs?: number;
}

const { params, allow, deadlineMs } = JSON.parse(process.argv[2] ?? "{}") as Order;
const parsed = parseParams(contract.params, params, { from: "json", unknown: "refuse" });
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problem));
const given = parsed.value as Parameters<typeof ping.run>[1];
const icmpHost = startIcmpHost({ clock: systemClock, log: () => {} });
await icmpHost.ready();
const events: ProgressEvent[] = [];
const net = createNet({
  clock: systemClock,
  random: systemRandom,
  egress: createEgress({ targets: allow, names: [] }),
  icmpHost,
  dnsServers: ["127.0.0.1:9"],
  userAgent: "test",
  services: {
    rdapBootstrapUrl: "http://127.0.0.1:9",
    cymruZones: { origin: "origin.test", origin6: "origin6.test", asn: "asn.test" },
  },
  trustAnchors: [],
})(jobLimits(deadlineMs ?? contract.deadlineMs(given)), (event) => events.push(event));
const outcome = await ping.run(net, given);
await icmpHost.stop();
process.stdout.write(JSON.stringify({ outcome, events }));
