import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { LOG_LIMITS } from "#shared/protocol/wire.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import type { Hook } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { readQuery } from "#control-plane/http/params.ts";
import { answer } from "#control-plane/http/request.ts";
import type { Hub } from "#control-plane/checks/dispatch/hub.ts";
import type { LogAnswer } from "#control-plane/checks/dispatch/session.ts";
import type { ProbeListing, ProbeRow } from "#control-plane/checks/probes/listing.ts";

const QUERY = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 64, description: "Id of the agent", examples: ["agt-0123456789abcdef"] }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LOG_LIMITS.lines,
      default: LOG_LIMITS.lines,
      description: "Return only this many of the newest lines",
    }),
  ),
});
const LOGS = Type.Object({
  id: Type.String({ description: "Id of the agent" }),
  lines: Type.Array(
    Type.String({ description: `JSON, as on the agent's host; cut after ${LOG_LIMITS.lineCharacters} characters` }),
    { maxItems: LOG_LIMITS.lines, description: "The newest lines since the agent started, the oldest first" },
  ),
});

/** Registers GET /api/admin/probes/logs: the newest lines of an agent's log, from the agent itself. */
export function registerAdminProbeLogs(
  server: FastifyInstance,
  admin: Hook,
  { probes, hub }: { readonly probes: ProbeListing; readonly hub: Pick<Hub, "readLog" | "replicaId"> },
): void {
  server.route({
    method: "GET",
    url: "/api/admin/probes/logs",
    onRequest: admin,
    schema: operation({
      id: "admin_list_probe_logs",
      tag: "Admin",
      summary: "Read the newest lines of an agent's log",
      description:
        "The agent keeps them in memory, without tokens, passwords in URLs and header fields with credentials, and sends " +
        "them through its connection. The answer comes from the replica that is asked: an agent that is attached to " +
        "others only is refused with the reason probe_elsewhere.",
      data: LOGS,
      query: QUERY,
      errors: ["missing_parameter", "not_found", "conflict", "request_failed", "probe_unavailable"],
      security: "operator",
    }),
    handler: async (request) => {
      const { id, limit = LOG_LIMITS.lines } = readQuery(QUERY, request);
      const [row] = await probes.read({ id });
      if (row === undefined || row.status === "revoked") {
        throw new Refusal("not_found", `No probe has the id ${JSON.stringify(id)}, or it was revoked.`);
      }
      const read = await hub.readLog(id);
      if (!read.ok) throw refuseLog(read.reason, row, hub.replicaId);
      return answer(request, { id, lines: read.lines.slice(-limit) });
    },
  });
}

function refuseLog(why: Extract<LogAnswer, { ok: false }>["reason"], row: ProbeRow, replicaId: string): Refusal {
  /** A refusal after which a retry can succeed. */
  const unavailable = (reason: string, message: string) =>
    new Refusal("probe_unavailable", { reason, message, retryAfterSeconds: 1 });
  switch (why) {
    case "unsupported": {
      const message = `This agent's version (${row.agent.version}) cannot send its log: upgrade it.`;
      return new Refusal("conflict", { reason: "agent_version", message });
    }
    case "invalid":
      return new Refusal("request_failed", "The agent sent more than the newest lines of its log.");
    case "silent":
      return unavailable("silent", "The agent is connected, but has not sent its log within 5 s.");
    case "lost":
      return unavailable("probe_lost", "The agent disconnected before it had sent its log.");
    case "absent": {
      const others = row.replicas.filter((id) => id !== replicaId);
      if (others.length === 0) {
        return new Refusal("probe_unavailable", { reason: "no_probe", message: "The agent is not connected." });
      }
      return unavailable(
        "probe_elsewhere",
        `The agent is not connected to this replica (${replicaId}), but to ${others.join(", ")}. Ask one of them.`,
      );
    }
  }
}
