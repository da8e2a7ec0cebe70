// A legitimate answer with seven types and a chain of five zones takes some 40 verifications. These bounds keep a
// hostile zone (KeyTrap, CVE-2023-50387; NSEC3 work, CVE-2023-50868) below 0.3 s of computing for a whole look-up.
const MAX_VERIFICATIONS = 160;
const MAX_FAILURES = 40;
const MAX_HASH_ROUNDS = 40_000;

/** Signature verifications tried for one RRset at most. */
export const MAX_TRIES_PER_RRSET = 8;
/** Keys of one zone with the same tag and algorithm that are tried at most; two is a coincidence. */
export const MAX_KEYS_PER_TAG = 4;
/** Keys, DS records and denial records looked at in one answer at most. */
export const MAX_KEYS = 64;
/** NSEC and NSEC3 records of one answer that are verified at most; an honest proof has three or four. */
export const MAX_DENIALS = 12;
/** NSEC3 iterations above which a zone is treated as not signed (RFC 9276 section 3.2). */
export const MAX_ITERATIONS = 150;

/** What may still be spent on one look-up. */
export class Effort {
  #verifications = MAX_VERIFICATIONS;
  #failures = MAX_FAILURES;
  #hashRounds = MAX_HASH_ROUNDS;

  /** Whether one more signature may be verified. */
  verification(): boolean {
    if (this.#verifications <= 0 || this.#failures <= 0) return false;
    this.#verifications -= 1;
    return true;
  }

  /** Notes that a verification failed: failures are what costs without need. */
  failed(): void {
    this.#failures -= 1;
  }

  /** Whether a name may be hashed so many times. */
  hashing(rounds: number): boolean {
    if (rounds > this.#hashRounds) return false;
    this.#hashRounds -= rounds;
    return true;
  }
}
