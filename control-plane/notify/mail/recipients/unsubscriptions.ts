import type { App } from "#control-plane/core/app.ts";
import { DELIVERIES_CHANNEL } from "#control-plane/notify/deliveries/delivery.ts";
import {
  askAgain,
  findSubscription,
  unsubscribe,
  type Subscription,
} from "#control-plane/notify/mail/recipients/store.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { isSigned, signText } from "#control-plane/core/secrets/signed-text.ts";

/** How recipients end the alerts of an account, and get them again. null: the link is not valid. */
export interface Unsubscriptions {
  /** Returns the address of the link for a recipient. It works as long as the recipient is known. */
  urlOf(recipientId: number): string;
  /** Finds the recipient of a link. */
  find(token: string): Promise<Subscription | null>;
  /** Ends the alerts to the recipient of a link, also those that wait in the queue. */
  unsubscribe(token: string): Promise<Subscription | null>;
  /** Wants a confirmation mail for the recipient of a link, within the limits of such mails, if it has unsubscribed. */
  askAgain(token: string): Promise<Subscription | null>;
}

const PURPOSE = "mail_recipients.unsubscribe";
const FORM = /^([0-9A-Za-z_-]{32})\.(\d{1,15})$/;

/** Creates the unsubscriptions. `baseUrl` is the address of the service, without a slash at its end. */
export function createUnsubscriptions({
  sql,
  clock,
  encryption,
  baseUrl,
}: Pick<App, "sql" | "clock"> & {
  readonly encryption: Pick<Encryption, "digest">;
  readonly baseUrl: string;
}): Unsubscriptions {
  /** Returns the id of the recipient that a token names; null if it was altered. */
  function read(token: string): number | null {
    const [, signature = "", id = ""] = FORM.exec(token) ?? [];
    return id !== "" && isSigned(encryption, id, { purpose: PURPOSE, signature }) ? Number(id) : null;
  }

  async function find(token: string): Promise<Subscription | null> {
    const id = read(token);
    return id === null ? null : findSubscription(sql, id);
  }

  return {
    urlOf: (id) => `${baseUrl}/mail/unsubscribe/${signText(encryption, String(id), PURPOSE)}.${id}`,
    find,
    async unsubscribe(token) {
      const id = read(token);
      if (id !== null) await unsubscribe(sql, id, clock.now());
      return find(token);
    },
    async askAgain(token) {
      const id = read(token);
      if (id !== null) await askAgain(sql, id, DELIVERIES_CHANNEL);
      return find(token);
    },
  };
}
