import { Type } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { App } from "#control-plane/core/app.ts";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import { acceptAnyBody } from "#control-plane/http/any-body.ts";
import { rawParams } from "#control-plane/http/body.ts";
import { notFound } from "#control-plane/http/error-handler.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";
import { policyOf } from "#control-plane/public/status-pages/render/html/frame.ts";
import {
  NO_PLACE,
  renderMessagePage,
  renderQuestionPage,
  type MessagePlace,
} from "#control-plane/public/status-pages/render/html/messages.ts";
import { lookOf } from "#control-plane/public/status-pages/look.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import type { Subscriber } from "#control-plane/public/status-pages/subscribers/store.ts";
import type { LinkKind } from "#control-plane/public/status-pages/subscribers/links.ts";
import type { Subscribers } from "#control-plane/public/status-pages/subscribers/subscribers.ts";

/** Maximum number of subscriptions, and of visits of links, per client address and minute. */
const SUBSCRIPTIONS_PER_MINUTE = 10;
const VISITS_PER_MINUTE = 60;
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

/** Dependencies of the routes. */
interface SubscriptionRoutesDeps extends Pick<App, "clock"> {
  readonly pages: Pick<StatusPages, "subscribable" | "slugOfDomain">;
  readonly subscribers: Subscribers;
}

const CONFIG = {
  isOfPage: true,
  renderError: ({ details }: { readonly details: { readonly message: string } }, _: unknown, reply: FastifyReply) => {
    describe(reply, NO_PLACE);
    return String(renderMessagePage(NO_PLACE, "Not possible", details.message));
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
      return subscribe(request, reply, { slug: request.params.slug, base: `/status/${request.params.slug}` });
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
      return subscribe(request, reply, { slug, base: "" });
    },
  });

  async function subscribe(
    request: FastifyRequest,
    reply: FastifyReply,
    { slug, base }: { readonly slug: string; readonly base: string },
  ): Promise<string> {
    const page = await deps.pages.subscribable(slug);
    if (page === null || deps.subscribers.sender === null) throw new Refusal("not_found", NO_PAGE);
    const { email } = rawParams(request).values;
    const isAddress = typeof email === "string" && (await deps.subscribers.subscribe(page, email));
    if (!isAddress) {
      throw refuseField({ field: "email", reason: "type", message: "must be a mail address such as me@example.com" });
    }
    const place = { site: page.title, base, look: lookOf(page) };
    describe(reply, place);
    const message = "We have sent you a mail. Open the link in it to confirm your address.";
    return String(renderMessagePage(place, "Check your mail", message));
  }
}

/**
 * Registers the links in mails. GET of a link shows a page with a button and changes nothing, because programs open
 * links in mails; POST does it, also by one click (RFC 8058).
 */
function registerLinks(server: FastifyInstance, deps: SubscriptionRoutesDeps): void {
  const visits = limiter(deps, VISITS_PER_MINUTE);
  for (const kind of ["confirm", "unsubscribe"] as const) {
    for (const prefix of ["/status/:slug", ""] as const) {
      registerLink(server, deps, { kind, prefix, visits });
    }
  }
}

/** A kind of link, at the service or (with the prefix "") at a page's own domain. */
interface LinkRoute {
  readonly kind: LinkKind;
  readonly prefix: "/status/:slug" | "";
  readonly visits: AddressLimiter;
}

function registerLink(
  server: FastifyInstance,
  deps: SubscriptionRoutesDeps,
  { kind, prefix, visits }: LinkRoute,
): void {
  const shared = { url: `${prefix}/${kind}/:token`, config: CONFIG };
  const errors = ["not_found", "rate_limit_exceeded"] as const;
  const documented = (id: string, summary: string) =>
    prefix === "" ? { hide: true } : operation({ ...DOCUMENTED, id, summary, errors });

  /** Returns the subscriber of a link. A page's own domain has the links of its subscribers alone. */
  async function find(request: FastifyRequest): Promise<Subscriber> {
    take(visits, request);
    const { token } = request.params as { readonly token: string };
    const found = await deps.subscribers.findLink(kind, token);
    const isHere = prefix !== "" || deps.pages.slugOfDomain(request.headers.host ?? "") === found?.slug;
    if (found === null || !isHere) throw new Refusal("not_found", NO_LINK);
    return found;
  }

  const placeOf = (found: Subscriber): MessagePlace => ({
    site: found.title,
    base: prefix === "" ? "" : `/status/${found.slug}`,
    look: lookOf(found),
  });

  server.route({
    ...shared,
    method: "GET",
    schema: documented(`show_status_${kind}`, `Show the page of a link to ${kind}`),
    handler: async (request, reply) => {
      const found = await find(request);
      const place = placeOf(found);
      describe(reply, place);
      const { heading, text, button } = WORDS[kind];
      return String(renderQuestionPage(place, { heading, text, button, email: found.email }));
    },
  });
  // In a scope of its own: other routes accept JSON and forms only.
  void server.register(async (scope) => {
    acceptAnyBody(scope);
    scope.route<{ Params: { token: string } }>({
      ...shared,
      method: "POST",
      schema:
        kind === "confirm"
          ? documented("confirm_status_subscription", "Confirm a subscription")
          : documented("unsubscribe_from_status", "End a subscription"),
      handler: async (request, reply) => {
        await find(request);
        const found = await act(deps.subscribers, kind, request.params.token);
        const place = placeOf(found);
        describe(reply, place);
        const { done, message } = WORDS[kind];
        return String(renderMessagePage(place, done, message(found.email, found.title)));
      },
    });
  });
}

async function act(subscribers: Subscribers, kind: LinkKind, token: string): Promise<Subscriber> {
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

/** A page sends its form to its own address. */
function describe(reply: FastifyReply, { look }: MessagePlace): void {
  reply.type("text/html; charset=utf-8");
  reply.header("content-security-policy", policyOf({ ...look, canSubscribe: true })).header("x-robots-tag", "noindex");
}
