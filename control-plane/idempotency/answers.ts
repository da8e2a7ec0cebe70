import type { Clock } from "#shared/clock.ts";
import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import { startUpkeep } from "#control-plane/database/upkeep.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";
import { lockNumber, type WriteIdentity } from "#control-plane/idempotency/identity.ts";
import { findAnswer, keepAnswer, shareAccount, tryLock } from "#control-plane/idempotency/store.ts";
import { sweepAnswers } from "#control-plane/idempotency/upkeep.ts";

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

/** Stored answers to writes, replayed if a client repeats the request. */
export interface Answers {
  /**
   * Returns the stored answer of a write, or calls `make` and stores its answer if and only if the transaction commits.
   */
  once(
    tx: Transaction,
    write: { readonly identity: WriteIdentity; readonly accountId: number },
    make: () => Promise<Answer>,
  ): Promise<KeyedWrite>;
  close(): void;
}

/** Dependencies of the stored answers. */
interface AnswersDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly encryption: Encryption;
}

/** Interval of the housekeeping, in milliseconds. */
const SWEEP_MS = 60_000;

/** Time in milliseconds for which an answer can be replayed, from the end of the write. */
const KEPT_MS = 60_000;

/** Opens the stored answers of one replica and starts their housekeeping. */
export function createAnswers({ sql, clock, encryption }: AnswersDeps): Answers {
  const upkeep = startUpkeep({ everyMs: SWEEP_MS, round: () => sweepAnswers(sql, clock.now()) });
  return {
    async once(tx, { identity: { scope, fingerprint }, accountId }, make) {
      // The first statement of the transaction: the holder of the lock sees everything that earlier holders committed.
      if (!(await tryLock(tx, lockNumber(scope)))) return { kind: "running" };
      const purpose = `idempotent_answers.answer ${scope.toString("hex")}`;
      const kept = await findAnswer(tx, scope, clock.now());
      if (kept !== null) {
        if (!fingerprint.equals(kept.fingerprint)) return { kind: "other" };
        const opened = encryption.open(kept.answer, purpose);
        if (opened === null) throw new Error("a stored answer was encrypted with another master key");
        return { kind: "replayed", answer: JSON.parse(Buffer.from(opened).toString("utf8")) as Answer };
      }
      await shareAccount(tx, accountId);
      const answer = await make();
      const sealed = encryption.seal(Buffer.from(JSON.stringify(answer)), purpose);
      const expiresAt = new Date(clock.now().getTime() + KEPT_MS);
      await keepAnswer(tx, { scope, accountId, fingerprint, answer: sealed }, expiresAt);
      return { kind: "made", answer };
    },
    close: () => upkeep.stop(),
  };
}
