import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { startStandIns, type StandIns } from "#test/support/stand-ins.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";

/** A control plane and a real agent that see the stand-ins as the internet. Limits on callers are disabled. */
export interface StandInService {
  readonly plane: TestControlPlane;
  readonly agent: AgentProcess;
  readonly world: StandIns;
  stop(): Promise<void>;
}

/** Starts the service. `settings` are additional settings of the agent. Call `stop` in afterAll. */
export async function startStandInService(settings: Readonly<Record<string, string>> = {}): Promise<StandInService> {
  const config = { openPerMinute: 100_000, openPerDay: 100_000, targetBudget: 100_000 };
  const [world, plane] = await Promise.all([startStandIns(), startControlPlane({ config, plans: WIDE_PLANS })]);
  const agent = await startAgent(plane, "local", { ...world.settings, ...settings });
  return {
    plane,
    agent,
    world,
    async stop() {
      await agent.stop();
      await Promise.all([world.close(), plane.stop()]);
    },
  };
}
