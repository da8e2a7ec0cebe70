import type { FastifyRequest } from "fastify";
import type { Change, ChangeSet } from "#control-plane/access/changes.ts";
import { namesOfFields } from "#control-plane/http/body.ts";

/** Returns what a request of the operator changes of an account, for the log of changes. */
export function operatorChange(request: FastifyRequest, accountId: number, changes: readonly Change[]): ChangeSet {
  const { clientAddress: address } = request;
  return { accountId, actor: { type: "operator" }, address, fields: namesOfFields(request), changes };
}
