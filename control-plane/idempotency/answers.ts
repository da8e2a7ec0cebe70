import type { Clock } from "#shared/clock.ts";
import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import { startUpkeep } from "#control-plane/database/upkeep.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";
import { lockNumber, type WriteIdentity } from "#control-plane/idempotency/identity.ts";
import { findAnswer, keepAnswer, tryLock } from "#control-plane/idempotency/store.ts";
import { sweepAnswers } from "#control-plane/idempotency/upkeep.ts";

/** An answer, byte for byte. */
export interface Answer {
  readonly status: number;
  /** The code of a refusal; null: it is none. */
  readonly code: string | null;
  readonly requestId: string;
  readonly body: string;
}

/** running: another transaction is at the same write. other: the client's key came with another request before. */
export type Once =
  | { readonly kind: "made" | "replayed"; readonly answer: Answer }
  | { readonly kind: "running" }
  | { readonly kind: "other" };

/** Answers to writes, kept for those who send the same again. */
export interface Answers {
  /** The answer kept for a write, or else the one that `make` gives, kept if and only if the transaction commits. */
  once(
    tx: Transaction,
    write: { readonly identity: WriteIdentity; readonly accountId: number },
    make: () => Promise<Answer>,
  ): Promise<Once>;
  close(): void;
}

/** What kept answers need. */
interface AnswersDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly encryption: Encryption;
}

const SWEEP_MS = 60_000;

/** How long an answer can be replayed, from the completion of the write. */
const KEPT_MS = 60_000;

/** The answers as one replica sees them, with their housekeeping. */
export function createAnswers({ sql, clock, encryption }: AnswersDeps): Answers {
  const upkeep = startUpkeep({ everyMs: SWEEP_MS, round: () => sweepAnswers(sql, clock.now()) });
  return {
    async once(tx, { identity: { scope, fingerprint }, accountId }, make) {
      // The transaction's first statement: whoever has the lock sees all that an earlier holder has committed.
      if (!(await tryLock(tx, lockNumber(scope)))) return { kind: "running" };
      const purpose = `idempotent_answers.answer ${scope.toString("hex")}`;
      const kept = await findAnswer(tx, scope, clock.now());
      if (kept !== null) {
        if (!fingerprint.equals(kept.fingerprint)) return { kind: "other" };
        const opened = encryption.open(kept.answer, purpose);
        if (opened === null) throw new Error("a kept answer was sealed under another master key");
        return { kind: "replayed", answer: JSON.parse(Buffer.from(opened).toString("utf8")) as Answer };
      }
      const answer = await make();
      const sealed = encryption.seal(Buffer.from(JSON.stringify(answer)), purpose);
      const expiresAt = new Date(clock.now().getTime() + KEPT_MS);
      await keepAnswer(tx, { scope, accountId, fingerprint, answer: sealed }, expiresAt);
      return { kind: "made", answer };
    },
    close: () => upkeep.stop(),
  };
}
