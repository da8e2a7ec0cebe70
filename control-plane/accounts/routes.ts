import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Account } from "#control-plane/accounts/store.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import type { Hook } from "#control-plane/http/gate.ts";
import { IdField, PageFields, pageOf, readId, readQuery, readWrite } from "#control-plane/http/params.ts";
import { answer } from "#control-plane/http/request.ts";
import { PLAN_NAMES, type PlanName } from "#control-plane/plans.ts";

const PlanField = Type.Unsafe<PlanName>({ type: "string", enum: [...PLAN_NAMES], description: "Plan of the account" });
const EmailField = Type.String({ minLength: 3, maxLength: 254, description: "Address of the account's owner" });

const Create = Type.Object({ email: EmailField, plan: Type.Optional(PlanField) });
const Update = Type.Object({ email: Type.Optional(EmailField), plan: Type.Optional(PlanField) });
const ListQuery = Type.Object({ id: Type.Optional(IdField), ...PageFields });
const DeleteQuery = Type.Object({
  id: IdField,
  export: Type.Optional(Type.Unsafe<boolean>({ type: "string", enum: ["0", "1"], "x-kind": "flag" })),
});
const READ_ONLY = ["id", "created_at"];

/** What the account routes stand on. */
export interface AccountRoutesDeps {
  readonly accounts: Accounts;
  readonly sql: Sql;
  /** The operator's gate. */
  readonly admin: Hook;
}

/** The operator's account routes: POST, GET, PUT and DELETE /api/admin/accounts (decisions 1, Admin API). */
export function registerAccountRoutes(server: FastifyInstance, { accounts, sql, admin }: AccountRoutesDeps): void {
  const url = "/api/admin/accounts";

  server.route({
    method: "POST",
    url,
    onRequest: admin,
    handler: async (request, reply) => {
      const { email, plan = "free" } = readWrite(Create, request, READ_ONLY);
      checkEmail(email);
      const account = await accounts.create(sql, { email, plan });
      if (account === null) throw emailTaken();
      return reply.code(201).send(answer(request, show(account)));
    },
  });

  server.route({
    method: "GET",
    url,
    onRequest: admin,
    handler: async (request) => {
      const { id, ...fields } = readQuery(ListQuery, request);
      if (id !== undefined) return answer(request, show(present(await accounts.find(sql, id), id)));
      const page = pageOf(fields);
      const { accounts: rows, total } = await accounts.list(page.limit, page.offset);
      return answer(request, rows.map(show), { pagination: page.pagination(total) });
    },
  });

  server.route({
    method: "PUT",
    url,
    onRequest: admin,
    handler: async (request) => {
      const id = readId(request);
      const change = readWrite(Update, request, READ_ONLY);
      if (change.email !== undefined) checkEmail(change.email);
      const updated = await accounts.update(id, change);
      if (updated === "taken") throw emailTaken();
      return answer(request, show(present(updated, id)));
    },
  });

  server.route({
    method: "DELETE",
    url,
    onRequest: admin,
    handler: async (request) => {
      const { id, export: withExport = false } = readQuery(DeleteQuery, request);
      const { exported } = present(await accounts.erase(id, withExport), id);
      return answer(request, { id, deleted: true, ...(exported === null ? {} : { export: exported }) });
    },
  });
}

function show({ id, email, plan, createdAt }: Account) {
  return { id, email, plan, created_at: createdAt.toISOString() };
}

/** A form check only: whether mail arrives is known when it does. */
function checkEmail(email: string): void {
  if (/^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+$/u.test(email)) return;
  throw refuseField({ field: "email", reason: "type", message: "must be an email address" });
}

function emailTaken(): Refusal {
  return refuseField({ field: "email", reason: "duplicate", message: "is in use by another account" });
}

function present<T>(found: T | null, id: number): T {
  if (found === null) throw new Refusal("not_found", `There is no account ${id}.`);
  return found;
}
