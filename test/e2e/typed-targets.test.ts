import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { callEverySurface } from "#test/support/surfaces.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane({ config: { openPerMinute: 1_000, openPerDay: 1_000 } }));
const folder = mkdtempSync(join(tmpdir(), "vantage-typed-"));
const pki = await createPki();
const roots = join(folder, "root.pem");
writeFileSync(roots, pki.root.pem);
const leaf = await pki.issue({ dns: ["localhost"], ip: ["127.0.0.1"] });
const site = await stopAfterAll(startHttpServer({ tls: identityOf(leaf, pki.intermediate) }));
/** The site as people type it: host, port and path. */
const typed = `LocalHost:${site.port}/status/204`;
useAgent(plane, "local", { NODE_EXTRA_CA_CERTS: roots });
const key = await plane.createKey();

afterAll(async () => {
  rmSync(folder, { recursive: true });
});

const contractOf = (name: string) => CONTRACTS.find((contract) => contract.name === name) ?? fail(name);
function fail(name: string): never {
  throw new Error(`no tool ${name}`);
}

describe("a host without a scheme is read as https", () => {
  it.each(["http-status", "redirects", "resolve-url", "url-expand", "robots"])(
    "by %s, on every surface, and returned as it was submitted",
    async (name) => {
      const contract = contractOf(name);
      const { param = "", echo = param } = contract.target ?? {};
      const answers = await callEverySurface(plane, key, contract, { [param]: typed });
      expect(answers.size).toBeGreaterThanOrEqual(3);
      for (const [surface, answer] of answers) {
        expect(answer, surface).toMatchObject({ data: { [echo]: typed } });
      }
    },
  );

  it("in version 3, at several locations, in an event stream and in a measurement", async () => {
    const v3 = await plane.call(`/api/v3/check?url=${typed}`, { key });
    expect(v3.body.data).toMatchObject({
      url: typed,
      final_url: `https://localhost:${site.port}/status/204`,
      code: 204,
    });
    const multi = await plane.call(`/api/v4/check?url=${typed}&locations=local`, { key });
    expect(multi.body.data).toMatchObject({ locations: [{ data: { url: typed, code: 204 } }] });
    const stream = await plane.call(`/api/v4/check?url=${typed}`, { key, headers: { accept: "text/event-stream" } });
    expect(stream.text.split(`"url":"${typed}"`)).toHaveLength(3);
    const made = await plane.call("/api/v4/measurements", { key, body: { tool: "check", params: { url: typed } } });
    const { poll_url: pollUrl } = made.body.data as { poll_url: string };
    await expect
      .poll(async () => (await plane.call(pollUrl, { key })).body.data)
      .toMatchObject({ status: "completed", params: { url: typed }, data: { locations: [{ data: { url: typed } }] } });
  });

  it("in a scrape, where a host alone means http as for blackbox_exporter", async () => {
    const plain = await startHttpServer();
    const bare = await plane.call(`/api/v4/probe?module=http_2xx&target=127.0.0.1:${plain.port}/status/204`, { key });
    await plain.close();
    expect(bare.text).toContain("probe_http_ssl 0");
    expect(bare.text).toContain("probe_http_status_code 204");
    const full = await plane.call(`/api/v4/probe?module=http_2xx&target=https://${typed}`, { key });
    expect(full.text).toContain("probe_http_ssl 1");
  });

  it("in a batch, where all spellings of one target are checked once", async () => {
    const urls = [typed, typed.toLowerCase(), `https://localhost:${site.port}/status/204#top`, "no host", "mailto:x@y"];
    const before = site.requests.length;
    const { body } = await plane.call("/api/v4/batch", { key, body: { urls } });
    const { poll_url: pollUrl, ...submitted } = body.data as { poll_url: string };
    expect(submitted).toMatchObject({ total: 3, invalid_urls: ["no host", "mailto:x@y"] });
    await expect
      .poll(async () => (await plane.call(pollUrl, { key })).body.data)
      .toMatchObject({ status: "completed", completed: 3, failed: 0 });
    const { body: ended } = await plane.call(pollUrl, { key });
    expect(ended.data).toMatchObject({ results: urls.slice(0, 3).map((url) => ({ url, status: "ok" })) });
    expect(site.requests.length).toBe(before + 1);
  });
});

it("in the open tier, where one cached answer serves every spelling and has the caller's own", async () => {
  const spellings = [`localhost:${site.port}/status/206`, `LOCALHOST:${site.port}/status/206`];
  spellings.push(`https://${spellings[0]}`, ...spellings);
  const before = site.requests.length;
  for (const spelling of spellings) {
    const { body } = await plane.call(`/api/open/http-status?q=${spelling}&format=json`);
    expect(body).toMatchObject({ url: spelling, code: 206 });
    const { text } = await plane.call(`/api/open/http-status?q=${spelling}`);
    expect(text).toContain(`url: ${spelling}\n`);
    expect(text).toContain(`?q=${spelling}\n`);
  }
  expect(site.requests.length).toBe(before + 1);
});

it("in a cached result, which has the URL as its caller wrote it", async () => {
  const first = await plane.call(`/api/v4/health?url=${typed}`, { key });
  expect(first.body).toMatchObject({ data: { url: typed }, meta: { cached: false } });
  const spelling = `https://localhost:${site.port}/status/204`;
  const second = await plane.call(`/api/v4/health?url=${spelling}`, { key });
  expect(second.body).toMatchObject({ data: { url: spelling }, meta: { cached: true } });
});

it.each(CONTRACTS.filter(({ target }) => target?.kind === "url"))(
  "$name has a field that repeats the URL",
  ({ target, result }) => {
    expect(Object.keys(result.properties)).toContain(target?.echo ?? target?.param);
  },
);

it("poll_url is a path of the OpenAPI document", async () => {
  const { body } = await plane.call("/openapi.json");
  const documented = Object.keys((body as unknown as { paths: object }).paths);
  const batch = await plane.call("/api/v4/batch.php", { key, body: { urls: [typed] } });
  const measurement = await plane.call("/api/v4/measurements", {
    key,
    body: { tool: "dns", params: { domain: "example.org" } },
  });
  for (const { body: made } of [batch, measurement]) {
    const { poll_url: pollUrl } = made.data as { poll_url: string };
    expect(documented).toContain(pollUrl.split("?", 1)[0]);
    expect((await plane.call(pollUrl, { key })).status).toBe(200);
  }
});
