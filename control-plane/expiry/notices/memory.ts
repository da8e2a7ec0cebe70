/** What a monitor was informed of about one certificate, or about one registration period. */
export interface Informed {
  /** Fingerprint of the certificate, or the expiry of the registration. */
  readonly identity: string;
  /** Unix milliseconds at which it was last found. */
  readonly foundAt: number;
  /** Tightest threshold of which a notice was made, days; null: none. */
  readonly threshold: number | null;
  readonly expired: boolean;
}

/** What a monitor was informed of. The present one is the first. */
export type Memory = readonly Informed[];

/** Maximum number of certificates remembered: those of a server that answers with several in turn. */
const MOST_KEPT = 8;

/** Parses a stored memory. */
export function decodeMemory(text: string): Memory {
  return JSON.parse(text) as Memory;
}

/** Puts an entry first, in the place of one with the same identity. */
export function remember(memory: Memory, entry: Informed): Memory {
  return [entry, ...memory.filter(({ identity }) => identity !== entry.identity)].slice(0, MOST_KEPT);
}
