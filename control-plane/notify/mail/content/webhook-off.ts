import type { WebhookEventData } from "#control-plane/notify/events/webhook-event.ts";
import type { NoticeText } from "#control-plane/notify/mail/content/notice-text.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";

const MOST_TEXT = 200;

/** Writes about a webhook that the service made inactive. `name` is that of the webhook. */
export function describeDeactivated(data: WebhookEventData, name: string): NoticeText {
  const { webhook, reason, failing_since: since, failures } = data;
  const cause =
    reason === "gone"
      ? "The receiver answered 410: it takes no more events"
      : `${failures ?? 0} attempts failed in a row`;
  return {
    label: "Webhook turned off",
    counted: "webhooks turned off",
    headline: `The webhook ${name} was turned off. It gets no events until you turn it on again.`,
    facts: [
      ["Cause", cause],
      ...(since === null ? [] : ([["Failing since", formatTime(new Date(since))]] as const)),
      ["Receiver", toPlainLine(webhook.address, MOST_TEXT)],
    ],
  };
}
