import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import type { Authorities, AuthorityState } from "#control-plane/checks/probes/authorities.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import type { Hook } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { readWrite } from "#control-plane/http/params.ts";
import { answer } from "#control-plane/http/request.ts";

/** Agents that an answer lists, and that a message names. */
const [MOST_LISTED, MOST_NAMED] = [100, 10];

const Time = (description: string) => Type.String({ format: "date-time", description });
const Certificate = Type.Object({
  fingerprint: Type.String({ description: "SHA-256 of its certificate, hex" }),
  created_at: Time("When it was made"),
});
const Shown = Type.Object({
  ca: { ...Certificate, description: "The authority of the listener for agents, and of join tokens" },
  next: Nullable({ ...Certificate, description: "The one that takes its place; null: none does" }),
  agent_count: Type.Integer({
    description: "Agents with a certificate of the first one, while there are two: they end the change when they renew",
  }),
  agents: Type.Array(
    Type.Object({
      id: Type.String({ description: "Id of the agent" }),
      last_seen_at: Nullable(Time("When it was last attached; null: it never was")),
      certificate_expires_at: Time("End of its certificate"),
    }),
    { maxItems: MOST_LISTED, description: "Those of them that were seen last" },
  ),
});
const Change = Type.Object({
  action: Type.Union([Type.Literal("begin"), Type.Literal("finish")], {
    description:
      "begin: make the next authority, from which agents get a certificate when they renew; finish: make it the only one. " +
      "Join tokens of before the end do not work after it",
    examples: ["begin"],
  }),
  force: Type.Optional(
    Type.Boolean({
      default: false,
      description: "For finish: revoke agents with a certificate of the first authority, which have to join again",
    }),
  ),
});
const OPERATOR = { tag: "Admin", security: "operator", data: Shown } as const;

/** Registers the operator's routes of the authority of agents: GET and POST /api/admin/probe-ca. */
export function registerAuthorityRoutes(server: FastifyInstance, admin: Hook, authorities: Authorities): void {
  server.route({
    method: "GET",
    url: "/api/admin/probe-ca",
    onRequest: admin,
    schema: operation({ ...OPERATOR, id: "admin_get_probe_ca", summary: "Show the certificate authority of agents" }),
    handler: async (request) => answer(request, show(await authorities.read())),
  });

  server.route({
    method: "POST",
    url: "/api/admin/probe-ca",
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_change_probe_ca",
      summary: "Replace the certificate authority of agents",
      body: Change,
      errors: ["missing_parameter", "conflict"],
    }),
    handler: async (request) => {
      const { action, force = false } = readWrite(Change, request);
      if (action === "begin") return answer(request, show(await authorities.begin()));
      const finished = await authorities.finish(force);
      if (finished === null)
        throw new Refusal("conflict", "No other authority takes the place of this one: begin first.");
      if (!finished.isDone) throw new Refusal("conflict", nameHolders(finished.state));
      return answer(request, show(finished.state));
    },
  });
}

function show({ serving, next, holders }: AuthorityState) {
  const certificateOf = (one: AuthorityState["serving"]) => ({
    fingerprint: one.fingerprint,
    created_at: one.createdAt.toISOString(),
  });
  return {
    ca: certificateOf(serving),
    next: next === null ? null : certificateOf(next),
    agent_count: holders.length,
    agents: holders.slice(0, MOST_LISTED).map(({ id, lastSeenAt, certificateExpiresAt }) => ({
      id,
      last_seen_at: lastSeenAt?.toISOString() ?? null,
      certificate_expires_at: certificateExpiresAt.toISOString(),
    })),
  };
}

function nameHolders({ holders }: AuthorityState): string {
  const named = holders.slice(0, MOST_NAMED).map(({ id }) => id);
  const others = holders.length > named.length ? ` and ${holders.length - named.length} others` : "";
  return `Agents have a certificate of the first authority: ${named.join(", ")}${others}. They renew it when they next attach; force revokes them.`;
}
