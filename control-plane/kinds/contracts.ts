import { MONITOR_CHECKS } from "#shared/monitor-checks/list.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { ProbedType } from "#control-plane/kinds/monitor.ts";

const CONTRACTS: Readonly<Record<ProbedType, keyof typeof MONITOR_CHECKS>> = {
  http: "monitor-http",
  keyword: "monitor-http",
  ssl: "monitor-ssl",
  domain: "monitor-domain",
  dns: "monitor-dns",
  ping: "monitor-ping",
  port: "monitor-port",
  visual: "monitor-visual",
};

/** Returns the contract by which agents check monitors of a type. */
export function contractOf(checkType: ProbedType): Contract {
  return MONITOR_CHECKS[CONTRACTS[checkType]];
}
