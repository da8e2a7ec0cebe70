import { timingSafeEqual } from "node:crypto";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** How long a link to confirm works. Then the address is deleted, so that a flood of unconfirmed ones does not stay. */
export const LINK_HOURS = 48;

/** What a link in a mail to a subscriber is for. */
export type LinkKind = "confirm" | "unsubscribe";

const FORM = /^(\d{1,15})-([0-9A-Za-z_-]{32})$/;
/** 192 bits. */
const DIGEST_BYTES = 24;

/**
 * Returns the token of a link: the subscriber's id and a keyed digest, so that nobody can make one and the database
 * need not store any.
 */
export function makeLinkToken(encryption: Pick<Encryption, "digest">, kind: LinkKind, id: number): string {
  const digest = encryption.digest(String(id), `status_page_subscribers.${kind}`).subarray(0, DIGEST_BYTES);
  return `${id}-${Buffer.from(digest).toString("base64url")}`;
}

/** Returns the id of the subscriber that a token names; null if the token was not made for this kind of link. */
export function readLinkToken(encryption: Pick<Encryption, "digest">, kind: LinkKind, token: string): number | null {
  const [, text = ""] = FORM.exec(token) ?? [];
  if (text === "") return null;
  const id = Number(text);
  const expected = Buffer.from(makeLinkToken(encryption, kind, id));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : null;
}
