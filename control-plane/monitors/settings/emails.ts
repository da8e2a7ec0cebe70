import { toMailAddress } from "#control-plane/mail-address.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { refuse, type Read } from "#shared/schema/problem.ts";

/** Reads addresses, as texts or as objects from a response; repeated ones are dropped. */
export function readEmails(given: NonNullable<Given["notify_emails"]>): Read<readonly string[]> {
  const emails = new Map<string, string>();
  for (const [index, item] of given.entries()) {
    const email = (typeof item === "string" ? item : item.email).trim();
    if (toMailAddress(email) === null) {
      return refuse(`notify_emails.${index}`, "type", "must be an email address such as ops@example.com");
    }
    const key = email.toLowerCase();
    if (!emails.has(key)) emails.set(key, email);
  }
  return { ok: true, value: [...emails.values()] };
}
