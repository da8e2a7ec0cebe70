import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import type { App } from "#control-plane/core/app.ts";
import type { RecordChanges } from "#control-plane/http/access/changes.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import type { Hook } from "#control-plane/http/gate.ts";
import { operatorChange } from "#control-plane/http/operator-change.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { IdField, readWrite } from "#control-plane/http/params.ts";
import { answer } from "#control-plane/http/request.ts";
import { spellMailAddress } from "#control-plane/core/mail-address.ts";
import { ROLES, type Role } from "#control-plane/people/users/roles.ts";
import { findFirstAccount, hasUsers } from "#control-plane/people/users/store.ts";
import type { Users } from "#control-plane/people/users/users.ts";

const LINK_BODY = Type.Object({
  account_id: Type.Optional(IdField),
  if_no_users: Type.Optional(
    Type.Boolean({ default: false, description: "Only while nobody can sign in yet; otherwise the answer is 409" }),
  ),
});

const LINK = Type.Object({
  account_id: Type.Integer({ description: "The account that the link takes over" }),
  url: Type.String({ description: "The link. It works once; shown only in this response" }),
  expires_at: Type.String({ format: "date-time", description: "When it stops working, 15 minutes from now" }),
});

const MOST_TTL_SECONDS = 30 * 86_400;

const INVITE_BODY = Type.Object({
  email: Type.Optional(Type.String({ maxLength: 254, examples: ["ops@example.com"] })),
  account_id: Type.Optional(IdField),
  role: Type.Optional(Type.Unsafe<Role>({ type: "string", enum: [...ROLES] })),
  ttl_seconds: Type.Optional(Type.Integer({ minimum: 60, maximum: MOST_TTL_SECONDS, default: 604_800 })),
});

const INVITE = Type.Object({
  token: Type.String({ description: "The secret part of the link; shown only in this response" }),
  url: Type.String({ description: "The link. It works once; shown only in this response" }),
  expires_at: Type.String({ format: "date-time", description: "When it stops working" }),
});

/**
 * Registers POST /api/admin/sign-in-links and /api/admin/invites. `baseUrl` is the address of the service, without a
 * slash at its end.
 */
export function registerUserRoutes(
  server: FastifyInstance,
  admin: Hook,
  deps: Pick<App, "sql"> & {
    readonly users: Users;
    readonly accounts: Accounts;
    readonly record: RecordChanges;
    readonly baseUrl: string;
  },
): void {
  const { users, accounts, sql, record, baseUrl } = deps;
  server.route({
    method: "POST",
    url: "/api/admin/sign-in-links",
    onRequest: admin,
    schema: operation({
      tag: "Admin",
      security: "operator",
      id: "admin_create_sign_in_link",
      summary: "Create a link by which an owner of an account signs in and sets a password",
      description: "Without account_id it is for the oldest account.",
      status: 201,
      data: LINK,
      body: LINK_BODY,
      errors: ["missing_parameter", "not_found", "conflict"],
    }),
    handler: async (request, reply) => {
      const { account_id: given, if_no_users: isFirstOnly = false } = readWrite(LINK_BODY, request);
      const link = await transact(sql, async (tx) => {
        if (isFirstOnly && (await hasUsers(tx))) throw new Refusal("conflict", "There are users who can sign in.");
        const accountId = given ?? (await findFirstAccount(tx));
        if (accountId === null) throw new Refusal("not_found", NO_ACCOUNT);
        const account = await accounts.find(tx, accountId);
        if (account === null) throw new Refusal("not_found", `No account has the id ${accountId}.`);
        const { token, expiresAt } = await users.createStartLink(tx, accountId);
        const change = { resource: "account", id: accountId, name: account.email, action: "shown" } as const;
        await record(tx, operatorChange(request, accountId, [change]));
        return {
          account_id: accountId,
          url: `${baseUrl}/start/${token}`,
          expires_at: expiresAt.toISOString(),
        };
      });
      return reply.code(201).send(answer(request, link));
    },
  });
  server.route({
    method: "POST",
    url: "/api/admin/invites",
    onRequest: admin,
    schema: operation({
      tag: "Admin",
      security: "operator",
      id: "admin_create_invite",
      summary: "Invite somebody to an account, or to a new one of their own",
      description:
        "Without account_id the link opens a new account with the plan free, whose owner is who uses it. Without email " +
        "anybody who has the link can use it, and proves an address by a mail if the service sends mail. role is viewer unless it is given.",
      status: 201,
      data: INVITE,
      body: INVITE_BODY,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request, reply) => {
      const { email: given, account_id: accountId = null, role, ttl_seconds: ttl } = readWrite(INVITE_BODY, request);
      const email = given === undefined ? null : spellMailAddress(given);
      if (given !== undefined && email === null) throw refuseField({ field: "email", ...NO_ADDRESS });
      if (accountId === null && role !== undefined && role !== "owner")
        throw refuseField({ field: "role", reason: "enum", message: "must be owner or absent without account_id" });
      const created = await transact(sql, async (tx) => {
        if (accountId !== null && (await accounts.find(tx, accountId)) === null)
          throw new Refusal("not_found", `No account has the id ${accountId}.`);
        const as = role ?? (accountId === null ? "owner" : "viewer");
        const invite = { accountId, email, role: as, madeBy: null };
        const link = await users.invite(tx, invite, ttl === undefined ? undefined : ttl * 1_000);
        const change = { resource: "invite", id: link.id, name: email, action: "created" } as const;
        if (accountId !== null) await record(tx, operatorChange(request, accountId, [change]));
        return link;
      });
      const { token, expiresAt } = created;
      const data = { token, url: `${baseUrl}/invite/${token}`, expires_at: expiresAt.toISOString() };
      return reply.code(201).send(answer(request, data));
    },
  });
}

const NO_ADDRESS = { reason: "type", message: "must be an email address such as ops@example.com" } as const;

const NO_ACCOUNT = `There is no account yet. Create one with: ${LAUNCHER} keys create`;
