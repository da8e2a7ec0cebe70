import { describe, expect, it } from "vitest";
import type { Analysis } from "#probe-agent/analysis/analysis.ts";
import { llmsTxtAnalysis } from "#probe-agent/tools/ai-check/llms-txt.ts";
import { seoPageAnalysis } from "#probe-agent/tools/seo-audit/audit.ts";
import { schemaAnalysis } from "#probe-agent/tools/schema/report.ts";
import { domainWhoisAnalysis } from "#probe-agent/tools/whois/analyses.ts";
import { trackersAnalysis } from "#probe-agent/tools/cookie/trackers.ts";
import { landingAnalysis } from "#probe-agent/analysis/web/redirect-landing.ts";
import type { HealthFacts } from "#probe-agent/tools/health/report.ts";
import { createAnalyses, isHeavy } from "#probe-agent/threads/analyses.ts";
import { ANALYSES } from "#probe-agent/threads/analyses/list.ts";
import { createAnalysisThreads, type AnalysisThreadsOptions } from "#probe-agent/threads/analyses/threads.ts";
import { systemClock } from "#test/support/clock.ts";
import { HOSTILE_PAGES } from "#test/support/hostile-pages.ts";
import { jobLimits } from "#test/support/net.ts";
import type { ThreadOrder } from "#test/support/thread-program.ts";
import { readSourceFiles } from "#test/laws/source-files.ts";
import { PERFECT } from "#test/probe-agent/analysis/site/snapshots.ts";

const NOW = new Date("2026-11-21T12:00:00Z");
const BOTS = [{ name: "GPTBot", operator: "OpenAI", purpose: "train" as const }];
const PROGRAM = new URL("../../support/thread-program.ts", import.meta.url);

/** The pool of a real agent. Its threads, which take half a second of CPU time to start, stay for the next test. */
const THREADS = createAnalysisThreads({ clock: systemClock });

/**
 * Time of an analysis that is expected to end by itself. Threads have a low priority, so that they hardly run while
 * other programs keep the processors busy.
 */
const PATIENT_MS = 250_000;

function analyses(threads = THREADS, limits = jobLimits(2 * PATIENT_MS)) {
  return createAnalyses({ clock: systemClock, threads })(limits);
}

/** Creates a pool for one test. */
function createThreads(options: Omit<AnalysisThreadsOptions, "clock">) {
  return createAnalysisThreads({ clock: systemClock, ...options });
}

function page(html: string, facts: object = {}) {
  const headers = [["content-type", "text/html"]] as const;
  const raw = {
    url: "https://a.example/",
    status: 200,
    headers,
    contentType: "text/html",
    body: new TextEncoder().encode(html),
  };
  return { raw, facts };
}

const SITE = `<!doctype html><html lang=en><head><title>Shop</title><meta name=description content="A shop">
<link rel=canonical href=/><link rel=icon href=/i.png><link rel=stylesheet href=/wp-content/themes/x/style.css?ver=1.2>
<meta property=og:title content=Shop><meta property=og:image content=/a.png><meta name=twitter:card content=summary>
<meta http-equiv=refresh content="9;url=/b"><meta http-equiv=content-security-policy content="script-src 'self'">
<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"x","offers":{"price":1}}</script>
<script src=https://www.google-analytics.com/ga.js></script></head><body><h1>Shop</h1><img src=http://a.example/x>
<div itemscope itemtype=https://schema.org/Person><b itemprop=name>A</b></div><a href=/b>click here</a></body></html>`;

const { finalUrl: _finalUrl, status: _status, headers: _headers, page: _page, ...healthFacts } = PERFECT;
const SECURITY = {
  now: NOW,
  snapshot: { https: true, verified: true, redirects: [], cors: null, hsts_preloaded: null },
  redirectionKnown: true,
};
const ROBOTS = {
  status: 200,
  contentType: "text/plain",
  bytes: new TextEncoder().encode("user-agent: *\ndisallow: /a*b\n"),
  bots: BOTS,
};
const SITE_FACTS = {
  robots: { known: true as const, status: 200, text: "user-agent: *\ndisallow: /x\n" },
  sitemap: { named: [], tried: { known: false as const, why: "x" } },
  defaultIcon: null,
};

