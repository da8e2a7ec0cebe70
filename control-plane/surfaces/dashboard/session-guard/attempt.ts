import type { FastifyReply, FastifyRequest } from "fastify";
import { deviceCookie } from "#control-plane/surfaces/dashboard/session-guard/cookie.ts";
import { waitOf } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import type { Client } from "#control-plane/people/users/sessions.ts";
import type { SignIn } from "#control-plane/people/users/sign-in.ts";

/** When to try again where too many passwords are checked, seconds: those that wait take a few. */
const BUSY_SECONDS = 5;

/** Returns where a request comes from; its session, once the session guard has looked for it. */
export function clientOf(request: FastifyRequest): Client {
  const { clientAddress: address, headers, session, raw } = request;
  const userAgent = headers["user-agent"] ?? "";
  return { address, userAgent, device: deviceCookie(request), session, isGone: () => raw.socket.destroyed };
}

/** Sets the status of a sign-in that failed, and Retry-After. Returns the sentence that says why. */
export function refuse(reply: FastifyReply, failed: Exclude<SignIn, { readonly kind: "ok" }>): string {
  switch (failed.kind) {
    case "wrong":
      reply.code(403);
      return "Email or password is wrong.";
    case "homeless":
      reply.code(403);
      return "You are not a member of any account any more. Ask an owner for an invite.";
    case "busy":
      reply.code(503).header("retry-after", String(BUSY_SECONDS));
      return "Too many people sign in at this moment. Try again in a few seconds.";
    case "limited":
      reply.code(429).header("retry-after", String(failed.retryAfterSeconds));
      return `Too many failed sign-ins. Wait ${waitOf(failed.retryAfterSeconds)}.`;
  }
}
