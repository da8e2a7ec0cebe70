import { describe, expect, it } from "vitest";
import { MAX_RESULT_BYTES } from "#shared/protocol/wire.ts";
import { csp } from "#probe-agent/tools/csp/csp.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { resultOf, runTool } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const STRICT = "script-src 'nonce-r4nd0mABC' 'strict-dynamic'; object-src 'none'; base-uri 'none'";
const PAGES: Readonly<Record<string, readonly [headers: Readonly<Record<string, string | string[]>>, html: string]>> = {
  "/strict": [
    { "content-security-policy": `${STRICT}; report-to main`, "reporting-endpoints": 'main="https://r.example/"' },
    "<p>",
  ],
  "/huge-header": [{ "content-security-policy": "x".repeat(100_000) }, "<p>"],
  "/huge-meta": [
    {},
    `<meta http-equiv=content-security-policy content="script-src ${Array.from({ length: 60_000 }, (_, n) => `h${n}.example`).join(" ")}\u0000\r 'x'">`,
  ],
};

const server = await stopAfterAll(
  startHttpServer({
    handler: (_request, response, { path }) => {
      if (path === "/endless") {
        response.writeHead(200, { "content-type": "text/html", "content-security-policy": STRICT });
        response.write("<meta http-equiv=Content-Security-Policy content=\"font-src 'none'\"><p>");
        return true;
      }
      const [headers, html] = PAGES[path] ?? [];
      if (headers === undefined) return false;
      response.writeHead(200, { "content-type": "text/html", ...headers }).end(html);
      return true;
    },
  }),
);

async function see(path: string) {
  return await resultOf(csp, { url: `${server.url}${path}` });
}

describe("a page's policies", () => {
  it("in a strict header get the best grade", async () => {
    const result = await see("/strict");
    expect(result).toMatchObject({
      url: `${server.url}/strict`,
      final_url: `${server.url}/strict`,
      code: 200,
      grade: "A",
      score: 90,
      enforced: true,
      strict_csp: true,
      trusted_types: false,
      reporting: { report_uri: [], report_to: ["main"], endpoints: [{ name: "main", url: "https://r.example/" }] },
      bypass_hosts: [],
      source: ["page"],
      limitations: [],
    });
    expect(result.score_steps.map(({ id, points }) => [id, points])).toEqual([
      ["style-unsafe-inline", -5],
      ["form-action-missing", -5],
      ["frame-ancestors-missing", -5],
      ["strict", 5],
    ]);
  });

  it("are read also if the response is not HTML", async () => {
    const result = await see("/bytes/10");
    expect(result).toMatchObject({ code: 200, grade: "F" });
    expect(result.limitations).toEqual(["The answer is not HTML (text/plain)."]);
  });
});

describe("hostile answers", () => {
  it("with a header of 100 KB are a failure of the target", async () => {
    expect((await runTool(csp, { url: `${server.url}/huge-header` })).outcome).toMatchObject({
      status: "failed",
      stage: "response",
      source: "target",
      reason: "headers_overflow",
    });
  });

  it("with a megabyte of sources in a meta element fit a result that reports the truncation", async () => {
    const result = await see("/huge-meta");
    expect(JSON.stringify(result).length).toBeLessThan(MAX_RESULT_BYTES);
    expect(result.findings).toContainEqual(expect.objectContaining({ id: "truncated" }));
    expect(result.limitations.join(" ")).toContain("Their lists are truncated");
  });
});

it("reads the policy of a page that never ends", async () => {
  const result = await resultOf(csp, { url: `${server.url}/endless` }, { timeoutMs: 1500 });
  expect(result).toMatchObject({ enforced: true, policies: [{ source: "header" }, { source: "meta" }] });
  expect(result.limitations).toContain("The body could not be read to its end: timeout.");
});