/** An ordinary input for each analysis. */
const INPUTS: Readonly<Record<string, unknown>> = {
  schema: page(SITE),
  "og-preview": page(SITE),
  "mixed-content": page(SITE),
  csp: page(SITE),
  security: page(SITE, SECURITY),
  trackers: page(SITE),
  health: page(SITE, healthFacts satisfies HealthFacts),
  "seo-page": page(SITE, { now: NOW }),
  "seo-audit": { page: seoPageAnalysis.analyse({ raw: page(SITE).raw, facts: { now: NOW } }).report, site: SITE_FACTS },
  "ai-page": page(SITE),
  "ai-robots": ROBOTS,
  robots: { ...ROBOTS, tested: "https://a.example/aab" },
  sitemaps: "sitemap: https://a.example/s.xml\n",
  resources: page(SITE),
  landing: page(SITE),
  "email-addresses": "Received: from a (b [192.0.2.1]) by c; Mon, 1 Jan 2024 00:00:00 +0000\r\n",
  "email-header": { headers: "From: a@b.example\r\n", now: NOW, places: new Map() },
  cookies: {
    hops: [{ url: "https://a.example/", headers: [["set-cookie", "a=b; Expires=Wed, 01 Jan 2030 00:00:00 GMT"]] }],
    pageUrl: "https://a.example/",
    now: NOW,
  },
  "llms-txt": "# A\n## B\n- [c](https://a.example/c)\n",
  tdmrep: '[{"location":"/","tdm-reservation":1}]',
  "json-object": "{}",
  "json-condition": {
    octets: new TextEncoder().encode('{"status":"degraded"}'),
    condition: { path: "$.status", op: "equals", value: '"ok"' },
  },
  "contains-text": { octets: new TextEncoder().encode(SITE), contentType: "text/html", text: "Shop" },
  "mta-sts": "version: STSv1\nmode: enforce\nmx: mail.a.example\nmax_age: 86400\n",
  rdap: {
    text: '{"objectClassName":"domain","ldhName":"a.example","nameservers":[]}',
    subject: { kind: "domain", name: "a.example" },
  },
  "whois-domain": { text: "Domain Name: a.example\nRegistrar: B\n", server: "whois.example" },
  "whois-number": { text: "inetnum: 192.0.2.0 - 192.0.2.255\nnetname: TEST\n", server: "whois.example" },
};
const LISTED = Array.from(ANALYSES.values());

/** The same input, too large for the main thread. */
function heavy({ name }: Pick<Analysis<never, unknown>, "name">): unknown {
  return { ...(INPUTS[name] as object), padding: new Uint8Array(100_000) };
}

/** Runs an order in a thread instead of an analysis. */
function runInThread(order: ThreadOrder, limits = jobLimits(2 * PATIENT_MS)) {
  const input = { ...order, padding: new Uint8Array(100_000) };
  return analyses(createThreads({ entry: PROGRAM }), limits).run(schemaAnalysis, input as never, PATIENT_MS);
}

