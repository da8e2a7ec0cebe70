import { expectWellFormed } from "#test/support/findings.ts";
import { describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import type { urlExpand as contract } from "#shared/tools/url-expand/contract.ts";
import { urlExpand } from "#probe-agent/tools/url-expand.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type Handler } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { resultOf, runTool } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const routes: Handler = (request, response, { path }) => {
  const url = new URL(path, "http://server.invalid");
  const to = url.searchParams.get("to") ?? "";
  const html = (text: string): void => void response.writeHead(200, { "content-type": "text/html" }).end(text);
  if (request.method === "HEAD") response.writeHead(405).end();
  else if (url.pathname === "/article") html(`<title>  An\n article </title><p>text`);
  else if (url.pathname === "/wait")
    html(`<meta http-equiv="refresh" content="3;url=${to}"><title>You are leaving</title>`);
  else if (url.pathname === "/noscript") {
    html(
      `<script>location.replace("${to}")</script><noscript><META http-equiv="refresh" content="0;URL=${to}"></noscript>`,
    );
  } else if (url.pathname === "/s1") response.writeHead(301, { location: to }).end();
  else return false;
  return true;
};

const pki = await createPki();
const leaf = await pki.issue({ dns: ["t.co", "news.test"] });
const server = await stopAfterAll(startHttpServer({ handler: routes }));
const secure = await stopAfterAll(startHttpServer({ handler: routes, tls: identityOf(leaf, pki.intermediate) }));
const loopback = { A: ["127.0.0.1"] };
const names = ["bit.ly", "t.co", "news.test", "go.news.test", "go.other.test", "x.page.link", "xn--bcher-kva.test"];
const dns = await stopAfterAll(startDnsServer({ zones: Object.fromEntries(names.map((name) => [name, loopback])) }));
const setting = { dnsServers: [dns.address], roots: [pki.root.pem] };

const run = (url: string): Promise<ResultOf<typeof contract>> => resultOf(urlExpand, { url }, setting);
const plain = (host: string, path: string): string => `http://${host}:${server.port}${path}`;
const tls = (host: string, path: string): string => `https://${host}:${secure.port}${path}`;
const to = (url: string): string => `/s1?to=${encodeURIComponent(url)}`;

describe("url-expand", () => {
  it("reports the destination of a short link and its service", async () => {
    const end = tls("news.test", "/article?id=7&utm_source=x&fbclid=abc#top");
    const short = plain("bit.ly", to(tls("t.co", to(end))));
    const result = await run(short);
    expect(result).toMatchObject({
      short_url: short,
      expanded_url: end,
      expanded: true,
      is_shortener: true,
      service: "Bitly",
      count: 2,
      code: 200,
      content_type: "text/html",
      title: "An article",
      clean_url: tls("news.test", "/article?id=7#top"),
      tracking_params: [
        { name: "utm_source", vendor: "Google Analytics (UTM)" },
        { name: "fbclid", vendor: "Meta" },
      ],
    });
    expect(result.hops.map(({ n, type, service, code }) => [n, type, service, code])).toEqual([
      [1, "http", "Bitly", 301],
      [2, "http", "X", 301],
      [3, "none", null, 200],
    ]);
    expect(result.safe).toEqual({
      https: true,
      https_throughout: false,
      downgrade: false,
      cross_domain_count: 2,
      shortener_count: 2,
      loop: false,
      truncated: false,
      to_address: false,
      punycode: false,
    });
  });

  it("uses GET, because some servers do not support HEAD", async () => {
    await run(plain("bit.ly", to(plain("news.test", "/article"))));
    expect(server.requests.every(({ method }) => method === "GET")).toBe(true);
  });

  it("recognises custom hosts of shorteners by their redirects, and services by wildcard", async () => {
    const own = await run(plain("go.other.test", "/article"));
    expect(own).toMatchObject({ is_shortener: false, service: null, expanded: false, looks_shortened: false });
    const long = `/article?${"x".repeat(60)}`;
    expect((await run(plain("go.other.test", "/redirect/1"))).looks_shortened).toBe(false);
    const wildcard = await run(plain("x.page.link", to(plain("news.test", long))));
    expect(wildcard).toMatchObject({ is_shortener: true, service: "Firebase Dynamic Links" });
  });

  it("follows pages that redirect by refresh", async () => {
    const result = await run(plain("bit.ly", `/wait?to=${encodeURIComponent(plain("news.test", "/article"))}`));
    expect(result).toMatchObject({ expanded_url: plain("news.test", "/article"), title: "An article", count: 1 });
    expect(result.hops[0]?.type).toBe("meta");
  });

  it("follows a refresh in noscript only on shorteners", async () => {
    const path = `/noscript?to=${encodeURIComponent(plain("news.test", "/article"))}`;
    expect((await run(plain("t.co", path))).expanded_url).toBe(plain("news.test", "/article"));
    expect((await run(plain("news.test", path))).expanded).toBe(false);
  });

  it("reports what hides the destination", async () => {
    const down = await run(tls("t.co", to(`http://127.0.0.1:${server.port}/`)));
    expect(down.safe).toMatchObject({ https: false, downgrade: true, to_address: true });
    const odd = await run(plain("bit.ly", to(plain("xn--bcher-kva.test", "/article"))));
    expect(odd.safe.punycode).toBe(true);
    expect((await run(plain("bit.ly", "/loop"))).safe.loop).toBe(true);
    expect((await run(plain("bit.ly", "/redirect/11"))).safe.truncated).toBe(true);
  });

  it("keeps its bounds for any page", async () => {
    const query = Array.from({ length: 400 }, (_, n) => `utm_${n}=1`).join("&");
    const result = await run(plain("bit.ly", to(`/article?${query}`)));
    expect(result.tracking_params.length).toBeLessThanOrEqual(100);
    expect(result.clean_url).toBe(plain("bit.ly", "/article"));
  });

  it("is refused if a short link leads to a forbidden address", async () => {
    const { outcome } = await runTool(urlExpand, { url: plain("bit.ly", to("http://10.0.0.1/")) }, setting);
    expect(outcome.status).toBe("refused");
  });

  it("reports the destination also if it does not respond", async () => {
    const end = "https://www.gone.test/page?utm_source=x&id=1";
    const result = await run(plain("bit.ly", to(end)));
    expect(result).toMatchObject({
      expanded_url: end,
      expanded: true,
      count: 1,
      code: null,
      content_type: null,
      title: null,
      clean_url: "https://www.gone.test/page?id=1",
      failure: { url: end, stage: "dns", source: "target", reason: "nxdomain" },
      safe: { https: false, https_throughout: false, cross_domain_count: 1 },
    });
    expect(result.hops.map(({ code, type }) => [code, type])).toEqual([[301, "http"]]);
    expect(result.findings[0]).toMatchObject({ id: "dead-end", severity: "critical" });
    expectWellFormed(result.findings);
  });

  it("reports the application URL that a link leads to", async () => {
    const result = await run(plain("bit.ly", to("itms-apps://apps.example/app/id1")));
    expect(result).toMatchObject({ expanded: false, code: 301 });
    expect(result.findings[0]).toMatchObject({
      id: "other-scheme",
      message: "Location leads to itms-apps://apps.example/app/id1, which is not an http or https URL.",
    });
  });
});
