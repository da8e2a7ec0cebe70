import { describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import type { redirects as contract } from "#shared/tools/redirects/contract.ts";
import { redirects } from "#probe-agent/tools/redirects.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type Handler } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { freePort } from "#test/support/free-port.ts";
import { failureOf, identityOf } from "#test/support/http-engine.ts";
import { expectWellFormed } from "#test/support/findings.ts";
import { resultOf, runTool, type ToolSetting } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

type Result = ResultOf<typeof contract>;

/** /meta?content=, /header?refresh=[&code=]: pages that refresh; /set-cookie-loop: to itself with a cookie. */
const routes: Handler = (_request, response, { path }) => {
  const url = new URL(path, "http://server.invalid");
  const html = (head: string): void => {
    response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><head>${head}</head><p>page</p>`);
  };
  if (url.pathname === "/meta") html(`<meta http-equiv="Refresh" content="${url.searchParams.get("content")}">`);
  else if (url.pathname === "/based") html('<base href="/deep/"><meta http-equiv=refresh content="0;url=page">');
  else if (url.pathname === "/noscript") html('<noscript><meta http-equiv=refresh content="0;url=/"></noscript>');
  else if (url.pathname === "/header") {
    const code = Number(url.searchParams.get("code") ?? 200);
    response.writeHead(code, { refresh: url.searchParams.get("refresh") ?? "", "content-type": "text/plain" }).end("x");
  } else if (url.pathname === "/a") html('<meta http-equiv=refresh content="0; url=/b">');
  else if (url.pathname === "/b") html("<meta http-equiv=refresh content=\"0; URL='/a'\">");
  else if (url.pathname === "/cookie-loop") {
    response.writeHead(302, { location: "/cookie-loop", "set-cookie": ["a=1", "b=2"] }).end();
  } else if (url.pathname === "/hsts") {
    response
      .writeHead(301, { location: url.searchParams.get("to") ?? "/", "strict-transport-security": "max-age=60" })
      .end();
  } else if (url.pathname.startsWith("/chain/")) {
    const left = Number(url.pathname.slice(7));
    html(left === 0 ? "" : `<meta http-equiv=refresh content="0;url=/chain/${left - 1}">`);
  } else if (url.pathname === "/wide") {
    for (let n = 0; n < 500; n += 1) response.appendHeader(`x-${n}`, "v".repeat(100));
    response.writeHead(302, { location: `/wide?${Number(url.search.slice(1)) + 1}` }).end();
  } else return false;
  return true;
};

const pki = await createPki();
const leaf = await pki.issue({ dns: ["one.test"] });
const server = await stopAfterAll(startHttpServer({ handler: routes }));
const secure = await stopAfterAll(
  startHttpServer({ handler: routes, tls: identityOf(leaf, pki.intermediate), h2: true }),
);
const dns = await stopAfterAll(
  startDnsServer({ zones: { "one.test": { A: ["127.0.0.1"] }, "inside.test": { A: ["10.0.0.1"] } } }),
);
const setting = { dnsServers: [dns.address], roots: [pki.root.pem] };
const deadPort = await freePort();

/** Runs the tool and checks that the numbers of the result are consistent. */
async function run(
  url: string,
  params: Readonly<Record<string, unknown>> = {},
  more: ToolSetting = {},
): Promise<Result> {
  const result = await resultOf(redirects, { url, ...params }, { ...setting, ...more });
  expect(result.count).toBe(result.hops.length - 1);
  expect(result.hops.reduce((sum, { ms }) => sum + ms, 0)).toBe(result.total_ms);
  expect(result.hops.map(({ n }) => n)).toEqual(result.hops.map((_hop, index) => index + 1));
  expect(result.hops.map(({ followed }) => followed)).toEqual(result.hops.map((_hop, index) => index < result.count));
  for (const [index, hop] of result.hops.entries()) {
    const next = result.hops[index + 1];
    if (next !== undefined && hop.location !== null) expect(next.url.split("#")[0]).toBe(hop.location.split("#")[0]);
  }
  expectWellFormed(result.findings);
  return result;
}

const at = (path: string): string => server.url + path;
const codes = (result: Result): string[] => result.findings.map(({ id }) => id);

describe("redirects", () => {
  it("shows every response of a chain, the final one included", async () => {
    const result = await run(at("/redirect/2"));
    expect(result).toMatchObject({
      url: at("/redirect/2"),
      count: 2,
      final_url: at("/"),
      final_code: 200,
      loop: false,
      truncated: false,
      https_upgrade: false,
      downgrade: false,
      cross_domain: [],
    });
    expect(result.hops.map(({ code, type, location }) => [code, type, location])).toEqual([
      [302, "http", at("/redirect/1?code=302")],
      [302, "http", at("/")],
      [200, "none", null],
    ]);
    expect(result.hops[0]).toMatchObject({ ip: "127.0.0.1", http_version: "1.1", set_cookie_count: 0, delay_s: null });
    expect(result.hops[0]?.headers).toContainEqual({ name: "location", value: "/redirect/1?code=302" });
  });

  it("shows one hop and no redirect for a page that does not redirect", async () => {
    expect(await run(at("/"))).toMatchObject({ count: 0, final_code: 200, hops: [{ n: 1, type: "none" }] });
  });

  it("ends at a redirect that leads nowhere, and says so first", async () => {
    const result = await run(at("/status/302"));
    expect([result.count, result.final_code, result.loop]).toEqual([0, 302, false]);
    expect(result.findings[0]).toMatchObject({ severity: "critical", id: "missing-location" });
  });

  it("stops at a loop", async () => {
    expect(await run(at("/loop"))).toMatchObject({ loop: true, truncated: false, count: 0 });
    const two = await run(at("/ping"));
    expect(two).toMatchObject({ loop: true, count: 1, final_url: at("/pong"), final_code: 302 });
    expect(two.findings[0]).toMatchObject({ severity: "critical", id: "loop" });
    const cookies = await run(at("/cookie-loop"));
    expect(cookies).toMatchObject({ loop: true, count: 1, hops: [{ set_cookie_count: 2 }, { set_cookie_count: 2 }] });
  });

  it.each([
    ["/redirect/5", 3, { truncated: true, loop: false, count: 3, final_code: 302 }],
    ["/redirect/5", 5, { truncated: false, count: 5, final_code: 200 }],
    ["/redirect/12", undefined, { truncated: true, count: 10 }],
    // Refreshes count too.
    ["/chain/4", 4, { truncated: false, count: 4, final_code: 200 }],
    ["/chain/5", 4, { truncated: true, count: 4, final_code: 200 }],
    ["/meta?content=0;url=/redirect/5", 3, { truncated: true, count: 3, final_code: 302 }],
  ])("follows %s up to max %s", async (path, max, expected) => {
    expect(await run(at(path), max === undefined ? {} : { max })).toMatchObject(expected);
  });

  it("sends the requested User-Agent", async () => {
    await run(at("/redirect/1"), { ua: "Probe/1" });
    const sent = server.requests.slice(-2).map(({ headers }) => headers.find(([name]) => name === "User-Agent")?.[1]);
    expect(sent).toEqual(["Probe/1", "Probe/1"]);
    await expect(runTool(redirects, { url: at("/"), ua: "a\u0001b" }, setting)).rejects.toThrow("control characters");
  });
});

describe("redirects between schemes and domains", () => {
  it("reports an upgrade, and that it should be permanent", async () => {
    const result = await run(`http://one.test:${server.port}/to?url=https://one.test:${secure.port}/`);
    expect(result).toMatchObject({ https_upgrade: true, downgrade: false, cross_domain: [], count: 1 });
    expect(result.hops[1]).toMatchObject({ http_version: "2" });
    expect(codes(result)).toEqual(["temporary-upgrade"]);
  });

  it("reports a downgrade, and a host that browsers no longer contact over http", async () => {
    const start = `https://one.test:${secure.port}/hsts?to=http://one.test:${server.port}/`;
    const result = await run(start);
    expect(result).toMatchObject({ https_upgrade: false, downgrade: true });
    expect(result.hops.map(({ hsts }) => hsts)).toEqual([null, "learned"]);
    expect(codes(result)).toEqual(["downgrade", "ends-at-http"]);
  });

  it("marks hops of the preload list", async () => {
    const data = {
      hasHstsPreload: true,
      hstsPreload: (host: string) => (host === "one.test" ? { include_subdomains: true } : null),
    };
    const result = await run(`http://one.test:${server.port}/`, {}, { data });
    expect(result.hops[0]?.hsts).toBe("preloaded");
    expect(result.limitations.join()).not.toContain("preload");
  });

  it("reports a certificate that browsers do not trust", async () => {
    const result = await run(`https://one.test:${secure.port}/`, {}, { roots: [] });
    expect(codes(result)).toContain("bad-certificate");
  });
});

