import { LAUNCHER } from "#shared/settings/launcher.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AuditExports } from "#control-plane/people/audit/export.ts";
import type { Envelope } from "#control-plane/people/audit/envelope.ts";
import { absentMessage, accountDeleted, Refusal, refuseField } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { pageOf, readId, readQuery, PageFields } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import type { Warning } from "#control-plane/http/warnings.ts";
import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { SIGNATURE_ALGORITHM, SIGNATURE_VERSION } from "#shared/audit/signature.ts";
import { INCIDENT } from "#control-plane/outages/incidents/schemas.ts";
import { MONITOR } from "#control-plane/monitors/routes/schemas.ts";

/** Registers GET /api/v4/audit-export. */
export function registerAuditExport(
  server: FastifyInstance,
  { gate, exports }: { readonly gate: Gate; readonly exports: AuditExports },
): void {
  server.route({
    ...gate.keyed({ scope: "check" }),
    method: "GET",
    url: "/api/v4/audit-export",
    schema: operation({
      id: "export_audit",
      tag: "Audit",
      summary: "Get a signed snapshot of a monitor, of a shared check, or of the account's inventory",
      description:
        "To verify it, write `data.data` in its canonical form (RFC 8785) and compare the HMAC-SHA256 over " +
        "`<ts>.<canonical>` with `data.sig.value`. The key is the account's audit secret, which the operator shows " +
        `once. \`${LAUNCHER} verify-audit\` does this offline. Needs a plan with audit exports.`,
      data: ENVELOPE,
      query: QUERY,
      errors: ["missing_parameter", "plan_restricted", "not_found"],
    }),
    handler: async (request) => answer(request, await read(exports, request)),
  });
}

async function read(exports: AuditExports, request: FastifyRequest): Promise<Envelope> {
  const { accountId, plan } = callerOf(request);
  if (!plan.auditExport) {
    throw new Refusal("plan_restricted", `The ${plan.name} plan does not include audit exports.`);
  }
  const { type, id, ...page } = readQuery(QUERY, request);
  request.ignored = ignoredBy(type, request);
  if (type === "tenant") {
    const exported = await exports.tenant(accountId, pageOf(page));
    if (exported === null) throw accountDeleted();
    return exported;
  }
  if (type === "monitor")
    return requireFound(await exports.monitor(accountId, readId(request)), absentMessage("monitor"));
  if (id === undefined) throw refuseField({ field: "id", reason: "required", message: "is required" });
  return requireFound(await exports.check(accountId, id), NO_CHECK);
}

const NO_CHECK = "No shared check has this id, or it has expired.";

/** Returns a warning for each parameter that exports of this type do not have. */
function ignoredBy(type: string, { query }: FastifyRequest): readonly Warning[] {
  const ignored = type === "tenant" ? ["id"] : ["page", "per_page"];
  return ignored
    .filter((parameter) => Object.hasOwn(query as object, parameter))
    .map((parameter) => {
      const message = `"${parameter}" is not a parameter of type=${type} and was ignored.`;
      return { parameter, message, did_you_mean: null };
    });
}

function requireFound(found: Envelope | null, message: string): Envelope {
  if (found === null) throw new Refusal("not_found", message);
  return found;
}

/** Maximum number of rows on a page of the inventory. */
const MOST_ROWS = 200;

/** Query of GET /api/v4/audit-export. */
const QUERY = Type.Object({
  type: Type.Enum(["monitor", "check", "tenant"], {
    examples: ["tenant"],
    description: "What to export: a monitor, a shared check, or the inventory of the account",
  }),
  id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      examples: ["1"],
      description: "monitor: its id. check: the share_id of the response of a call with share=1",
    }),
  ),
  page: PageFields.page,
  per_page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MOST_ROWS, default: 25, description: "tenant: rows per page" }),
  ),
});

const Time = (description: string) => Type.String({ format: "date-time", description });
const Milliseconds = (description: string) => Type.Integer({ description: `${description}, milliseconds` });
const Count = (description: string) => Type.Integer({ description });
const STATUS = ["up", "down", "unknown"] as const;

const { request_headers: _headers, body: _body, ...RECORD } = MONITOR.properties;
const Record = Type.Object(RECORD, {
  description: "A monitor without request_headers and body. heartbeat_url is null, because it is a secret",
});

const HEAD = {
  generated_at: Time("When the export was generated"),
  account_id: Type.Integer({ description: "Account that it is about" }),
};

