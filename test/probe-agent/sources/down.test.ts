import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import type { Services } from "#probe-agent/toolkit/net.ts";
import type { Implementation } from "#probe-agent/tools/implement.ts";
import { implementations } from "#probe-agent/tools/index.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import type { Behaviour } from "#test/servers/dns-reply.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startWhoisServer, type WhoisBehaviour, type WhoisServer } from "#test/servers/whois.ts";
import { testServices } from "#test/support/services.ts";
import type { StandIns } from "#test/support/stand-ins.ts";
import { runTool, type ToolSetting } from "#test/support/tool.ts";
import { TOOL_CALLS, type Call } from "#test/support/tool-calls.ts";

/** Ways in which a service that a tool depends on is down. */
const FAULTS = ["refuses", "hangs", "answers with an error", "answers rubbish"] as const;
type Fault = (typeof FAULTS)[number];

const egress = createEgress({ targets: ["127.0.0.0/8", "::1/128"], names: ["test", "legacy", "localhost"] });
/** Services by name. The resolver under test cannot look up these names. */
const NAMED: Partial<Services> = {
  rdapBootstrapUrl: "http://registries.test/rdap",
  waybackUrl: "http://archive.test/available",
  waybackCdxUrl: "http://archive.test/cdx",
  psiUrl: "http://pagespeed.test/",
  whoisServer: { host: "whois.test", port: 43 },
};
/** Shorter than a tool's own deadline, so that a hanging service does not delay the test. */
const TIMEOUT_MS = 3_000;
const NOBODY = "127.0.0.1:9";
/** Names of the calls. No real server is contacted, because the names cannot be looked up. */
const WORLD = {
  https: "https://shop.test",
  http: "http://shop.test",
  ports: { http: 80, https: 443, smtp: 25, dns: 53, whois: 43 },
} as StandIns;

const DNS_FAULTS: Readonly<Record<Exclude<Fault, "refuses">, Behaviour>> = {
  hangs: { drop: true },
  "answers with an error": { status: "SERVFAIL" },
  "answers rubbish": { rewrite: () => Uint8Array.from({ length: 40 }, (_, n) => (n * 7919) % 256) },
};
const WHOIS_FAULTS: Readonly<Record<Exclude<Fault, "refuses">, WhoisBehaviour>> = {
  hangs: { nothing: "open" },
  "answers with an error": { reset: "" },
  "answers rubbish": Uint8Array.from({ length: 3000 }, (_, n) => (n * 7919) % 256),
};

/**
 * One server in place of every web service, which fails according to the first part of the path, and one WHOIS and one
 * DNS server for each fault.
 */
let web: HttpServer;
const names = new Map<Fault, DnsServer>();
const registries = new Map<Fault, WhoisServer>();
let working: DnsServer;

beforeAll(async () => {
  web = await startHttpServer({
    handler: (_request, response, { path }) => {
      if (path.startsWith("/hangs")) return true;
      if (path.startsWith("/error")) response.writeHead(500).end("down for maintenance");
      else response.end("<html>a login page");
      return true;
    },
  });
  working = await startDnsServer({ zones: { "shop.test": { A: ["127.0.0.1"] } } });
  for (const [fault, behaviour] of Object.entries(DNS_FAULTS) as [Fault, Behaviour][]) {
    names.set(fault, await startDnsServer({ behaviours: { "*": behaviour } }));
  }
  for (const [fault, behaviour] of Object.entries(WHOIS_FAULTS) as [Fault, WhoisBehaviour][]) {
    registries.set(fault, await startWhoisServer(() => behaviour));
  }
});

afterAll(async () => {
  await Promise.all([web, working, ...names.values(), ...registries.values()].map((server) => server.close()));
});

/** Every outside service of the agent's settings, down in one way. */
function servicesThat(fault: Fault): Partial<Services> {
  if (fault === "refuses") return testServices();
  const base = `${web.url}/${fault === "hangs" ? "hangs" : fault === "answers with an error" ? "error" : "rubbish"}`;
  return {
    rdapBootstrapUrl: `${base}/rdap`,
    waybackUrl: `${base}/available`,
    waybackCdxUrl: `${base}/cdx`,
    psiUrl: `${base}/psi`,
    greencheckUrl: base,
    pdnsUrl: `${base}/pdns`,
    whoisServer: { host: "127.0.0.1", port: registries.get(fault)?.port ?? 9 },
  };
}

