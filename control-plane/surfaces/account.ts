import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { KEY_SCOPES } from "#shared/tools/define.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { answer, callerOf, countedOf } from "#control-plane/http/request.ts";
import { PLAN_NAMES, type Plan } from "#control-plane/core/plans.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** The account of the calling key. The limits have the names of the columns of VANTAGE_PLANS. */
const ACCOUNT = Type.Object({
  id: Type.Integer({ description: "Id of the account" }),
  plan: Type.Unsafe<string>({ type: "string", enum: [...PLAN_NAMES], description: "Plan of the account" }),
  scopes: Type.Array(Type.Unsafe<string>({ type: "string", enum: [...KEY_SCOPES] }), {
    description: "Scopes that the calling key can use",
  }),
  limits: Type.Object(
    {
      requests_per_minute: count("Requests in a UTC minute, of all keys together"),
      requests_per_day: count("Requests in a UTC day, of all keys together"),
      monitors: count("Monitors, paused ones included"),
      webhooks: count("Webhook subscriptions, inactive ones included"),
      keys: count("API keys"),
      batch_urls: count("URLs in one batch"),
      locations: count("Probes that one call can use"),
      shortest_interval_minutes: count("Shortest interval between two checks of a monitor, in minutes"),
      audit_export: Type.Boolean({ description: "Whether the account can get signed audit exports" }),
    },
    { description: "What the plan allows" },
  ),
  usage: Type.Object(
    {
      minute: count("Requests in the current UTC minute, this one included"),
      day: count("Requests in the current UTC day, this one included"),
      monitors: count("Monitors, paused ones included"),
      webhooks: count("Webhook subscriptions, inactive ones included"),
      keys: count("API keys"),
    },
    { description: "What of it is used" },
  ),
});

/** Numbers of what an account has. */
interface Holdings {
  readonly monitors: number;
  readonly webhooks: number;
  readonly keys: number;
}

/** Registers GET /api/v4/account: what the caller may do, and how much of it is used. */
export function registerAccount(
  server: FastifyInstance,
  { gate, count: countOf }: { readonly gate: Gate; readonly count: (accountId: number) => Promise<Holdings> },
): void {
  server.route({
    ...gate.keyed({ scope: null }),
    method: "GET",
    url: "/api/v4/account",
    schema: operation({
      id: "get_account",
      tag: "Account",
      summary: "Show your account: its plan, the scopes of your key, the limits, and how much of them is used",
      description: "Any valid key may ask, whatever its scopes.",
      data: ACCOUNT,
    }),
    handler: async (request) => {
      const { accountId, plan, scopes } = callerOf(request);
      const { minuteLimit, minuteRemaining, dayLimit, dayRemaining } = countedOf(request);
      const holdings = await countOf(accountId);
      const usage = { minute: minuteLimit - minuteRemaining, day: dayLimit - dayRemaining, ...holdings };
      return answer(request, { id: accountId, plan: plan.name, scopes, limits: showLimits(plan), usage });
    },
  });
}

function showLimits(plan: Plan) {
  return {
    requests_per_minute: plan.requestsPerMinute,
    requests_per_day: plan.requestsPerDay,
    monitors: plan.monitors,
    webhooks: plan.webhooks,
    keys: plan.keys,
    batch_urls: plan.batchUrls,
    locations: plan.locations,
    shortest_interval_minutes: plan.shortestIntervalMinutes,
    audit_export: plan.auditExport,
  };
}
