import type { HealthSnapshot, TlsFacts } from "#probe-agent/analysis/site/snapshot.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";

/** A page without faults. */
export const GOOD_HTML =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Site</title>' +
  '<meta name="description" content="What it is"><meta name="viewport" content="width=device-width, initial-scale=1">';

/** TLS without faults. */
export const GOOD_TLS: TlsFacts = {
  known: true,
  offered: true,
  why: "",
  trusted: true,
  errors: [],
  reasons: [],
  revocationLimits: [],
  daysLeft: 60,
  lifetimeDays: 90,
  key: "ec 256, ecdsa-with-SHA256",
  keyStrong: true,
  signatureStrong: true,
  versions: { ssl3: false, below1_2: false, tls1_2: true, tls1_3: true },
  suites: { known: true, broken: null, open: false, fixed: null, cbc: null },
};

/** A site that earns every point. */
export const PERFECT: HealthSnapshot = {
  url: "https://example.com/",
  finalUrl: "https://example.com/",
  now: new Date("2026-03-01T00:00:00Z"),
  status: 200,
  httpVersion: "2",
  headers: [
    ["content-type", "text/html; charset=utf-8"],
    ["content-security-policy", "default-src 'none'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'"],
    ["strict-transport-security", "max-age=63072000; includeSubDomains"],
    ["x-content-type-options", "nosniff"],
    ["referrer-policy", "no-referrer"],
    ["permissions-policy", "camera=(), microphone=()"],
    ["cross-origin-opener-policy", "same-origin"],
    ["cross-origin-resource-policy", "same-origin"],
    ["cache-control", "no-cache"],
    ["etag", '"1"'],
    ["set-cookie", "__Host-session=1; Secure; HttpOnly; SameSite=Lax; Path=/"],
  ],
  redirects: 0,
  totalMs: 300,
  ttfbSamplesMs: [100, 120, 90],
  body: { transferredBytes: 9000, decodedBytes: 30_000, encoding: "br", error: null, truncated: false },
  page: readHtml(GOOD_HTML, { encoding: "utf-8", source: "header" }),
  tls: GOOD_TLS,
  http: {
    known: true,
    open: true,
    route: [
      { url: "http://example.com/", status: 301 },
      { url: "https://example.com/", status: 200 },
    ],
  },
  preloaded: false,
  robots: { known: true, status: 404, url: "https://example.com/robots.txt", text: null },
  securityTxt: {
    known: true,
    status: 200,
    url: "https://example.com/.well-known/security.txt",
    text: "Contact: mailto:security@example.com\nExpires: 2026-12-31T00:00:00Z\n",
  },
  ipv6: { known: true, address: "2001:db8::1", answers: true, why: "The site answers over IPv6." },
};

/** A site over plain HTTP, with port 443 closed and without security headers. */
export const BARE: HealthSnapshot = {
  ...PERFECT,
  url: "http://example.com/",
  finalUrl: "http://example.com/",
  httpVersion: "1.1",
  headers: [["content-type", "text/html"]],
  page: readHtml("<p>hello"),
  body: { ...PERFECT.body, encoding: null },
  tls: { ...GOOD_TLS, offered: false, trusted: false, why: "Port 443: connection refused." },
  http: { known: true, open: true, route: [{ url: "http://example.com/", status: 200 }] },
  securityTxt: { known: true, status: 404, url: "http://example.com/.well-known/security.txt", text: null },
  ipv6: unknown("This probe cannot reach IPv6 addresses."),
};
