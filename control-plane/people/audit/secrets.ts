import type { SignedExport } from "#shared/audit/read-export.ts";
import { kidOf } from "#shared/audit/signature.ts";
import { verifyExport, type Verdict } from "#shared/audit/verify.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import {
  findByKid,
  findCurrent,
  insertSecret,
  listSecrets,
  lockAccount,
  markShown,
  retireCurrent,
  type StoredSecret,
} from "#control-plane/people/audit/store.ts";

/** A secret that is shown, and whether it is a new one. */
interface ShownSecret {
  readonly kid: string;
  readonly secret: string;
  readonly action: "created" | "shown" | "rotated";
}

/** Result of a verification by this service. unknown_secret: the account has no secret of this kid. */
interface Verification {
  readonly verdict: Verdict | "unknown_secret";
  /** When another secret took its place; null if it still signs, or it is unknown. */
  readonly retiredAt: Date | null;
}

/** The secrets that sign the audit exports of accounts. */
export interface AuditSecrets {
  /** Returns the secret that signs the exports of an account. The first call makes it. */
  current(sql: Queryable, accountId: number): Promise<string>;
  /**
   * Returns a secret of an account that was never shown: the present one, else a new one, which signs from now on. null:
   * there is no such account.
   */
  reveal(tx: Transaction, accountId: number): Promise<ShownSecret | null>;
  /** Verifies an export of an account, also one that an earlier secret has signed. */
  verify(sql: Queryable, accountId: number, signed: SignedExport): Promise<Verification>;
  /** Returns kid and times of an account's secrets for its data export. Their values were shown once. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
}

// 256 bits, the length of the HMAC. The prefix is for people, and for programs that search texts for secrets.
const PREFIX = "vas_";
const SECRET_BYTES = 32;

/** Opens the secrets of audit exports. */
export function createAuditSecrets({
  clock,
  random,
  encryption,
}: Pick<App, "clock" | "random"> & { readonly encryption: Encryption }): AuditSecrets {
  const purposeOf = (accountId: number, kid: string) => `audit_secrets.secret ${accountId} ${kid}` as const;

  function open(accountId: number, { kid, secret }: StoredSecret): string {
    const opened = encryption.open(secret, purposeOf(accountId, kid));
    if (opened === null) throw new Error(`the audit secret ${kid} of account ${accountId} cannot be decrypted`);
    return Buffer.from(opened).toString("utf8");
  }

  /** Makes a secret. Returns null if another transaction has just done so. */
  async function make(sql: Queryable, accountId: number, shownAt: Date | null): Promise<string | null> {
    const secret = `${PREFIX}${Buffer.from(random.bytes(SECRET_BYTES)).toString("base64url")}`;
    const kid = kidOf(secret);
    const sealed = encryption.seal(Buffer.from(secret), purposeOf(accountId, kid));
    return (await insertSecret(sql, { accountId, kid, secret: sealed, shownAt }, clock.now())) ? secret : null;
  }

  return {
    async current(sql, accountId) {
      const stored = await findCurrent(sql, accountId);
      if (stored !== null) return open(accountId, stored);
      const made = await make(sql, accountId, null);
      if (made !== null) return made;
      const others = await findCurrent(sql, accountId);
      if (others === null) throw new Error(`account ${accountId} has no audit secret after one was made`);
      return open(accountId, others);
    },
    async reveal(tx, accountId) {
      if (!(await lockAccount(tx, accountId))) return null;
      const now = clock.now();
      if ((await findCurrent(tx, accountId)) === null) {
        const secret = await make(tx, accountId, now);
        if (secret !== null) return { kid: kidOf(secret), secret, action: "created" };
      }
      // An export can have made one since: it takes no lock that the account's would keep out.
      const present = await findCurrent(tx, accountId);
      if (present === null) throw new Error(`the audit secret of account ${accountId} is missing`);
      if (present.shownAt === null) {
        await markShown(tx, accountId, now);
        return { kid: present.kid, secret: open(accountId, present), action: "shown" };
      }
      await retireCurrent(tx, accountId, now);
      const secret = await make(tx, accountId, now);
      if (secret === null)
        throw new Error(`account ${accountId} has another audit secret although its own was retired`);
      return { kid: kidOf(secret), secret, action: "rotated" };
    },
    async verify(sql, accountId, signed) {
      const stored = await findByKid(sql, accountId, signed.sig.kid);
      if (stored === null) return { verdict: "unknown_secret", retiredAt: null };
      return { verdict: verifyExport(signed, open(accountId, stored)), retiredAt: stored.retiredAt };
    },
    async export(sql, accountId) {
      const stored = await listSecrets(sql, accountId);
      return stored.map(({ kid, createdAt, shownAt, retiredAt }) => ({
        kid,
        created_at: createdAt,
        shown_at: shownAt,
        retired_at: retiredAt,
      }));
    },
  };
}
