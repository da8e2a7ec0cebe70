import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "#control-plane/core/app.ts";
import type { Change, RecordChanges } from "#control-plane/http/access/changes.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { transact, transactAndFinish } from "#control-plane/core/database/transaction.ts";
import type { Turns } from "#control-plane/core/database/turns.ts";
import { RawBody } from "#control-plane/http/body.ts";
import type { Extras } from "#control-plane/http/envelope.ts";
import { answerError } from "#control-plane/http/error-handler.ts";
import { accountDeleted, Refusal, refuseField } from "#control-plane/http/errors.ts";
import { whenGone } from "#control-plane/http/gone.ts";
import { actorOf, answer, callerOf } from "#control-plane/http/request.ts";
import type { Warning } from "#control-plane/http/warnings.ts";
import type { Answer, Answers, KeyedWrite } from "#control-plane/http/idempotency/answers.ts";
import {
  identifyWrite,
  isIdempotencyKey,
  type WriteIdentity,
  type WriteRequest,
} from "#control-plane/http/idempotency/identity.ts";

/** What a write answers; the default status is 200. */
interface Result {
  readonly status?: 200 | 201 | 202;
  readonly data: unknown;
  readonly extras?: Extras;
  /** What the caller should know of what was written, for `meta.warnings`. A repetition has them too. */
  readonly warnings?: readonly Warning[];
}

/** What a write in the database answers. */
export interface LoggedResult extends Result {
  /** What it changes of the account, for the log of changes; none for jobs such as a batch. */
  readonly changes: readonly Change[];
}

/** The work of a write, in one transaction. Throws Refusal. */
export type Write = (tx: Transaction) => Promise<LoggedResult>;

/**
 * A write with an effect outside the database. `begin` commits a reference, JSON, by which `read` finds the result: also
 * if the process is killed during `perform`.
 */
interface Effect<R> {
  /** Writes what precedes the effect. Throws Refusal. */
  begin(tx: Transaction): Promise<R>;
  /** Has the effect. */
  perform(reference: R): Promise<void>;
  /** Reads the result, as it stands. */
  read(reference: R): Promise<Result>;
  /** Time that the effect takes at most, milliseconds. */
  readonly mostMs: number;
}

/** Runs the writes of the API: each in one transaction, and only once if the client sends an idempotency key. */
export interface Writes {
  /** Runs a write and sends its answer. For a repeated X-Idempotency-Key it sends the first answer again. */
  run(request: FastifyRequest, reply: FastifyReply, write: Write): Promise<FastifyReply>;
  /** Likewise for a write with an effect outside the database, which happens at most once for a key. */
  runEffect<R>(request: FastifyRequest, reply: FastifyReply, effect: Effect<R>): Promise<FastifyReply>;
}

/** Statuses that a retry can avoid; every other 4xx of a handler is stored under the idempotency key. */
const NEVER_KEPT: ReadonlySet<number> = new Set([401, 403, 409, 413, 429]);

