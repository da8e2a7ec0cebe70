// Program that runs the ping tool with a real network in this process's namespace and with its rights, and prints its
// outcome and events; with several params, an array of those. Arguments: JSON of {params (or a list), allow: CIDRs,
// deadlineMs?, resolver?, cymruZones?}. Without the last two, addresses are not looked up.
import { createEgress } from "#shared/internet/egress.ts";
import { parseParams } from "#shared/schema/schema.ts";
import { ping as contract } from "#shared/tools/ping/contract.ts";
import { createNet } from "#probe-agent/net/create.ts";
import { startIcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { Net, ProgressEvent } from "#probe-agent/toolkit/net.ts";
import { ping } from "#probe-agent/tools/ping/ping.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { testServices } from "#test/support/services.ts";
import { builtInData } from "#test/support/tool.ts";
import { jobLimits } from "#test/support/net.ts";

type Given = Readonly<Record<string, unknown>>;

interface Order {
  readonly params: Given | readonly Given[];
  readonly allow: readonly string[];
  readonly deadlineMs?: number;
  readonly resolver?: string;
  readonly cymruZones?: Net["services"]["cymruZones"];
}

const AT_ONCE = 6;

const {
  params,
  allow,
  deadlineMs,
  resolver = "127.0.0.1:9",
  cymruZones,
} = JSON.parse(process.argv[2] ?? "{}") as Order;
const icmpHost = startIcmpHost({ clock: systemClock, log: () => {} });
await icmpHost.ready();
const createJobNet = createNet({
  clock: systemClock,
  random: systemRandom,
  egress: createEgress({ targets: allow, names: [] }),
  icmpHost,
  dnsServers: [resolver],
  userAgent: "test",
  services: testServices(cymruZones === undefined ? {} : { cymruZones }),
  data: builtInData(),
  trustAnchors: [],
});

async function run(wanted: Given) {
  const parsed = parseParams(contract.params, wanted, { from: "json", unknown: "refuse" });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problem));
  const given = parsed.value as Parameters<typeof ping.run>[1];
  const events: ProgressEvent[] = [];
  const net = createJobNet(jobLimits(deadlineMs ?? contract.deadlineMs(given)), (event) => events.push(event));
  return { outcome: await ping.run(net, given), events };
}

const all = [params].flat();
const done: Awaited<ReturnType<typeof run>>[] = [];
let next = 0;
async function work(): Promise<void> {
  for (let at = next++; at < all.length; at = next++) done[at] = await run(all[at] ?? {});
}
await Promise.all(Array.from({ length: AT_ONCE }, work));
await icmpHost.stop();
process.stdout.write(JSON.stringify(Array.isArray(params) ? done : done[0]));
