import type { Finding } from "#shared/contracts/findings.ts";
import { expectWellFormed } from "#test/support/findings.ts";
import { afterAll, describe, expect, it } from "vitest";
import { MAX_RESULT_BYTES } from "#shared/protocol/wire.ts";
import { securityOn } from "#probe-agent/tools/security/security.ts";
import type { WebPorts } from "#probe-agent/tools/health/health.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type Handler, type HttpServer } from "#test/servers/http.ts";
import { createPki, type Pki } from "#test/servers/pki.ts";
import { freePort } from "#test/support/free-port.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { resultOf, type ToolSetting } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** Returns the ids of the findings about the preload list, after it checks the form of all findings. */
function preloadFindings({ findings }: { readonly findings: readonly Finding[] }): string[] {
  expectWellFormed(findings);
  return findings.filter(({ id }) => id.startsWith("preload-")).map(({ id }) => id);
}

const CAREFUL = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "strict-transport-security": "max-age=63072000; includeSubDomains; preload",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
  "set-cookie": "sid=s3cret; Secure; HttpOnly; SameSite=Strict",
};
const PAGE = "<!doctype html><title>Site</title>";

const servers: HttpServer[] = [];

const pki = await createPki();
const names = await stopAfterAll(
  startDnsServer({
    zones: {
      "site.test": { A: ["127.0.0.1"] },
      "www.site.test": { A: ["127.0.0.1"] },
      "host.listed.test": { A: ["127.0.0.1"] },
    },
  }),
);
const closed = { http: await freePort(), https: await freePort() };

afterAll(() => Promise.all(servers.map((server) => server.close())));

async function serve(handler: Handler): Promise<HttpServer> {
  const server = await startHttpServer({ handler });
  servers.push(server);
  return server;
}

async function serveTls(handler: Handler, issue: Parameters<Pki["issue"]>[0] = {}): Promise<HttpServer> {
  const leaf = await pki.issue({ dns: ["site.test", "www.site.test", "host.listed.test"], ...issue });
  const server = await startHttpServer({ tls: identityOf(leaf, pki.intermediate), h2: true, handler });
  servers.push(server);
  return server;
}

const answering =
  (status: number, headers: Readonly<Record<string, string>>): Handler =>
  (_request, response) => {
    response.writeHead(status, headers).end(PAGE);
    return true;
  };
const careful = answering(200, CAREFUL);
const bare = answering(200, { "content-type": "text/html" });

function redirecting(location: () => string): Handler {
  return (request, response, seen) => answering(301, { location: location() })(request, response, seen);
}

async function see(url: string, ports: WebPorts = closed, more: Partial<ToolSetting> = {}) {
  return await resultOf(securityOn(ports), { url }, { dnsServers: [names.address], roots: [pki.root.pem], ...more });
}

type Result = Awaited<ReturnType<typeof see>>;

function testsOf({ tests }: Result): Record<string, string> {
  return Object.fromEntries(tests.map(({ name, result, score_modifier: modifier }) => [name, `${result} ${modifier}`]));
}

