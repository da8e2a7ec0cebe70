import type { App } from "#control-plane/core/app.ts";
import { createAuditExports } from "#control-plane/people/audit/export.ts";
import { registerAuditExport } from "#control-plane/people/audit/export-routes.ts";
import { createAuditSecrets, type AuditSecrets } from "#control-plane/people/audit/secrets.ts";
import { createAuditSources, type AuditSourcesDeps } from "#control-plane/people/audit/sources.ts";
import type { Gate, Hook } from "#control-plane/http/gate.ts";
import type { createServer } from "#control-plane/http/server.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { Type } from "typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { readExport } from "#shared/audit/read-export.ts";
import { SIGNATURE_ALGORITHM, SIGNATURE_VERSION } from "#shared/audit/signature.ts";
import { Nullable } from "#shared/tools/fields.ts";
import type { RecordChanges } from "#control-plane/http/access/changes.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { RawBody } from "#control-plane/http/body.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { operatorChange } from "#control-plane/http/operator-change.ts";
import { IdField, readWrite } from "#control-plane/http/params.ts";
import { answer } from "#control-plane/http/request.ts";

/** Registers the audit export and the operator's routes, and adds the secrets to the accounts' data export. */
export function registerAudit(
  server: ReturnType<typeof createServer>,
  admin: Hook,
  deps: AuditSourcesDeps & Pick<App, "random"> & { readonly encryption: Encryption; readonly gate: Gate },
): void {
  const { sql, accounts, keys, changes, gate } = deps;
  const secrets = createAuditSecrets(deps);
  accounts.addExporter("audit_secrets", (tx, accountId) => secrets.export(tx, accountId));
  const sources = createAuditSources(deps);
  registerAuditExport(server, { gate, exports: createAuditExports({ ...deps, secrets, sources }) });
  const { record } = changes;
  registerAuditOperator(server, admin, { sql, secrets, record, accountOf: (key) => keys.accountOf(key) });
}

const SUBJECT = Type.Object(
  {
    account_id: Type.Optional(IdField),
    key: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: "An API key of the account, in place of account_id" }),
    ),
  },
  { examples: [{ account_id: 1 }] },
);
const REVEALED = Type.Object({
  kid: Type.String({ description: "Names the secret: the first 8 hex digits of its SHA-256" }),
  secret: Type.String({ description: "The secret; shown only in this response" }),
});

/** Maximum size of an export to verify, in bytes (16 MiB). */
const EXPORT_LIMIT = 16_777_216;
const SAMPLE = { type: "tenant", account_id: 1 };
const SAMPLE_SIGNATURE = {
  v: SIGNATURE_VERSION,
  alg: SIGNATURE_ALGORITHM,
  kid: "0123abcd",
  ts: 1_767_225_600,
  value: "0".repeat(64),
};
/** The body of a verification, as documented; it is read by shared/audit/read-export.ts. */
const EXPORT = Type.Object(
  {
    data: Type.Unknown({
      examples: [SAMPLE],
      description: "As in the response of GET /api/v4/audit-export, or its inner data",
    }),
    sig: Type.Optional(Type.Unknown({ description: "The signature, if data is the inner data" })),
    meta: Type.Optional(Type.Unknown({ description: "Ignored" })),
  },
  { examples: [{ data: SAMPLE, sig: SAMPLE_SIGNATURE }] },
);
const VERIFIED = Type.Object({
  valid: Type.Boolean({ description: "Whether it is what this service signed for the account" }),
  reason: Nullable(
    Type.Enum(["unknown_secret", "changed"], {
      description:
        "unknown_secret: the account has no secret of this kid; changed: it is not what was signed; null: valid",
    }),
  ),
  account_id: Type.Integer({ description: "Account that it is about" }),
  kid: Type.String({ description: "Names the secret that signed it" }),
  signed_at: Type.String({ format: "date-time", description: "When it was signed, if it is valid" }),
  retired_at: Nullable(
    Type.String({ format: "date-time", description: "When another secret took its place; null if it still signs" }),
  ),
});
const OPERATOR = { tag: "Admin", security: "operator" } as const;

