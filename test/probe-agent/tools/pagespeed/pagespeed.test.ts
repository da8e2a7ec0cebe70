import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, it } from "vitest";
import { ok, failed, refused, type Outcome } from "#shared/contracts/outcome.ts";
import type { BrowserPort, LoadRequest, PageLoad } from "#probe-agent/port/browser.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import { pagespeed } from "#probe-agent/tools/pagespeed/pagespeed.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { systemClock } from "#test/support/clock.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";
import { failureOf, TEST_AGENT } from "#test/support/http-engine.ts";
import { insightsAnswer, insightsError } from "#test/support/insights.ts";
import { dnsPort, jobLimits, loopbackEgress, netOf } from "#test/support/net.ts";
import { testServices } from "#test/support/services.ts";
import { resultOf, runTool } from "#test/support/tool.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const PAGE = "https://shop.test/";
let answer: (response: ServerResponse, query: URLSearchParams) => void;

const json =
  (value: unknown, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };

const psi: HttpServer = await stopAfterAll(
  startHttpServer({
    handler: (_request, response, { path }) => {
      const url = new URL(path, "http://psi.invalid");
      if (url.pathname !== "/v5/runPagespeed") return false;
      answer(response, url.searchParams);
      return true;
    },
  }),
);
const dns = await stopAfterAll(
  startDnsServer({
    zones: {
      "shop.test": { A: ["93.184.216.34"] },
      "inside.test": { A: ["10.0.0.1"] },
      "local.test": { A: ["127.0.0.1"] },
    },
  }),
);
beforeEach(() => {
  answer = (response, query) => json(insightsAnswer(query.get("url") ?? "", query.get("strategy") ?? ""))(response);
});

