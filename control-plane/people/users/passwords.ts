import { argon2, timingSafeEqual } from "node:crypto";
import type { Random } from "#shared/time/clock.ts";
import type { Client } from "#control-plane/people/users/sessions.ts";

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
/** Hashes of a network, and in all, that can wait for one; further ones are refused. */
const MOST_OF_NETWORK = 100;
const MOST_WAITING = 1_000;

/** PHC string format: https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md. */
const STORED = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{1,86})\$([A-Za-z0-9+/]{1,86})$/;

/** Hashes and verifies passwords with argon2id (RFC 9106), off the main thread. */
export interface Passwords {
  /** Returns the hash of a password in the PHC string format; null: so many wait that another one is refused. */
  hash(password: string, from: Waiting): Promise<string | null>;
  /**
   * Reports whether a password is the one of a stored hash; null: so many wait that another one is refused. `stored` is
   * null for an unknown user: then it takes as long and the result is false, as for a password that is too long.
   */
  verify(stored: string | null, password: string, from: Waiting): Promise<boolean | null>;
}

/** Who waits for a hash: networks take turns, and a client that has gone needs none. */
type Waiting = Pick<Client, "address" | "isGone">;

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** Creates the hashing of passwords of one replica. `networkOf`: returns the network of an address. */
export function createPasswords(random: Random, networkOf: (address: string) => string): Passwords {
  const turns = createFairQueue({ atOnce: AT_ONCE, mostOfGroup: MOST_OF_NETWORK, mostWaiting: MOST_WAITING });

  async function derive({ address, isGone }: Waiting, ...work: Parameters<typeof deriveNow>): Promise<Buffer | null> {
    const end = await turns.wait(networkOf(address), isGone);
    if (end === null) return null;
    try {
      return await deriveNow(...work);
    } finally {
      end();
    }
  }

  return {
    async hash(password, from) {
      const salt = random.bytes(SALT_BYTES);
      const derived = await derive(from, password, salt, COST, HASH_BYTES);
      if (derived === null) return null;
      const { memory, passes, parallelism } = COST;
      return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(derived)}`;
    },
    async verify(stored, password, from) {
      const parsed = stored === null || isTooLong(password) ? null : STORED.exec(stored);
      if (parsed === null) {
        const derived = await derive(from, "", random.bytes(SALT_BYTES), COST, HASH_BYTES);
        return derived === null ? null : false;
      }
      const [, memory, passes, parallelism, salt = "", hash = ""] = parsed;
      const expected = Buffer.from(hash, "base64");
      const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
      const derived = await derive(from, password, Buffer.from(salt, "base64"), cost, expected.length);
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

/** Lets a bounded number of works run at once. Others wait, in a queue for each group, and the groups take turns. */
interface FairQueue {
  /**
   * Waits for a turn. Returns the function that ends it, to be called once; null: too many of the group wait, or its client
   * has gone. `isGone` is asked when the turn comes, and when places are short.
   */
  wait(group: string, isGone: () => boolean): Promise<(() => void) | null>;
}

interface Waiter {
  readonly isGone: () => boolean;
  readonly start: (end: (() => void) | null) => void;
}

/**
 * Creates turns. `mostOfGroup`: works of a group that can wait. `mostWaiting`: works that can wait in all; beyond it a group
 * that has fewer takes the place of the newest one of the group that has most.
 */
export function createFairQueue({
  atOnce,
  mostOfGroup,
  mostWaiting,
}: {
  readonly atOnce: number;
  readonly mostOfGroup: number;
  readonly mostWaiting: number;
}): FairQueue {
  /** The groups with works that wait, in the order of their turns. */
  const queues = new Map<string, Waiter[]>();
  let running = 0;
  let waiting = 0;

  function end(): void {
    for (const [group, queue] of queues) {
      const waiter = queue.shift();
      queues.delete(group);
      if (queue.length > 0) queues.set(group, queue);
      if (waiter === undefined) continue;
      waiting -= 1;
      if (waiter.isGone()) {
        waiter.start(null);
        continue;
      }
      waiter.start(end);
      return;
    }
    running -= 1;
  }

  /** Ends the waiting of works whose clients have gone. */
  function dropGone(): void {
    for (const [group, queue] of queues) {
      const here = queue.filter((waiter) => !waiter.isGone());
      const gone = queue.filter((waiter) => !here.includes(waiter));
      waiting -= gone.length;
      queue.splice(0, queue.length, ...here);
      if (here.length === 0) queues.delete(group);
      for (const waiter of gone) waiter.start(null);
    }
  }

  /** Reports whether a group can have one more place, which can be that of another group. */
  function takePlace(group: string): boolean {
    const lengthOf = () => queues.get(group)?.length ?? 0;
    if (lengthOf() >= mostOfGroup || waiting >= mostWaiting) dropGone();
    if (lengthOf() >= mostOfGroup) return false;
    if (waiting < mostWaiting) return true;
    const longest = [...queues.values()].reduce((most, queue) => (queue.length > most.length ? queue : most), []);
    if (longest.length <= lengthOf() + 1) return false;
    waiting -= 1;
    longest.pop()?.start(null);
    return true;
  }

  return {
    async wait(group, isGone) {
      if (running < atOnce) {
        running += 1;
        return end;
      }
      if (!takePlace(group)) return null;
      waiting += 1;
      return new Promise((start) => {
        const waiter = { isGone, start };
        const queue = queues.get(group);
        if (queue === undefined) queues.set(group, [waiter]);
        else queue.push(waiter);
      });
    },
  };
}
