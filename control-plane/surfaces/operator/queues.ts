import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import type { Hook } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { answer } from "#control-plane/http/request.ts";
import type { Deliveries } from "#control-plane/notify/deliveries/deliveries.ts";
import type { Jobs } from "#control-plane/checks/jobs.ts";

const ROW = Type.Object({
  queue: Type.String({ description: "Name of the queue; deliveries:mail and deliveries:webhook are those of events" }),
  state: Type.String({
    description: "created, retry, active, completed, cancelled or failed; of deliveries pending or retrying",
  }),
  jobs: Type.Integer({ description: "Number of jobs; ended jobs are counted for 1 h" }),
  oldest_at: Type.String({ format: "date-time", description: "Creation time of the oldest of these jobs" }),
});

/** Queues whose depth the operator can read. */
interface Queues {
  readonly jobs: Pick<Jobs, "count">;
  readonly deliveries: Pick<Deliveries, "count">;
}

/** Registers GET /api/admin/queue: the jobs of every queue by state. */
export function registerAdminQueue(server: FastifyInstance, admin: Hook, { jobs, deliveries }: Queues): void {
  server.route({
    method: "GET",
    url: "/api/admin/queue",
    onRequest: admin,
    schema: operation({
      id: "admin_queue",
      tag: "Admin",
      summary: "Count the jobs of the background queues by state",
      security: "operator",
      data: Type.Object({ queues: Type.Array(ROW, { description: "One row for each queue and state that has jobs" }) }),
    }),
    handler: async (request) => {
      const [counts, waiting] = await Promise.all([jobs.count(), deliveries.count()]);
      const queues = [
        ...counts.map(({ queue, state, jobs: count, oldestAt }) => ({ queue, state, count, oldestAt })),
        ...waiting.map(({ channel, status, deliveries: count, oldestAt }) => {
          return { queue: `deliveries:${channel}`, state: status, count, oldestAt };
        }),
      ].map(({ queue, state, count, oldestAt }) => ({ queue, state, jobs: count, oldest_at: oldestAt.toISOString() }));
      return answer(request, { queues });
    },
  });
}
