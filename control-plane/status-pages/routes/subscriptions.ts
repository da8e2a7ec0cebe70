import { Type } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/clock.ts";
import type { AddressLimiter } from "#control-plane/access/ports.ts";
import { acceptAnyBody } from "#control-plane/http/any-body.ts";
import { rawParams } from "#control-plane/http/body.ts";
import { notFound } from "#control-plane/http/error-handler.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { createAddressLimiter } from "#control-plane/limits/address.ts";
import { PAGE_POLICY, renderDocument, renderMessage } from "#control-plane/pages/frame.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";
import type { StatusPages } from "#control-plane/status-pages/status-pages.ts";
import type { LinkKind } from "#control-plane/status-pages/subscribers/links.ts";
import type { Subscribers } from "#control-plane/status-pages/subscribers/subscribers.ts";

/** Maximum number of subscriptions, and of visits of links, per client address and minute. */
const SUBSCRIPTIONS_PER_MINUTE = 10;
const VISITS_PER_MINUTE = 60;
/** A page sends its form to its own address. */
const POLICY = PAGE_POLICY.replace("form-action 'none'", "form-action 'self'");
const HTML = Type.String({ description: "A page" });
const BODY = Type.Object({
  email: Type.String({
    maxLength: 254,
    examples: ["visitor@example.com"],
    description: "Mail address. A link is mailed to it; nothing else is mailed before its owner opens the link",
  }),
});
const NO_PAGE = "No status page has this address, or it has no subscriptions.";
const NO_LINK = "This link is not valid, has expired, or is not needed any more.";

const WORDS = {
  confirm: {
    heading: "Confirm your subscription",
    text: "Incidents and maintenance of this status page will be mailed to",
    button: "Subscribe",
    done: "Subscribed",
    message: (email: string, title: string) => `The incidents of "${title}" are mailed to ${email}.`,
  },
  unsubscribe: {
    heading: "Unsubscribe",
    text: "Mails of this status page will no longer be sent to",
    button: "Unsubscribe",
    done: "Unsubscribed",
    message: (email: string, title: string) => `Nothing of "${title}" is mailed to ${email} any more.`,
  },
} as const;

const renderForm: (page: {
  readonly heading: string;
  readonly text: string;
  readonly email: string;
  readonly button: string;
}) => string = compileTemplate(`
<h1><%= it.heading %></h1>
<p><%= it.text %> <strong><%= it.email %></strong>.</p>
<form method="post"><button type="submit"><%= it.button %></button></form>
`);

/** Dependencies of the routes. */
interface SubscriptionRoutesDeps {
  readonly clock: Clock;
  readonly pages: Pick<StatusPages, "subscribable" | "slugOfDomain">;
  readonly subscribers: Subscribers;
}

const CONFIG = {
  isOfPage: true,
  renderError: ({ details }: { readonly details: { readonly message: string } }, _: unknown, reply: FastifyReply) => {
    describe(reply);
    return renderMessage("Not possible", details.message);
  },
} as const;
const DOCUMENTED = { tag: "Status pages", security: "none", plain: "text/html", data: HTML } as const;

/** Registers POST /status/<slug>/subscribe, and the links in mails to subscribers. */
export function registerSubscriptions(server: FastifyInstance, deps: SubscriptionRoutesDeps): void {
  registerForm(server, deps);
  registerLinks(server, deps);
}

