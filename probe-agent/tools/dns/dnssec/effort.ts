// A legitimate answer with seven types and a chain of five zones takes about 40 verifications. These bounds keep a
// hostile zone (KeyTrap, CVE-2023-50387; NSEC3 work, CVE-2023-50868) below 0.3 s of computing time for a whole lookup.
const MAX_VERIFICATIONS = 160;
const MAX_FAILURES = 40;
const MAX_HASH_ROUNDS = 40_000;

/** Maximum number of signature verifications tried for one RRset. */
export const MAX_TRIES_PER_RRSET = 8;
/** Maximum number of keys of one zone with the same tag and algorithm that are tried. Two can be a coincidence. */
export const MAX_KEYS_PER_TAG = 4;
/** Maximum number of keys or DS records read from one answer. */
export const MAX_KEYS = 64;
/** Maximum number of NSEC and NSEC3 RRsets verified in one answer. An honest proof has three or four. */
export const MAX_DENIALS = 12;
/** Number of NSEC3 iterations above which a zone is treated as not signed (RFC 9276 section 3.2). */
export const MAX_ITERATIONS = 150;

/** Remaining budget of verifications and hash rounds for one lookup. */
export class Effort {
  #verifications = MAX_VERIFICATIONS;
  #failures = MAX_FAILURES;
  #hashRounds = MAX_HASH_ROUNDS;

  /** Takes one verification from the budget. Returns false if none is left. */
  takeVerification(): boolean {
    if (this.#verifications <= 0 || this.#failures <= 0) return false;
    this.#verifications -= 1;
    return true;
  }

  /** Records that a verification failed. Failures have their own limit, because only a hostile zone causes many. */
  noteFailure(): void {
    this.#failures -= 1;
  }

  /** Takes hash rounds for one name from the budget. Returns false if not enough are left. */
  takeHashRounds(rounds: number): boolean {
    if (rounds > this.#hashRounds) return false;
    this.#hashRounds -= rounds;
    return true;
  }
}
