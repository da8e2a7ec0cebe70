import { Type, type Static } from "typebox";
import type { FastifyInstance } from "fastify";
import { CHANGE } from "#control-plane/accounts/changes/serialize.ts";
import type { Changes } from "#control-plane/accounts/changes/changes.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { PageFields, pageOf, readQuery } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { instant } from "#shared/settings/kinds.ts";
import { ACTORS, RESOURCES } from "#control-plane/http/access/changes.ts";
import type { ChangeFilter } from "#control-plane/accounts/changes/store.ts";
import { refuseField } from "#control-plane/http/errors.ts";

const Named = (description: string, example: string) =>
  Type.Optional(Type.String({ maxLength: 40, description, examples: [example] }));
const Instant = (description: string) =>
  Type.Optional(Type.String({ maxLength: 40, description, examples: ["2026-01-31T00:00:00Z"] }));

/** The fields of the query that select changes. */
const FILTER_FIELDS = {
  subject: Named(
    `Only changes of one kind (${RESOURCES.join(", ")}), or of one resource: the kind, a colon and its id`,
    "monitor:1",
  ),
  actor: Named(`Only changes by one kind (${ACTORS.join(", ")}), or by one key or member: key:1, member:1`, "key:1"),
  from: Instant("Only changes from this time on, as an ISO 8601 time with a zone"),
  to: Instant("Only changes before this time"),
};

const FILTER = Type.Object(FILTER_FIELDS);

/** Returns what a query selects. Throws Refusal for an unknown kind, an id that is none, and a range that is empty. */
function readFilter(query: Static<typeof FILTER>): ChangeFilter {
  const from = query.from === undefined ? null : readTime("from", query.from);
  const to = query.to === undefined ? null : readTime("to", query.to);
  if (from !== null && to !== null && from >= to) {
    throw refuseField({ field: "from", reason: "range", message: "must be before `to`" });
  }
  return {
    subject: query.subject === undefined ? null : readNamed("subject", query.subject, RESOURCES, RESOURCES),
    actor: query.actor === undefined ? null : readNamed("actor", query.actor, ACTORS, WITH_ID),
    from,
    to,
  };
}

/** Actors of which there is more than one. */
const WITH_ID = ["key", "member"] as const;

/** Reads a kind, or a kind of those that have an id with its id. */
function readNamed<Kind extends string>(
  field: string,
  text: string,
  kinds: readonly Kind[],
  withId: readonly Kind[],
): { readonly kind: Kind; readonly id: number | null } {
  const [, name = "", digits = null] = /^(\w+)(?::([1-9]\d{0,15}))?$/.exec(text) ?? [];
  const id = digits === null ? null : Number(digits);
  const kind = (id === null ? kinds : withId).find((one) => one === name);
  if (kind !== undefined && (id === null || Number.isSafeInteger(id))) return { kind, id };
  const others = withId.length === kinds.length ? "one of them" : withId.join(" or ");
  const message = `must be ${kinds.join(", ")}, or ${others} with an id, such as ${withId[0]}:1`;
  throw refuseField({ field, reason: "enum", message });
}

function readTime(field: string, text: string): Date {
  const at = instant.parse(text);
  if (at !== undefined) return at;
  throw refuseField({ field, reason: "type", message: `must be ${instant.allowed}` });
}

const QUERY = Type.Object({ ...FILTER_FIELDS, ...PageFields });

/** Registers GET /api/v4/changes. */
export function registerChanges(
  server: FastifyInstance,
  { gate, sql, changes }: Pick<App, "sql"> & { readonly gate: Gate; readonly changes: Changes },
): void {
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
