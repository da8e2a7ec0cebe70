import type { FastifyInstance } from "fastify";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import {
  type ResourceId,
  registerChange,
  registerCreation,
  registerRemoval,
} from "#control-plane/http/resource-routes.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { Writes } from "#control-plane/http/writes.ts";
import { registerReads, type ReadRoutesDeps } from "#control-plane/public/status-pages/routes/read.ts";
import { type ShownPage, statusPage } from "#control-plane/public/status-pages/settings/resource.ts";

/** Registers GET, POST, PUT and DELETE /api/v4/status, and GET /api/v3/status. */
export function registerStatusPages(server: FastifyInstance, deps: ReadRoutesDeps & { readonly writes: Writes }): void {
  const { pages } = deps;
  server.addSchema(statusPage.shown);
  registerReads(server, deps);
  registerCreation(server, deps, statusPage, {
    summary: "Create a status page",
    errors: ["missing_parameter", "plan_limit_exceeded"],
    async write(tx, accountId, given) {
      const { id, change } = requireWritten(await pages.create(tx, accountId, given));
      return { status: 201, data: await readBack(tx, { accountId, id }), changes: [change] };
    },
  });
  registerChange(server, deps, statusPage, {
    summary: "Change a status page: any of its fields",
    description: "Fields that are absent keep their values. Monitors that leave the page leave its groups.",
    errors: ["missing_parameter", "not_found"],
    async write(tx, page, given) {
      const { change } = requireWritten(await pages.change(tx, page, given));
      return { data: await readBack(tx, page), changes: [change] };
    },
  });
  registerRemoval(server, deps, statusPage, {
    summary: "Delete a status page; its monitors stay",
    remove: async (tx, page) => requireWritten(await pages.remove(tx, page)).change.name,
  });

  async function readBack(tx: Transaction, page: ResourceId): Promise<ShownPage> {
    const found = await pages.find(tx, page);
    if (found === null) throw new Error("the page that was just written is missing");
    return found;
  }
}
