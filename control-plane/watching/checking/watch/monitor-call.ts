import type { Contract } from "#shared/tools/define.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import type { MonitorSecrets } from "#control-plane/outages/kinds/common.ts";
import { optionsOf, probeOf } from "#control-plane/outages/kinds/kinds.ts";
import type { WatchedMonitor } from "#control-plane/watching/checking/watch/watched.ts";

/** The check of a monitor as the agents know it. */
interface MonitorCall {
  readonly contract: Contract;
  /** Parsed by the contract. */
  readonly params: Readonly<Record<string, unknown>>;
}

type Checked = Pick<WatchedMonitor, "url" | "checkType" | "settings">;

/** Calls without secrets, so that the settings of a monitor are parsed once and not for each check. */
const parsedCalls = new WeakMap<Checked, MonitorCall>();

/**
 * Returns the contract and the parameters of a monitor's check. `known` is the verdict known from the location: if it
 * changes, or if `alwaysWhole`, the agent sends the whole result too. Pass the same monitor object while the monitor
 * does not change. Throws if the settings do not fit the contract, which a stored monitor's do.
 */
export function monitorCall(
  monitor: Checked,
  secrets: MonitorSecrets,
  known: "up" | "down" | null,
  alwaysWhole: boolean,
): MonitorCall {
  let call = parsedCalls.get(monitor);
  if (call === undefined) {
    call = parseCall(monitor);
    parsedCalls.set(monitor, call);
  }
  const { contract, params } = call;
  const hidden = probeOf(monitor.checkType).secretParams(secrets);
  return { contract, params: { ...params, ...hidden, known, always_whole: alwaysWhole } };
}

function parseCall({ url, checkType, settings }: Checked): MonitorCall {
  const probe = probeOf(checkType);
  const { contract } = probe;
  const { timeout_seconds } = settings;
  const raw = {
    ...probe.params(url, settings, optionsOf(checkType, settings)),
    timeout_seconds,
    known: null,
    always_whole: false,
  };
  const parsed = parseToolParams(contract, raw, { from: "strict", unknown: "refuse" });
  if (!parsed.ok) throw new Error(`${contract.name}: ${parsed.problem.field} ${parsed.problem.message}`);
  return { contract, params: parsed.value };
}
