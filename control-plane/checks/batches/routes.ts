import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Contract } from "#shared/tools/define.ts";
import type { Batches } from "#control-plane/checks/batches/batches.ts";
import { CANCEL, POLL, PROGRESS, SUBMIT, SUBMITTED } from "#control-plane/checks/batches/schemas.ts";
import { BATCH_URL, showBatch, showProgress } from "#control-plane/checks/batches/serialize.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { pageOf, readQuery, readWrite } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import type { Write, Writes } from "#control-plane/http/writes.ts";
import { requireTool } from "#control-plane/checks/tool-requests/tool-scope.ts";

const TAG = "Batch";

/** Registers POST, GET and DELETE /api/v4/batch. */
export function registerBatches(
  server: FastifyInstance,
  { gate, writes, batches }: { readonly gate: Gate; readonly writes: Writes; readonly batches: Batches },
): void {
  const keyed = gate.keyed({ scope: "check" });
  server.route({
    ...keyed,
    method: "POST",
    url: BATCH_URL,
    schema: operation({
      id: "submit_batch",
      tag: TAG,
      summary: "Create a batch: check many targets with one tool in the background",
      description: "The key needs the scope check and the scope of the tool. A batch survives restarts of the service.",
      status: 202,
      data: SUBMITTED,
      body: SUBMIT,
      errors: ["missing_parameter", "plan_limit_exceeded"],
      isWrite: true,
    }),
    handler: (request, reply) => writes.run(request, reply, readSubmission(batches, request)),
  });
  server.route({
    ...keyed,
    method: "GET",
    url: BATCH_URL,
    schema: operation({
      id: "read_batch",
      tag: TAG,
      summary: "Get the progress and results of a batch",
      description: "The key needs the scope check and the scope of the tool.",
      data: PROGRESS,
      query: POLL,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const { job_id: id, page, per_page: perPage = 100 } = readQuery(POLL, request);
      const paged = pageOf({ per_page: perPage, ...(page === undefined ? {} : { page }) });
      const found = requireFound(await batches.find(callerOf(request).accountId, id, paged));
      requireTool(callerOf(request), batches.contract(found.batch.tool));
      return answer(request, showProgress(found.batch, found.targets, request.basePath), {
        pagination: paged.pagination(found.batch.total),
      });
    },
  });
  server.route({
    ...keyed,
    method: "DELETE",
    url: BATCH_URL,
    schema: operation({
      id: "cancel_batch",
      tag: TAG,
      summary: "Cancel a batch; no effect on one that has ended",
      data: PROGRESS,
      query: CANCEL,
      errors: ["missing_parameter", "not_found"],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      const { job_id: id } = readQuery(CANCEL, request);
      return writes.run(request, reply, async (tx) => {
        const found = requireFound(await batches.cancel(tx, accountId, id));
        requireTool(callerOf(request), batches.contract(found.batch.tool));
        return { data: showProgress(found.batch, found.targets, request.basePath), changes: [] };
      });
    },
  });
}

/** Reads a submission and checks it against the plan; returns the write that stores it. */
function readSubmission(batches: Batches, request: FastifyRequest): Write {
  const caller = callerOf(request);
  const { urls, type = "check" } = readWrite(SUBMIT, request);
  const contract = readTool(batches, request, type);
  const { batchUrls } = caller.plan;
  if (urls.length > batchUrls) {
    const message = `This batch has ${urls.length} URLs; the plan allows ${batchUrls}.`;
    throw new Refusal("plan_limit_exceeded", { message, field: "urls" });
  }
  return async (tx) => {
    const { batch, invalid } = await batches.submit(tx, caller.accountId, contract, urls);
    if (batch === null) {
      const [first] = invalid;
      const why = first === undefined ? "" : `; first problem: ${first.message}`;
      throw refuseField({ field: "urls", reason: "invalid_url", message: `contains no valid target${why}` });
    }
    const made = { id: batch.id, status: "pending", tool: contract.name, invalid: JSON.stringify(invalid) } as const;
    return { status: 202, data: showBatch(made, batch.total, request.basePath), changes: [] };
  };
}

function readTool(batches: Batches, request: FastifyRequest, type: string): Contract {
  const contract = batches.contract(type);
  if (contract === undefined) {
    const message = "no tool of this name that takes one target; GET /api/v4/tools lists the tools";
    throw refuseField({ field: "type", reason: "enum", message });
  }
  requireTool(callerOf(request), contract);
  return contract;
}

function requireFound<T>(found: T | null): T {
  if (found === null) throw new Refusal("not_found", "No batch has this id, or it has expired.");
  return found;
}