const MONITOR_PAYLOAD = Type.Object(
  {
    type: Type.Literal("monitor", { description: "About a monitor" }),
    ...HEAD,
    subject: Type.Object(
      {
        id: Type.Integer({ description: "Id of the monitor" }),
        name: Type.String({ description: "Its name" }),
        url: Nullable(Type.String({ description: "Its target" })),
        check_type: Type.String({ description: "What it checks" }),
      },
      { description: "The monitor" },
    ),
    monitor: Record,
    state_changes: Type.Array(
      Type.Object({
        at: Time("From when on it has the status"),
        previous_status: Type.Enum([...STATUS], { description: "Status before" }),
        status: Type.Enum([...STATUS], { description: "Status from then on" }),
      }),
      { description: "The newest 1,000 changes of its status, newest first" },
    ),
    incidents: Type.Array(INCIDENT, { description: "Its newest 100 incidents, newest first" }),
    days: Type.Array(
      Type.Object({
        day: Type.String({ format: "date", description: "UTC day" }),
        uptime: Nullable(
          Type.Number({ description: "Percent of the known time, without maintenance; null while no time is known" }),
        ),
        up_ms: Milliseconds("Time up, without maintenance"),
        down_ms: Milliseconds("Time down, without maintenance"),
        unknown_ms: Milliseconds("Time unknown, without maintenance"),
        maintenance_ms: Milliseconds("Time in maintenance"),
        checks: Type.Object(
          { up: Count("Good ones"), down: Count("Failed ones"), unknown: Count("Those without a verdict") },
          { description: "Number of checks, without re-checks" },
        ),
      }),
      { description: "The last 30 UTC days, oldest first, today last" },
    ),
    totals: Type.Object(
      {
        state_changes: Count("Number of changes that are kept"),
        incidents: Count("Number of incidents that are kept"),
      },
      { description: "How long the lists are that the export cuts" },
    ),
  },
  { description: "With type=monitor" },
);

const CHECK_PAYLOAD = Type.Object(
  {
    type: Type.Literal("check", { description: "About a shared check" }),
    ...HEAD,
    subject: Type.Object(
      {
        id: Nullable(Type.String({ description: "Id of its public page" })),
        tool: Type.String({ description: "Name of the tool" }),
        target: Nullable(Type.String({ description: "What was checked" })),
      },
      { description: "The check" },
    ),
    check: Type.Unknown({ description: "The shared result as its public page has it" }),
  },
  { description: "With type=check" },
);

const TENANT_PAYLOAD = Type.Object(
  {
    type: Type.Literal("tenant", { description: "About an account" }),
    ...HEAD,
    subject: Type.Object(
      {
        id: Type.Integer({ description: "Id of the account" }),
        plan: Type.String({ description: "Its plan" }),
        email: Nullable(Type.String({ description: "Email address of its owner; null: none is set" })),
      },
      { description: "The account" },
    ),
    monitors: Type.Array(Record, { description: "Monitors, newest first" }),
    webhooks: Type.Array(Type.Unknown(), { description: "Webhook subscriptions without secrets" }),
    keys: Type.Array(
      Type.Object({
        id: Type.Integer({ description: "Id of the key" }),
        name: Nullable(Type.String({ description: "Label; null: none is set" })),
        prefix: Type.String({ description: "First characters of the key" }),
        scopes: Type.Array(Type.String(), { description: "Scopes of the key" }),
        created_at: Time("Time of creation"),
      }),
      { description: "API keys without their values, newest first" },
    ),
    status_pages: Type.Array(Type.Ref("StatusPage#"), { description: "Status pages, newest first" }),
    changes: Type.Array(Type.Ref("Change#"), { description: "Changes of the account in the last year, newest first" }),
    pagination: Type.Object(
      {
        total: Count("Number of rows of all lists together"),
        page: Count("Number of this page, from 1"),
        per_page: Count("Rows per page"),
        pages: Count("Number of pages"),
      },
      { description: "A page runs through the rows of all lists, in the order above" },
    ),
  },
  { description: "With type=tenant" },
);

/** The signature of an export. */
const SIGNATURE = Type.Object(
  {
    v: Type.Literal(SIGNATURE_VERSION, { description: "Version of the signature" }),
    alg: Type.Literal(SIGNATURE_ALGORITHM, { description: "Algorithm" }),
    kid: Type.String({ description: "Names the secret: the first 8 hex digits of its SHA-256" }),
    ts: Type.Integer({ description: "When it was signed, Unix seconds" }),
    value: Type.String({
      description: "HMAC-SHA256, lower-case hex, over `<ts>.<canonical>`; canonical is the form of data by RFC 8785",
    }),
  },
  { description: "Signature of data" },
);

/** Data of the answer. */
const ENVELOPE = Type.Object({
  data: Type.Union([MONITOR_PAYLOAD, CHECK_PAYLOAD, TENANT_PAYLOAD], { description: "What is signed" }),
  sig: SIGNATURE,
});
