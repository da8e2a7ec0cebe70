import { Type } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";
import type { LinkState, Recipients } from "#control-plane/notify/mail/recipients/recipients.ts";
import { PAGE_POLICY, renderMessage, renderDocument } from "#control-plane/core/pages/layout.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** A link that leads to an address. */
type ValidLink = Exclude<LinkState, { readonly kind: "unknown" }>;

/** Renders what a confirmation link leads to. Programs that open links in mails do not press its button. */
function renderLink({ kind, email }: ValidLink): Html {
  if (kind === "used") {
    const way = { path: "/app/monitors", label: "To the monitors" };
    return renderMessage("Address confirmed", `Alerts are sent to ${email}.`, way);
  }
  const body = html`
    <h1>Confirm this address</h1>
    <p>Alerts about websites will be sent to <strong>${email}</strong>.</p>
    <form method="post"><button type="submit">Confirm</button></form>`;
  return renderDocument({ title: "Confirm this address", refreshSeconds: null }, body);
}

/** Maximum number of requests for confirmation links per client address and minute. */
const PER_MINUTE = 60;
const URL = "/mail/confirm/:token";
/** The page sends its form to its own address. */
const POLICY = PAGE_POLICY.replace("form-action 'none'", "form-action 'self'");
const UNKNOWN_LINK =
  "This link is not valid, has expired, or was replaced by a newer one. Save the monitor again to get a new mail.";
const HTML = Type.String({ description: "A page" });

/**
 * Registers GET and POST /mail/confirm/<token>. GET shows a page with a button and changes nothing, because programs
 * open links in mails; POST confirms the address.
 */
export function registerConfirmation(
  server: FastifyInstance,
  { clock, recipients }: { readonly clock: Clock; readonly recipients: Recipients },
): void {
  const visits = createAddressLimiter({ clock, limit: PER_MINUTE, windowSeconds: 60 });
  const shared = {
    url: URL,
    config: {
      renderError: (
        { details }: { readonly details: { readonly message: string } },
        _: unknown,
        reply: FastifyReply,
      ) => {
        describe(reply);
        return String(renderMessage("Not available", details.message));
      },
    },
  };
  const documented = { tag: "Mail", security: "none", plain: "text/html", data: HTML } as const;
  const errors = ["not_found", "rate_limit_exceeded"] as const;
  server.route<{ Params: { token: string } }>({
    ...shared,
    method: "GET",
    schema: operation({
      ...documented,
      id: "show_mail_confirmation",
      summary: "Show the page on which the owner of a mail address confirms it",
      description: "The token is the one in the link of the confirmation mail.",
      errors,
    }),
    handler: async (request, reply) => {
      limit(visits, request);
      return show(reply, await recipients.findLink(request.params.token));
    },
  });
  server.route<{ Params: { token: string } }>({
    ...shared,
    method: "POST",
    schema: operation({
      ...documented,
      id: "confirm_mail_address",
      summary: "Confirm a mail address, so that alerts are sent to it",
      description: "Each token works once, for 7 days.",
      errors,
    }),
    handler: async (request, reply) => {
      limit(visits, request);
      return show(reply, await recipients.confirm(request.params.token));
    },
  });
}

function limit(visits: AddressLimiter, request: FastifyRequest): void {
  const { ok, retryAfterSeconds } = visits.take(request.clientAddress);
  if (ok) return;
  throw new Refusal("rate_limit_exceeded", {
    message: `Too many requests from your address. Wait ${retryAfterSeconds} s.`,
    headers: { "retry-after": String(retryAfterSeconds) },
  });
}

function show(reply: FastifyReply, link: LinkState): string {
  if (link.kind === "unknown") throw new Refusal("not_found", UNKNOWN_LINK);
  describe(reply);
  return String(renderLink(link));
}

function describe(reply: FastifyReply): void {
  reply.type("text/html; charset=utf-8");
  reply.header("content-security-policy", POLICY).header("x-robots-tag", "noindex");
}
