import type { FastifyReply, FastifyRequest } from "fastify";

const NAME = "vantage_session";
/** Life of the cookie, seconds: that of a session. */
const LIFE_SECONDS = 90 * 86_400;

/** Returns the value of the session's cookie; null if there is none. */
export function sessionCookie(request: FastifyRequest): string | null {
  return request.cookies[NAME] ?? null;
}

/** Sets the session's cookie. `isSecure`: the service is reached under https. */
export function setSessionCookie(reply: FastifyReply, token: string, isSecure: boolean): void {
  const how = { path: "/", httpOnly: true, sameSite: "lax", secure: isSecure, maxAge: LIFE_SECONDS } as const;
  void reply.setCookie(NAME, token, how);
}

/** Removes the session's cookie. */
export function clearSessionCookie(reply: FastifyReply, isSecure: boolean): void {
  void reply.clearCookie(NAME, { path: "/", httpOnly: true, sameSite: "lax", secure: isSecure });
}
