import { fastifyCookie } from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { DEVICE_SECONDS } from "#control-plane/people/users/devices.ts";

const NAME = "vantage_session";
const DEVICE_NAME = "vantage_device";
/** Life of the cookie, seconds: that of a session. */
const LIFE_SECONDS = 90 * 86_400;

/** Returns the value of the session's cookie; null if there is none. */
export function sessionCookie(request: FastifyRequest): string | null {
  return request.cookies[NAME] ?? null;
}

/** Returns the same of a request to a route outside of the dashboard, where cookies are not read. */
export function sessionCookieOf({ headers }: FastifyRequest): string | null {
  return fastifyCookie.parse(headers.cookie ?? "")[NAME] ?? null;
}

/** Sets the session's cookie. `isSecure`: the service is reached under https. */
export function setSessionCookie(reply: FastifyReply, token: string, isSecure: boolean): void {
  void reply.setCookie(NAME, token, { ...howFor(reply, isSecure), maxAge: LIFE_SECONDS });
}

/** Removes the session's cookie. */
export function clearSessionCookie(reply: FastifyReply, isSecure: boolean): void {
  void reply.clearCookie(NAME, howFor(reply, isSecure));
}

/** Returns the value of the cookie of the client's device; null if there is none. */
export function deviceCookie(request: FastifyRequest): string | null {
  return request.cookies[DEVICE_NAME] ?? null;
}

/** Sets the cookie of the client's device, which outlives sessions. `isSecure`: as for the session's. */
export function setDeviceCookie(reply: FastifyReply, value: string, isSecure: boolean): void {
  void reply.setCookie(DEVICE_NAME, value, { ...howFor(reply, isSecure), maxAge: DEVICE_SECONDS });
}

/** Other services at the host of a base path do not get the cookies. */
function howFor({ request }: FastifyReply, isSecure: boolean) {
  return { path: request.basePath || "/", httpOnly: true, sameSite: "lax", secure: isSecure } as const;
}
