import type { Server } from "node:http";
import { isHealthTarget } from "#control-plane/http/health.ts";
import { isAnythingDue } from "#control-plane/app/due-store.ts";
import type { Replica } from "#control-plane/app/replica.ts";
import type { Presence } from "#control-plane/checks/dispatch/presence.ts";
import { notify } from "#control-plane/core/database/store.ts";
import { createMemoryRelease } from "#shared/process/release-memory.ts";
import { REST_MS } from "#control-plane/core/timers.ts";

/**
 * Lets a replica rest while it is alone, no agent is attached from another host, no request is open and nothing becomes due
 * within a minute. A request, a notification or an agent that attaches ends the rest. Without notifications, which a
 * pooler can hold back, there is none: another replica could give this one work without its knowledge.
 */
export function restWhenIdle(
  { timers, gate, clock, notifications }: Pick<Replica, "timers" | "gate" | "clock" | "notifications">,
  {
    server,
    presence,
    replicaId,
    hasRemoteAgents,
  }: {
    readonly server: Pick<Server, "on">;
    readonly presence: Pick<Presence, "replicas">;
    readonly replicaId: string;
    readonly hasRemoteAgents: () => boolean;
  },
): void {
  let open = 0;
  server.on("request", (request, response) => {
    if (isHealthTarget(request.url ?? "")) return;
    open += 1;
    timers.wake();
    response.once("close", () => {
      open -= 1;
      timers.wake();
    });
  });
  timers.onRest(createMemoryRelease());
  timers.allowRest(async () => {
    if (open > 0 || presence.replicas().length > 1 || hasRemoteAgents()) return true;
    const before = new Date(clock.now().getTime() + REST_MS);
    if (await gate.run((sql) => isAnythingDue(sql, before))) return true;
    const send = (channel: string, payload: string) => gate.run((sql) => notify(sql, channel, payload));
    return !(await notifications.arrive(replicaId, send));
  });
}
