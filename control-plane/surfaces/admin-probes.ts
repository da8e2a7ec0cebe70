import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { AgentRow, Roster } from "#control-plane/dispatch/roster.ts";
import type { Hook } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operation.ts";
import { answer } from "#control-plane/http/request.ts";

const NULLABLE_TEXT = Type.Union([Type.String(), Type.Null()]);

/** One agent as the operator sees it (decisions 1, Admin API). */
const PROBE = Type.Object({
  id: Type.String({ description: "The agent's own id; usable as probe:<id>" }),
  region: Type.String({ description: "Region" }),
  city: { ...NULLABLE_TEXT, description: "City; null: not told" },
  country: { ...NULLABLE_TEXT, description: "ISO 3166-1 alpha-2; null: not told" },
  tags: Type.Array(Type.String(), { description: "Tags" }),
  status: Type.Enum(["online", "draining", "offline"], { description: "Of this replica's own streams" }),
  version: Type.String({ description: "Of the agent's software" }),
  replicas: Type.Array(Type.String(), { description: "Control-plane replicas it is attached to" }),
  last_seen_at: Type.String({ format: "date-time", description: "Its last message" }),
  capabilities: Type.Array(Type.String(), { description: "What it can do" }),
});

/** GET /api/admin/probes: every agent this replica knows, by region and id. */
export function registerAdminProbes(server: FastifyInstance, admin: Hook, roster: Roster, replicaId: string): void {
  server.route({
    method: "GET",
    url: "/api/admin/probes",
    onRequest: admin,
    schema: operation({
      id: "admin_list_probes",
      tag: "Admin",
      summary: "The probe agents this replica knows",
      data: Type.Array(PROBE),
      security: "operator",
    }),
    handler: (request) => Promise.resolve(answer(request, probeRows(roster.rows(), replicaId))),
  });
}

function probeRows(rows: readonly AgentRow[], replicaId: string) {
  return rows
    .map(({ agent, status, lastSeenAt }) => ({
      id: agent.id,
      region: agent.place.region,
      city: agent.place.city,
      country: agent.place.country,
      tags: agent.place.tags,
      status,
      version: agent.version,
      replicas: status === "offline" ? [] : [replicaId],
      last_seen_at: lastSeenAt.toISOString(),
      capabilities: [...agent.capabilities].toSorted(),
    }))
    .toSorted((a, b) => (a.region === b.region ? (a.id < b.id ? -1 : 1) : a.region < b.region ? -1 : 1));
}
