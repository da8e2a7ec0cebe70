import { beforeEach, describe, expect, it } from "vitest";
import { parseParams } from "#shared/schema/schema.ts";
import { cors as contract } from "#shared/tools/cors/contract.ts";
import { cors } from "#probe-agent/tools/cors/cors.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type Handler } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { resultOf, runTool, type ToolSetting } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const GIVEN = "https://example.com";

let answer: Handler = () => false;
let seenFrom = 0;

const pki = await createPki();
const names = await stopAfterAll(startDnsServer({ zones: { "api.site.test": { A: ["127.0.0.1"] } } }));
const leaf = await pki.issue({ dns: ["api.site.test"] });
const server = await stopAfterAll(
  startHttpServer({
    tls: identityOf(leaf, pki.intermediate),
    h2: true,
    handler: (request, response, seen) => answer(request, response, seen),
  }),
);

beforeEach(() => {
  seenFrom = server.requests.length;
});

async function see(path = "/", origin?: string, more: ToolSetting = {}) {
  const url = `https://api.site.test:${server.port}${path}`;
  const setting = { dnsServers: [names.address], roots: [pki.root.pem], ...more };
  return await resultOf(cors, { url, ...(origin === undefined ? {} : { origin }) }, setting);
}

function originOf(seen: Parameters<Handler>[2]): string | undefined {
  return seen.headers.find(([name]) => name.toLowerCase() === "origin")?.[1];
}

describe("a target with a policy", () => {
  it("is tested with each origin, by GET and by preflight, and reported in every field", async () => {
    answer = (request, response, seen) => {
      const allowed = originOf(seen) === GIVEN;
      const policy = allowed
        ? { "access-control-allow-origin": GIVEN, "access-control-allow-credentials": "true" }
        : {};
      const preflight = {
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": "Content-Type, X-Token",
        "access-control-max-age": "600",
      };
      if (request.method === "OPTIONS")
        response.writeHead(204, { ...policy, ...(allowed ? preflight : {}), vary: "Origin" }).end();
      else response.writeHead(200, { ...policy, "access-control-expose-headers": "X-Total", vary: "Origin" }).end("{}");
      return true;
    };
    const result = await see();
    expect(result).toMatchObject({
      url: `https://api.site.test:${server.port}/`,
      final_url: `https://api.site.test:${server.port}/`,
      code: 200,
      origin: GIVEN,
      risk: "none",
      findings: [],
      simple_request_allowed: true,
      credentialed_request_allowed: true,
      preflight_allowed: true,
      allow_origin: GIVEN,
      allow_credentials: true,
      allow_methods: ["GET", "POST"],
      allow_headers: ["Content-Type", "X-Token"],
      expose_headers: ["X-Total"],
      max_age_s: 600,
      vary_origin: true,
      source: ["page"],
      limitations: [],
    });
    expect(result.probes).toHaveLength(16);
    expect(result.probes[0]).toEqual({
      kind: "given",
      origin: GIVEN,
      method: "GET",
      preflight: false,
      code: 200,
      acao: GIVEN,
      acac: "true",
      verdict: "allowed_with_credentials",
    });
    expect(result.probes.slice(2).every((probe) => probe.verdict === "denied")).toBe(true);
    const sent = server.requests.slice(seenFrom);
    expect(originOf(sent[0] as never)).toBeUndefined();
    expect(new Set(sent.slice(1).map(originOf))).toEqual(new Set(result.probes.map((probe) => probe.origin)));
    const preflight = sent.find((request) => request.method === "OPTIONS");
    expect(preflight?.headers.map(([name, value]) => `${name.toLowerCase()}: ${value}`)).toEqual(
      expect.arrayContaining(["access-control-request-method: POST", "access-control-request-headers: content-type"]),
    );
  });

  it("that redirects is tested at the final URL", async () => {
    answer = (_request, response, { path }) => {
      if (path === "/old") response.writeHead(302, { location: "/new" }).end();
      else response.writeHead(200, { "access-control-allow-origin": "*" }).end();
      return true;
    };
    const result = await see("/old");
    expect(result).toMatchObject({
      final_url: `https://api.site.test:${server.port}/new`,
      simple_request_allowed: true,
    });
    expect(result.limitations).toEqual(["The URL redirects. The origins were tested at the final URL."]);
    expect(server.requests.slice(seenFrom + 2).every(({ path }) => path === "/new")).toBe(true);
  });
});

