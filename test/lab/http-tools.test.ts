import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import type { cookie as cookieContract } from "#shared/tools/cookie/contract.ts";
import type { cors as corsContract } from "#shared/tools/cors/contract.ts";
import type { csp as cspContract } from "#shared/tools/csp/contract.ts";
import type { httpStatus as statusContract } from "#shared/tools/http-status/contract.ts";
import type { mixedContent as mixedContract } from "#shared/tools/mixed-content/contract.ts";
import type { protocol as protocolContract } from "#shared/tools/protocol/contract.ts";
import type { redirects as redirectsContract } from "#shared/tools/redirects/contract.ts";
import type { resolveUrl as resolveContract } from "#shared/tools/resolve-url/contract.ts";
import type { security as securityContract } from "#shared/tools/security/contract.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { createApiClient, type ApiClient } from "#test/lab/ask.ts";
import { startServiceLab, type Lab, type Service } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { expectedRtt } from "#test/lab/paths.ts";
import { PLACES } from "#test/lab/services/product.ts";
import { LAB } from "#test/lab/topology.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

type Redirects = ResultOf<typeof redirectsContract>;
type Protocol = ResultOf<typeof protocolContract>;

const HTTP = "http://web.lab.test";
const HTTPS = "https://web.lab.test";

/** A redirect chain: the URLs it passes, and its issues. */
interface Chain {
  readonly what: string;
  readonly url: string;
  readonly max?: number;
  readonly hops: readonly (readonly [url: string, code: number, type: Redirects["hops"][number]["type"]])[];
  readonly issues: readonly string[];
  readonly facts: Partial<Redirects>;
}

const CHAINS: readonly Chain[] = [
  {
    what: "three hops",
    url: `${HTTPS}/redirect/3?code=301`,
    hops: [
      [`${HTTPS}/redirect/3?code=301`, 301, "http"],
      [`${HTTPS}/redirect/2?code=301`, 301, "http"],
      [`${HTTPS}/redirect/1?code=301`, 301, "http"],
      [`${HTTPS}/`, 200, "none"],
    ],
    issues: [],
    facts: { count: 3, final_code: 200, loop: false, truncated: false },
  },
  {
    what: "a chain longer than asked for",
    url: `${HTTPS}/redirect/3?code=301`,
    max: 1,
    hops: [
      [`${HTTPS}/redirect/3?code=301`, 301, "http"],
      [`${HTTPS}/redirect/2?code=301`, 301, "http"],
    ],
    issues: ["too-many-redirects"],
    facts: { count: 1, truncated: true },
  },
  {
    what: "a loop of two",
    url: `${HTTPS}/ping`,
    hops: [
      [`${HTTPS}/ping`, 302, "http"],
      [`${HTTPS}/pong`, 302, "http"],
    ],
    issues: ["loop"],
    facts: { count: 1, loop: true },
  },
  {
    what: "https to http",
    url: `${HTTPS}/to?url=${HTTP}/`,
    hops: [
      [`${HTTPS}/to?url=${HTTP}/`, 302, "http"],
      [`${HTTP}/`, 200, "none"],
    ],
    issues: ["downgrade", "ends-at-http"],
    facts: { downgrade: true, https_upgrade: false },
  },
  {
    what: "http to https and to another site",
    url: `${HTTP}/to?code=301&url=https://h3.tls.test/`,
    hops: [
      [`${HTTP}/to?code=301&url=https://h3.tls.test/`, 301, "http"],
      ["https://h3.tls.test/", 200, "none"],
    ],
    issues: [],
    facts: { https_upgrade: true, cross_domain: [{ hop: 1, from: "lab.test", to: "tls.test" }] },
  },
  {
    what: "a Refresh header",
    url: `${HTTPS}/site/refresh`,
    hops: [
      [`${HTTPS}/site/refresh`, 200, "refresh_header"],
      [`${HTTPS}/site/secure`, 200, "none"],
    ],
    issues: ["refresh"],
    facts: { count: 1 },
  },
  {
    what: "a meta element",
    url: `${HTTPS}/site/meta`,
    hops: [
      [`${HTTPS}/site/meta`, 200, "meta"],
      [`${HTTPS}/site/secure`, 200, "none"],
    ],
    issues: ["refresh"],
    facts: { count: 1 },
  },
];

