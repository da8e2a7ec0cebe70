import type { FastifyRequest } from "fastify";
import type { Change, ChangeSet } from "#control-plane/http/access/changes.ts";

/** Returns what a request of the operator changes of an account, for the log of changes. */
export function operatorChange(request: FastifyRequest, accountId: number, changes: readonly Change[]): ChangeSet {
  return { accountId, actor: { type: "operator" }, address: request.clientAddress, changes };
}