describe("refreshes", () => {
  it.each([
    ["/meta?content=0;url=/", "meta", 0],
    ["/header?refresh=5,/", "refresh_header", 5],
    ["/header?refresh=0;url=/&code=404", "refresh_header", 0],
  ])("follows %s", async (path, type, delay) => {
    const result = await run(at(path));
    expect(result).toMatchObject({ count: 1, final_url: at("/"), final_code: 200 });
    expect(result.hops[0]).toMatchObject({ type, delay_s: delay, location: at("/") });
    expect(codes(result)).toContain("refresh");
    // It does not wait for the delay.
    expect(result.total_ms).toBeLessThan(delay === 0 ? Infinity : delay * 1000);
  });

  it.each([
    ["/meta?content=6;url=/", "slow-refresh"],
    ["/meta?content=0", "reloads-itself"],
    ["/meta?content=0;url=mailto:a@b.test", "refresh-target"],
    ["/noscript", "noscript-refresh"],
  ])("reports %s and stays", async (path, issue) => {
    const result = await run(at(path));
    expect([result.count, result.final_code, result.loop]).toEqual([0, 200, false]);
    expect(codes(result)).toContain(issue);
  });

  it("resolves the address of a meta element against the page's base", async () => {
    expect((await run(at("/based"))).hops[1]).toMatchObject({ url: at("/deep/page"), code: 404 });
  });

  it("and redirects form one chain", async () => {
    const result = await run(at("/to?url=/meta?content=0;url=/redirect/1"));
    expect(result.hops.map(({ type }) => type)).toEqual(["http", "meta", "http", "none"]);
  });

  it("that lead to each other are a loop", async () => {
    const result = await run(at("/a"));
    expect(result).toMatchObject({ loop: true, count: 1, final_url: at("/b") });
    expect(await run(at("/to?url=/a"))).toMatchObject({ loop: true, count: 2 });
    expect(await run(at("/header?refresh=0;url=/header?refresh=0;url=/header"))).toMatchObject({ loop: false });
  });

  it("without a delay to the same page are a loop too", async () => {
    const path = "/meta?content=0;url=";
    expect(await run(at(path + encodeURIComponent("#x")))).toMatchObject({ loop: true, count: 0 });
  });

  it("to a server that does not answer end the chain at their page", async () => {
    const result = await run(at(`/meta?content=0;url=http://127.0.0.1:${deadPort}/`));
    expect(result).toMatchObject({ count: 0, final_code: 200 });
    expect(result.findings[0]).toMatchObject({ severity: "critical", id: "refresh-failed" });
    expect(result.failure).toMatchObject({ url: `http://127.0.0.1:${deadPort}/`, stage: "connect", reason: "refused" });
    const inside = await run(at("/meta?content=0;url=http://inside.test/"));
    expect(inside.findings[0]).toMatchObject({ severity: "critical", id: "refresh-refused" });
  });
});

