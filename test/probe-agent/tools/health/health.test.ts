import { describe, expect, it } from "vitest";
import { health as contract } from "#shared/tools/health/contract.ts";
import { daysFromNow } from "#test/servers/pki.ts";
import { careful, checksOf, createHealthBench, HOST } from "#test/support/health.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const bench = await stopAfterAll(createHealthBench());

describe("a careful site", () => {
  it("earns an A+ and every point that does not depend on this machine", async () => {
    const site = await bench.serveTls(careful);
    const redirect = await bench.serve({
      handler: (_request, response) => {
        response.writeHead(301, { location: `https://${HOST}:${site.port}/` }).end();
        return true;
      },
    });
    const result = await bench.resultOf(`https://${HOST}:${site.port}/`, { http: redirect.port, https: 443 });
    expect(result).toMatchObject({ grade: "A+", grade_caps: [], final_url: `https://${HOST}:${site.port}/` });
    expect(result.ttfb_samples_ms).toHaveLength(3);
    const lost = result.categories.flatMap(({ checks }) => checks).filter(({ status }) => status !== "pass");
    const machine = new Set(["ttfb", "total", "ipv6", "cookies"]);
    expect(lost.filter(({ id }) => !machine.has(id))).toEqual([]);
    expect(checksOf(result, "protocols", "trust", "https_redirect", "http_version")).toEqual({
      protocols: "5/5 pass",
      trust: "8/8 pass",
      https_redirect: "4/4 pass",
      http_version: "3/3 pass",
    });
  });

  it("needs no redirect if port 80 is closed, and is graded without an AAAA record", async () => {
    const site = await bench.serveTls(careful, { dns: ["four.test"] });
    const result = await bench.resultOf(`https://four.test:${site.port}/`);
    expect(checksOf(result, "https_redirect", "ipv6")).toEqual({ https_redirect: "4/4 pass", ipv6: "0/1 fail" });
  });
});

it("requires no redirect from a host of the preload list", async () => {
  const site = await bench.serveTls(careful, { dns: ["preloaded.test"] });
  const open = await bench.serve({});
  const ports = { http: open.port, https: 443 };
  const result = await bench.resultOf(`https://preloaded.test:${site.port}/`, ports);
  expect(checksOf(result, "https_redirect")).toEqual({ https_redirect: "4/4 pass" });
  const other = await bench.serveTls(careful);
  const without = await bench.resultOf(`https://${HOST}:${other.port}/`, ports);
  expect(checksOf(without, "https_redirect")).toEqual({ https_redirect: "0/4 fail" });
});

it("reports a certificate as due for renewal by its lifetime", async () => {
  const site = await bench.serveTls(careful, { notBefore: daysFromNow(-80), notAfter: daysFromNow(10.5) });
  expect(checksOf(await bench.resultOf(`https://${HOST}:${site.port}/`), "expiry")).toEqual({ expiry: "1/3 warn" });
});

describe("old TLS", () => {
  it("limits the grade to B if a version below 1.2 is offered", async () => {
    const leaf = await bench.pki.issue({ dns: [HOST] });
    const tls = { ...identityOf(leaf, bench.pki.intermediate), minVersion: "TLSv1" } as const;
    const result = await bench.resultOf(`https://${HOST}:${(await bench.serve({ tls, handler: careful })).port}/`);
    expect(checksOf(result, "protocols")).toEqual({ protocols: "2/5 warn" });
    expect(result.grade_caps).toContainEqual(expect.objectContaining({ grade: "B", check: "protocols" }));
  });
});

describe("cipher suites", () => {
  it.each([
    ["ECDHE+AESGCM:@SECLEVEL=0", "3/3 pass", null],
    ["ECDHE+AES:@SECLEVEL=0", "2/3 warn", /^TLS_ECDHE_RSA_WITH_AES_\d+_CBC_SHA/],
    ["ECDHE+AES:kRSA+AESGCM:@SECLEVEL=0", "1/3 warn", /^TLS_RSA_WITH_AES_\d+_GCM/],
    ["ECDHE+AESGCM:aNULL+AES:@SECLEVEL=0", "0/3 fail", /_anon_/],
  ] as const)("%s earn %s", async (ciphers, points, value) => {
    const leaf = await bench.pki.issue({ dns: [HOST], key: "rsa2048" });
    const tls = { ...identityOf(leaf, bench.pki.intermediate), ciphers };
    const site = await bench.serve({ tls, handler: careful });
    const result = await bench.resultOf(`https://${HOST}:${site.port}/`);
    expect(checksOf(result, "ciphers")).toEqual({ ciphers: points });
    const check = result.categories.flatMap(({ checks }) => checks).find(({ id }) => id === "ciphers");
    if (value === null) expect(check?.value).toBeNull();
    else expect(check?.value).toMatch(value);
    expect(result.limitations.join(" ")).not.toMatch(/[Cc]ipher/);
  });
});

describe("a page over http://", () => {
  it("has no points for TLS and at most a D if the TLS port is closed", async () => {
    const site = await bench.serve({ handler: careful });
    const result = await bench.resultOf(`http://${HOST}:${site.port}/`);
    expect(result.categories[1]).toMatchObject({ name: "SSL/TLS", score: 0 });
    expect(result.grade_caps).toContainEqual(expect.objectContaining({ grade: "D", check: "trust" }));
    expect(checksOf(result, "trust", "https_redirect", "hsts", "mixed_content")).toEqual({
      trust: "0/8 fail",
      https_redirect: "0/4 fail",
      hsts: "0/7 fail",
      mixed_content: "0/3 na",
    });
  });

  it("has its TLS graded on the TLS port of the host", async () => {
    const secure = await bench.serveTls(careful);
    const site = await bench.serve({ handler: careful });
    const result = await bench.resultOf(`http://${HOST}:${site.port}/`, { http: 80, https: secure.port });
    expect(checksOf(result, "trust", "https_redirect")).toEqual({ trust: "8/8 pass", https_redirect: "0/4 fail" });
  });

  it("that redirects is graded at its final address", async () => {
    const secure = await bench.serveTls(careful);
    const location = `https://${HOST}:${secure.port}/`;
    const site = await bench.serve({
      handler: (_request, response) => response.writeHead(302, { location }).end() !== null,
    });
    const result = await bench.resultOf(`http://${HOST}:${site.port}/`);
    expect(result.final_url).toBe(location);
    expect(checksOf(result, "trust", "https_redirect", "redirects")).toEqual({
      trust: "8/8 pass",
      https_redirect: "4/4 pass",
      redirects: "2/2 pass",
    });
  });
});

it("compares grades and first bytes across locations", async () => {
  const result = await bench.resultOf(`https://${HOST}:${(await bench.serveTls(careful)).port}/`);
  expect(contract.across?.agreeOn(result)).toBe(result.grade);
  expect(contract.across?.measure(result)).toEqual({ ttfb_ms: result.ttfb_ms });
});
