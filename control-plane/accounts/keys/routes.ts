import { Type } from "typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Change, RecordChanges } from "#control-plane/http/access/changes.ts";
import { KEY_SCOPES } from "#shared/tools/define.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { App } from "#control-plane/core/app.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import type { Hook } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import {
  DELETED,
  IdField,
  IdQuery,
  PageFields,
  pageOf,
  readId,
  readQuery,
  readWrite,
} from "#control-plane/http/params.ts";
import { operatorChange } from "#control-plane/http/operator-change.ts";
import { answer } from "#control-plane/http/request.ts";
import type { Keys } from "#control-plane/accounts/keys/keys.ts";
import { effectiveScopes } from "#control-plane/http/access/principal.ts";
import { createNewKey, LONGEST_KEY_NAME } from "#control-plane/accounts/keys/new-key.ts";
import type { ListedKey } from "#control-plane/accounts/keys/store.ts";
import { PLAN_NAMES, type PlanName, type Plans } from "#control-plane/core/plans.ts";

const Create = Type.Object({
  plan: Type.Optional(Type.Unsafe<PlanName>({ type: "string", enum: [...PLAN_NAMES] })),
  account_id: Type.Optional(IdField),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: LONGEST_KEY_NAME, examples: ["grafana"] })),
  scopes: Type.Optional(
    Type.Array(Type.String({ maxLength: 100 }), {
      minItems: 1,
      maxItems: KEY_SCOPES.length,
      examples: [["check", "dns"]],
    }),
  ),
});
const ListQuery = Type.Object({
  id: Type.Optional(IdField),
  account_id: Type.Optional(IdField),
  ...PageFields,
});
const READ_ONLY = ["id", "key", "prefix", "created_at"];

const KEY_FIELDS = {
  id: IdField,
  account_id: Type.Integer({ description: "Account the key belongs to" }),
  name: Type.Union([Type.String(), Type.Null()], { description: "Label" }),
  plan: Type.String({ description: "Plan of the account" }),
  scopes: Type.Array(Type.String(), {
    description:
      "Scopes of the key: what it is allowed to call. monitors:read reads monitors, incidents, status pages, maintenance and metrics, without secrets, and writes nothing",
  }),
};
const Made = Type.Object({ ...KEY_FIELDS, key: Type.String({ description: "The key; shown only in this response" }) });
const Listed = Type.Object({
  ...KEY_FIELDS,
  prefix: Type.String({ description: "First characters of the key" }),
  created_at: Type.String({ format: "date-time", description: "Time of creation" }),
});
const OPERATOR = { tag: "Admin", security: "operator" } as const;

/** Dependencies of the key routes. */
interface KeyRoutesDeps extends Pick<App, "sql"> {
  readonly keys: Keys;
  readonly accounts: Accounts;
  readonly plans: Plans;
  readonly record: RecordChanges;
}

/** Registers the operator's key routes: POST, GET and DELETE /api/admin/keys. */
export function registerKeyRoutes(server: FastifyInstance, admin: Hook, deps: KeyRoutesDeps): void {
  const { keys, plans, record } = deps;
  const url = "/api/admin/keys";

  server.route({
    method: "POST",
    url,
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_create_key",
      summary: "Create a key; without account_id also a new account for it",
      status: 201,
      data: Made,
      body: Create,
      errors: ["missing_parameter", "plan_limit_exceeded", "not_found"],
    }),
    handler: async (request, reply) => reply.code(201).send(answer(request, await create(deps, request))),
  });

  server.route({
    method: "GET",
    url,
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_list_keys",
      summary: "List the keys without their values, or get one by id",
      data: Type.Union([Type.Array(Listed), Listed]),
      query: ListQuery,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const { id, account_id: accountId, ...fields } = readQuery(ListQuery, request);
      const filter = { ...(id === undefined ? {} : { id }), ...(accountId === undefined ? {} : { accountId }) };
      const page = pageOf(fields);
      const { keys: rows, total } = await keys.list(filter, page.limit, page.offset);
      if (id === undefined) {
        const data = rows.map((row) => show(row, plans));
        return answer(request, data, { pagination: page.pagination(total) });
      }
      const [row] = rows;
      if (row === undefined) throw noKey(id);
      return answer(request, show(row, plans));
    },
  });

  server.route({
    method: "DELETE",
    url,
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_delete_key",
      summary: "Revoke a key",
      data: DELETED,
      query: IdQuery,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const id = readId(request);
      const isRevoked = await keys.revoke(id, (tx, { accountId, name }) =>
        record(tx, operatorChange(request, accountId, [{ resource: "key", id, name, action: "deleted" }])),
      );
      if (!isRevoked) throw noKey(id);
      return answer(request, { id, deleted: true });
    },
  });
}

async function create({ keys, accounts, plans, sql, record }: KeyRoutesDeps, request: FastifyRequest) {
  const { plan, account_id: accountId, name = null, scopes: requested } = readWrite(Create, request, READ_ONLY);
  return transact(sql, async (tx) => {
    // Without account_id a new account is created for the key.
    const account =
      accountId === undefined
        ? await accounts.create(tx, { email: null, plan: plan ?? "free" })
        : await accounts.find(tx, accountId);
    if (account === null) throw new Refusal("not_found", `No account has the id ${accountId}.`);
    if (plan !== undefined && plan !== account.plan) throw otherPlan(account.plan);
    const made = await createNewKey({ keys, plans }, tx, { account, name, scopes: requested ?? null });
    if (made.kind === "invalid") throw refuseField(made);
    if (made.kind === "full") throw new Refusal("plan_limit_exceeded", made.message);
    const isNew = accountId === undefined;
    const changes: readonly Change[] = [
      ...(isNew ? [{ resource: "account", id: account.id, name: account.email, action: "created" } as const] : []),
      { resource: "key", id: made.id, name: name ?? made.prefix, action: "created" },
    ];
    await record(tx, operatorChange(request, account.id, changes));
    return { id: made.id, account_id: account.id, key: made.key, plan: account.plan, scopes: made.scopes, name };
  });
}

function otherPlan(plan: PlanName): Refusal {
  const message = `must be ${plan}, the plan of the account, or absent; PUT /api/admin/accounts changes the plan`;
  return refuseField({ field: "plan", reason: "enum", message });
}

function noKey(id: number): Refusal {
  return new Refusal("not_found", `No key has the id ${id}.`);
}

function show({ id, accountId, name, prefix, plan, scopes, createdAt }: ListedKey, plans: Plans) {
  return {
    id,
    account_id: accountId,
    name,
    prefix,
    plan,
    scopes: effectiveScopes(scopes, plans[plan].scopes),
    created_at: createdAt.toISOString(),
  };
}