describe("a chain that cannot be followed", () => {
  it.each([
    ["/to?url=http://10.0.0.1/", "refused"],
    ["/to?url=http://inside.test/", "refused"],
    ["/to?url=http://user:pass@127.0.0.1/", "refused"],
  ])("%s ends as %s", async (path, expected) => {
    const { outcome } = await runTool(redirects, { url: at(path) }, { ...setting, timeoutMs: 2000 });
    expect(failureOf(outcome)).toBe(expected);
  });

  it("fails if the first server does not answer", async () => {
    const { outcome } = await runTool(redirects, { url: `http://127.0.0.1:${deadPort}/` }, setting);
    expect(failureOf(outcome)).toBe("connect/target/refused");
    expect(outcome).toMatchObject({ message: expect.stringContaining(String(deadPort)) as string });
  });

  it.each([
    ["http://nowhere.test/", "dns", "nxdomain"],
    ["/reset-early", "response", "reset"],
    ["/hints/forever", "response", "informational_flood"],
    ["https://one.test:PLAIN/", "tls", "not_tls"],
  ])("shows the responses before a hop that is dead, and why: %s", async (to, stage, reason) => {
    const dead = to.replace("PLAIN", String(server.port));
    const result = await run(at(`/to?url=/to?url=${dead}`));
    const url = new URL(dead, server.url).href;
    expect(result).toMatchObject({ count: 1, final_code: 302, loop: false, truncated: false });
    expect(result.hops.at(-1)).toMatchObject({ type: "http", location: url, followed: false });
    expect(result.failure).toMatchObject({ url, stage, source: "target", reason });
    expect(result.findings[0]).toMatchObject({ severity: "critical", id: "dead-end" });
  });

  it("leaves the wait for a dead hop out of the chain's time", async () => {
    const result = await run(at("/to?url=/silent"), {}, { timeoutMs: 1500 });
    expect(result.failure).toMatchObject({ stage: "response", reason: "timeout" });
    expect(result.failure?.ms).toBeGreaterThan(700);
    expect(result.total_ms).toBeLessThan(result.failure?.ms ?? 0);
  });

  it("shows the page whose refresh leads to redirects that fail", async () => {
    const result = await run(at(`/meta?content=0;url=/to?url=http://127.0.0.1:${deadPort}/`));
    expect(result.hops.map(({ type }) => type)).toEqual(["meta", "http"]);
    expect(result.failure).toMatchObject({ reason: "refused" });
  });

  it.each(["/drip-body?ms=50", "/bytes/6000000", "/short"])(
    "is still reported if the last body is %s",
    async (path) => {
      const result = await run(at(`/to?url=${encodeURIComponent(path)}`));
      expect(result).toMatchObject({ count: 1, final_code: 200 });
      expect(result.limitations.join()).toContain("not read to its end");
    },
  );

  it("shows a part of headers that are too large for a result", async () => {
    const result = await run(at("/wide?0"), { max: 20 });
    expect(result).toMatchObject({ count: 20, truncated: true });
    expect(JSON.stringify(result).length).toBeLessThan(200_000);
    expect(result.hops.every(({ headers }) => headers.length > 20)).toBe(true);
    expect(result.limitations.join()).toContain("left out");
  });
});
