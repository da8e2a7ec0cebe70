// Program that runs tools in this process's network namespace with a real network, configured by the environment as an
// agent is. It reads lines of JSON on its standard input ({id, tool, params}), prints a line ({id, outcome}) for each,
// and ends with its input.
import { createInterface } from "node:readline";
import { createEgress } from "#shared/internet/egress.ts";
import { parseParams } from "#shared/schema/schema.ts";
import { formatAddress } from "#shared/settings/address.ts";
import { readConfig } from "#probe-agent/config.ts";
import { openData } from "#probe-agent/data/open.ts";
import { createNet } from "#probe-agent/net/create.ts";
import { startIcmpHost } from "#probe-agent/net/icmp/host.ts";
import { implementations } from "#probe-agent/tools/index.ts";
import { readTrustAnchors } from "#probe-agent/data/trust-anchors.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { jobLimits } from "#test/support/net.ts";

interface Job {
  readonly id: number;
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const read = readConfig(process.env);
if (!read.ok) throw new Error(read.line);
const { config } = read;
const [data, anchors] = [openData(config), readTrustAnchors(config.files.trustAnchors)];
if (!data.ok) throw new Error(data.line);
if (!anchors.ok) throw new Error(anchors.fault);
const icmpHost = startIcmpHost({ clock: systemClock, log: () => {} });
const createJobNet = createNet({
  clock: systemClock,
  random: systemRandom,
  egress: createEgress(config.allow),
  icmpHost,
  dnsServers: (config.dnsServers ?? []).map(formatAddress),
  userAgent: "Vantage/lab",
  services: config.sources,
  data: data.data,
  trustAnchors: anchors.anchors,
});

async function run({ id, tool, params }: Job): Promise<void> {
  const found = implementations.get(tool);
  if (found === undefined) throw new Error(`no tool ${tool}`);
  const parsed = parseParams(found.contract.params, params, { from: "json", unknown: "refuse" });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problem));
  const timeoutMs = found.contract.deadlineMs(parsed.value);
  const net = createJobNet(jobLimits(timeoutMs, AbortSignal.timeout(timeoutMs)), () => undefined);
  const outcome = await found.run(net, parsed.value);
  process.stdout.write(`${JSON.stringify({ id, outcome })}\n`);
}

const input = createInterface({ input: process.stdin });
input.on("line", (line) => void run(JSON.parse(line) as Job));
input.on("close", () => process.exit(0));
await icmpHost.ready();
process.stdout.write("ready\n");