interface Speaker {
  readonly url: string;
  readonly versions: Partial<Protocol>;
  readonly h3: Partial<Protocol["h3"]>;
}

const NO_H3 = { advertised_alt_svc: false, advertised_https_rr: false, quic_reachable: false } as const;

const SPEAKERS: readonly Speaker[] = [
  {
    url: "https://h3.tls.test/",
    versions: { negotiated: "h2", h2: true, http1_1: true, http1_0: true, without_alpn: "http/1.1" },
    h3: {
      advertised_alt_svc: true,
      advertised_https_rr: true,
      quic_reachable: true,
      quic_versions: ["0x00000001", "0x6b3343cf"],
    },
  },
  { url: `${HTTPS}/`, versions: { negotiated: "h2", h2: true, http1_1: true }, h3: NO_H3 },
  {
    url: "https://http1-only.tls.test/",
    versions: { negotiated: "http/1.1", h2: false, http1_1: true, alpn_selected: "http/1.1" },
    h3: NO_H3,
  },
  {
    url: `${HTTP}/`,
    versions: { negotiated: "http/1.1", h2: false, h2c_upgrade: false, h2c_prior_knowledge: false, tls: null },
    h3: { ...NO_H3, quic_reachable: "unknown", probes: [] },
  },
];

describe.skipIf(why !== null)("the web tools on the lab's web", () => {
  let lab: Lab & { readonly service: Service };
  let api: ApiClient;
  beforeAll(async () => {
    lab = await startServiceLab({ regions: ["eu"] });
    api = await createApiClient(lab.service);
  });
  afterAll(() => lab?.close());

  it.each(CHAINS)("redirects: $what", async ({ url, max, hops, issues, facts }) => {
    const seen = await api.getResult<Redirects>("redirects", { url, ...(max === undefined ? {} : { max }) });
    expect(seen.hops.map((hop) => [hop.url, hop.code, hop.type])).toEqual(hops);
    expect(seen.findings.filter(({ severity }) => severity !== "info").map(({ id }) => id)).toEqual(issues);
    expect(seen).toMatchObject(facts);
    // Each hop opens a connection, which takes at least two round trips according to the table of links.
    expect(seen.total_ms).toBeGreaterThanOrEqual(Math.floor(2 * hops.length * expectedRtt(LAB, "probe-eu", "web").min));
  });

  it.each([`${HTTP}/to?url=http://127.0.0.1/`, `${HTTP}/to?url=http://169.254.169.254/`])(
    "redirects and check do not continue at %s",
    async (url) => {
      const key = await lab.service.plane.createKey();
      for (const tool of ["redirects", "check"]) {
        const query = new URLSearchParams({ url, locations: PLACES.eu.region });
        const { status, body } = await lab.service.plane.call(`/api/v4/${tool}?${query.toString()}`, { key });
        expect({ status, error: body.error }).toMatchObject({
          status: 400,
          error: { code: "target_not_allowed" },
        });
      }
    },
  );

  it.each([
    { code: 204, ok: true, class: "success", registered: true },
    { code: 301, ok: false, class: "redirection", registered: true },
    { code: 418, ok: false, class: "client_error", registered: true },
    { code: 429, ok: false, class: "client_error", registered: true },
    { code: 503, ok: false, class: "server_error", registered: true },
    { code: 599, ok: false, class: "server_error", registered: false },
    { code: 999, ok: false, class: "invalid", registered: false },
  ])("http-status: $code", async (row) => {
    const seen = await api.getResult<ResultOf<typeof statusContract>>("http-status", {
      url: `${HTTP}/status/${row.code}`,
    });
    expect(seen).toMatchObject({ ...row, http_version: "1.1", ip: addressOf(LAB, "web"), tls: null });
  });

  it("http-status: early hints, and caching directives", async () => {
    const getResult = (path: string) =>
      api.getResult<ResultOf<typeof statusContract>>("http-status", { url: HTTP + path });
    expect(await getResult("/hints/2")).toMatchObject({ code: 200, informational: [103, 103] });
    const cached = await getResult("/site/cached");
    expect(cached.cache).toMatchObject({
      storable: "shared",
      browser: { fresh_s: 600, from: "max-age" },
      etag: '"one"',
      vary: ["accept-encoding"],
    });
    expect(cached.findings).toEqual([]);
  });

  it.each(SPEAKERS)("protocol: $url", async ({ url, versions, h3 }) => {
    const seen = await api.getResult<Protocol>("protocol", { url });
    expect(seen).toMatchObject(versions);
    expect(seen.h3).toMatchObject(h3);
    for (const { ip, rtt_ms: rtt } of seen.h3.probes.filter(({ reachable }) => reachable === true)) {
      expect(rtt, ip ?? "").toBeGreaterThanOrEqual(expectedRtt(LAB, "probe-eu", "web").min);
    }
    expect(seen.h3.probes.length).toBe(url.startsWith("https:") ? 2 : 0);
  });

  it("resolve-url: the end of the chain, without tracking parameters", async () => {
    const url = `${HTTP}/to?url=${encodeURIComponent(`${HTTPS}/site/secure?utm_source=lab&id=7`)}`;
    expect(await api.getResult<ResultOf<typeof resolveContract>>("resolve-url", { url })).toMatchObject({
      final_url: `${HTTPS}/site/secure?utm_source=lab&id=7`,
      clean_url: `${HTTPS}/site/secure?id=7`,
      chain_length: 1,
      code: 404,
    });
  });

  it("security and csp: a site that sends every header, and one that sends none", async () => {
    const grade = (url: string) => api.getResult<ResultOf<typeof securityContract>>("security", { url });
    const [good, bare] = await Promise.all([grade(`${HTTPS}/site/secure`), grade(`${HTTPS}/`)]);
    // The site also answers over http without a redirect to https.
    expect(good.tests.filter(({ pass }) => !pass).map(({ name }) => name)).toEqual(["redirection"]);
    expect(good.hsts).toMatchObject({ max_age_s: 63_072_000, include_subdomains: true, preload: true });
    expect(bare.raw_score).toBeLessThan(50);
    expect(bare.headers.present).toEqual([]);
    const policy = await api.getResult<ResultOf<typeof cspContract>>("csp", { url: `${HTTPS}/site/secure` });
    expect(policy.effective).toMatchObject({ script_src: ["'self'"], object_src: [], base_uri: [] });
  });

  it("cors: allowing any origin with credentials is critical", async () => {
    const seen = await api.getResult<ResultOf<typeof corsContract>>("cors", { url: `${HTTPS}/site/cors` });
    expect(seen).toMatchObject({ risk: "critical", credentialed_request_allowed: true, vary_origin: true });
    expect(seen.findings.map(({ id }) => id)).toContain("reflects-any-origin");
    const shut = await api.getResult<ResultOf<typeof corsContract>>("cors", { url: `${HTTPS}/site/secure` });
    expect(shut).toMatchObject({ risk: "none", simple_request_allowed: false });
  });

  it("mixed-content and cookie: unencrypted resources of a page, and good and bad cookies", async () => {
    const mixed = await api.getResult<ResultOf<typeof mixedContract>>("mixed-content", { url: `${HTTPS}/site/mixed` });
    expect(mixed).toMatchObject({ https: true, verdict: "active", counts: { active: 1, passive: 1, forms: 0 } });
    const jar = await api.getResult<ResultOf<typeof cookieContract>>("cookie", { url: `${HTTPS}/site/cookies` });
    expect(jar.cookies.map(({ name }) => name).toSorted()).toEqual(["__Host-session", "tracker"]);
  });
});
