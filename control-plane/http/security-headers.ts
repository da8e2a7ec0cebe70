import type { FastifyInstance } from "fastify";

/** For answers that are data: nothing in them may run, be framed, or be kept by a cache on the way. */
const DATA = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
} as const;

/** For the pages of the API reference, which bring script and style of their own and call this server alone. */
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

/** Sets what every answer tells a browser; a route may say otherwise. `secure`: this server itself speaks TLS. */
export function setSecurityHeaders(server: FastifyInstance, secure: boolean): void {
  const names = Object.keys(DATA) as (keyof typeof DATA)[];
  server.addHook("onRequest", (request, reply, done) => {
    for (const name of names) reply.header(name, DATA[name]);
    if (secure) reply.header("strict-transport-security", HSTS);
    if (request.raw.url?.startsWith("/docs") === true) reply.header("content-security-policy", PAGES_POLICY);
    done();
  });
}
