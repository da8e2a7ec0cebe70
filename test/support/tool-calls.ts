import type { StandIns } from "#test/support/stand-ins.ts";
import { SOURCELESS } from "#test/support/stand-ins/outside.ts";
import { ADDRESS } from "#test/support/stand-ins/places.ts";
import { PARTNER } from "#test/support/stand-ins/shop.ts";

/** Parameters in the form of a JSON body. */
export type Call = Readonly<Record<string, string | number | boolean>>;

/** How to call one tool. */
export interface ToolCall {
  /** A call that shows the tool's full result. */
  readonly good: (world: StandIns) => Call;
  /** Without raw sockets, the good call fails with source probe. */
  readonly needsRawSockets?: true;
  /** For documents, if another call shows more than the one that all surfaces accept. */
  readonly shown?: (world: StandIns) => Call;
  /**
   * A call that fails because of its target, or because of a service that the tool needs. A sentence explains why no
   * target can make the tool fail.
   */
  readonly dead: ((world: DeadWorld) => Call) | string;
  /** Source of the failure of the dead call. Default: the target. */
  readonly deadSource?: "service";
}

/** Targets of the dead calls. */
export interface DeadWorld {
  /** A URL of the shop's host on a port without a listener. */
  readonly url: string;
  readonly port: number;
}

const onUrl = (path = "/"): ToolCall => ({
  good: ({ https }) => ({ url: `${https}${path}` }),
  dead: ({ url }) => ({ url }),
});
const onSite = (more: (origin: string) => Call = () => ({})): ToolCall => ({
  good: ({ https }) => ({ domain: https, ...more(https) }),
  dead: ({ url }) => ({ domain: url }),
});
/** For tools that only read the DNS, a resolver that does not answer is a result. */
const UNANSWERED = "what a resolver says, or that it says nothing, is the result";
const NOWHERE = "nowhere.shop.test";

const HEADERS = [
  "Received: from mail.shop.test (mail.shop.test [8.8.8.8]) by mx.example.net with ESMTPS id 4f1",
  " (version=TLSv1_3 cipher=TLS_AES_256_GCM_SHA384); Wed, 04 Mar 2026 10:00:07 +0000",
  "Received: from workshop.shop.test (unknown [198.51.100.7]) by mail.shop.test with ESMTPSA id 77;",
  " Wed, 04 Mar 2026 10:00:02 +0000",
  "Authentication-Results: mx.example.net; spf=pass smtp.mailfrom=shop.test; dkim=pass header.d=shop.test",
  " header.s=default; dmarc=pass header.from=shop.test",
  "Return-Path: <news@shop.test>",
  "Date: Wed, 04 Mar 2026 10:00:00 +0000",
  "From: =?utf-8?Q?Oak_=26_Lumen?= <news@shop.test>",
  "To: you@example.net",
  "Message-ID: <20260304-4@shop.test>",
  "Subject: =?utf-8?B?TmV3IGxhbXBzIGZvciBNYXJjaA==?=",
  "List-Unsubscribe: <https://shop.test/unsubscribe?u=4>",
  "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
].join("\r\n");

/** Every tool of the catalogue with its calls. test/e2e/every-surface.test.ts checks that it is complete. */
export const TOOL_CALLS: Readonly<Record<string, ToolCall>> = {
  check: onUrl(),
  dns: {
    good: () => ({ domain: "shop.test", types: "A,MX,TXT" }),
    shown: () => ({ domain: "shop.test", types: "A,MX,TXT", dnssec: true }),
    dead: UNANSWERED,
  },
  ssl: {
    good: ({ ports }) => ({ host: "shop.test", port: ports.https }),
    dead: ({ port }) => ({ host: "shop.test", port }),
  },
  ip: { good: () => ({ host: "dns.google" }), dead: () => ({ host: NOWHERE }) },
  ping: { good: () => ({ host: "shop.test", count: 4 }), dead: () => ({ host: NOWHERE }) },
  health: onUrl(),
  cookie: onUrl(),
  cors: {
    good: ({ https }) => ({ url: `${https}/api/stock.json`, origin: PARTNER }),
    dead: ({ url }) => ({ url }),
  },
  csp: onUrl(),
  "http-status": onUrl("/old"),
  redirects: { good: ({ http }) => ({ url: `${http}/old`, max: 5 }), dead: ({ url }) => ({ url }) },
  protocol: onUrl(),
  "mixed-content": onUrl(),
  schema: onUrl(),
  robots: onSite((origin) => ({ test_url: `${origin}/cart/` })),
  "tech-detect": onUrl(),
  "og-preview": onUrl(),
  cms: onUrl(),
  "url-expand": {
    good: ({ https }) => ({ url: `${https.replace("shop.test", "go.test")}/spring` }),
    dead: ({ url }) => ({ url }),
  },
  "resolve-url": onUrl("/old?utm_source=letter"),
  wayback: {
    good: ({ https }) => ({ url: `${https}/` }),
    dead: () => ({ url: `https://${SOURCELESS}/` }),
    deadSource: "service",
  },
  security: onUrl(),
  "seo-audit": onUrl(),
  "ai-check": onSite(),
  carbon: onUrl(),
  performance: onUrl(),
  pagespeed: {
    good: ({ https }) => ({ url: `${https}/`, strategy: "mobile" }),
    dead: () => ({ url: `https://${SOURCELESS}/` }),
  },
  mx: { good: () => ({ domain: "shop.test" }), dead: UNANSWERED },
  dkim: {
    good: () => ({ domain: "shop.test", selector: "default" }),
    dead: UNANSWERED,
  },
  "email-check": { good: () => ({ domain: "shop.test" }), dead: UNANSWERED },
  "email-header": {
    good: () => ({ headers: HEADERS }),
    dead: "it reads text; without the DNS it leaves out what SPF says today",
  },
  propagation: {
    good: () => ({ domain: "shop.test", type: "A" }),
    dead: UNANSWERED,
  },
  "smtp-test": {
    good: ({ ports }) => ({ target: "shop.test", port: ports.smtp }),
    dead: ({ port }) => ({ target: "shop.test", port }),
  },
  whois: { good: () => ({ host: "shop.test" }), dead: () => ({ host: "gone.legacy" }), deadSource: "service" },
  asn: { good: () => ({ query: "AS15169" }), dead: () => ({ query: NOWHERE }) },
  "reverse-ip": {
    good: () => ({ ip: ADDRESS.shop }),
    dead: "an address that no source knows has no names, which is the result",
  },
  traceroute: { good: () => ({ host: "shop.test" }), needsRawSockets: true, dead: () => ({ host: NOWHERE }) },
};
