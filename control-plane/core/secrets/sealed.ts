/** A column whose values Encryption.seal has made. */
interface SealedColumn {
  /** What is sealed. `seal` takes no other purpose, so that no column is missing here. */
  readonly purpose: string;
  readonly table: string;
  readonly column: string;
  /** Columns whose values follow the purpose, each after a space; bytes as lower-case hex. */
  readonly bound: readonly string[];
  /** The only row that is sealed, by its name; null: all rows are. */
  readonly row: string | null;
}

/** Every sealed column, for the rotation of the master key. */
export const SEALED = [
  { purpose: "instance.digest_key", table: "instance", column: "value", bound: [], row: "digest_key" },
  { purpose: "authority.private_key", table: "authority", column: "private_key", bound: [], row: null },
  {
    purpose: "audit_secrets.secret",
    table: "audit_secrets",
    column: "secret",
    bound: ["account_id", "kid"],
    row: null,
  },
  { purpose: "idempotent_answers.answer", table: "idempotent_answers", column: "answer", bound: ["scope"], row: null },
  {
    purpose: "idempotent_answers.answer",
    table: "idempotent_answers",
    column: "reference",
    bound: ["scope"],
    row: null,
  },
  { purpose: "monitors.secrets", table: "monitors", column: "secrets", bound: [], row: null },
  { purpose: "heartbeats.token", table: "heartbeats", column: "token_sealed", bound: [], row: null },
  { purpose: "mail_recipients.token", table: "mail_recipients", column: "token_sealed", bound: [], row: null },
  { purpose: "webhooks.secrets", table: "webhooks", column: "secrets", bound: [], row: null },
  { purpose: "requested_mails.sealed", table: "requested_mails", column: "sealed", bound: [], row: null },
] as const satisfies readonly SealedColumn[];

/** A purpose of `seal`: that of a column, and what binds it to a row. */
export type SealedPurpose = (typeof SEALED)[number]["purpose"] | `${(typeof SEALED)[number]["purpose"]} ${string}`;
