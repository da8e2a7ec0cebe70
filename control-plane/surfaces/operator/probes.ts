import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { Refusal } from "#control-plane/http/errors.ts";
import type { Hook } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { readQuery } from "#control-plane/http/params.ts";
import { answer } from "#control-plane/http/request.ts";
import type { ProbeListing, ProbeRow } from "#control-plane/checks/probes/listing.ts";
import { PROBE_STATUSES, type ProbeStatus } from "#control-plane/checks/probes/status.ts";

const NULLABLE_TEXT = Type.Union([Type.String(), Type.Null()]);
const NULLABLE_TIME = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);

/** Schema of a probe, as the operator sees it. */
const PROBE = Type.Object({
  id: Type.String({ description: "Id of the agent; usable in locations as probe:<id>" }),
  region: Type.String({ description: "Region the agent is enrolled in" }),
  city: { ...NULLABLE_TEXT, description: "City; null: unknown" },
  country: { ...NULLABLE_TEXT, description: "ISO 3166-1 alpha-2; null: unknown" },
  tags: Type.Array(Type.String(), { description: "Tags" }),
  status: Type.Enum([...PROBE_STATUSES], {
    description:
      "online: accepts jobs of at least one replica. draining: attached, finishes its jobs, accepts no new ones. offline: attached to no replica. disabled, revoked: by the operator",
  }),
  version: Type.String({ description: "Version of the agent; empty: it has never attached" }),
  replicas: Type.Array(Type.String(), { description: "Live control-plane replicas it is attached to" }),
  last_seen_at: { ...NULLABLE_TIME, description: "Time of its last message, accurate to a few seconds; null: never" },
  capabilities: Type.Array(Type.String(), { description: "Capabilities it last reported" }),
  account_id: Type.Union([Type.Integer(), Type.Null()], {
    description: "The only account that can use it; null: all accounts",
  }),
  enrolled_at: Type.String({ format: "date-time", description: "Time of enrolment" }),
  certificate_expires_at: Type.String({
    format: "date-time",
    description: "Expiry of its newest certificate; the agent renews it after two thirds of its lifetime",
  }),
});

/** Query parameter of routes that list probes by status. */
export const STATUS_FIELD = Type.Optional(
  Type.Unsafe<ProbeStatus>({
    type: "string",
    enum: [...PROBE_STATUSES],
    description: "Return only probes with this status",
  }),
);
const ListQuery = Type.Object({
  id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Return only the probe with this id",
      examples: ["agt-0123456789abcdef"],
    }),
  ),
  status: STATUS_FIELD,
});

/** Registers GET /api/admin/probes: every enrolled agent by region and id, the same at every replica. */
export function registerAdminProbes(server: FastifyInstance, admin: Hook, probes: ProbeListing): void {
  server.route({
    method: "GET",
    url: "/api/admin/probes",
    onRequest: admin,
    schema: operation({
      id: "admin_list_probes",
      tag: "Admin",
      summary: "List probe agents by region and id, or get one by id",
      data: Type.Union([Type.Array(PROBE), PROBE]),
      query: ListQuery,
      errors: ["missing_parameter", "not_found"],
      security: "operator",
    }),
    handler: async (request) => {
      const { id, status } = readQuery(ListQuery, request);
      const rows = await probes.read({
        ...(id === undefined ? {} : { id }),
        ...(status === undefined ? {} : { status }),
      });
      if (id === undefined) return answer(request, rows.map(show));
      const [row] = rows;
      if (row === undefined)
        throw new Refusal(
          "not_found",
          `No probe has the id ${JSON.stringify(id)}. GET /api/admin/probes lists the probes.`,
        );
      return answer(request, show(row));
    },
  });
}

function show({ agent, status, replicas, lastSeenAt, accountId, enrolledAt, certificateExpiresAt }: ProbeRow) {
  const { region, city, country, tags } = agent.place;
  return {
    id: agent.id,
    region,
    city,
    country,
    tags,
    status,
    version: agent.version,
    replicas,
    last_seen_at: lastSeenAt?.toISOString() ?? null,
    capabilities: [...agent.capabilities].toSorted(),
    account_id: accountId,
    enrolled_at: enrolledAt.toISOString(),
    certificate_expires_at: certificateExpiresAt.toISOString(),
  };
}