describe("a difficult target", () => {
  it("that limits requests gets no more of them, and the result says so", async () => {
    let count = 0;
    answer = (_request, response) => {
      count += 1;
      response.writeHead(count > 3 ? 429 : 200, { "access-control-allow-origin": "*" }).end();
      return true;
    };
    const result = await see();
    expect(result.limitations.join(" ")).toMatch(/limits requests \(429\).*not answered or not sent/);
    expect(server.requests.length - seenFrom).toBeLessThan(10);
    expect(new Set(result.probes.map((probe) => probe.verdict))).toContain("failed");
  });

  it("gets no more than four requests at the same time", async () => {
    let open = 0;
    let most = 0;
    answer = (_request, response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.end();
      }, 300);
      return true;
    };
    await see();
    expect(most).toBeLessThanOrEqual(4);
    expect(most).toBeGreaterThan(1);
  });

  it("without a trusted certificate gets one connection for each request, and one to verify its chain", async () => {
    answer = () => false;
    const acceptedBefore = server.accepted();
    await see("/", undefined, { roots: [] });
    const requests = server.requests.length - seenFrom;
    expect(requests).toBeGreaterThan(4);
    expect(server.accepted() - acceptedBefore).toBe(requests + 1);
  });

  it("that answers GET but not OPTIONS gives a partial result in time", async () => {
    answer = (request, response) => {
      if (request.method !== "OPTIONS") response.writeHead(200, { "access-control-allow-origin": "*" }).end();
      return true;
    };
    const result = await see("/", undefined, { timeoutMs: 4000 });
    expect(result).toMatchObject({
      simple_request_allowed: true,
      preflight_allowed: null,
      allow_methods: null,
      max_age_s: null,
    });
    expect(result.limitations.join(" ")).toContain("were not answered");
  });

  it("that streams events is tested like any other", async () => {
    answer = (request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "access-control-allow-origin": "*" });
      if (request.method === "OPTIONS") response.end();
      else response.flushHeaders();
      return true;
    };
    const result = await see("/", undefined, { timeoutMs: 4000 });
    expect(result).toMatchObject({ code: 200, simple_request_allowed: true, allow_origin: "*" });
    expect(result.probes.map(({ verdict }) => verdict)).not.toContain("failed");
  });

  it("that is tested with its own origin gets a limitation: CORS does not apply", async () => {
    answer = () => false;
    const own = await see("/", `https://api.site.test:${server.port}`);
    expect(own.limitations[0]).toContain("the resource's own");
    expect((await see("/")).limitations.join()).not.toContain("the resource's own");
  });

  it("that streams without end costs no more than its header", async () => {
    answer = () => false;
    expect(await see("/endless-body")).toMatchObject({ code: 200, risk: "none", simple_request_allowed: false });
  });
});

describe("the parameter origin", () => {
  it("is refused if it is not an origin", () => {
    const refine = (origin: string) => {
      const parsed = parseParams(
        contract.params,
        { url: "https://a.example/", origin },
        { from: "text", unknown: "ignore" },
      );
      return parsed.ok ? contract.refine?.(parsed.value as never) : parsed.problem;
    };
    expect([refine("https://example.org"), refine("null")]).toEqual([null, null]);
    expect(refine("https://example.org/path")).toMatchObject({ field: "origin", reason: "invalid_url" });
    expect(refine("example.org\r\nX: 1")).toMatchObject({ field: "origin", reason: "type" });
    expect(refine("x".repeat(600))).toMatchObject({ field: "origin", reason: "range" });
  });

  it("is refused by the agent too", async () => {
    const { outcome } = await runTool(cors, { url: "http://127.0.0.1/", origin: "*" });
    expect(outcome).toMatchObject({ status: "invalid", field: "origin" });
  });
});
