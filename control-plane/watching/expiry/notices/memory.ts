import type { CertificateFacts } from "#control-plane/watching/expiry/observed/certificate.ts";

/** What a notice says of the certificate before. */
export type NotedCertificate = Pick<CertificateFacts, "issuer" | "names" | "notAfter">;

/** What a monitor was informed of about one certificate, or about one registration period. */
export interface Informed {
  /** Fingerprint of the certificate, or the expiry of the registration. */
  readonly identity: string;
  /** Unix milliseconds at which it was last found. */
  readonly foundAt: number;
  /** Tightest threshold of which a notice was made, days; null: none. */
  readonly threshold: number | null;
  readonly expired: boolean;
  /** Of a certificate: it was found again soon after another one. Absent: it was not. */
  readonly returned?: boolean;
  /** Of the present certificate: a notice was made that the server speaks nothing newer than TLS 1.1. Absent: none was. */
  readonly oldTls?: true;
  /** Of the present certificate. Absent in the memories of earlier releases. */
  readonly certificate?: NotedCertificate;
}

/** What a monitor was informed of. The present one is the first; certificates of its chain are entries like others. */
export type Memory = readonly Informed[];

/** Maximum number of certificates remembered: those of a server that answers with several in turn. */
const MOST_KEPT = 32;

/** A later time at which the same was found is written if it is later by this much, in milliseconds. */
const FOUND_STEP_MS = 12 * 3_600_000;

/** Parses a stored memory. */
export function decodeMemory(text: string): Memory {
  return JSON.parse(text) as Memory;
}

/** Puts an entry first, in the place of one with the same identity. */
export function remember(memory: Memory, entry: Informed): Memory {
  const others = memory.filter(({ identity }) => identity !== entry.identity);
  return [entry, ...others.map(withoutCertificate)].slice(0, MOST_KEPT);
}

function withoutCertificate({ certificate: _certificate, ...entry }: Informed): Informed {
  return entry;
}

/** Reports whether a memory says something else than the stored one, so that it has to be written. */
export function saysMore(memory: Memory, stored: Memory): boolean {
  const [present, before] = [memory[0], stored[0]];
  if (present === undefined || before === undefined) return memory.length > 0;
  const withoutTimes = (entries: Memory) => JSON.stringify(entries.map((entry) => ({ ...entry, foundAt: 0 })));
  const isSame = withoutTimes(memory) === withoutTimes(stored);
  return !isSame || present.foundAt - before.foundAt >= FOUND_STEP_MS;
}