const setting = (more: { readonly psiKey?: string; readonly psiUrl?: string; readonly timeoutMs?: number } = {}) => {
  const { timeoutMs, ...services } = more;
  return {
    dnsServers: [dns.address],
    services: { psiUrl: `${psi.url}/v5/runPagespeed`, ...services },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
};

describe("PageSpeed Insights", () => {
  it("is queried for all four categories, with the strategy and without the fragment", async () => {
    await resultOf(pagespeed, { url: `${PAGE}#part`, strategy: "desktop" }, setting());
    const query = new URL(psi.requests.at(-1)?.path ?? "", psi.url).searchParams;
    expect(query.getAll("category")).toEqual(["performance", "accessibility", "best-practices", "seo"]);
    expect([query.get("url"), query.get("strategy"), query.has("key")]).toEqual([PAGE, "desktop", false]);
  });

  it("returns scores, metrics, real visits and opportunities", async () => {
    const result = await resultOf(pagespeed, { url: PAGE }, setting());
    expect(result).toMatchObject({
      url: PAGE,
      final_url: `${PAGE}start`,
      strategy: "mobile",
      source: "psi",
      scores: { performance: 87, seo: null },
      metrics: { lcp_ms: 2905 },
      field_data: { url: { lcp: { p75: 2310 } }, origin: { inp: { p75: 212 } } },
      loaded: { requests: 3, bytes: 734_512, by_kind: [], failed_requests: null },
      lighthouse_version: "12.8.2",
      observed_at: "2026-10-02T11:22:33.444Z",
    });
    expectWellFormed(result.findings);
    expect(kinds(result.findings)).toEqual(["info slow-largest-paint", "info speed-opportunity"]);
    expect(result.findings.slice(1).map(({ where }) => where)).toEqual(result.opportunities.map(({ id }) => id));
    expect(result.limitations.join()).toContain("Lighthouse warns: The page may not be loading as expected");
  });

  it("gets the key, which appears nowhere else", async () => {
    const psiKey = "secret-key-4711";
    const { outcome } = await runTool(pagespeed, { url: PAGE }, setting({ psiKey }));
    expect(psi.requests.at(-1)?.path).toContain(`key=${psiKey}`);
    expect(JSON.stringify(outcome)).not.toContain(psiKey);
    answer = json(
      { error: { code: 403, message: `The provided API key ${psiKey} has an IP address restriction` } },
      403,
    );
    const broken = await runTool(pagespeed, { url: PAGE }, setting({ psiKey }));
    expect(failureOf(broken.outcome)).toBe("response/service/source_unavailable");
    expect(JSON.stringify(broken.outcome)).not.toContain(psiKey);
    const unreachable = await runTool(pagespeed, { url: PAGE }, setting({ psiKey, psiUrl: "http://127.0.0.1:9/x" }));
    expect(JSON.stringify(unreachable.outcome)).not.toContain(psiKey);
  });

  it.each([
    ["FAILED_DOCUMENT_REQUEST", 400, "response/target/failed_document_request"],
    ["ERRORED_DOCUMENT_REQUEST", 500, "response/target/errored_document_request"],
    ["DNS_FAILURE", 400, "dns/target/dns_failure"],
    ["NO_FCP", 500, "response/target/no_fcp"],
  ])("that cannot load the page (%s) is the target's failure", async (code, status, expected) => {
    answer = json(insightsError(code, "Make sure you are testing the correct URL."), status);
    const { outcome } = await runTool(pagespeed, { url: PAGE }, setting());
    expect(failureOf(outcome)).toBe(expected);
    expect(outcome).toMatchObject({
      message: expect.stringContaining("Make sure you are testing the correct URL") as string,
    });
  });

  it.each([
    ["429", json({ error: { code: 429, message: "Quota exceeded" } }, 429), "VANTAGE_PSI_KEY"],
    [
      "a bad key",
      json({ error: { code: 400, message: "API key not valid. Please pass a valid API key." } }, 400),
      "status 400",
    ],
    ["500", json({ error: { code: 500, message: "Something went wrong" } }, 500), "status 500"],
    ["no JSON", (response: ServerResponse) => response.end("<html>"), "not JSON"],
    ["another form", json({ kind: "other" }), "unknown form"],
    [
      "an answer without end",
      (response: ServerResponse) => response.writeHead(200).end(`{"a":"${"x".repeat(17 * 1024 * 1024)}"}`),
      "incomplete answer",
    ],
    ["a half answer", (response: ServerResponse) => response.writeHead(200, { "content-length": "999" }).end("{"), ""],
  ])(
    "that answers with %s is a failure that says what to configure, without a browser",
    async (_what, given, words) => {
      answer = given;
      const { outcome } = await runTool(pagespeed, { url: PAGE }, setting());
      expect(failureOf(outcome)).toBe("response/service/source_unavailable");
      expect(outcome).toMatchObject({ message: expect.stringContaining("VANTAGE_CHROMIUM") as string });
      expect(outcome).toMatchObject({ message: expect.stringContaining(words) as string });
    },
  );

  it("that never responds ends the job in time", async () => {
    answer = () => undefined;
    const { outcome } = await endsBy(4000, () => runTool(pagespeed, { url: PAGE }, setting({ timeoutMs: 4000 })));
    expect(failureOf(outcome)).toBe("response/service/source_unavailable");
  });

  it("of Google is not sent URLs of pages in private networks", async () => {
    const google = setting({ psiUrl: "https://www.googleapis.com/pagespeedonline/v5/runPagespeed", timeoutMs: 5000 });
    const { outcome } = await runTool(pagespeed, { url: "http://local.test/secret" }, google);
    expect(failureOf(outcome)).toBe("response/probe/source_unavailable");
    expect(outcome).toMatchObject({ message: expect.stringContaining("not on the public internet") as string });
  });

  it("is not queried for names without an address, or with a blocked address", async () => {
    const before = psi.requests.length;
    expect(failureOf((await runTool(pagespeed, { url: "https://none.test/" }, setting())).outcome)).toBe(
      "dns/target/nxdomain",
    );
    expect((await runTool(pagespeed, { url: "https://inside.test/" }, setting())).outcome.status).toBe("refused");
    expect((await runTool(pagespeed, { url: "http://10.0.0.1/" }, setting())).outcome.status).toBe("refused");
    expect(psi.requests.length).toBe(before);
  });
});

describe("the agent's own browser", () => {
  const none = { requests: 0, bytes: 0 };
  const LOAD: PageLoad = {
    finalUrl: "https://shop.test/home",
    status: 200,
    ttfbMs: 210,
    fcpMs: 1800,
    lcpMs: 2500,
    cls: 0.1,
    tbtMs: 200,
    loadMs: 3000,
    loaded: {
      document: { requests: 1, bytes: 1000 },
      stylesheet: none,
      script: { requests: 2, bytes: 5000 },
      image: none,
      font: none,
      media: none,
      fetch: none,
      other: none,
    },
    failedRequests: 0,
    quiet: true,
    refusedConnections: 0,
    cut: false,
    browser: "Chromium 156.0.0.1",
  };

  const limitationsOf = ({ outcome }: Awaited<ReturnType<typeof measure>>) =>
    outcome.status === "ok" ? outcome.data.limitations.join() : "";

  async function measure(load: Outcome<PageLoad>, strategy = "mobile") {
    answer = json({ error: { code: 429, message: "Quota exceeded" } }, 429);
    const asked: LoadRequest[] = [];
    const browser: BrowserPort = {
      measure(request) {
        asked.push(request);
        return Promise.resolve(load);
      },
      capture: () => Promise.reject(new Error("no picture is taken")),
    };
    const limits = jobLimits(90_000);
    const resolver = dnsPort([dns.address], { limits });
    const http = createHttp({ clock: systemClock, egress: loopbackEgress, userAgent: TEST_AGENT })(limits, resolver);
    const services = testServices({ psiUrl: `${psi.url}/v5/runPagespeed` });
    const net = netOf({ http, dns: resolver, services, browser }, limits);
    return { outcome: await pagespeed.run(net, { url: `${PAGE}#x`, strategy: strategy as "mobile" }), asked };
  }

  it("replaces PageSpeed Insights, and the result says what is missing", async () => {
    const measured = await measure(ok(LOAD));
    const { outcome, asked } = measured;
    expect(asked).toMatchObject([{ url: PAGE, conditions: { mobile: true, cpuSlowdown: 4 } }]);
    expect(outcome).toMatchObject({
      status: "ok",
      data: {
        source: "local",
        url: `${PAGE}#x`,
        final_url: "https://shop.test/home",
        scores: { performance: 90, accessibility: null, best_practices: null, seo: null },
        metrics: { fcp_ms: 1800, lcp_ms: 2500, tbt_ms: 200, cls: 0.1, speed_index_ms: null, ttfb_ms: 210 },
        field_data: { url: null, origin: null },
        opportunities: [],
        lighthouse_version: null,
        loaded: { requests: 3, bytes: 6000, by_kind: [{ kind: "document" }, { kind: "script", requests: 2 }] },
        conditions: {
          throttling: "applied",
          rtt_ms: 150,
          throughput_kbps: 1638.4,
          cpu_slowdown: 4,
          browser: "Chromium 156.0.0.1",
        },
      },
    });
    expect(limitationsOf(measured)).toContain("PageSpeed Insights is unavailable: its free quota is used up");
    expect(limitationsOf(measured)).toContain("without the speed index");
  });

  it("simulates a desktop for the strategy desktop", async () => {
    const { asked } = await measure(ok(LOAD), "desktop");
    expect(asked).toMatchObject([{ conditions: { mobile: false, width: 1350, cpuSlowdown: 1 } }]);
  });

  it.each([
    ["never finished loading", { quiet: false }, "did not finish loading"],
    ["painted nothing", { fcpMs: null, lcpMs: null, tbtMs: null, cls: null }, "painted no content"],
    ["loads too much", { cut: true }, "more than the probe allows for one page"],
  ])("gives no score if the page %s", async (_what, more, words) => {
    const measured = await measure(ok({ ...LOAD, ...more }));
    expect(measured.outcome).toMatchObject({ data: { scores: { performance: null } } });
    expect(limitationsOf(measured)).toContain(words);
  });

  it("reports refused connections, and that an error page was measured", async () => {
    const limitations = limitationsOf(await measure(ok({ ...LOAD, refusedConnections: 2, status: 503 })));
    expect(limitations).toContain("2 connections of the page were refused");
    expect(limitations).toContain("status 503");
  });

  it("fails if the browser fails", async () => {
    expect((await measure(refused)).outcome).toEqual(refused);
    const busy = failed("request", "probe", "browser_busy", "others were first");
    expect((await measure(busy)).outcome).toEqual(busy);
  });
});
