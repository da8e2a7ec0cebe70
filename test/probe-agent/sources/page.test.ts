import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { landingAnalysis } from "#probe-agent/analysis/web/redirect-landing.ts";
import { trackersAnalysis } from "#probe-agent/tools/cookie/trackers.ts";
import { schemaAnalysis } from "#probe-agent/tools/schema/report.ts";
import { createAnalyses } from "#probe-agent/threads/analyses.ts";
import { createAnalysisThreads } from "#probe-agent/threads/analyses/threads.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { AnalysesPort, AnalysisFailure } from "#probe-agent/toolkit/analyses.ts";
import { analysePage, analysePageOrHeaders, fetchPage, HTML_NOT_EXAMINED } from "#probe-agent/sources/page.ts";
import { cookie } from "#probe-agent/tools/cookie/cookie.ts";
import { redirects } from "#probe-agent/tools/redirects.ts";
import { schema } from "#probe-agent/tools/schema/schema.ts";
import { security } from "#probe-agent/tools/security/security.ts";
import { urlExpand } from "#probe-agent/tools/url-expand.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { systemClock } from "#test/support/clock.ts";
import { TEST_AGENT } from "#test/support/http-engine.ts";
import { dnsPort, jobLimits, loopbackEgress, netOf } from "#test/support/net.ts";
import { builtInData } from "#test/support/tool.ts";

let server: HttpServer;

beforeAll(async () => {
  server = await startHttpServer({
    handler(_request, response) {
      response.writeHead(200, {
        "content-type": "text/html",
        "set-cookie": "a=b",
        "x-content-type-options": "nosniff",
        link: '</canonical>; rel="canonical"',
      });
      response.end("<title>T</title><script src=https://www.google-analytics.com/ga.js></script>");
      return true;
    },
  });
});

afterAll(() => server.close());

/** A net whose threads give up on every page for this reason. They analyse a page without a body. */
function netThat(reason: Exclude<AnalysisFailure["reason"], "overloaded">): Net {
  const limits = jobLimits();
  const real = createAnalyses({ clock: systemClock, threads: createAnalysisThreads({ clock: systemClock }) })(limits);
  const analyses: AnalysesPort = {
    run: (name, input, ms) => {
      const raw = "raw" in (input as object) ? (input as { raw: { body: unknown } }).raw : null;
      return raw !== null && raw.body !== null ? Promise.resolve({ ok: false, reason }) : real.run(name, input, ms);
    },
  };
  const dns = dnsPort(["127.0.0.1:9"], { limits });
  const http = createHttp({ clock: systemClock, egress: loopbackEgress, userAgent: TEST_AGENT })(limits, dns);
  return netOf({ http, dns, analyses, data: builtInData() }, limits);
}

async function seen(net: Net) {
  const outcome = await fetchPage(net, `${server.url}/`);
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}

function dataOf<T>(outcome: Outcome<T>): T {
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}

describe("a page that is too complex", () => {
  it.each(["too_slow", "out_of_memory"] as const)("is the target's failure (%s)", async (reason) => {
    const net = netThat(reason);
    expect(await analysePage(net, await seen(net), schemaAnalysis, {})).toMatchObject({
      status: "failed",
      stage: "response",
      source: "target",
      reason: "page_too_complex",
    });
    expect(await schema.run(net, { url: `${server.url}/` })).toMatchObject({ reason: "page_too_complex" });
  });

  it("is analysed without its HTML by tools that can report on other parts", async () => {
    const net = netThat("too_slow");
    const read = dataOf(await analysePageOrHeaders(net, await seen(net), trackersAnalysis, {}));
    expect(read).toEqual({ report: null, unread: true, limitations: [HTML_NOT_EXAMINED] });
  });

  it("still has cookies, but its trackers are not known", async () => {
    const result = dataOf(await cookie.run(netThat("too_slow"), { url: `${server.url}/` }));
    expect(result.cookies.map(({ name }) => name)).toEqual(["a"]);
    expect(result.trackers_in_html).toBeNull();
    expect(result.limitations).toContain(HTML_NOT_EXAMINED);
  });

  it("still has headers, but no grade without its scripts", async () => {
    const result = dataOf(await security.run(netThat("out_of_memory"), { url: `${server.url}/` }));
    expect(result).toMatchObject({ score: null, grade: null, mdn: null, tests: [] });
    expect(result.headers.present.length).toBeGreaterThan(0);
    expect(result.limitations.join(" ")).toContain("Without it there is no grade.");
  });

  it("still ends a chain of redirects, without a title", async () => {
    const net = netThat("too_slow");
    const expanded = dataOf(await urlExpand.run(net, { url: `${server.url}/` }));
    expect(expanded).toMatchObject({ expanded_url: `${server.url}/`, title: null });
    expect(expanded.limitations).toContain(HTML_NOT_EXAMINED);
    const chain = dataOf(await redirects.run(net, { url: `${server.url}/`, max: 10 }));
    expect(chain).toMatchObject({ count: 0, final_code: 200 });
    expect(chain.limitations).toContain(HTML_NOT_EXAMINED);
  });
});

it.each(["busy", "cancelled", "broken"] as const)(
  "%s threads are the probe's failure, whatever the tool",
  async (reason) => {
    const failure = { status: "failed", source: "probe", reason };
    expect(await schema.run(netThat(reason), { url: `${server.url}/` })).toMatchObject(failure);
    expect(await cookie.run(netThat(reason), { url: `${server.url}/` })).toMatchObject(failure);
    expect(await security.run(netThat(reason), { url: `${server.url}/` })).toMatchObject(failure);
    expect(await urlExpand.run(netThat(reason), { url: `${server.url}/` })).toMatchObject(failure);
  },
);

it("a page that is analysed has a report", async () => {
  const net = netOf({ ...portsOf(netThat("busy")) });
  const read = dataOf(await analysePage(net, await seen(net), landingAnalysis, {}));
  expect(read.report).toMatchObject({ title: "T", canonical: { url: `${server.url}/canonical`, source: "header" } });
  expect(read).toMatchObject({ unread: false, limitations: [] });
});

/** The ports of a net except its analyses. */
function portsOf({ http, dns }: Net): Partial<Net> {
  return { http, dns };
}
