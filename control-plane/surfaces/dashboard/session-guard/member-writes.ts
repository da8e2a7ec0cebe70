import type { FastifyRequest } from "fastify";
import type { Change, RecordChanges } from "#control-plane/http/access/changes.ts";
import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { transactAndFinish } from "#control-plane/core/database/transaction.ts";
import type { Turns } from "#control-plane/core/database/turns.ts";
import { clientOf } from "#control-plane/surfaces/dashboard/session-guard/attempt.ts";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import type { MemberAction } from "#control-plane/people/users/members.ts";
import type { Warning } from "#control-plane/http/warnings.ts";

/** What a write of a member leaves behind. */
interface MemberWrite<T> {
  readonly data: T;
  /** What it changes of the account, for the log of changes. */
  readonly changes: readonly Change[];
  /** What the member should know of what was written. */
  readonly warnings?: readonly Warning[];
}

/** Result of a write of a member: a refusal is shown in the form that asked for it. */
type Ran<T> = ({ readonly ok: true } & MemberWrite<T>) | { readonly ok: false; readonly refusal: Refusal };

/** Runs the writes of members, by the functions that the API calls too, each in one transaction with its log of changes. */
export interface MemberWrites {
  /** Runs a write, which throws Refusal. Rejects with what is no Refusal. */
  run<T>(request: FastifyRequest, write: (tx: Transaction) => Promise<MemberWrite<T>>): Promise<Ran<T>>;
}

/** Creates the writes of members of one replica. */
export function createMemberWrites({
  sql,
  turns,
  record,
}: {
  readonly sql: Sql;
  readonly turns: Turns;
  readonly record: RecordChanges;
}): MemberWrites {
  return {
    async run(request, write) {
      const { accountId, userId, email } = memberOf(request);
      try {
        const finish = async (tx: Transaction, { changes }: { readonly changes: readonly Change[] }) => {
          if (changes.length === 0) return;
          const actor = { type: "member", id: userId, name: email } as const;
          await record(tx, { accountId, actor, address: request.clientAddress, changes });
        };
        const written = await turns.run(accountId, () => transactAndFinish(sql, write, finish));
        return { ok: true, ...written };
      } catch (error) {
        if (error instanceof Refusal) return { ok: false, refusal: error };
        throw error;
      }
    },
  };
}

/** Returns who changes something, from where. */
export function actionOf(request: FastifyRequest): MemberAction {
  return { session: memberOf(request), from: clientOf(request) };
}

/** Returns the refusal of a change for owners, where the member's role was lowered at this moment. */
export function noOwner(): Refusal {
  return new Refusal("insufficient_scope", "You are no owner of the account any more.");
}
