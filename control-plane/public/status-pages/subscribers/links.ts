import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { isSigned, signText } from "#control-plane/core/secrets/signed-text.ts";

/** How long a link to confirm works. Then the address is deleted, so that a flood of unconfirmed ones does not stay. */
export const LINK_HOURS = 48;

/** What a link in a mail to a subscriber is for. */
export type LinkKind = "confirm" | "unsubscribe";

const FORM = /^(\d{1,15})-([0-9A-Za-z_-]{32})$/;

/** Returns the token of a link: the subscriber's id and its signature. */
export function makeLinkToken(encryption: Pick<Encryption, "digest">, kind: LinkKind, id: number): string {
  return `${id}-${signText(encryption, String(id), purposeOf(kind))}`;
}

/** Returns the id of the subscriber that a token names; null if the token was not made for this kind of link. */
export function readLinkToken(encryption: Pick<Encryption, "digest">, kind: LinkKind, token: string): number | null {
  const [, text = "", signature = ""] = FORM.exec(token) ?? [];
  if (text === "") return null;
  const id = Number(text);
  return isSigned(encryption, String(id), { purpose: purposeOf(kind), signature }) ? id : null;
}

function purposeOf(kind: LinkKind): string {
  return `status_page_subscribers.${kind}`;
}
