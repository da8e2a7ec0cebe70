import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock, Random } from "#shared/time/clock.ts";
import { createPool } from "#probe-agent/threads/pool.ts";
import { startThread } from "#probe-agent/threads/thread.ts";

/** A password and the hash to compare it with. */
export interface PasswordOrder {
  readonly password: string;
  readonly hash: string;
}

/** Compares credentials with the hashes of users. */
interface Passwords {
  /** Reports whether the value of a field Authorization is a user's. */
  check(authorization: string | undefined, users: ReadonlyMap<string, string>): Promise<boolean>;
}

/** Hash that is compared for unknown users, so that they take as long as known ones; of no known password. */
const NOBODY = "$2b$10$abcdefghijklmnopqrstuuJr1H5m8y0gqQ2vFJ1eJk2mJ0GmQbq2y";
/** Maximum number of remembered comparisons. */
const MOST_REMEMBERED = 100;
/** Longest wait for a comparison in milliseconds. */
const LONGEST_WAIT_MS = 10_000;
/** bcrypt reads 72 octets of a password. */
const LONGEST_PASSWORD = 72;

/**
 * Creates the comparison. bcrypt is slow by design: it runs in a thread, and its good results are remembered under a
 * keyed hash, as every scrape sends the same password.
 */
export function createPasswords(clock: Clock, random: Random): Passwords {
  const key = random.bytes(32);
  const known = new Map<string, Buffer>();
  const threads = createPool({
    clock,
    start: () => startThread<string, boolean>({ entry: new URL("password-thread.ts", import.meta.url), heapMb: 64 }),
  });
  return {
    async check(authorization, users) {
      const [, encoded] = /^Basic ([A-Za-z0-9+/=]{1,1000})$/i.exec(authorization ?? "") ?? [];
      if (encoded === undefined) return false;
      const pair = Buffer.from(encoded, "base64").toString("utf8");
      const colon = pair.indexOf(":");
      const user = pair.slice(0, Math.max(0, colon));
      const password = pair.slice(colon + 1);
      const hash = users.get(user);
      if (colon === -1 || Buffer.byteLength(password) > LONGEST_PASSWORD) return false;
      const digest = createHmac("sha256", key)
        .update(JSON.stringify([user, password, hash ?? ""]))
        .digest();
      const remembered = known.get(user);
      if (remembered !== undefined && timingSafeEqual(remembered, digest)) return true;
      const until = clock.monotonic() + LONGEST_WAIT_MS;
      const order: PasswordOrder = { password, hash: hash ?? NOBODY };
      const ended = await threads.use({ until, signal: AbortSignal.timeout(LONGEST_WAIT_MS) }, (borrow) =>
        borrow((thread) => thread.run({ order, check: () => (clock.monotonic() > until ? "late" : null) })),
      );
      const isGood =
        ended !== null && typeof ended !== "string" && ended.kind === "answered" && ended.answer && hash !== undefined;
      if (isGood) {
        if (known.size >= MOST_REMEMBERED) known.clear();
        known.set(user, digest);
      }
      return isGood;
    },
  };
}
