import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { isSigned, signText } from "#control-plane/core/secrets/signed-text.ts";

/** What a link shows, and to whom. */
export interface Link {
  /** An incident, or an event that belongs to none. */
  readonly subject: { readonly incidentId: number } | { readonly eventId: string };
  /** Recipient of the mail with the link (mail/recipients). */
  readonly recipientId: number;
  /** In whole seconds. */
  readonly expiresAt: Date;
}

/** How long a link works after its mail was made. */
const LINK_MS = 30 * 86_400_000;
const PURPOSE = "incident_pages.link";
/** Signature, subject, recipient, and the end in seconds since 1970. A token ends in a letter or digit, because mail programs leave final signs out of a link. */
const FORM = /^([0-9A-Za-z_-]{32})\.((\d{1,15}|evt_[0-9A-Za-z_-]{1,40})\.(\d{1,15})\.([0-9a-z]{1,9}))$/;

/** Returns the token of a link. It is not secret from the recipient, and nobody else can make one. */
export function makeToken(encryption: Pick<Encryption, "digest">, { subject, recipientId, expiresAt }: Link): string {
  const id = "incidentId" in subject ? subject.incidentId : subject.eventId;
  const text = `${id}.${recipientId}.${Math.floor(expiresAt.getTime() / 1_000).toString(36)}`;
  return `${signText(encryption, text, PURPOSE)}.${text}`;
}

/** Reads a token, also one that has expired; null if it was altered, or is none. */
export function readToken(encryption: Pick<Encryption, "digest">, token: string): Link | null {
  const [, signature = "", text = "", id = "", recipient = "", end = ""] = FORM.exec(token) ?? [];
  if (text === "" || !isSigned(encryption, text, { purpose: PURPOSE, signature })) return null;
  return {
    subject: id.startsWith("evt_") ? { eventId: id } : { incidentId: Number(id) },
    recipientId: Number(recipient),
    expiresAt: new Date(Number.parseInt(end, 36) * 1_000),
  };
}

/** Returns when the mail of a link was made, in whole seconds. */
export function madeAt({ expiresAt }: Pick<Link, "expiresAt">): Date {
  return new Date(expiresAt.getTime() - LINK_MS);
}

/** What a mail links to. */
interface LinkedMail {
  /** null: the event belongs to no incident. */
  readonly incidentId: number | null;
  readonly eventId: string;
  readonly recipientId: number;
  readonly createdAt: Date;
}

/** Creates the function that returns the link of a mail: the same one on every attempt. `baseUrl` has no final slash. */
export function createPageLink(encryption: Pick<Encryption, "digest">, baseUrl: string): (mail: LinkedMail) => string {
  return ({ incidentId, eventId, recipientId, createdAt }) => {
    const subject = incidentId === null ? { eventId } : { incidentId };
    const expiresAt = new Date(createdAt.getTime() + LINK_MS);
    return `${baseUrl}/i/${makeToken(encryption, { subject, recipientId, expiresAt })}`;
  };
}
