import { hash } from "node:crypto";
import type { App } from "#control-plane/core/app.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { storeEvents } from "#control-plane/notify/events/events.ts";
import { randomBase62 } from "#control-plane/accounts/keys/format.ts";
import { findLimits, recordMails } from "#control-plane/notify/mail/ledger.ts";
import {
  areConfirmationsWanted,
  lockConfirmations,
  postponeConfirmations,
  readWaitingRecipients,
  storeConfirmations,
} from "#control-plane/notify/mail/recipients/confirmations-store.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** Time in milliseconds for which a link works. */
const LINK_MS = 7 * 86_400_000;
/** Time in milliseconds after which one that the limits did not allow is looked at again. */
const POSTPONED_MS = 3_600_000;
const MOST_AT_ONCE = 100;
const TOKEN_LENGTH = 32;
const PURPOSE = "mail_recipients.token";

/** Queues the confirmation mails that are wanted and allowed. Rejects while the database is away. */
export async function queueConfirmations(
  deps: Pick<App, "sql" | "clock" | "random"> & { readonly encryption: Encryption },
): Promise<void> {
  const { sql, clock } = deps;
  if (!(await areConfirmationsWanted(sql, clock.now()))) return;
  await transact(sql, async (tx) => {
    // One replica at a time: the others need not wait for it.
    if (!(await lockConfirmations(tx))) return;
    while ((await queueNext(deps, tx)) === MOST_AT_ONCE);
  });
}

/** Queues or postpones those that wait longest. Returns how many. */
async function queueNext(
  { clock, random, encryption }: Pick<App, "clock" | "random"> & { readonly encryption: Encryption },
  tx: Transaction,
): Promise<number> {
  const now = clock.now();
  const found = await readWaitingRecipients(tx, now, MOST_AT_ONCE);
  if (found.length === 0) return 0;
  const wanted = found.map((one) => ({ ...one, purpose: "confirmation" as const, page: null, caller: null }));
  const limits = await findLimits(tx, encryption, wanted, now);
  const allowed = wanted.filter((_, index) => limits[index] === null);
  const others = wanted.flatMap(({ id }, index) => (limits[index] === null ? [] : id));
  // They leave the front of the queue, where they would hold up those behind them.
  if (others.length > 0) await postponeConfirmations(tx, others, new Date(now.getTime() + POSTPONED_MS));
  if (allowed.length === 0) return found.length;
  const confirmations = allowed.map(({ id, accountId, email }) => {
    const token = randomBase62(random, TOKEN_LENGTH);
    const tokenSealed = encryption.seal(Buffer.from(token), PURPOSE);
    return { recipientId: id, accountId, email, tokenHash: hashToken(token), tokenSealed };
  });
  await recordMails(tx, encryption, allowed, now);
  await storeConfirmations(tx, confirmations, { now, expiresAt: new Date(now.getTime() + LINK_MS) });
  const about = { type: "confirm", createdAt: now, monitorId: null, incidentId: null, isFlapping: false } as const;
  await storeEvents(
    tx,
    random,
    confirmations.map(({ recipientId, accountId, email }) => ({
      event: { ...about, accountId, data: { email } },
      receivers: [{ channel: "mail", receiverId: recipientId, recipient: email, isReleased: true }],
    })),
  );
  return found.length;
}

/** Returns the SHA-256 of a token, under which the database finds it. */
export function hashToken(token: string): Uint8Array {
  return hash("sha256", token, "buffer");
}

/** Decrypts the token of a link; null if the master key has changed. */
export function openToken(encryption: Encryption, sealed: Uint8Array): string | null {
  const opened = encryption.open(sealed, PURPOSE);
  return opened === null ? null : Buffer.from(opened).toString();
}
