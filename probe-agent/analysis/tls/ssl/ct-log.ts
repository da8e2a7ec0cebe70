/** A certificate transparency log (RFC 6962). */
export interface CtLog {
  readonly name: string;
  readonly operator: string | null;
  /** State in the list of logs: usable, readonly, retired, rejected, ...; null if the list has none. */
  readonly state: string | null;
  /** DER SubjectPublicKeyInfo. */
  readonly key: Uint8Array;
}

/** Certificate transparency logs by id (base64 of the SHA-256 of the key); null if the operator configured no list. */
export type CtLogs = ReadonlyMap<string, CtLog> | null;