function run(tool: string, call: Call, setting: ToolSetting): Promise<Outcome<unknown>> {
  const implementation = implementations.get(tool) as Implementation;
  return runTool(implementation, call, {
    egress,
    timeoutMs: TIMEOUT_MS,
    data: { resolvers: [] },
    ...setting,
  }).then(({ outcome }) => outcome);
}

function blamed(outcome: Outcome<unknown>): string {
  return outcome.status === "failed" ? `${outcome.source}/${outcome.reason}` : outcome.status;
}

describe.each(FAULTS)("a resolver that %s", (fault) => {
  it.concurrent("is never the fault of the target, in any tool", async () => {
    const dnsServers = [fault === "refuses" ? NOBODY : (names.get(fault)?.address ?? NOBODY)];
    const rows = await Promise.all(
      CONTRACTS.map(async ({ name }) => {
        const outcome = await run(name, TOOL_CALLS[name]?.good(WORLD) ?? {}, { dnsServers, services: NAMED });
        return [name, outcome.status === "failed" ? outcome.source : outcome.status] as const;
      }),
    );
    const expected = CONTRACTS.map(({ name }) => [name, whoFails(name, fault)]);
    expect(rows).toEqual(expected);
  });
});

/** Tools whose answer itself says that the resolver did not answer, and tools that need no resolver. */
const ANSWERED: ReadonlySet<string> = new Set(["dns", "mx", "dkim", "email-check", "email-header", "reverse-ip"]);

/** Who is blamed for a resolver's fault. "ok" means that the tool has an answer anyway. */
function whoFails(tool: string, fault: Fault): "resolver" | "service" | "ok" {
  if (ANSWERED.has(tool)) return "ok";
  // SERVFAIL is an answer, which propagation compares like any other.
  if (tool === "propagation" && fault === "answers with an error") return "ok";
  // The tool's time for the registry ends before the lookup of the registry's own address does.
  if (tool === "asn" && (fault === "hangs" || fault === "answers rubbish")) return "service";
  return "resolver";
}

interface Row {
  readonly tool: string;
  readonly call: Call;
  /** By fault: who is to blame, and why. */
  readonly told: Readonly<Record<Fault, string>>;
}

const SERVICES: readonly Row[] = [
  {
    tool: "wayback",
    call: { url: "https://shop.test/" },
    told: {
      refuses: "service/source_unavailable",
      hangs: "service/source_unavailable",
      "answers with an error": "service/source_unavailable",
      "answers rubbish": "service/source_unavailable",
    },
  },
  {
    tool: "pagespeed",
    call: { url: "https://shop.test/" },
    told: {
      refuses: "service/source_unavailable",
      hangs: "service/source_unavailable",
      "answers with an error": "service/source_unavailable",
      "answers rubbish": "service/source_unavailable",
    },
  },
  {
    tool: "whois",
    call: { host: "example.com" },
    told: {
      refuses: "service/refused",
      hangs: "service/timeout",
      "answers with an error": "service/reset",
      "answers rubbish": "service/no_registration_data",
    },
  },
  {
    tool: "whois",
    call: { host: "8.8.8.8" },
    told: {
      refuses: "service/refused",
      hangs: "service/timeout",
      "answers with an error": "service/reset",
      "answers rubbish": "service/no_registration_data",
    },
  },
  {
    tool: "asn",
    call: { query: "AS15169" },
    told: {
      refuses: "service/source_unavailable",
      hangs: "service/source_unavailable",
      "answers with an error": "service/source_unavailable",
      "answers rubbish": "service/source_unavailable",
    },
  },
  // Without these services the answer has fewer data, and says so.
  ...[
    { tool: "carbon", call: {} },
    { tool: "ip", call: { host: "127.0.0.1" } },
    { tool: "reverse-ip", call: { ip: "127.0.0.1" } },
    { tool: "mx", call: { domain: "shop.test" } },
  ].map((row) => ({
    ...row,
    told: { refuses: "ok", hangs: "ok", "answers with an error": "ok", "answers rubbish": "ok" },
  })),
];

describe.each(FAULTS)("an outside service that %s", (fault) => {
  it.concurrent("is blamed instead of the target", async () => {
    const setting = { dnsServers: [working.address], services: servicesThat(fault) };
    const told = await Promise.all(
      SERVICES.map(async ({ tool, call }) => {
        const outcome = await run(tool, tool === "carbon" ? { url: web.url } : call, setting);
        return [tool, call, blamed(outcome)] as const;
      }),
    );
    expect(told).toEqual(SERVICES.map((row) => [row.tool, row.call, row.told[fault]]));
  });
});
