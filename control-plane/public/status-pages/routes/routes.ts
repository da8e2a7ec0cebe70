import type { FastifyInstance } from "fastify";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { DELETED, IdQuery, readId, readWrite } from "#control-plane/http/params.ts";
import { callerOf } from "#control-plane/http/request.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { Writes } from "#control-plane/http/writes.ts";
import { registerReads, type ReadRoutesDeps } from "#control-plane/public/status-pages/routes/read.ts";
import { CHANGE, CREATE, PAGE, READ_ONLY } from "#control-plane/public/status-pages/settings/fields.ts";
import type { ShownPage } from "#control-plane/public/status-pages/show-page.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import { Type } from "typebox";

const URL = "/api/v4/status";
const TAG = "Status pages";

/** Registers GET, POST, PUT and DELETE /api/v4/status, and GET /api/v3/status. */
export function registerStatusPages(server: FastifyInstance, deps: ReadRoutesDeps & { readonly writes: Writes }): void {
  server.addSchema(PAGE);
  registerReads(server, deps);
  registerCreation(server, deps);
  registerChange(server, deps);
  registerRemoval(server, deps);
}

function registerCreation(
  server: FastifyInstance,
  { gate, writes, pages }: Pick<ReadRoutesDeps, "gate" | "pages"> & { readonly writes: Writes },
): void {
  server.route({
    ...gate.keyed({ scope: "monitors" }),
    method: "POST",
    url: URL,
    schema: operation({
      id: "create_status_page",
      tag: TAG,
      summary: "Create a status page",
      status: 201,
      data: Type.Ref("StatusPage#"),
      body: CREATE,
      errors: ["missing_parameter", "plan_limit_exceeded"],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      const given = readWrite(CREATE, request, READ_ONLY);
      return writes.run(request, reply, async (tx) => {
        const { id, change } = requireWritten(await pages.create(tx, accountId, given));
        return { status: 201, data: await readBack(pages, tx, { accountId, id }), changes: [change] };
      });
    },
  });
}

function registerChange(
  server: FastifyInstance,
  { gate, writes, pages }: Pick<ReadRoutesDeps, "gate" | "pages"> & { readonly writes: Writes },
): void {
  server.route({
    ...gate.keyed({ scope: "monitors" }),
    method: "PUT",
    url: URL,
    schema: operation({
      id: "update_status_page",
      tag: TAG,
      summary: "Change a status page: any of its fields",
      description: "Fields that are absent keep their values. Monitors that leave the page leave its groups.",
      data: Type.Ref("StatusPage#"),
      query: IdQuery,
      body: CHANGE,
      errors: ["missing_parameter", "not_found"],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      const page = { accountId, id: readId(request) };
      const given = readWrite(CHANGE, request, READ_ONLY);
      return writes.run(request, reply, async (tx) => {
        const { change } = requireWritten(await pages.change(tx, page, given));
        return { data: await readBack(pages, tx, page), changes: [change] };
      });
    },
  });
}

function registerRemoval(
  server: FastifyInstance,
  { gate, writes, pages }: Pick<ReadRoutesDeps, "gate" | "pages"> & { readonly writes: Writes },
): void {
  server.route({
    ...gate.keyed({ scope: "monitors" }),
    method: "DELETE",
    url: URL,
    schema: operation({
      id: "delete_status_page",
      tag: TAG,
      summary: "Delete a status page; its monitors stay",
      data: DELETED,
      query: IdQuery,
      errors: ["missing_parameter", "not_found"],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      const page = { accountId, id: readId(request) };
      return writes.run(request, reply, async (tx) => {
        const { id, change } = requireWritten(await pages.remove(tx, page));
        return { data: { id, deleted: true }, changes: [change] };
      });
    },
  });
}

async function readBack(
  pages: StatusPages,
  tx: Transaction,
  page: { readonly accountId: number; readonly id: number },
): Promise<ShownPage> {
  const found = await pages.find(tx, page);
  if (found === null) throw new Error("the page that was just written is missing");
  return found;
}
