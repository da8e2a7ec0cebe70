import { isMonitorCheck, loadMonitorCheck } from "#probe-agent/monitor-checks/list.ts";
import type { Implementation } from "#probe-agent/tools/implement.ts";
import { TOOL_NAMES } from "#shared/tools/names.ts";

const tools: ReadonlySet<string> = new Set(TOOL_NAMES);
/** Name of the job that runs a module of a blackbox.yml. */
const BLACKBOX_PROBE = "blackbox-probe";

/** Reports whether this agent can run a job with this name: a tool, a monitor's check or a module of a blackbox.yml. */
export function canRun(name: string): boolean {
  return tools.has(name) || isMonitorCheck(name) || name === BLACKBOX_PROBE;
}

/**
 * Returns the implementation of a job's tool, check or probe; undefined if this agent has none. Its code is loaded with
 * the first job that needs it, because an agent without jobs would keep it in memory for nothing.
 */
export async function loadImplementation(name: string): Promise<Implementation | undefined> {
  if (tools.has(name)) return (await import("#probe-agent/tools/index.ts")).implementations.get(name);
  if (isMonitorCheck(name)) return await loadMonitorCheck(name);
  if (name !== BLACKBOX_PROBE) return undefined;
  const { blackboxProbe } = await import("#probe-agent/exporter/blackbox-probe.ts");
  return blackboxProbe;
}
