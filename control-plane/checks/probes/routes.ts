import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { dialTarget } from "#shared/settings/address.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import type { Hook } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { IdField, readQuery, readWrite } from "#control-plane/http/params.ts";
import { answer } from "#control-plane/http/request.ts";
import { registerAuthorityRoutes } from "#control-plane/checks/probes/authority-routes.ts";
import type { Probes } from "#control-plane/checks/probes/probes.ts";

const HOUR_SECONDS = 3_600;
const REGION = /^[a-z0-9][a-z0-9-]{0,31}$/;

const NewToken = Type.Object({
  region: Type.String({ minLength: 1, maxLength: 32, examples: ["eu-west"], description: "Region of the agents" }),
  ttl_seconds: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 30 * 24 * HOUR_SECONDS,
      default: HOUR_SECONDS,
      description: "Lifetime of the token, seconds",
    }),
  ),
  reusable: Type.Optional(
    Type.Boolean({ default: false, description: "true: any number of agents can join with it; false: one agent" }),
  ),
  account_id: Type.Optional({
    ...IdField,
    description: "The only account that can use the agents; default: all accounts",
  }),
  control_plane: Type.Optional(
    Type.String({
      maxLength: 300,
      examples: ["control-plane.example:50051"],
      description: `Address that the agents dial: ${dialTarget.allowed}; default: VANTAGE_GRPC_ADVERTISE, or the listener`,
    }),
  ),
});
const CreatedToken = Type.Object({
  token: Type.String({ description: "Value for VANTAGE_JOIN_TOKEN of the agent; shown only in this response" }),
  expires_at: Type.String({ format: "date-time", description: "Expiry of the token" }),
  ca_fingerprint: Type.String({
    description: "SHA-256 of the certificate authority that agents verify, hex; the token contains it",
  }),
  install: Nullable(
    Type.String({
      description:
        "Line that adds an agent to a Linux host, for a root shell there; null: this service runs from a clone",
    }),
  ),
});

const ProbeId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "Id of the agent",
  examples: ["agt-0123456789abcdef"],
});
const ProbeQuery = Type.Object({ id: ProbeId });
const Change = Type.Object({
  enabled: Type.Boolean({ examples: [true], description: "false: the agent stays attached but gets no jobs" }),
});
const Shown = Type.Object({
  id: ProbeId,
  region: Type.String({ description: "Region" }),
  account_id: Type.Union([Type.Integer(), Type.Null()], {
    description: "The only account that can use it; null: all accounts",
  }),
  enabled: Type.Boolean({ description: "Whether the agent gets jobs" }),
});
const Revoked = Type.Object({ id: ProbeId, revoked: Type.Literal(true, { description: "Always true" }) });
const OPERATOR = { tag: "Admin", security: "operator" } as const;

/** How agents that get a token find this service. */
interface Joining {
  /** Address that they dial. */
  readonly controlPlane: string;
  /** Returns the line that adds an agent to a host; null: there is none. */
  readonly lineFor: ((agent: { token: string; region: string; controlPlane: string }) => string) | null;
}

/** Registers the operator's routes of enrolment: POST /api/admin/probe-tokens, PUT and DELETE /api/admin/probes, those of the authority. */
export function registerProbeRoutes(server: FastifyInstance, admin: Hook, probes: Probes, joining: Joining): void {
  registerAuthorityRoutes(server, admin, probes.authorities);
  server.route({
    method: "POST",
    url: "/api/admin/probe-tokens",
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_create_probe_token",
      summary: "Create a join token for probe agents",
      status: 201,
      data: CreatedToken,
      body: NewToken,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request, reply) => {
      const body = readWrite(NewToken, request);
      const { region, ttl_seconds: ttlSeconds = HOUR_SECONDS, reusable = false, account_id: accountId = null } = body;
      const { control_plane: asked } = body;
      const controlPlane = asked === undefined ? joining.controlPlane : dialTarget.parse(asked);
      if (!REGION.test(region)) throw badRegion();
      if (controlPlane === undefined)
        throw refuseField({ field: "control_plane", reason: "type", message: `must be ${dialTarget.allowed}` });
      const made = await probes.createToken({ region, ttlSeconds, reusable, accountId });
      if (made === null) throw new Refusal("not_found", `No account has the id ${accountId}.`);
      const expires = made.expiresAt.toISOString();
      const { token } = made;
      const data = {
        token,
        expires_at: expires,
        ca_fingerprint: probes.authorities.serving().fingerprint,
        install: joining.lineFor?.({ token, region, controlPlane }) ?? null,
      };
      return reply.code(201).send(answer(request, data));
    },
  });

  server.route({
    method: "PUT",
    url: "/api/admin/probes",
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_update_probe",
      summary: "Enable or disable a probe agent",
      data: Shown,
      query: ProbeQuery,
      body: Change,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const { id } = readQuery(ProbeQuery, request);
      const { enabled } = readWrite(Change, request, ["id"]);
      const changed = await probes.enable(id, enabled);
      if (changed === null) throw noProbe(id);
      const { region, accountId } = changed;
      return answer(request, { id, region, account_id: accountId, enabled: changed.enabled });
    },
  });

  server.route({
    method: "DELETE",
    url: "/api/admin/probes",
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_delete_probe",
      summary: "Revoke a probe agent: its streams close immediately, and it needs a new join token",
      data: Revoked,
      query: ProbeQuery,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const { id } = readQuery(ProbeQuery, request);
      if (!(await probes.revoke(id))) throw noProbe(id);
      return answer(request, { id, revoked: true });
    },
  });
}

function badRegion(): Refusal {
  const message = "must be 1 to 32 lower-case letters, digits or hyphens";
  return refuseField({ field: "region", reason: "type", message });
}

function noProbe(id: string): Refusal {
  return new Refusal("not_found", `No probe has the id ${id.slice(0, 64)}, or it was revoked.`);
}
