import { createEgress } from "#shared/internet/egress.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { formatAddress } from "#shared/settings/address.ts";
import { readConfig } from "#probe-agent/config.ts";
import { openData } from "#probe-agent/data/open.ts";
import { createNet } from "#probe-agent/net/create.ts";
import { startIcmpHost } from "#probe-agent/net/icmp/host.ts";
import { implementations } from "#probe-agent/tools/index.ts";
import { readTrustAnchors } from "#probe-agent/data/trust-anchors.ts";
import { parseParams } from "#shared/schema/schema.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import type { StandIns } from "#test/support/stand-ins.ts";
import type { Call } from "#test/support/tool-calls.ts";

/** An agent's tools in this process, without a control plane. */
export interface Bench {
  /** `input`: what a control plane would add. */
  run(tool: string, params: Call, input?: Readonly<Record<string, unknown>>): Promise<Outcome<unknown>>;
  stop(): Promise<void>;
}

/** Sets the tools up as an agent with the stand-ins' settings has them, ICMP process included. */
export async function startBench({ settings, root }: StandIns): Promise<Bench> {
  const read = readConfig(settings);
  if (!read.ok) throw new Error(read.line);
  const { config } = read;
  const data = openData(config);
  if (!data.ok) throw new Error(data.line);
  const trusted = readTrustAnchors(config.files.trustAnchors);
  if (!trusted.ok) throw new Error(trusted.fault);
  const icmpHost = startIcmpHost({ clock: systemClock, log: () => {}, onRestart: () => {} });
  await icmpHost.ready();
  const createJobNet = createNet({
    clock: systemClock,
    random: systemRandom,
    egress: createEgress(config.allow),
    icmpHost,
    dnsServers: (config.dnsServers ?? []).map(formatAddress),
    userAgent: "Vantage/example (+https://vantage.example/about)",
    services: config.sources,
    data: data.data,
    trustAnchors: trusted.anchors,
    roots: [root],
  });
  return {
    async run(tool, params, input) {
      const implementation = implementations.get(tool);
      if (implementation === undefined) throw new Error(`nothing implements ${tool}`);
      const { contract } = implementation;
      const parsed = parseParams(contract.params, params, { from: "json", unknown: "refuse" });
      if (!parsed.ok) throw new Error(`${tool}: ${JSON.stringify(parsed.problem)}`);
      const timeoutMs = contract.deadlineMs(parsed.value);
      const limits = {
        signal: AbortSignal.timeout(timeoutMs),
        deadline: systemClock.monotonic() + timeoutMs,
        now: () => systemClock.now(),
      };
      return await implementation.run(
        createJobNet(limits, () => {}),
        parsed.value,
        input,
      );
    },
    stop: () => icmpHost.stop(),
  };
}
