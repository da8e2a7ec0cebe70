import type { Random } from "#shared/time/clock.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

const PURPOSE = "webhooks.secrets";
const PREFIX = "whsec_";
const GENERATED_BYTES = 32;
/** Shown in place of a secret value. A change that contains it keeps the stored value. */
export const MASK = "****";
/** A secret of this length or more is shown with its last characters. */
const TAIL_FROM = 16;
const TAIL = 4;
/** Visible ASCII without the space. */
const VISIBLE = /^[\x21-\x7e]{8,256}$/;
// RFC 4648, section 4, with its padding.
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** How long a replaced secret signs too, milliseconds. */
const OVERLAP_MS = 24 * 3_600_000;

/** The secret values of a subscription; encrypted at rest. */
export interface WebhookSecrets {
  /** Signs deliveries. */
  readonly secret: string;
  /** The secret before it; null if there was none, or its time is over. */
  readonly previous: {
    readonly secret: string;
    /** ISO 8601. It signs too until then. */ readonly until: string;
  } | null;
  /** Header fields of the user, by name. */
  readonly headers: Readonly<Record<string, string>>;
  /** What a provider needs beside the address. */
  readonly format_options: Readonly<Record<string, string>>;
  /**
   * Who manages the subscription, such as the owner of a document; absent or null: nobody. It is no secret, and is kept here
   * because nothing selects by it.
   */
  readonly managed_by?: string | null;
}

/** Generates a secret in the form of Standard Webhooks: `whsec_` and the base64 of 32 random bytes. */
export function generateSecret(random: Random): string {
  return PREFIX + Buffer.from(random.bytes(GENERATED_BYTES)).toString("base64");
}

/** Returns what is wrong with a secret that a user chose; null if it is good. */
export function secretProblem(secret: string): string | null {
  if (!VISIBLE.test(secret)) return "must be 8 to 256 visible ASCII characters, without spaces";
  if (!secret.startsWith(PREFIX)) return null;
  const encoded = secret.slice(PREFIX.length);
  return encoded !== "" && BASE64.test(encoded) ? null : `must be valid base64 after ${PREFIX}`;
}

/** Returns a secret as answers show it: its prefix, a mask, and the last four characters of one that is long. */
export function maskSecret(secret: string): string {
  const tail = secret.length >= TAIL_FROM ? secret.slice(-TAIL) : "";
  return `${secret.startsWith(PREFIX) ? PREFIX : ""}${MASK}${tail}`;
}

/** Replaces the secret. The old one signs too for 24 h; of several old ones the newest does. */
export function replaceSecret(secrets: WebhookSecrets, secret: string, now: Date): WebhookSecrets {
  if (secret === secrets.secret) return secrets;
  const until = new Date(now.getTime() + OVERLAP_MS).toISOString();
  return { ...secrets, secret, previous: { secret: secrets.secret, until } };
}

/** Returns the secrets that sign at a time, the present one first. */
export function signingSecrets({ secret, previous }: WebhookSecrets, now: Date): readonly [string, ...string[]] {
  return previous !== null && Date.parse(previous.until) > now.getTime() ? [secret, previous.secret] : [secret];
}

/** Encrypts the secrets of a subscription. */
export function sealSecrets(encryption: Encryption, secrets: WebhookSecrets): Uint8Array {
  return encryption.seal(Buffer.from(JSON.stringify(secrets)), PURPOSE);
}

/** Decrypts the secrets of a subscription. Throws if they were altered, or sealed with another master key: a broken row. */
export function openSecrets(encryption: Encryption, sealed: Uint8Array): WebhookSecrets {
  const opened = encryption.open(sealed, PURPOSE);
  if (opened === null) throw new Error("the stored secrets of a webhook cannot be decrypted");
  return JSON.parse(Buffer.from(opened).toString("utf8")) as WebhookSecrets;
}
