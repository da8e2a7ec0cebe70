import { capital } from "#control-plane/surfaces/dashboard/layout/problems.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { PlanName } from "#control-plane/core/plans.ts";
import { matchesEvent } from "#control-plane/notify/webhooks/match.ts";
import type { ShownWebhook } from "#control-plane/notify/webhooks/resource.ts";

/** What became of the test mail to an address. */
export interface TestedMail {
  readonly email: string;
  readonly status: string;
  readonly message: string;
}

/** Why no mail is sent, by the state of the mail of a monitor; empty: it is sent. */
const MAIL_STATES: Readonly<Record<MonitorPage["monitor"]["notify_state"], string>> = {
  off: "Mail is off for it. Turn it on, or add a webhook.",
  mail_not_configured: "This service sends no mail: its operator has not set a mail server.",
  no_recipient: "No address is confirmed.",
  mail_failing: "The last mail was not accepted by the mail server.",
  ok: "",
};

/**
 * Renders who gets the notices of a monitor: addresses and subscriptions by their names, and what is missing. `tested`: what
 * became of test mails, or why they were refused; null: none were asked for.
 */
export function renderNotifications(
  { monitor, formToken, canWrite }: MonitorPage,
  webhooks: readonly ShownWebhook[],
  { plan, tested }: { readonly plan: PlanName; readonly tested: readonly TestedMail[] | string | null },
): Html {
  const { id, notify_state: state } = monitor;
  const subscribed = subscribedTo(monitor, webhooks, plan);
  const channels = channelsOf(monitor, webhooks, plan);
  const problem = typeof tested === "string" ? tested : null;
  const sent = typeof tested === "string" ? [] : (tested ?? []);
  const results = new Map(sent.map((one) => [one.email, one]));
  const addresses = state === "off" ? [] : monitor.notify_emails;
  const canTest = canWrite && addresses.length > 0 && state !== "mail_not_configured";
  return html`
    <section class="card" id="told">
      <h2>Notifications</h2>
      <p class="${channels === null && "warn"}">${channels ?? `Nobody gets a notification when this monitor fails. ${MAIL_STATES[state]}`}</p>
      ${
        addresses.length > 0 &&
        html`
          <h3>By mail</h3>
          <ul>${addresses.map((one) => renderAddress(one, results.get(one.email)))}</ul>`
      }
      ${subscribed.length > 0 && html`<h3>By webhook</h3><ul>${subscribed.map(renderWebhook)}</ul>`}
      ${problem !== null && html`<p class="note bad" role="alert">${problem}</p>`}
      ${
        canTest &&
        html`
          <form method="post" action="/app/monitors/${id}/test-mail#told">
            <input type="hidden" name="_csrf" value="${formToken}">
            <button>Send a test mail</button>
          </form>`
      }
    </section>`;
}

function renderAddress(
  { email, confirmed, unsubscribed_at: left }: MonitorPage["monitor"]["notify_emails"][number],
  tested: TestedMail | undefined,
): Html {
  if (tested !== undefined) return renderLine(email, tested.message, tested.status === "sent" ? "good" : "bad");
  if (left !== null) return renderLine(email, "has unsubscribed", "warn");
  if (confirmed) return renderLine(email, "", "faint");
  return renderLine(email, "has not confirmed the address yet: the link is in a mail", "warn");
}

function renderWebhook({ id, name, format, is_active: isActive }: ShownWebhook): Html {
  const shown = name === "" ? `webhook ${id}` : name;
  return isActive ? renderLine(shown, format, "faint") : renderLine(shown, "off", "warn");
}

function renderLine(name: string, state: string, tone: string): Html {
  return html`<li>${name} <span class="${tone}">${state}</span></li>`;
}

/** Returns by what people get the notices of a monitor: "Mail and one webhook"; null: nobody gets them. */
export function channelsOf(
  monitor: MonitorPage["monitor"],
  webhooks: readonly ShownWebhook[],
  plan: PlanName,
): string | null {
  const active = subscribedTo(monitor, webhooks, plan).filter((one) => one.is_active).length;
  const hooks = active === 1 ? "one webhook" : `${active} webhooks`;
  if (monitor.notify_state === "ok") return active === 0 ? "Mail" : `Mail and ${hooks}`;
  return active === 0 ? null : capital(hooks);
}

function subscribedTo(
  { id, tags }: MonitorPage["monitor"],
  webhooks: readonly ShownWebhook[],
  plan: PlanName,
): readonly ShownWebhook[] {
  const down = { type: "monitor.down", monitorId: id, tags };
  return webhooks.filter(({ events, filter }) => matchesEvent({ plan, events, filter }, down));
}
