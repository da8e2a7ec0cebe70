import type { Clock } from "#shared/clock.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { MonitorPorts } from "#control-plane/monitors/ports.ts";
import type { VetContext } from "#control-plane/monitors/vet.ts";
import type { Plans } from "#control-plane/plans/plans.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** Dependencies of the writes. */
export interface WriteDeps {
  readonly checks: Pick<CheckContext, "hub" | "optOut">;
  readonly clock: Clock;
  readonly encryption: Encryption;
  readonly plans: Plans;
  readonly ports: MonitorPorts;
}

/** Returns the dependencies of the decisions about a monitor. */
export function vetContext({ checks, ports }: WriteDeps): Pick<VetContext, "checks" | "findScheduleProblem"> {
  return { checks, findScheduleProblem: (settings) => ports.heartbeats.findScheduleProblem(settings) };
}

/** One monitor of an account. */
export interface OwnMonitor {
  readonly accountId: number;
  readonly id: number;
}
