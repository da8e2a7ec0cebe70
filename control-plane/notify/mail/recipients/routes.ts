import { Type } from "typebox";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { acceptAnyBody } from "#control-plane/http/any-body.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import type { ErrorRenderer } from "#control-plane/http/request.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";
import type { Subscription } from "#control-plane/notify/mail/recipients/store.ts";
import type { Unsubscriptions } from "#control-plane/notify/mail/recipients/unsubscriptions.ts";
import { PAGE_POLICY, renderDocument, renderMessage } from "#control-plane/core/pages/layout.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** Maximum number of requests per client address and minute. */
const PER_MINUTE = 60;
/** A page sends its form to this service. */
const POLICY = PAGE_POLICY.replace("form-action 'none'", "form-action 'self'");
const UNKNOWN = "This link is not valid, or its address is not known any more.";
const HTML = Type.String({ description: "A page" });
const DOCUMENTED = { tag: "Mail", security: "none", plain: "text/html", data: HTML } as const;
const ERRORS = ["not_found", "rate_limit_exceeded"] as const;

const renderError: ErrorRenderer = ({ details }, _request, reply) => {
  describe(reply);
  return String(renderMessage("Not possible", details.message));
};

/**
 * Registers the links by which recipients of alerts unsubscribe, also by one click (RFC 8058), and by which they ask for
 * a new confirmation. GET shows a button and changes nothing, because programs open links in mails.
 */
export function registerUnsubscription(
  server: FastifyInstance,
  { clock, unsubscriptions }: { readonly clock: Clock; readonly unsubscriptions: Unsubscriptions },
): void {
  const visits = createAddressLimiter({ clock, limit: PER_MINUTE, windowSeconds: 60 });
  const shared = { config: { renderError } };
  server.route<{ Params: { token: string } }>({
    ...shared,
    method: "GET",
    url: "/mail/unsubscribe/:token",
    schema: operation({
      ...DOCUMENTED,
      id: "show_mail_unsubscription",
      summary: "Show the page on which a recipient of alerts ends them",
      errors: ERRORS,
    }),
    async handler(request, reply) {
      takeVisit(visits, request);
      const { token } = request.params;
      return show(reply, token, await unsubscriptions.find(token));
    },
  });
  void server.register(async (scope) => {
    acceptAnyBody(scope);
    scope.route<{ Params: { token: string } }>({
      ...shared,
      method: "POST",
      url: "/mail/unsubscribe/:token",
      schema: operation({
        ...DOCUMENTED,
        id: "unsubscribe_from_alerts",
        summary: "End the alerts to a recipient",
        description: "A repetition changes nothing.",
        errors: ERRORS,
      }),
      async handler(request, reply) {
        takeVisit(visits, request);
        const { token } = request.params;
        return show(reply, token, await unsubscriptions.unsubscribe(token));
      },
    });
    scope.route<{ Params: { token: string } }>({
      ...shared,
      method: "POST",
      url: "/mail/resubscribe/:token",
      schema: operation({
        ...DOCUMENTED,
        id: "resubscribe_to_alerts",
        summary: "Mail a new confirmation link to a recipient that has unsubscribed",
        description: "Within the limits of confirmation mails. The alerts begin again with the confirmation.",
        errors: ERRORS,
      }),
      async handler(request, reply) {
        takeVisit(visits, request);
        const { email } = required(await unsubscriptions.askAgain(request.params.token));
        describe(reply);
        const message = `A link to confirm ${email} is mailed to it, at most once a day.`;
        return String(renderMessage("Check your mail", message));
      },
    });
  });
}

function show(reply: FastifyReply, token: string, given: Subscription | null): string {
  const { email, isUnsubscribed } = required(given);
  describe(reply);
  return String(isUnsubscribed ? renderUnsubscribed(email, token) : renderOffer(email, token));
}

function renderUnsubscribed(email: string, token: string): Html {
  const body = html`
    <h1>Unsubscribed</h1><p>No alerts are sent to <strong>${email}</strong>.</p>
    <form method="post" action="/mail/resubscribe/${token}"><button type="submit">Get alerts again</button></form>`;
  return renderDocument({ title: "Unsubscribed", refreshSeconds: null }, body);
}

function renderOffer(email: string, token: string): Html {
  const body = html`
    <h1>Unsubscribe</h1><p>Alerts will no longer be sent to <strong>${email}</strong>.</p>
    <form method="post" action="/mail/unsubscribe/${token}"><button type="submit">Unsubscribe</button></form>`;
  return renderDocument({ title: "Unsubscribe", refreshSeconds: null }, body);
}

function required(found: Subscription | null): Subscription {
  if (found === null) throw new Refusal("not_found", UNKNOWN);
  return found;
}

function describe(reply: FastifyReply): void {
  reply.type("text/html; charset=utf-8");
  reply.header("content-security-policy", POLICY).header("x-robots-tag", "noindex");
}