describe("a careful site", () => {
  it("has MDN's best grade, test by test", async () => {
    const site = await serveTls(careful);
    const plain = await serve(redirecting(() => `https://site.test:${site.port}/`));
    const result = await see(`https://site.test:${site.port}/`, { http: plain.port, https: site.port });
    expect(testsOf(result)).toEqual({
      "content-security-policy": "csp-implemented-with-no-unsafe-default-src-none 10",
      cookies: "cookies-secure-with-httponly-sessions-and-samesite 5",
      "cross-origin-resource-sharing": "cross-origin-resource-sharing-not-implemented 0",
      redirection: "redirection-to-https 0",
      "referrer-policy": "referrer-policy-private 5",
      "strict-transport-security": "hsts-implemented-max-age-at-least-six-months 0",
      "subresource-integrity": "sri-not-implemented-but-no-scripts-loaded 0",
      "x-content-type-options": "x-content-type-options-nosniff 0",
      "x-frame-options": "x-frame-options-implemented-via-csp 5",
      "cross-origin-resource-policy": "corp-implemented-with-same-origin 10",
      "cross-origin-embedder-policy": "coep-implemented-with-require-corp 10",
      "cross-origin-opener-policy": "coop-implemented-with-same-origin 10",
    });
    expect(result).toMatchObject({
      code: 200,
      score: 100,
      raw_score: 155,
      grade: "A+",
      mdn: { raw_score: 155, grade: "A+" },
      algorithm_version: 6,
      duplicate_directives: [],
      source: ["page"],
      limitations: ["This probe has no HSTS preload list. An entry in it adds 5 points."],
    });
    expect(result.headers.missing).toEqual(["X-Frame-Options", "Permissions-Policy"]);
    expect(JSON.stringify(result)).not.toContain("s3cret");
    expect(result.hsts).toEqual({
      value: CAREFUL["strict-transport-security"],
      max_age_s: 63_072_000,
      include_subdomains: true,
      preload: true,
      preloaded: null,
      preloaded_include_subdomains: null,
      preload_domain: "site.test",
      preload_eligible: true,
    });
  });

  it("is evaluated for the preload list by its domain, not by www", async () => {
    const toWww = redirecting(() => `https://www.site.test:${site.port}/`);
    const site = await serveTls((...given) => {
      const isWww = String(given[0].headers[":authority"]).startsWith("www.");
      return (isWww ? careful : toWww)(...given);
    });
    const plain = await serve(toWww);
    const result = await see(`https://www.site.test:${site.port}/`, { http: plain.port, https: site.port });
    expect(result.hsts).toMatchObject({ preload_domain: "site.test", preload_eligible: false });
    expect(preloadFindings(result)).toEqual(["preload-response-no-header", "preload-redirects-http-www-first"]);
  });

  it("gets a bonus for the preload list, also for an entry of a parent domain", async () => {
    const site = await serveTls(careful);
    const data = {
      hasHstsPreload: true,
      hstsPreload: (host: string) => (host.endsWith("listed.test") ? { include_subdomains: true } : null),
    };
    const listed = await see(`https://host.listed.test:${site.port}/`, closed, { data });
    expect(testsOf(listed)["strict-transport-security"]).toBe("hsts-preloaded 5");
    expect(listed.hsts).toMatchObject({
      preloaded: true,
      preloaded_include_subdomains: true,
      preload_domain: "listed.test",
    });
    expect(listed.source).toEqual(["page", "hsts_preload_list"]);
    const other = await see(`https://site.test:${site.port}/`, closed, { data });
    expect(other.hsts).toMatchObject({ preloaded: false, preloaded_include_subdomains: null });
    expect(other.limitations).toEqual([]);
  });
});

describe("the redirect from http://", () => {
  it("is not needed if port 80 is closed", async () => {
    const site = await serveTls(bare);
    const result = await see(`https://site.test:${site.port}/`);
    expect(testsOf(result)).toMatchObject({
      redirection: "redirection-not-needed-no-http 0",
      "strict-transport-security": "hsts-not-implemented -20",
    });
    // 100 -25 (CSP) -20 (HSTS) -5 (XCTO) -20 (XFO)
    expect(result).toMatchObject({ raw_score: 30, grade: "D" });
  });

  it("that does not lead to HTTPS makes the tool grade the page at https://, as MDN does", async () => {
    const site = await serveTls(careful);
    const plain = await serve(bare);
    const result = await see(`http://site.test:${plain.port}/`, { http: plain.port, https: site.port });
    expect(result).toMatchObject({
      url: `http://site.test:${plain.port}/`,
      final_url: `https://site.test:${site.port}/`,
    });
    expect(testsOf(result)).toMatchObject({
      redirection: "redirection-missing -20",
      "strict-transport-security": "hsts-implemented-max-age-at-least-six-months 0",
    });
    expect(result.limitations).toContain(
      "http:// does not redirect to HTTPS. As MDN does, the page at https:// was graded.",
    );
  });

  it("fails if HTTPS redirects back, but the site has HTTPS", async () => {
    const plain = await serve(careful);
    const site = await serveTls(redirecting(() => `http://site.test:${plain.port}/`));
    const result = await see(`http://site.test:${plain.port}/`, { http: plain.port, https: site.port });
    expect(result.final_url).toBe(`http://site.test:${plain.port}/`);
    expect(testsOf(result)).toMatchObject({
      redirection: "redirection-missing -20",
      "strict-transport-security": "hsts-implemented-max-age-at-least-six-months 0",
    });
  });

  it("of an IP address is graded, although no IP address can be in the preload list", async () => {
    const plain = await serve(careful);
    const result = await see(`${plain.url}/`, { http: plain.port, https: closed.https });
    expect(result.hsts).toMatchObject({ preload_domain: null, preload_eligible: false });
    expect(preloadFindings(result)).toEqual(["preload-domain-name-cannot-compute-etld1"]);
  });

  it("without any HTTPS costs HSTS and redirection", async () => {
    const plain = await serve(careful);
    const result = await see(`http://site.test:${plain.port}/`, { http: plain.port, https: closed.https });
    expect(testsOf(result)).toMatchObject({
      redirection: "redirection-missing -20",
      "strict-transport-security": "hsts-not-implemented-no-https -20",
    });
    expect(result.hsts).toMatchObject({ value: null, max_age_s: null, preload_eligible: false });
  });

  it("that is unknown is left out, with a limitation", async () => {
    const site = await serveTls(bare);
    const plain = await serve((request) => {
      request.socket.resetAndDestroy();
      return true;
    });
    const result = await see(`https://site.test:${site.port}/`, { http: plain.port, https: site.port });
    expect(result.tests.map((test) => test.name)).not.toContain("redirection");
    expect(result.limitations).toContain("The test redirection was left out.");
    expect(result.raw_score).toBe(30);
  });
});

