/** A log of certificates (RFC 6962). */
export interface CtLog {
  readonly name: string;
  readonly operator: string | null;
  /** As the list says: usable, readonly, retired, rejected, ...; null where it does not. */
  readonly state: string | null;
  /** DER SubjectPublicKeyInfo. */
  readonly key: Uint8Array;
}

/** Certificate transparency logs by id (base64 of the SHA-256 of the key); null: the operator has named no list. */
export type CtLogs = ReadonlyMap<string, CtLog> | null;
