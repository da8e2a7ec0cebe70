import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AuditExports } from "#control-plane/people/audit/export.ts";
import type { Envelope } from "#control-plane/people/audit/envelope.ts";
import { ENVELOPE, QUERY } from "#control-plane/people/audit/routes/schemas.ts";
import { absentMessage, accountDeleted, Refusal, refuseField } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { pageOf, readId, readQuery } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import type { Warning } from "#control-plane/http/warnings.ts";

/** Dependencies of the route. */
interface AuditRoutesDeps {
  readonly gate: Gate;
  readonly exports: AuditExports;
}

/** Registers GET /api/v4/audit-export. */
export function registerAuditExport(server: FastifyInstance, { gate, exports }: AuditRoutesDeps): void {
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
        "once. `deploy/vantage verify-audit` does this offline. Needs a plan with audit exports.",
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
