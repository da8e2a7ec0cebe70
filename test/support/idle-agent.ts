import type { AgentListener } from "#test/support/agent-listener.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";

/**
 * Attaches an agent that takes no job, so that monitors find their locations and nothing is checked. It can do all that
 * kinds of monitors ask for. Returns what ends it.
 */
export async function attachIdle(server: AgentListener, region: string): Promise<{ stop(): void }> {
  const agent = await attachScripted(server, helloOf(region, { capabilities: ["browser", "icmp", "ipv4", "ipv6"] }));
  const beat = setInterval(() => {
    agent.send({ body: { $case: "beat", value: { running: 0, credits: 0, loopLagMs: 0, waiting: 0 } } });
  }, 500);
  return {
    stop() {
      clearInterval(beat);
      agent.cut();
    },
  };
}
