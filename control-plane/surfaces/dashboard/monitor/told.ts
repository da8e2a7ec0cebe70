import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { TOLD } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { PlanName } from "#control-plane/core/plans/plans.ts";
import { matchesEvent } from "#control-plane/notify/webhooks/match.ts";
import type { ShownWebhook } from "#control-plane/notify/webhooks/view.ts";

/** What became of the test mail to an address. */
export interface TestedMail {
  readonly email: string;
  readonly status: string;
  readonly message: string;
}

interface Line {
  readonly name: string;
  readonly state: string;
  readonly tone: string;
}

const render: (told: {
  readonly id: number;
  readonly formToken: string;
  readonly summary: string;
  readonly tone: string;
  readonly mails: readonly Line[];
  readonly hooks: readonly Line[];
  readonly canTest: boolean;
  readonly problem: string | null;
}) => string = compileTemplate(`
<section class="card" id="told"><h2>${TOLD.title}</h2><p class="<%= it.tone %>"><%= it.summary %></p>
<% if (it.mails.length > 0) { %><h3>${TOLD.mail}</h3><ul><% for (const line of it.mails) { %><li><%= line.name %> <span class="<%= line.tone %>"><%= line.state %></span></li><% } %></ul><% } %>
<% if (it.hooks.length > 0) { %><h3>${TOLD.webhooks}</h3><ul><% for (const line of it.hooks) { %><li><%= line.name %> <span class="<%= line.tone %>"><%= line.state %></span></li><% } %></ul><% } %>
<% if (it.problem !== null) { %><p class="note bad" role="alert"><%= it.problem %></p><% } %>
<% if (it.canTest) { %><form method="post" action="/app/monitors/<%= it.id %>/test-mail#told"><input type="hidden" name="_csrf" value="<%= it.formToken %>"><button>${TOLD.test}</button></form><% } %>
</section>
`);

/**
 * Renders who gets the notices of a monitor: addresses and subscriptions by their names, and what is missing. `tested`: what
 * became of test mails, or why they were refused; null: none were asked for.
 */
export function renderTold(
  { monitor, formToken, canWrite }: MonitorPage,
  webhooks: readonly ShownWebhook[],
  { plan, tested }: { readonly plan: PlanName; readonly tested: readonly TestedMail[] | string | null },
): string {
  const told = subscribedTo(monitor, webhooks, plan);
  const summary = summarize(monitor, webhooks, plan);
  const problem = typeof tested === "string" ? tested : null;
  const sent = typeof tested === "string" ? [] : (tested ?? []);
  const results = new Map(sent.map((one) => [one.email, one]));
  return render({
    id: monitor.id,
    formToken,
    problem,
    summary: summary ?? `${TOLD.nobody} ${TOLD.states[monitor.notify_state]}`,
    tone: summary === null ? "warn" : "",
    mails:
      monitor.notify_state === "off"
        ? []
        : monitor.notify_emails.map((one) => describeMail(one, results.get(one.email))),
    hooks: told.map(({ id, name, format, is_active: isActive }) => ({
      name: name === "" ? `${TOLD.webhook} ${id}` : name,
      state: isActive ? format : TOLD.inactive,
      tone: isActive ? "faint" : "warn",
    })),
    canTest:
      canWrite && monitor.notify_emails.length > 0 && !["off", "mail_not_configured"].includes(monitor.notify_state),
  });
}

/** Returns by what people get the notices of a monitor: "Mail and one webhook"; null: nobody gets them. */
export function summarize(
  monitor: MonitorPage["monitor"],
  webhooks: readonly ShownWebhook[],
  plan: PlanName,
): string | null {
  const active = subscribedTo(monitor, webhooks, plan).filter((one) => one.is_active);
  const isMailed = monitor.notify_state === "ok";
  return isMailed || active.length > 0 ? TOLD.somebody(isMailed, active.length) : null;
}

function subscribedTo(
  { id, tags }: MonitorPage["monitor"],
  webhooks: readonly ShownWebhook[],
  plan: PlanName,
): readonly ShownWebhook[] {
  const down = { type: "monitor.down", monitorId: id, tags };
  return webhooks.filter(({ events, filter }) => matchesEvent({ plan, events, filter }, down));
}

function describeMail(
  { email, confirmed, unsubscribed_at: left }: MonitorPage["monitor"]["notify_emails"][number],
  tested: TestedMail | undefined,
): Line {
  if (tested !== undefined)
    return { name: email, state: tested.message, tone: tested.status === "sent" ? "good" : "bad" };
  if (left !== null) return { name: email, state: TOLD.unsubscribed, tone: "warn" };
  return confirmed ? { name: email, state: "", tone: "faint" } : { name: email, state: TOLD.unconfirmed, tone: "warn" };
}
