import { expectWellFormed, kinds } from "#test/support/findings.ts";
import { describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import type { resolveUrl as contract } from "#shared/tools/resolve-url/contract.ts";
import { resolveUrl } from "#probe-agent/tools/resolve-url.ts";
import { startHttpServer, type Handler } from "#test/servers/http.ts";
import { freePort } from "#test/support/free-port.ts";
import { resultOf, runTool } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** /page?link=&head=: a page with that Link header and these elements. */
const routes: Handler = (_request, response, { path }) => {
  const url = new URL(path, "http://server.invalid");
  if (url.pathname !== "/page") return false;
  for (const link of url.searchParams.getAll("link")) response.appendHeader("link", link);
  response.writeHead(200, { "content-type": "Text/HTML; charset=utf-8" });
  response.end(`<!doctype html><head>${url.searchParams.getAll("head").join("")}</head><p>page`);
  return true;
};

const server = await stopAfterAll(startHttpServer({ handler: routes }));

const run = (path: string): Promise<ResultOf<typeof contract>> => resultOf(resolveUrl, { url: server.url + path });
const head = (html: string): string => `head=${encodeURIComponent(html)}`;
const link = (value: string): string => `link=${encodeURIComponent(value)}`;

describe("resolve-url", () => {
  it("returns a URL's normal, final, canonical and clean form", async () => {
    const input = `HTTP://127.1:${server.port}/a/../to?url=${encodeURIComponent(`/page?${head("<link rel=Canonical href=/p>")}&gclid=1`)}`;
    const result = await resultOf(resolveUrl, { url: input });
    expect(result).toMatchObject({
      input,
      normalized: `http://127.0.0.1:${server.port}/to?url=${input.split("url=")[1]}`,
      canonical_url: `${server.url}/p`,
      canonical_source: "html",
      canonical_matches: false,
      clean_url: `${server.url}/p`,
      tracking_params: [{ name: "gclid", vendor: "Google Ads" }],
      chain_length: 1,
      code: 200,
      content_type: "text/html",
      loop: false,
      truncated: false,
    });
    expect(result.final_url).toContain("/page?head=");
  });

  it("cleans the final URL if the page declares no canonical one", async () => {
    const result = await run("/?b=2&utm_source=a&utm_medium=b&a=%20+&MSCLKID=1");
    expect(result).toMatchObject({ canonical_url: null, canonical_source: null, canonical_matches: null });
    expect(result.clean_url).toBe(`${server.url}/?b=2&a=%20+`);
    expect(result.tracking_params.map(({ name }) => name)).toEqual(["utm_source", "utm_medium", "MSCLKID"]);
  });

  it("reads the Link header (RFC 8288), resolved against the page's URL", async () => {
    const result = await run(`/page?${link('<other>; rel="next canonical"; title="a, b"')}`);
    expect(result).toMatchObject({ canonical_url: `${server.url}/other`, canonical_source: "header" });
  });

  it("uses none if they contradict each other", async () => {
    const result = await run(`/page?${link("</p>; rel=canonical")}&${head("<link rel=canonical href=/q>")}`);
    expect(result).toMatchObject({ canonical_url: null, canonical_candidates: [`${server.url}/p`, `${server.url}/q`] });
    expect(kinds(result.findings)).toContain("warning several-canonicals");
    expectWellFormed(result.findings);
  });

  it("reports the final URL also if it is not a page", async () => {
    expect(await run("/bytes/10")).toMatchObject({ content_type: "text/plain", canonical_url: null, code: 200 });
    expect(await run("/status/404")).toMatchObject({ code: 404, chain_length: 0 });
    expect(await run("/loop")).toMatchObject({ loop: true, code: 302 });
    expect(await run("/redirect/11")).toMatchObject({ truncated: true, chain_length: 10 });
  });

  it("is refused if a redirect leads to a forbidden address", async () => {
    const { outcome } = await runTool(resolveUrl, { url: `${server.url}/to?url=http://10.0.0.1/` });
    expect(outcome.status).toBe("refused");
  });

  it("reports the end of a chain also if it does not respond", async () => {
    const end = `http://127.0.0.1:${await freePort()}/p?gclid=1`;
    expect(await run(`/to?url=${encodeURIComponent(end)}`)).toMatchObject({
      final_url: end,
      clean_url: end.replace("?gclid=1", ""),
      canonical_url: null,
      chain_length: 1,
      code: null,
      content_type: null,
      failure: { url: end, stage: "connect", source: "target", reason: "refused" },
    });
  });
});
