import { blackboxProbe } from "#probe-agent/exporter/blackbox-probe.ts";
import { monitorChecks } from "#probe-agent/monitor-checks/list.ts";
import type { Implementation } from "#probe-agent/tools/implement.ts";
import { implementations } from "#probe-agent/tools/index.ts";

/** Everything that an agent can run, by the name in a job: tools, monitors' checks and modules of a blackbox.yml. */
const runnable: ReadonlyMap<string, Implementation> = new Map([
  ...implementations,
  ...Object.entries(monitorChecks as unknown as Record<string, Implementation>),
  [blackboxProbe.contract.name, blackboxProbe as unknown as Implementation],
]);

/** Reports whether a job's name is that of a monitor's check. */
export function isMonitorCheck(name: string): boolean {
  return Object.hasOwn(monitorChecks, name);
}

/** Returns the implementation of a job's tool, check or probe; undefined if this agent has none. */
export function implementationOf(name: string): Implementation | undefined {
  return runnable.get(name);
}
