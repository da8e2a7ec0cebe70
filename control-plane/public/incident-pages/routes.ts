import { Type } from "typebox";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { acceptAnyBody } from "#control-plane/http/any-body.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import type { ErrorRenderer } from "#control-plane/http/request.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import type { Found, IncidentPages } from "#control-plane/public/incident-pages/incident-pages.ts";
import { renderPage } from "#control-plane/public/incident-pages/page.ts";
import { POLICY } from "#control-plane/public/incident-pages/style.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";
import { PAGE_POLICY, renderMessage } from "#control-plane/core/pages/layout.ts";

/** Maximum number of requests per client address and minute: pages, pictures and acknowledgements together. */
const PER_MINUTE = 60;
const PATH = "/i/:token";
const UNKNOWN = "This link is not valid. Open it as it is in the mail.";
const EXPIRED = "This link has expired: links in mails work for 30 days.";
const ENDED = "This link has ended: the person to whom it was mailed is no member of the account any more.";

const HTML = Type.String({ description: "A page" });
const DOCUMENTED = { tag: "Incidents", security: "none", plain: "text/html", data: HTML } as const;
const ERRORS = ["not_found", "gone", "rate_limit_exceeded"] as const;

const renderError: ErrorRenderer = ({ code, details }, _request, reply) => {
  describe(reply, PAGE_POLICY);
  return String(renderMessage(code === "gone" ? "Expired" : "Not available", details.message));
};

/**
 * Registers GET and POST /i/<token>, where the links of alert mails lead, and the pictures below it. The token says all:
 * no key is asked. GET changes nothing, because programs open links in mails; POST acknowledges the incident.
 */
export function registerIncidentPages(
  server: FastifyInstance,
  { clock, pages }: { readonly clock: Clock; readonly pages: IncidentPages },
): void {
  const visits = createAddressLimiter({ clock, limit: PER_MINUTE, windowSeconds: 60 });
  const shared = { config: { renderError } };
  server.route<{ Params: { token: string } }>({
    ...shared,
    method: "GET",
    url: PATH,
    schema: operation({
      ...DOCUMENTED,
      id: "show_incident_page",
      summary: "Show the incident that a mail is about",
      description: "The token is the one in the link of the mail, and works for 30 days.",
      errors: ERRORS,
    }),
    async handler(request, reply) {
      takeVisit(visits, request);
      const page = valueOf(await pages.show(request.params.token));
      describe(reply, POLICY);
      return String(renderPage(page));
    },
  });
  server.route<{ Params: { token: string; picture: string } }>({
    ...shared,
    method: "GET",
    url: `${PATH}/:picture`,
    schema: { hide: true },
    async handler(request, reply) {
      takeVisit(visits, request);
      const content = valueOf(await pages.picture(request.params.token, request.params.picture));
      reply.type("image/png").header("x-robots-tag", "noindex");
      return reply.header("content-security-policy", "default-src 'none'; sandbox").send(Buffer.from(content));
    },
  });
  void server.register(async (scope) => {
    acceptAnyBody(scope);
    scope.route<{ Params: { token: string } }>({
      ...shared,
      method: "POST",
      url: PATH,
      schema: operation({
        ...DOCUMENTED,
        id: "acknowledge_by_mail",
        summary: "Acknowledge the incident that a mail is about",
        description: "A repetition changes nothing.",
        errors: ERRORS,
      }),
      async handler(request, reply) {
        takeVisit(visits, request);
        const page = valueOf(await pages.acknowledge(request.params.token));
        describe(reply, POLICY);
        return String(renderPage(page));
      },
    });
  });
}

function valueOf<T>(found: Found<T>): T {
  if (found.kind === "ended") throw new Refusal("gone", ENDED);
  if (found.kind === "expired") throw new Refusal("gone", EXPIRED);
  if (found.kind === "unknown") throw new Refusal("not_found", UNKNOWN);
  return found.value;
}

function describe(reply: FastifyReply, policy: string): void {
  reply.type("text/html; charset=utf-8").header("content-security-policy", policy);
  // The address is the secret: no cache, no index and no other site may learn it.
  reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer", "x-robots-tag": "noindex" });
}
