import { argon2, timingSafeEqual } from "node:crypto";
import type { Random } from "#shared/clock.ts";

/** Shortest password, in characters. */
const SHORTEST_PASSWORD = 10;
/** Longest password, in characters. */
const LONGEST_PASSWORD = 256;

/** Cost of a hash: the first choice of OWASP's Password Storage Cheat Sheet for argon2id. Memory in KiB. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Hashes that are computed at once. Each takes 19 MiB and a thread of the pool, which DNS and files need too. */
const AT_ONCE = 2;
/** Hashes that can wait for one; further ones are refused. */
const MOST_WAITING = 100;

/** PHC string format: https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md. */
const STORED = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{1,86})\$([A-Za-z0-9+/]{1,86})$/;

/** Hashes and verifies passwords with argon2id (RFC 9106), off the main thread. */
export interface Passwords {
  /** Returns the hash of a password in the PHC string format; null: so many wait that another one is refused. */
  hash(password: string): Promise<string | null>;
  /**
   * Reports whether a password is the one of a stored hash; null: so many wait that another one is refused. `stored` is
   * null for an unknown user: then it takes as long and the result is false, as for a password that is too long.
   */
  verify(stored: string | null, password: string): Promise<boolean | null>;
}

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** Creates the hashing of passwords of one replica. */
export function createPasswords(random: Random): Passwords {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function derive(password: string, salt: Uint8Array, cost: Cost, length: number): Promise<Buffer | null> {
    if (running >= AT_ONCE) {
      if (waiting.length >= MOST_WAITING) return null;
      await new Promise<void>((resolve) => void waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await deriveNow(password, salt, cost, length);
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return {
    async hash(password) {
      const salt = random.bytes(SALT_BYTES);
      const derived = await derive(password, salt, COST, HASH_BYTES);
      if (derived === null) return null;
      const { memory, passes, parallelism } = COST;
      return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(derived)}`;
    },
    async verify(stored, password) {
      const parsed = stored === null || isTooLong(password) ? null : STORED.exec(stored);
      if (parsed === null) {
        const derived = await derive("", random.bytes(SALT_BYTES), COST, HASH_BYTES);
        return derived === null ? null : false;
      }
      const [, memory, passes, parallelism, salt = "", hash = ""] = parsed;
      const expected = Buffer.from(hash, "base64");
      const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
      const derived = await derive(password, Buffer.from(salt, "base64"), cost, expected.length);
      return derived === null ? null : timingSafeEqual(derived, expected);
    },
  };
}

/** Says what is wrong with a new password; null: nothing. */
export function passwordProblem(password: string): string | null {
  if (isTooLong(password)) return `must have at most ${LONGEST_PASSWORD} characters`;
  if (Array.from(password).length < SHORTEST_PASSWORD) return `must have at least ${SHORTEST_PASSWORD} characters`;
  return null;
}

/** Reports whether a password has more than 256 characters, which have at most 1,024 bytes in UTF-8. */
function isTooLong(password: string): boolean {
  // A character has one or two code units. They are compared first: the text can be a whole body.
  return password.length > 2 * LONGEST_PASSWORD || Array.from(password).length > LONGEST_PASSWORD;
}

function deriveNow(password: string, nonce: Uint8Array, cost: Cost, tagLength: number): Promise<Buffer> {
  // NIST SP 800-63B, section 3.1.1.2: one form of a password that two keyboards write differently. The time that it takes
  // grows with the square of the length.
  if (isTooLong(password)) throw new RangeError("a password is normalised before its length was checked");
  const message = password.normalize("NFKC");
  return new Promise((resolve, reject) => {
    argon2("argon2id", { message, nonce, tagLength, ...cost }, (error, derived) => {
      if (error === null) resolve(derived);
      else reject(error);
    });
  });
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}