/** Creates the writes of one replica. An account that is not found (null) was deleted. */
export function createWrites({
  sql,
  turns,
  answers,
  metrics,
  record,
  accounts,
}: Pick<App, "sql" | "metrics"> & {
  readonly turns: Turns;
  readonly answers: Answers;
  readonly record: RecordChanges;
  readonly accounts: {
    find(sql: Queryable, id: number): Promise<object | null>;
  };
}): Writes {
  /** Logs what a request has changed. */
  async function log(tx: Transaction, request: FastifyRequest, changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return;
    const { accountId } = callerOf(request);
    await record(tx, { accountId, actor: actorOf(request), address: request.clientAddress, changes });
  }

  /** Rethrows an error. What is not found because the account was deleted meanwhile is refused as its key is. */
  async function rethrow(request: FastifyRequest, error: unknown): Promise<never> {
    const isAbsent = error instanceof Refusal && error.status === 404;
    if (isAbsent && (await accounts.find(sql, callerOf(request).accountId)) === null) throw accountDeleted();
    throw error;
  }

  /** Runs a transaction of a write when it is its turn. */
  function inTurn<T>(request: FastifyRequest, reply: FastifyReply, work: () => Promise<T>): Promise<T> {
    return turns.run(callerOf(request).accountId, work, whenGone(reply));
  }

  return {
    async run(request, reply, write) {
      const identity = identityOf(request);
      if (identity === null) {
        const finish = (tx: Transaction, { changes }: LoggedResult) => log(tx, request, changes);
        const writing = inTurn(request, reply, () => transactAndFinish(sql, write, finish));
        const written = await writing.catch((error: unknown) => rethrow(request, error));
        const { status = 200, data, extras, warnings } = written;
        return reply.code(status).send(answer(request, data, extras, warnings));
      }
      const keyed = { identity, accountId: callerOf(request).accountId };
      const make = async (tx: Transaction) => {
        const { changes, ...result } = await write(tx);
        return { answer: answerOf(request, result), finish: (last: Transaction) => log(last, request, changes) };
      };
      const once = inTurn(request, reply, () =>
        answers.once(keyed, make).catch((error: unknown) => {
          // The transaction was rolled back with all that the write had changed; another one stores the refusal.
          const refused = refusalAnswer(request, error);
          return answers.once(keyed, () => Promise.resolve({ answer: refused }));
        }),
      );
      return sendKeyed(reply, await once);
    },
    async runEffect(request, reply, effect) {
      const identity = identityOf(request);
      if (identity === null) {
        const begun = inTurn(request, reply, () => transact(sql, (tx) => effect.begin(tx)));
        const reference = await begun.catch((error: unknown) => rethrow(request, error));
        await effect.perform(reference);
        const { status = 200, data, extras, warnings } = await effect.read(reference);
        return reply.code(status).send(answer(request, data, extras, warnings));
      }
      const { accountId } = callerOf(request);
      type Reference = Awaited<ReturnType<typeof effect.begin>>;
      let reference: Reference | undefined;
      const begin = (tx: Transaction) =>
        answers.begin(tx, { identity, accountId }, effect.mostMs, async () => {
          try {
            reference = (await tx.savepoint((inner) => effect.begin(inner as Transaction))) as Reference;
            return { ok: true, reference };
          } catch (error) {
            return { ok: false, answer: refusalAnswer(request, error) };
          }
        });
      const begun = await inTurn(request, reply, () => transact(sql, begin));
      if (begun.kind === "resumed") {
        // Its process has stopped. What has become of it is in the database; it is not repeated.
        const { status = 200, data, extras, warnings } = await effect.read(begun.reference as Reference);
        return reply.code(status).send(answer(request, data, extras, warnings));
      }
      if (begun.kind !== "begun") return sendKeyed(reply, begun);
      const own = reference as Reference;
      await effect.perform(own);
      const settled = answerOf(request, await effect.read(own));
      await answers.settle(identity, settled);
      return sendKeyed(reply, { kind: "made", answer: settled });
    },
  };

  /** Sends the answer of a write with a key. */
  function sendKeyed(reply: FastifyReply, keyed: KeyedWrite): FastifyReply {
    if (keyed.kind === "running") throw stillRunning();
    if (keyed.kind === "other") throw otherRequest();
    const { status, code, requestId, body } = keyed.answer;
    if (code !== null) metrics.httpRefused.inc({ code });
    if (keyed.kind === "replayed") reply.header("x-idempotent-replayed", "true").header("x-request-id", requestId);
    return reply.code(status).type("application/json; charset=utf-8").send(body);
  }
}

/** Returns the answer of a write that succeeded. */
function answerOf(request: FastifyRequest, { status = 200, data, extras, warnings }: Result): Answer {
  return { status, code: null, requestId: request.id, body: JSON.stringify(answer(request, data, extras, warnings)) };
}

/** Returns the answer of a refusal that is stored under the key; throws every other error. */
function refusalAnswer(request: FastifyRequest, error: unknown): Answer {
  if (!(error instanceof Refusal) || error.status >= 500 || NEVER_KEPT.has(error.status)) throw error;
  const { status, code } = error;
  return { status, code, requestId: request.id, body: JSON.stringify(answerError(request, error)) };
}

/**
 * Returns the identity of the request; null without X-Idempotency-Key, for reads, and before v4, whose older versions do not have
 * it. Throws Refusal for an invalid key.
 */
function identityOf(request: FastifyRequest): WriteIdentity | null {
  const key = request.headers["x-idempotency-key"];
  if (key === undefined || request.method === "GET" || (request.apiVersion !== null && request.apiVersion !== "v4"))
    return null;
  if (typeof key !== "string" || !isIdempotencyKey(key)) {
    const message = "must be 1 to 255 visible ASCII characters, without spaces";
    throw refuseField({ field: "X-Idempotency-Key", reason: "type", message });
  }
  const body = request.body instanceof RawBody ? request.body.bytes : Buffer.alloc(0);
  const { keyId } = callerOf(request);
  const { method, routeOptions } = request;
  const { params, query } = request as Pick<WriteRequest, "params" | "query">;
  return identifyWrite({ keyId, method, route: routeOptions.url ?? "", params, query, body }, key);
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
