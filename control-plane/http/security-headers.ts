import type { FastifyInstance } from "fastify";

/** Headers of data answers: no scripts, no frames, no caching by intermediaries. */
const DATA = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
} as const;

/** Policy of the API reference pages, which have their own scripts and styles and call only this server. */
const PAGES_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HSTS = "max-age=31536000; includeSubDomains";

/**
 * Sets the security headers of every answer; a route can override them. `secure` is true if this server itself uses
 * TLS.
 */
export function setSecurityHeaders(server: FastifyInstance, secure: boolean): void {
  const names = Object.keys(DATA) as (keyof typeof DATA)[];
  server.addHook("onRequest", (request, reply, done) => {
    for (const name of names) reply.header(name, DATA[name]);
    if (secure) reply.header("strict-transport-security", HSTS);
    if (request.raw.url?.startsWith("/docs") === true) reply.header("content-security-policy", PAGES_POLICY);
    done();
  });
}
