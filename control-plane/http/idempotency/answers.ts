import type { App } from "#control-plane/core/app.ts";
import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { transactAndFinish } from "#control-plane/core/database/transaction.ts";
import { startUpkeep, deleteInSteps } from "#control-plane/core/database/upkeep.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { lockNumber, type WriteIdentity } from "#control-plane/http/idempotency/identity.ts";
import {
  findAnswer,
  keepAnswer,
  keepBegun,
  settleBegun,
  shareAccount,
  tryLock,
  deleteExpiredAnswers,
} from "#control-plane/http/idempotency/store.ts";

const DELETED_AT_ONCE = 1_000;

/** Deletes expired answers, which are never replayed even before that. Rejects while the database is away. */
export async function sweepAnswers(sql: Sql, now: Date): Promise<void> {
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteExpiredAnswers(sql, now, limit));
}

/** An HTTP answer to a write, replayed byte for byte. */
export interface Answer {
  readonly status: number;
  /** Error code of a refusal; null if the write succeeded. */
  readonly code: string | null;
  readonly requestId: string;
  readonly body: string;
}

/**
 * Result of a write with an idempotency key. running: another transaction performs the same write now. other: the
 * client has used the key for a different request.
 */
export type KeyedWrite =
  | { readonly kind: "made" | "replayed"; readonly answer: Answer }
  | { readonly kind: "running" }
  | { readonly kind: "other" };

/** The first part of a write whose effect is outside the database. */
type Begun =
  /** Its effect can begin now. */
  | { readonly kind: "begun" }
  /** It was begun by a process that has stopped. `reference`: what it has committed. */
  | { readonly kind: "resumed"; readonly reference: unknown }
  | Exclude<KeyedWrite, { readonly kind: "made" }>
  /** It was refused, and nothing was begun. */
  | { readonly kind: "made"; readonly answer: Answer };

/** Result of the work that precedes an effect: what finds its result, or the answer of a refusal. */
type Beginning = { readonly ok: true; readonly reference: unknown } | { readonly ok: false; readonly answer: Answer };

/** Result of a write that was performed. */
interface Made {
  readonly answer: Answer;
  /** Sends the last statements of the write, whose results do not matter to the answer. */
  finish?(tx: Transaction): Promise<unknown>;
}

/** A write with its idempotency key. */
interface KeyedRequest {
  readonly identity: WriteIdentity;
  readonly accountId: number;
}

/** Stored answers to writes, replayed if a client repeats the request. */
export interface Answers {
  /**
   * Returns the stored answer of a write, or calls `make` in a transaction and stores its answer if and only if the
   * transaction commits. Rejects if `make` does.
   */
  once(write: KeyedRequest, make: (tx: Transaction) => Promise<Made>): Promise<KeyedWrite>;
  /**
   * Commits, with what `make` writes, that an effect outside the database begins, which takes at most `leaseMs`. Then
   * `settle` stores its answer.
   */
  begin(tx: Transaction, write: KeyedRequest, leaseMs: number, make: () => Promise<Beginning>): Promise<Begun>;
  /** Stores the answer of a write that has begun. Rejects while the database is away. */
  settle(identity: WriteIdentity, answer: Answer): Promise<void>;
  close(): void;
}

/** Interval of the housekeeping, in milliseconds. */
const SWEEP_MS = 60_000;

/** Time in milliseconds for which an answer can be replayed, from the end of the write. */
const KEPT_MS = 60_000;

/** Opens the stored answers of one replica and starts their housekeeping. */
export function createAnswers({
  sql,
  clock,
  encryption,
  log,
  timers,
}: Pick<App, "sql" | "clock" | "log" | "timers"> & { readonly encryption: Encryption }): Answers {
  const upkeep = startUpkeep({
    everyMs: SWEEP_MS,
    round: () => sweepAnswers(sql, clock.now()),
    name: "idempotency: housekeeping",
    log,
    timers,
  });
  const purposeOf = ({ scope }: WriteIdentity) => `idempotent_answers.answer ${scope.toString("hex")}` as const;
  const keptUntil = (): Date => new Date(clock.now().getTime() + KEPT_MS);

  function seal(identity: WriteIdentity, value: unknown): Uint8Array {
    return encryption.seal(Buffer.from(JSON.stringify(value)), purposeOf(identity));
  }

  function open(identity: WriteIdentity, sealed: Uint8Array): unknown {
    const opened = encryption.open(sealed, purposeOf(identity));
    if (opened === null) throw new Error("a stored answer was encrypted with another master key");
    return JSON.parse(Buffer.from(opened).toString("utf8"));
  }

  /** Returns what is known of a write; null if it is new, and this transaction alone performs it. */
  async function findKnown(tx: Transaction, { identity, accountId }: KeyedRequest): Promise<Begun | null> {
    const now = clock.now();
    // Sent together and executed one after the other. The lock is the first statement of the transaction: its holder
    // sees everything that earlier holders committed.
    const [isLocked, kept] = await Promise.all([
      tryLock(tx, lockNumber(identity.scope)),
      findAnswer(tx, identity.scope, now),
      shareAccount(tx, accountId),
    ]);
    if (!isLocked) return { kind: "running" };
    if (kept === null) return null;
    if (!identity.fingerprint.equals(kept.fingerprint)) return { kind: "other" };
    if (kept.answer !== null) return { kind: "replayed", answer: open(identity, kept.answer) as Answer };
    if (kept.runningUntil > now) return { kind: "running" };
    return { kind: "resumed", reference: open(identity, kept.reference) };
  }

  async function keep(tx: Transaction, { identity, accountId }: KeyedRequest, answer: Answer): Promise<void> {
    const { scope, fingerprint } = identity;
    await keepAnswer(tx, { scope, accountId, fingerprint, answer: seal(identity, answer) }, keptUntil());
  }

  return {
    async once(write, make) {
      const { keyed } = await transactAndFinish(
        sql,
        async (tx): Promise<{ readonly keyed: KeyedWrite; readonly made: Made | null }> => {
          const known = await findKnown(tx, write);
          if (known?.kind === "begun" || known?.kind === "resumed")
            throw new Error("a write has two ways to be performed");
          if (known !== null) return { keyed: known, made: null };
          const made = await make(tx);
          return { keyed: { kind: "made", answer: made.answer }, made };
        },
        async (tx, { made }) => {
          if (made !== null) await Promise.all([made.finish?.(tx), keep(tx, write, made.answer)]);
        },
      );
      return keyed;
    },
    async begin(tx, write, leaseMs, make) {
      const known = await findKnown(tx, write);
      if (known !== null) return known;
      const made = await make();
      if (!made.ok) {
        await keep(tx, write, made.answer);
        return { kind: "made", answer: made.answer };
      }
      const { identity, accountId } = write;
      const { scope, fingerprint } = identity;
      const runningUntil = new Date(clock.now().getTime() + leaseMs);
      const expiresAt = new Date(runningUntil.getTime() + KEPT_MS);
      const reference = seal(identity, made.reference);
      await keepBegun(tx, { scope, accountId, fingerprint, reference, runningUntil }, expiresAt);
      return { kind: "begun" };
    },
    async settle(identity, answer) {
      const { scope, fingerprint } = identity;
      await settleBegun(sql, { scope, fingerprint, answer: seal(identity, answer) }, keptUntil());
    },
    close: () => upkeep.stop(),
  };
}
