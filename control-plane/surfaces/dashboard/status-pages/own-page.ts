import type { FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { absentMessage, Refusal, requireFound } from "#control-plane/http/errors.ts";
import type { ShownPage } from "#control-plane/public/status-pages/settings/resource.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Routes with the id of a status page in their path. */
export type WithId = { Params: { id: string } };

/** Finds the status page in the path. Throws the 404, also for one of another account. */
export async function findOwn(
  request: FastifyRequest<WithId>,
  { sql, statusPages }: Pick<Dashboard, "sql" | "statusPages">,
): Promise<ShownPage> {
  const own = { accountId: memberOf(request).accountId, id: idOf(request) };
  return requireFound(await statusPages.find(sql, own), "status page");
}

/** Returns the id of a status page in the path. Throws the 404 for what is no id. */
export function idOf({ params }: FastifyRequest<WithId>): number {
  if (!/^[1-9]\d{0,14}$/.test(params.id)) throw new Refusal("not_found", absentMessage("status page"));
  return Number(params.id);
}
