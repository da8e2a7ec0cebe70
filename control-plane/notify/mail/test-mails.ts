import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { Deliveries } from "#control-plane/notify/deliveries/deliveries.ts";
import type { ClaimedDelivery } from "#control-plane/notify/deliveries/delivery.ts";
import { storeEvents } from "#control-plane/notify/events/events.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";
import { TEST_MAIL_MS } from "#control-plane/notify/mail/mailer.ts";
import type { Recipients } from "#control-plane/notify/mail/recipients/recipients.ts";

/** A monitor whose recipients are mailed. */
interface TestedMonitor {
  readonly accountId: number;
  readonly id: number;
  readonly name: string;
  readonly emails: readonly string[];
}

/** What becomes of the mail to one address: a delivery, or why there is none. */
type Plan =
  | { readonly email: string; readonly deliveryId: number }
  | { readonly email: string; readonly status: "not_confirmed" | "unsubscribed" | "failed"; readonly message: string };

/** A test as the database stores it, JSON. */
export interface TestMailReference {
  readonly accountId: number;
  readonly plans: readonly Plan[];
}

/** What became of the mail to one address, as the API shows it. */
interface TestMailResult {
  readonly email: string;
  readonly status: "sent" | "failed" | "not_confirmed" | "unsubscribed";
  readonly message: string;
}

/** Mails by which users test whether the notices of a monitor arrive. */
export interface TestMails {
  /** Stores a test mail to every recipient that gets mail. `send` makes the only attempt of each. */
  begin(
    tx: Transaction,
    monitor: TestedMonitor,
  ): Promise<{ readonly reference: TestMailReference; readonly claimed: readonly ClaimedDelivery[] }>;
  /** Sends the mails. Resolves when their results are stored. */
  send(claimed: readonly ClaimedDelivery[]): Promise<void>;
  /** Returns the result for every address, in the order of the monitor. */
  read(sql: Queryable, reference: TestMailReference): Promise<readonly TestMailResult[]>;
  /** Time that a test takes at most, milliseconds, the storing of its results included. */
  readonly mostMs: number;
}

/** Time beyond the limit of an attempt after which its process counts as stopped, milliseconds. */
const GRACE_MS = 20_000;
const NO_SERVER = "This service has no mail server. Its operator sets VANTAGE_SMTP_URL and VANTAGE_MAIL_FROM.";
const NOT_CONFIRMED = "The owner of this address has not confirmed it. The link is in the mail that asks for it.";
const UNSUBSCRIBED = "The owner of this address has unsubscribed. Only its owner can undo that.";
const UNKNOWN = "The process that sent it stopped before it stored the result: the mail may have arrived.";

/** Creates the test mails of one replica. `deliveries` is null if there is no mail server. */
export function createTestMails({
  clock,
  random,
  recipients,
  deliveries,
}: Pick<App, "clock" | "random"> & {
  readonly recipients: {
    readonly recipientsOf: Recipients["recipientsOf"];
    /** Whether addresses are confirmed, and when their owners have unsubscribed. */
    statusOf(
      sql: Queryable,
      accountId: number,
      emails: readonly string[],
    ): Promise<readonly { readonly email: string; readonly unsubscribedAt?: Date | null }[]>;
  };
  readonly deliveries: Pick<Deliveries, "attempt" | "claimNew" | "results"> | null;
}): TestMails {
  const mostMs = TEST_MAIL_MS + GRACE_MS;
  return {
    mostMs,
    async begin(tx, { accountId, id, name, emails }) {
      const [receivers = []] = await recipients.recipientsOf(tx, [{ accountId, emails }]);
      const byEmail = new Map(receivers.map((one) => [addressKey(one.recipient ?? ""), one]));
      const statuses = await recipients.statusOf(tx, accountId, emails);
      const left = new Set(statuses.flatMap((one) => (one.unsubscribedAt ? addressKey(one.email) : [])));
      const data = { message: "This is a test mail.", monitor: { id, name } };
      const about = { monitorId: id, incidentId: null, isFlapping: false };
      const event = { ...about, accountId, type: "test" as const, createdAt: clock.now(), data };
      const [eventId = ""] =
        receivers.length === 0 || deliveries === null ? [] : await storeEvents(tx, random, [{ event, receivers: [] }]);
      const claimed: ClaimedDelivery[] = [];
      const plans: Plan[] = [];
      for (const email of emails) {
        const receiver = byEmail.get(addressKey(email));
        if (receiver === undefined) plans.push({ email, ...reasonFor(left.has(addressKey(email))) });
        else if (deliveries === null) plans.push({ email, status: "failed", message: NO_SERVER });
        else {
          const delivery = await deliveries.claimNew(tx, { accountId, eventId, channel: "mail", ...receiver }, mostMs);
          claimed.push(delivery);
          plans.push({ email, deliveryId: delivery.id });
        }
      }
      return { reference: { accountId, plans }, claimed };
    },
    async send(claimed) {
      if (deliveries !== null) await Promise.all(claimed.map((delivery) => deliveries.attempt(delivery)));
    },
    async read(sql, { accountId, plans }) {
      const ids = plans.flatMap((plan) => ("deliveryId" in plan ? plan.deliveryId : []));
      const results = ids.length === 0 || deliveries === null ? [] : await deliveries.results(sql, accountId, ids);
      const byId = new Map(results.map((result) => [result.id, result]));
      return plans.map((plan): TestMailResult => {
        if ("status" in plan) return plan;
        const { email } = plan;
        const { status, responseCode, error } = byId.get(plan.deliveryId) ?? {};
        if (status === "delivered")
          return { email, status: "sent", message: `Taken by the mail server (${responseCode}).` };
        return { email, status: "failed", message: error ?? UNKNOWN };
      });
    },
  };
}

function reasonFor(isUnsubscribed: boolean) {
  return isUnsubscribed
    ? ({ status: "unsubscribed", message: UNSUBSCRIBED } as const)
    : ({ status: "not_confirmed", message: NOT_CONFIRMED } as const);
}