/**
 * Registers POST /api/admin/audit-secret and POST /api/admin/audit-verify. `accountOf` finds the account of an API key;
 * null if the key is not valid.
 */
function registerAuditOperator(
  server: FastifyInstance,
  admin: Hook,
  deps: Pick<App, "sql"> & {
    readonly secrets: AuditSecrets;
    readonly accountOf: (key: string) => Promise<number | null>;
    readonly record: RecordChanges;
  },
): void {
  const { sql, secrets, record } = deps;
  server.route({
    method: "POST",
    url: "/api/admin/audit-secret",
    onRequest: admin,
    schema: operation({
      ...OPERATOR,
      id: "admin_reveal_audit_secret",
      summary: "Show the secret that signs an account's audit exports, once",
      description:
        "If it was shown before, or if there is none, this makes a new one, which signs from now on. Earlier secrets are " +
        "kept, so that POST /api/admin/audit-verify can verify what they signed.",
      data: REVEALED,
      body: SUBJECT,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const accountId = await readAccount(deps.accountOf, request);
      const { kid, secret } = await transact(sql, async (tx) => {
        const revealed = await secrets.reveal(tx, accountId);
        if (revealed === null) throw new Refusal("not_found", `No account has the id ${accountId}.`);
        const change = { resource: "audit_secret", id: null, name: null, action: revealed.action } as const;
        await record(tx, operatorChange(request, accountId, [change]));
        return revealed;
      });
      return answer(request, { kid, secret });
    },
  });
  server.route({
    method: "POST",
    url: "/api/admin/audit-verify",
    onRequest: admin,
    bodyLimit: EXPORT_LIMIT,
    schema: operation({
      ...OPERATOR,
      id: "admin_verify_audit",
      summary: "Verify an audit export with the secrets of its account, also one that an earlier secret has signed",
      data: VERIFIED,
      body: EXPORT,
      errors: ["missing_parameter", "payload_too_large"],
    }),
    handler: async (request) => answer(request, await verify(deps, request)),
  });
}

async function readAccount(
  accountOf: (key: string) => Promise<number | null>,
  request: FastifyRequest,
): Promise<number> {
  const { account_id: given, key } = readWrite(SUBJECT, request);
  if (given !== undefined && key !== undefined) {
    throw refuseField({ field: "key", reason: "duplicate", message: "must be absent, because account_id is given" });
  }
  if (given !== undefined) return given;
  if (key === undefined) {
    throw refuseField({ field: "account_id", reason: "required", message: "is required, or a key of the account" });
  }
  const accountId = await accountOf(key);
  if (accountId === null) throw new Refusal("not_found", "No account has this API key.");
  return accountId;
}

async function verify(
  { sql, secrets }: Pick<App, "sql"> & { readonly secrets: AuditSecrets },
  request: FastifyRequest,
) {
  const read = readExport(request.body instanceof RawBody ? request.body.bytes : Buffer.alloc(0));
  if (!read.ok) throw refuseField({ field: "body", reason: "type", message: `is no audit export: ${read.message}` });
  const { payload, sig } = read.signed;
  const { account_id: accountId } = payload;
  if (typeof accountId !== "number" || !Number.isSafeInteger(accountId) || accountId < 1) {
    const message = "is no audit export: data.account_id must be the id of an account";
    throw refuseField({ field: "body", reason: "type", message });
  }
  const signedAt = new Date(sig.ts * 1_000);
  if (Number.isNaN(signedAt.getTime())) {
    throw refuseField({ field: "body", reason: "type", message: "is no audit export: sig.ts is no time" });
  }
  const { verdict, retiredAt } = await secrets.verify(sql, accountId, read.signed);
  return {
    valid: verdict === "valid",
    reason: verdict === "valid" ? null : verdict === "unknown_secret" ? verdict : "changed",
    account_id: accountId,
    kid: sig.kid,
    signed_at: signedAt.toISOString(),
    retired_at: retiredAt?.toISOString() ?? null,
  };
}
