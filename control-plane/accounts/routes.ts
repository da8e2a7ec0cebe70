import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import type { App } from "#control-plane/core/app.ts";
import type { RecordChanges } from "#control-plane/http/access/changes.ts";
import { diffResource } from "#control-plane/http/access/diff-resource.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Account } from "#control-plane/accounts/store.ts";
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
import { spellMailAddress } from "#control-plane/core/mail-address.ts";
import { PLAN_NAMES, type PlanName } from "#control-plane/core/plans.ts";

const PlanField = Type.Unsafe<PlanName>({ type: "string", enum: [...PLAN_NAMES], description: "Plan of the account" });
const EmailField = Type.String({
  minLength: 3,
  maxLength: 254,
  examples: ["ops@example.com"],
  description: "Email address of the account's owner",
});

const Create = Type.Object({ email: EmailField, plan: Type.Optional(PlanField) });
const Update = Type.Object({ email: Type.Optional(EmailField), plan: Type.Optional(PlanField) });
const ListQuery = Type.Object({ id: Type.Optional(IdField), ...PageFields });
const DeleteQuery = Type.Object({
  id: IdField,
  export: Type.Optional(Type.Unsafe<boolean>({ type: "string", enum: ["0", "1"], "x-kind": "flag" })),
});
const READ_ONLY = ["id", "created_at"];

const Shown = Type.Object({
  id: IdField,
  email: Type.Union([Type.String(), Type.Null()], {
    description: "Email address of the owner; null for an account that was created with a key",
  }),
  plan: PlanField,
  created_at: Type.String({ format: "date-time", description: "Time of creation" }),
});
const OPERATOR = { tag: "Admin", security: "operator" } as const;
const URL = "/api/admin/accounts";

/** Registers the operator's account routes: POST, GET, PUT and DELETE /api/admin/accounts. */
export function registerAccountRoutes(
  server: FastifyInstance,
  admin: Hook,
  deps: Pick<App, "sql"> & { readonly accounts: Accounts; readonly record: RecordChanges },
): void {
  registerCreation(server, admin, deps);
  registerReading(server, admin, deps);
  registerUpdate(server, admin, deps);
  registerErasure(server, admin, deps.accounts);
}

function registerCreation(
  server: FastifyInstance,
  admin: Hook,
  { accounts, sql, record }: Pick<App, "sql"> & { readonly accounts: Accounts; readonly record: RecordChanges },
): void {
  server.route({
    method: "POST",
    url: URL,
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_create_account",
      summary: "Create an account",
      status: 201,
      data: Shown,
      body: Create,
      errors: ["missing_parameter"],
    }),
    handler: async (request, reply) => {
      const { email: given, plan = "free" } = readWrite(Create, request, READ_ONLY);
      const email = readEmail(given);
      const account = await transact(sql, async (tx) => {
        const created = await accounts.create(tx, { email, plan });
        if (created === null) throw emailTaken();
        const change = { resource: "account", id: created.id, name: email, action: "created" } as const;
        await record(tx, operatorChange(request, created.id, [change]));
        return created;
      });
      return reply.code(201).send(answer(request, show(account)));
    },
  });
}

function registerReading(
  server: FastifyInstance,
  admin: Hook,
  { accounts, sql }: Pick<App, "sql"> & { readonly accounts: Accounts },
): void {
  server.route({
    method: "GET",
    url: URL,
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_list_accounts",
      summary: "List the accounts, or get one by id",
      data: Type.Union([Type.Array(Shown), Shown]),
      query: ListQuery,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const { id, ...fields } = readQuery(ListQuery, request);
      if (id !== undefined) return answer(request, show(requireFound(await accounts.find(sql, id), id)));
      const page = pageOf(fields);
      const { accounts: rows, total } = await accounts.list(page.limit, page.offset);
      return answer(request, rows.map(show), { pagination: page.pagination(total) });
    },
  });
}

function registerUpdate(
  server: FastifyInstance,
  admin: Hook,
  { accounts, record }: { readonly accounts: Accounts; readonly record: RecordChanges },
): void {
  server.route({
    method: "PUT",
    url: URL,
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_update_account",
      summary: "Change the email address or the plan of an account",
      data: Shown,
      query: IdQuery,
      body: Update,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const id = readId(request);
      const { email, ...rest } = readWrite(Update, request, READ_ONLY);
      const change = email === undefined ? rest : { ...rest, email: readEmail(email) };
      const updated = await accounts.update(id, change, (tx, { before, after }) => {
        const changed = diffResource(show(before), show(after), []);
        const logged = { resource: "account", id, name: after.email, action: "changed", changed } as const;
        return record(tx, operatorChange(request, id, [logged]));
      });
      if (updated === "taken") throw emailTaken();
      return answer(request, show(requireFound(updated, id)));
    },
  });
}

function registerErasure(server: FastifyInstance, admin: Hook, accounts: Accounts): void {
  server.route({
    method: "DELETE",
    url: URL,
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_delete_account",
      summary: "Delete an account and all its data; export=1 returns a copy of the data",
      data: DELETED,
      query: DeleteQuery,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const { id, export: withExport = false } = readQuery(DeleteQuery, request);
      const { exported } = requireFound(await accounts.erase(id, withExport), id);
      return answer(request, { id, deleted: true, ...(exported === null ? {} : { export: exported }) });
    },
  });
}

function show({ id, email, plan, createdAt }: Account) {
  return { id, email, plan, created_at: createdAt.toISOString() };
}

/** Checks only the form of an address; only a delivered mail shows that it exists. */
function readEmail(given: string): string {
  const email = spellMailAddress(given);
  if (email !== null) return email;
  throw refuseField({ field: "email", reason: "type", message: "must be an email address such as ops@example.com" });
}

function emailTaken(): Refusal {
  return refuseField({ field: "email", reason: "duplicate", message: "belongs to another account" });
}

function requireFound<T>(found: T | null, id: number): T {
  if (found === null) throw new Refusal("not_found", `No account has the id ${id}.`);
  return found;
}