describe("analyses", () => {
  it("have names of their own, and each has an input here", () => {
    expect(Object.keys(INPUTS).toSorted()).toEqual(LISTED.map(({ name }) => name).toSorted());
  });

  it.each(LISTED)("$name takes and returns plain data", ({ name, analyse }) => {
    const input = INPUTS[name];
    const report = analyse(input as never);
    expect(structuredClone(input)).toEqual(input);
    expect(structuredClone(report)).toEqual(report);
  });

  it("return the same report in a thread as on the main thread", async () => {
    const port = analyses();
    for (const analysis of LISTED.filter(({ name }) => typeof INPUTS[name] === "object")) {
      const threaded = await port.run(analysis, heavy(analysis) as never, PATIENT_MS);
      const report = analysis.analyse(INPUTS[analysis.name] as never);
      expect(threaded, analysis.name).toEqual({ ok: true, report });
    }
  });

  it("are all listed: a thread finds them by name", () => {
    // The agent itself does not load the list, which holds the code of every tool.
    const DEFINED = /= define(?:Page)?Analysis(?:<[^(]*>)?\(\s*"([^"]+)"/g;
    const names = readSourceFiles()
      .filter(({ path }) => path.startsWith("probe-agent/"))
      .flatMap(({ text }) => Array.from(text.matchAll(DEFINED), ([, name = ""]) => name));
    const byName = (a: string, b: string) => a.localeCompare(b);
    expect(names.toSorted(byName)).toEqual([...ANALYSES.keys()].toSorted(byName));
  });

  it("of small input need no thread", async () => {
    const port = analyses(createThreads({ entry: new URL("no-such-program.ts", PROGRAM) }));
    expect(await port.run(schemaAnalysis, page(SITE) as never)).toMatchObject({ ok: true });
    expect(await port.run(schemaAnalysis, heavy(schemaAnalysis) as never)).toEqual({ ok: false, reason: "broken" });
  });

  it("of text above 16 KB need a thread", async () => {
    const port = analyses(createThreads({ entry: new URL("no-such-program.ts", PROGRAM) }));
    const whois = (characters: number) => ({ text: "x".repeat(characters), server: "whois.example" });
    expect(await port.run(domainWhoisAnalysis, whois(16_000))).toMatchObject({ ok: true });
    expect(await port.run(domainWhoisAnalysis, whois(16_500))).toEqual({ ok: false, reason: "broken" });
    expect(await port.run(llmsTxtAnalysis, "x".repeat(16_500))).toEqual({ ok: false, reason: "broken" });
  });

  it("end in time if a page takes too long, and the next page is analysed", async () => {
    const port = analyses();
    const bomb = page(HOSTILE_PAGES["itemrefs"]?.(5 * 1024 * 1024) ?? "");
    expect(await port.run(schemaAnalysis, bomb as never, 200)).toEqual({ ok: false, reason: "too_slow" });
    expect(await port.run(schemaAnalysis, heavy(schemaAnalysis) as never, PATIENT_MS)).toMatchObject({ ok: true });
  });

  it("end only their thread if a page needs too much memory", async () => {
    const port = analyses(createThreads({ heapMb: 48 }));
    const tags = page(HOSTILE_PAGES["tags"]?.(5 * 1024 * 1024) ?? "");
    expect(await port.run(schemaAnalysis, tags as never, PATIENT_MS)).toEqual({ ok: false, reason: "out_of_memory" });
    expect(await port.run(schemaAnalysis, heavy(schemaAnalysis) as never, PATIENT_MS)).toMatchObject({ ok: true });
  });

  it("end with their job, even if their thread still runs", async () => {
    const abort = new AbortController();
    const limits = jobLimits(2 * PATIENT_MS, abort.signal);
    setTimeout(() => abort.abort(), 100);
    expect(await runInThread({ do: "spin" }, limits)).toEqual({ ok: false, reason: "cancelled" });
  });

  it("are run once more if their thread ends by itself, and not a third time", async () => {
    const left = (count: number) => {
      const shared = new SharedArrayBuffer(4);
      new Int32Array(shared)[0] = count;
      return shared;
    };
    expect(await runInThread({ do: "leave-while", left: left(1) })).toEqual({ ok: true, report: "stayed" });
    expect(await runInThread({ do: "leave-while", left: left(2) })).toEqual({ ok: false, reason: "broken" });
  });

  it("rethrow an error of the thread, which is a bug", async () => {
    const answer = { ok: false, error: new TypeError("a bug") };
    await expect(runInThread({ do: "echo", value: answer })).rejects.toThrow(new TypeError("a bug"));
  });

  it.each(Object.keys(HOSTILE_PAGES))("of a page of 5 MB of %s end in a thread", async (kind) => {
    const input = page(HOSTILE_PAGES[kind]?.(5 * 1024 * 1024) ?? "");
    const port = analyses();
    for (const analysis of [schemaAnalysis, trackersAnalysis, landingAnalysis]) {
      expect(await port.run(analysis as Analysis<never, unknown>, input as never, PATIENT_MS)).toMatchObject({
        ok: true,
      });
    }
  });
});

describe("isHeavy", () => {
  it("counts octets and characters at any depth", () => {
    expect(isHeavy({ a: ["x".repeat(1000)] }, 1000)).toBe(true);
    expect(isHeavy({ a: ["x".repeat(900)] }, 1000)).toBe(false);
    expect(isHeavy({ a: { b: new Uint8Array(1001) } }, 1000)).toBe(true);
    expect(
      isHeavy(
        Array.from({ length: 100 }, () => 1),
        1000,
      ),
    ).toBe(true);
    expect(isHeavy(null, 1000)).toBe(false);
  });
});