it("an untrusted certificate makes HSTS and redirects fail", async () => {
  const site = await serveTls(careful, { issuer: null });
  const plain = await serve(redirecting(() => `https://site.test:${site.port}/`));
  const result = await see(`https://site.test:${site.port}/`, { http: plain.port, https: site.port });
  expect(testsOf(result)).toMatchObject({
    redirection: "redirection-invalid-cert -20",
    "strict-transport-security": "hsts-invalid-cert -20",
  });
  expect(preloadFindings(result)).toEqual(["preload-domain-tls-invalid-cert-chain"]);
});

it("a reflected origin with credentials costs fifty points", async () => {
  const site = await serveTls((request, response) => {
    const { origin } = request.headers;
    const policy =
      origin === undefined ? {} : { "access-control-allow-origin": origin, "access-control-allow-credentials": "true" };
    response.writeHead(200, { ...CAREFUL, ...policy }).end(PAGE);
    return true;
  });
  const result = await see(`https://site.test:${site.port}/`);
  expect(testsOf(result)["cross-origin-resource-sharing"]).toBe(
    "cross-origin-resource-sharing-implemented-with-universal-access -50",
  );
  expect(result).toMatchObject({ raw_score: 50, grade: "C" });
});

it("the status 401 is graded, and 404 is not, which is a limitation", async () => {
  const [locked, gone] = [await serveTls(answering(401, CAREFUL)), await serveTls(answering(404, CAREFUL))];
  expect((await see(`https://site.test:${locked.port}/`)).grade).toBe("A+");
  const result = await see(`https://site.test:${gone.port}/`);
  expect(result).toMatchObject({ code: 404, score: null, raw_score: null, grade: null, mdn: null, tests: [] });
  expect(result.limitations[0]).toBe("Only responses with status 2xx, 3xx, 401 and 403 are graded, not 404.");
  expect(result.headers.present.length).toBeGreaterThan(5);
});

describe("hostile answers", () => {
  it("with sixty kilobytes of headers and five megabytes of scripts are graded in time", async () => {
    const script = "<script src=https://a.example/x.js></script>";
    const site = await serveTls((_request, response) => {
      response.writeHead(200, { "content-type": "text/html", "x-long": "\u00ff".repeat(50_000) });
      response.end(script.repeat(Math.floor(6_000_000 / script.length)));
      return true;
    });
    // Threads hardly run while other programs keep the processors busy. The limit of their processor time remains.
    const result = await see(`https://site.test:${site.port}/`, closed, { timeoutMs: 250_000 });
    expect(result.limitations).toContain("The page is larger than the part that was examined.");
    expect(testsOf(result)["subresource-integrity"]).toBe(
      "sri-not-implemented-but-external-scripts-loaded-securely -5",
    );
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(MAX_RESULT_BYTES);
  });

  it("that never end are graded by their headers", async () => {
    const site = await serveTls((request, response) => {
      response.writeHead(200, CAREFUL);
      if (request.method === "OPTIONS") response.end();
      else response.write(PAGE);
      return true;
    });
    const result = await see(`https://site.test:${site.port}/`, { ...closed, https: site.port }, { timeoutMs: 6000 });
    expect(result.grade).toBe("A+");
    expect(result.limitations).toContain("The body could not be read to its end: timeout.");
    expect(result.hsts.preload_eligible).toBe(true);
  });

  it("to additional requests that never come leave the page's grade, in time", async () => {
    const site = await serveTls((...given) => given[0].method === "OPTIONS" || careful(...given));
    const plain = await serve(() => true);
    const result = await see(
      `https://site.test:${site.port}/`,
      { http: plain.port, https: site.port },
      { timeoutMs: 4000 },
    );
    expect(result.grade).toBe("A+");
    expect(result.limitations.join(" ")).toMatch(
      /took too long.*to other origins is unknown.*whether the domain can enter the preload list/s,
    );
  });
});
