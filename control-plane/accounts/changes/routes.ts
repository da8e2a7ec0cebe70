import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import { FILTER_FIELDS, readFilter } from "#control-plane/accounts/changes/filter.ts";
import { CHANGE } from "#control-plane/accounts/changes/view.ts";
import type { Changes } from "#control-plane/accounts/changes/changes.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { PageFields, pageOf, readQuery } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";

const QUERY = Type.Object({ ...FILTER_FIELDS, ...PageFields });

/** Dependencies of the route. */
interface ChangeRoutesDeps {
  readonly gate: Gate;
  readonly sql: Sql;
  readonly changes: Changes;
}

/** Registers GET /api/v4/changes. */
export function registerChanges(server: FastifyInstance, { gate, sql, changes }: ChangeRoutesDeps): void {
  server.addSchema(CHANGE);
  server.route({
    ...gate.keyed({ scope: "monitors" }),
    method: "GET",
    url: "/api/v4/changes",
    schema: operation({
      id: "list_changes",
      tag: "Changes",
      summary: "List the changes of your account, newest first: who changed what, when and from which address",
      description:
        "Monitors, incidents, maintenance, status pages, webhooks, API keys, members with their roles, passwords and sessions, " +
        "invites, the account itself and its audit secret. " +
        "A change is kept for a year. It has the values of the changed fields before and after, but no secret: of " +
        "header values, bodies, tokens and addresses that are secret it says that they have changed.",
      data: Type.Array(Type.Ref("Change#")),
      query: QUERY,
      errors: ["missing_parameter"],
    }),
    handler: async (request) => {
      const query = readQuery(QUERY, request);
      const page = pageOf(query);
      const { rows, total } = await changes.list(sql, callerOf(request).accountId, readFilter(query), page);
      return answer(request, rows, { pagination: page.pagination(total) });
    },
  });
}
