import { describe, expect, it } from "vitest";
import { MAX_RESULT_BYTES } from "#shared/protocol/wire.ts";
import { cookie } from "#probe-agent/tools/cookie/cookie.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";
import { resultOf, runTool } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const NOW = new Date("2026-01-01T00:00:00Z");
const HTML = "text/html";

const pki = await createPki();
const names = await stopAfterAll(
  startDnsServer({
    zones: {
      "www.shop.test": { A: ["127.0.0.1"] },
      "shop.test": { A: ["127.0.0.1"] },
      "ads.test": { A: ["127.0.0.1"] },
    },
  }),
);
const leaf = await pki.issue({ dns: ["www.shop.test", "shop.test", "ads.test"] });
const site: HttpServer = await stopAfterAll(
  startHttpServer({
    tls: identityOf(leaf, pki.intermediate),
    h2: true,
    handler: (_request, response, { path }) => {
      const respond = (
        status: number,
        cookies: readonly string[],
        more: Readonly<Record<string, string>>,
        body = "",
      ) => {
        response.writeHead(status, { "content-type": HTML, ...more, "set-cookie": [...cookies] }).end(body);
        return true;
      };
      if (path === "/click") {
        return respond(302, ["uid=12345; Secure; SameSite=None; Max-Age=60"], {
          location: `https://shop.test:${site.port}/`,
        });
      }
      if (path === "/") {
        return respond(301, ["lang=en; Domain=shop.test; Secure; SameSite=Lax"], {
          location: `https://www.shop.test:${site.port}/home`,
        });
      }
      if (path === "/home") {
        return respond(
          200,
          [
            "PHPSESSID=s3cr3tvalue; Path=/",
            "__Host-id=abc; Path=/; Secure; HttpOnly; SameSite=Strict; Priority=High; Partitioned",
            "_ga=GA1.1.2; Domain=.shop.test; Expires=Fri, 01 Jan 2027 00:00:00 GMT; Secure",
            "__Host-bad=x; Secure; Domain=shop.test; Path=/",
            "other=1; Domain=elsewhere.test",
            "lang=; Domain=shop.test; Path=/; Max-Age=0",
            "=; Secure",
            "bin=\u00e9; SameSite=None",
          ],
          {},
          "<script src=https://www.googletagmanager.com/gtag/js></script>",
        );
      }
      if (path.startsWith("/chain/")) {
        const left = Number(path.slice("/chain/".length));
        const cookies = Array.from({ length: 900 }, (_, n) => `c${left}-${n}=${n}`);
        return respond(left === 0 ? 200 : 302, cookies, left === 0 ? {} : { location: `/chain/${left - 1}` });
      }
      return false;
    },
  }),
);
const plain = await stopAfterAll(startHttpServer());

async function see(url: string) {
  return await resultOf(cookie, { url }, { dnsServers: [names.address], roots: [pki.root.pem], now: () => NOW });
}