function registerForm(server: FastifyInstance, deps: SubscriptionRoutesDeps): void {
  const subscriptions = limiter(deps, SUBSCRIPTIONS_PER_MINUTE);
  server.route<{ Params: { slug: string } }>({
    method: "POST",
    url: "/status/:slug/subscribe",
    config: CONFIG,
    schema: operation({
      ...DOCUMENTED,
      id: "subscribe_to_status",
      summary: "Subscribe a mail address to a status page",
      description: "The answer is the same whether the address is subscribed or not.",
      body: BODY,
      errors: ["missing_parameter", "not_found", "rate_limit_exceeded"],
    }),
    handler(request, reply) {
      take(subscriptions, request);
      return subscribe(request, reply, request.params.slug);
    },
  });
  // The same at a page's own domain.
  server.route({
    method: "POST",
    url: "/subscribe",
    config: CONFIG,
    schema: { hide: true },
    handler(request, reply) {
      take(subscriptions, request);
      const slug = deps.pages.slugOfDomain(request.headers.host ?? "");
      if (slug === null) throw notFound();
      return subscribe(request, reply, slug);
    },
  });

  async function subscribe(request: FastifyRequest, reply: FastifyReply, slug: string): Promise<string> {
    const page = await deps.pages.subscribable(slug);
    if (page === null || deps.subscribers.sender === null) throw new Refusal("not_found", NO_PAGE);
    const { email } = rawParams(request).values;
    const isAddress = typeof email === "string" && (await deps.subscribers.subscribe(page, email));
    if (!isAddress) {
      throw refuseField({ field: "email", reason: "type", message: "must be a mail address such as me@example.com" });
    }
    describe(reply);
    return renderMessage("Check your mail", "Open the link in the mail that we have sent to confirm your address.");
  }
}

/**
 * Registers the links in mails. GET of a link shows a page with a button and changes nothing, because programs open
 * links in mails; POST does it, also by one click (RFC 8058).
 */
function registerLinks(server: FastifyInstance, deps: SubscriptionRoutesDeps): void {
  const visits = limiter(deps, VISITS_PER_MINUTE);
  for (const kind of ["confirm", "unsubscribe"] as const) {
    const shared = { url: `/status/:slug/${kind}/:token`, config: CONFIG };
    const errors = ["not_found", "rate_limit_exceeded"] as const;
    server.route<{ Params: { token: string } }>({
      ...shared,
      method: "GET",
      schema: operation({
        ...DOCUMENTED,
        id: `show_status_${kind}`,
        summary: `Show the page of a link to ${kind}`,
        errors,
      }),
      handler: async (request, reply) => {
        take(visits, request);
        const found = await deps.subscribers.findLink(kind, request.params.token);
        if (found === null) throw new Refusal("not_found", NO_LINK);
        describe(reply);
        const { heading, text, button } = WORDS[kind];
        return renderDocument(
          { title: heading, refreshSeconds: null },
          renderForm({ heading, text, button, email: found.email }),
        );
      },
    });
    // In a scope of its own: other routes accept JSON and forms only.
    void server.register(async (scope) => {
      acceptAnyBody(scope);
      scope.route<{ Params: { token: string } }>({
        ...shared,
        method: "POST",
        schema: operation({
          ...DOCUMENTED,
          id: kind === "confirm" ? "confirm_status_subscription" : "unsubscribe_from_status",
          summary: kind === "confirm" ? "Confirm a subscription" : "End a subscription",
          errors,
        }),
        handler: async (request, reply) => {
          take(visits, request);
          const found = await act(deps.subscribers, kind, request.params.token);
          describe(reply);
          return renderMessage(WORDS[kind].done, WORDS[kind].message(found.email, found.title));
        },
      });
    });
  }
}

async function act(subscribers: Subscribers, kind: LinkKind, token: string) {
  const found = kind === "confirm" ? await subscribers.confirm(token) : await subscribers.unsubscribe(token);
  if (found === null) throw new Refusal("not_found", NO_LINK);
  return found;
}

function limiter({ clock }: SubscriptionRoutesDeps, limit: number): AddressLimiter {
  return createAddressLimiter({ clock, limit, windowSeconds: 60 });
}

function take(visits: AddressLimiter, request: FastifyRequest): void {
  const { ok, retryAfterSeconds } = visits.take(request.clientAddress);
  if (ok) return;
  throw new Refusal("rate_limit_exceeded", {
    message: `Too many requests from your address. Wait ${retryAfterSeconds} s.`,
    headers: { "retry-after": String(retryAfterSeconds) },
  });
}

function describe(reply: FastifyReply): void {
  reply.type("text/html; charset=utf-8");
  reply.header("content-security-policy", POLICY).header("x-robots-tag", "noindex");
}
