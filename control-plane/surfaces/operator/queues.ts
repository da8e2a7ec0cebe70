import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import type { Hook } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { answer } from "#control-plane/http/request.ts";
import type { Jobs } from "#control-plane/jobs.ts";

const ROW = Type.Object({
  queue: Type.String({ description: "Name of the queue" }),
  state: Type.String({ description: "created, retry, active, completed, cancelled or failed" }),
  jobs: Type.Integer({ description: "Number of jobs; ended jobs are counted for 1 h" }),
  oldest_at: Type.String({ format: "date-time", description: "Creation time of the oldest of these jobs" }),
});

/** Registers GET /api/admin/queue: the jobs of every queue by state. */
export function registerAdminQueue(server: FastifyInstance, admin: Hook, jobs: Jobs): void {
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
      const counts = await jobs.count();
      const queues = counts.map(({ queue, state, jobs: count, oldestAt }) => {
        return { queue, state, jobs: count, oldest_at: oldestAt.toISOString() };
      });
      return answer(request, { queues });
    },
  });
}
