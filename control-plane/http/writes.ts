import type { FastifyReply, FastifyRequest } from "fastify";
import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import { RawBody } from "#control-plane/http/body.ts";
import type { Extras } from "#control-plane/http/envelope.ts";
import { answerError } from "#control-plane/http/error-handler.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import type { Answer, Answers } from "#control-plane/idempotency/answers.ts";
import { identifyWrite, isIdempotencyKey, type WriteIdentity } from "#control-plane/idempotency/identity.ts";
import type { Metrics } from "#control-plane/metrics.ts";

/** Result of a write; the default status is 200. */
interface Written {
  readonly status?: 200 | 201 | 202;
  readonly data: unknown;
  readonly extras?: Extras;
}

/** The work of a write, in one transaction. Throws Refusal. */
export type Write = (tx: Transaction) => Promise<Written>;

/** Runs the writes of the API: each in one transaction, and only once if the client sends an idempotency key. */
export interface Writes {
  /** Runs a write and sends its answer. For a repeated X-Idempotency-Key it sends the first answer again. */
  run(request: FastifyRequest, reply: FastifyReply, write: Write): Promise<FastifyReply>;
}

/** Dependencies of writes. */
interface WritesDeps {
  readonly sql: Sql;
  readonly answers: Answers;
  readonly metrics: Metrics;
}

/** Statuses that a retry can avoid; every other 4xx of a handler is stored under the idempotency key. */
const NEVER_KEPT: ReadonlySet<number> = new Set([401, 403, 409, 413, 429]);

/** Creates the writes of one replica. */
export function createWrites({ sql, answers, metrics }: WritesDeps): Writes {
  return {
    async run(request, reply, write) {
      const identity = identityOf(request);
      if (identity === null) {
        const { status = 200, data, extras } = await transact(sql, write);
        return reply.code(status).send(answer(request, data, extras));
      }
      const { accountId } = callerOf(request);
      const once = await transact(sql, (tx) =>
        answers.once(tx, { identity, accountId }, () => answerOf(tx, request, write)),
      );
      if (once.kind === "running") throw stillRunning();
      if (once.kind === "other") throw otherRequest();
      const { status, code, requestId, body } = once.answer;
      if (code !== null) metrics.httpRefused.inc({ code });
      if (once.kind === "replayed") reply.header("x-idempotent-replayed", "true").header("x-request-id", requestId);
      return reply.code(status).type("application/json; charset=utf-8").send(body);
    },
  };
}

/** Runs the write and returns its answer. For a refusal that is stored, the changes of the write are rolled back. */
async function answerOf(tx: Transaction, request: FastifyRequest, write: Write): Promise<Answer> {
  const requestId = request.id;
  try {
    const { status = 200, data, extras } = await tx.savepoint(write);
    return { status, code: null, requestId, body: JSON.stringify(answer(request, data, extras)) };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500 || NEVER_KEPT.has(error.status)) throw error;
    return { status: error.status, code: error.code, requestId, body: JSON.stringify(answerError(request, error)) };
  }
}

/**
 * Returns the identity of the request; null without X-Idempotency-Key, and before v4, whose older versions do not have
 * it. Throws Refusal for an invalid key.
 */
function identityOf(request: FastifyRequest): WriteIdentity | null {
  const key = request.headers["x-idempotency-key"];
  if (key === undefined || (request.apiVersion !== null && request.apiVersion !== "v4")) return null;
  if (typeof key !== "string" || !isIdempotencyKey(key)) {
    const message = "must be 1 to 255 visible ASCII characters, without spaces";
    throw refuseField({ field: "X-Idempotency-Key", reason: "type", message });
  }
  const body = request.body instanceof RawBody ? request.body.bytes : Buffer.alloc(0);
  const { keyId } = callerOf(request);
  return identifyWrite({ keyId, method: request.method, target: request.url, body }, key);
}

function stillRunning(): Refusal {
  const message = "A request with this X-Idempotency-Key is still running. Repeat the request in 1 s for its response.";
  return new Refusal("conflict", { message, retryAfterSeconds: 1 });
}

function otherRequest(): Refusal {
  return new Refusal("idempotency_mismatch", {
    field: "X-Idempotency-Key",
    message: "A different request used this X-Idempotency-Key less than a minute ago. Use a new key for each request.",
  });
}
