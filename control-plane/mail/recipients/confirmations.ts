import { hash } from "node:crypto";
import type { Clock, Random } from "#shared/clock.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import { storeEvents } from "#control-plane/events/events.ts";
import { randomBase62 } from "#control-plane/keys/format.ts";
import {
  areConfirmationsWanted,
  lockConfirmations,
  readWaitingRecipients,
  storeConfirmations,
  type WaitingRecipient,
} from "#control-plane/mail/recipients/store.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** Time in milliseconds for which a link works. */
const LINK_MS = 7 * 86_400_000;
const HOUR_MS = 3_600_000;
/** Maximum number of confirmation mails in an hour, over all accounts to one address and over all addresses of one. */
const LIMITS = { perAddress: 3, perAccount: 50 };
const MOST_AT_ONCE = 100;
const TOKEN_LENGTH = 32;
const PURPOSE = "mail_recipients.token";

/** Dependencies of the confirmations. */
interface ConfirmationDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly encryption: Encryption;
}

/** Queues the confirmation mails that are wanted and allowed. Rejects while the database is away. */
export async function queueConfirmations({ sql, clock, random, encryption }: ConfirmationDeps): Promise<void> {
  if (!(await areConfirmationsWanted(sql))) return;
  await transact(sql, async (tx) => {
    // One replica at a time, because the limits hold over all of them.
    if (!(await lockConfirmations(tx))) return;
    const now = clock.now();
    const since = new Date(now.getTime() - HOUR_MS);
    const found = await readWaitingRecipients(tx, LIMITS, { since, limit: MOST_AT_ONCE });
    const allowed = chooseAllowed(found);
    if (allowed.length === 0) return;
    const confirmations = allowed.map(({ id, accountId, email }) => {
      const token = randomBase62(random, TOKEN_LENGTH);
      const tokenSealed = encryption.seal(Buffer.from(token), PURPOSE);
      return { recipientId: id, accountId, email, tokenHash: hashToken(token), tokenSealed };
    });
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
  });
}

/** Chooses those that the limits still allow when the mails to the ones before them are counted. */
export function chooseAllowed(found: readonly WaitingRecipient[]): readonly WaitingRecipient[] {
  const toAddress = new Map<string, number>();
  const forAccount = new Map<number, number>();
  return found.filter(({ accountId, email, sentToAddress, sentForAccount }) => {
    const address = email.toLowerCase();
    const addressed = toAddress.get(address) ?? sentToAddress;
    const used = forAccount.get(accountId) ?? sentForAccount;
    if (addressed >= LIMITS.perAddress || used >= LIMITS.perAccount) return false;
    toAddress.set(address, addressed + 1);
    forAccount.set(accountId, used + 1);
    return true;
  });
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