describe("cookies of a chain of redirects", () => {
  it("are all listed, with the response that set them", async () => {
    const result = await see(`https://ads.test:${site.port}/click`);
    const home = `https://www.shop.test:${site.port}/home`;
    expect(result).toMatchObject({ final_url: home, code: 200, source: ["page"] });
    expect(
      result.cookies.map((one) => [one.name, one.hop_url.replace(/:\d+/, ""), one.first_party, one.rejected_reason]),
    ).toEqual([
      ["uid", "https://ads.test/click", false, null],
      ["lang", "https://shop.test/", true, null],
      ["PHPSESSID", "https://www.shop.test/home", true, null],
      ["__Host-id", "https://www.shop.test/home", true, null],
      ["_ga", "https://www.shop.test/home", true, null],
      ["__Host-bad", "https://www.shop.test/home", true, "host_prefix"],
      ["other", "https://www.shop.test/home", false, "domain_mismatch"],
      ["lang", "https://www.shop.test/home", true, null],
      ["bin", "https://www.shop.test/home", true, "samesite_none_without_secure"],
    ]);
    expect(result.summary).toEqual({
      total: 9,
      graded: 6,
      rejected: 3,
      secure: 5,
      http_only: 1,
      same_site: 4,
      third_party: 2,
      trackers: 1,
    });
    expect(result.trackers_in_html).toEqual([
      { host: "www.googletagmanager.com", vendor: "Google Tag Manager", category: "tag_manager", found_in: "element" },
    ]);
    expect(result.limitations).toEqual([
      "Scripts are not executed: cookies that they set, and trackers that they load, are not detected.",
    ]);
  });

  it("are reported in every field, but never with their values", async () => {
    const result = await see(`https://shop.test:${site.port}/`);
    expect(result.cookies.find((one) => one.name === "__Host-id")).toEqual({
      name: "__Host-id",
      value_length: 3,
      domain: "www.shop.test",
      host_only: true,
      path: "/",
      expires: null,
      max_age_s: null,
      session: true,
      deletes: false,
      secure: true,
      http_only: true,
      same_site: "strict",
      partitioned: true,
      priority: "high",
      prefix: { name: "__Host-", valid: true },
      size_bytes: 12,
      first_party: true,
      purpose: "session",
      vendor: null,
      hop_url: `https://www.shop.test:${site.port}/home`,
      rejected_reason: null,
      penalties: [],
    });
    expect(result.cookies.find((one) => one.name === "_ga")).toMatchObject({
      domain: "shop.test",
      host_only: false,
      expires: "2027-01-01T00:00:00.000Z",
      purpose: "analytics",
      vendor: "Google Analytics",
    });
    expect(result.cookies.find((one) => one.name === "__Host-bad")?.prefix).toEqual({ name: "__Host-", valid: false });
    expect(JSON.stringify(result)).not.toMatch(/s3cr3tvalue|GA1\.1\.2/);
  });

  it("are graded by the worst and the mean, without deleted ones", async () => {
    const result = await see(`https://shop.test:${site.port}/`);
    const session = result.cookies.find((one) => one.name === "PHPSESSID");
    expect(session?.penalties.map(({ points }) => points)).toEqual([40, 30, 5]);
    const found = result.findings.filter(({ where }) => where === "PHPSESSID");
    expect(kinds(found)).toEqual([
      "warning sensitive-without-secure",
      "warning session-without-httponly",
      "info samesite-absent",
    ]);
    expectWellFormed(result.findings);
    expect(result.findings).toContainEqual({
      id: "dropped-by-browsers",
      severity: "warning",
      message: "The cookie other has a Domain that does not include the responding host: browsers drop it.",
      how: "Set Domain to the responding host or to a parent domain of it, or omit it.",
      reference: "https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie",
      where: "other",
    });
    expect(result.findings.some(({ where }) => where === "lang")).toBe(false);
    // 25, 100, 95, and 75 for the broken prefix, 60 for SameSite=None: the worst 25, the mean 71.
    expect([result.score, result.grade, result.note]).toEqual([43, "F", null]);
    expect(result.cookies.filter((one) => one.deletes).map((one) => one.name)).toEqual(["lang"]);
  });
});

describe("a page without cookies", () => {
  it("has the best grade and a note", async () => {
    expect(await see(`${plain.url}/`)).toMatchObject({
      score: 100,
      grade: "A+",
      note: "No cookie was set.",
      cookies: [],
    });
  });
});

describe("hostile answers", () => {
  it("with thousands of cookies over a chain are counted in full and listed up to the size of a result", async () => {
    const result = await see(`https://shop.test:${site.port}/chain/9`);
    expect(result.summary).toMatchObject({ total: 9000, graded: 9000 });
    expect(result.cookies.length).toBeGreaterThan(200);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(MAX_RESULT_BYTES);
    expect(result.limitations).toContainEqual(`Only the first ${result.cookies.length} of 9000 cookies are listed.`);
  });

  it("with two thousand cookies in one header section are a failure of the target", async () => {
    const { outcome } = await runTool(cookie, { url: `${plain.url}/cookies/2000` });
    expect(outcome).toMatchObject({ status: "failed", source: "target", reason: "headers_overflow" });
  });

  it("with broken cookies are still read", async () => {
    const bytes =
      "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\u0001c; x\r\nSet-Cookie: ;;;\r\nSet-Cookie: __proto__=1\r\nSet-Cookie:\r\n\r\n";
    const result = await see(`${plain.url}/wire?bytes=${encodeURIComponent(bytes)}`);
    expect(result.cookies.map((one) => [one.name, one.rejected_reason])).toEqual([
      ["a", "control_character"],
      ["__proto__", null],
    ]);
  });
});

it.each(["reset", "timeout"])("a page that ends in a %s has still set its cookies", async (error) => {
  const server = await startHttpServer({
    handler: (request, response) => {
      response.writeHead(200, { "content-type": HTML, "set-cookie": "a=1", "content-length": 100 });
      response.write("<p>", () => {
        if (error === "reset") setTimeout(() => request.socket.resetAndDestroy(), 20);
      });
      return true;
    },
  });
  const result = await resultOf(cookie, { url: server.url }, { timeoutMs: 1500 });
  await server.close();
  expect(result.cookies.map(({ name }) => name)).toEqual(["a"]);
  expect(result.limitations).toContain(`The body could not be read to its end: ${error}.`);
});
