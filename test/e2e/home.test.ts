import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { askWire } from "#test/support/raw-http.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** As browsers send it. */
const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

const plane = await stopAfterAll(startControlPlane({ config: { trustedProxies: ["127.0.0.0/8"] } }));

let visitors = 0;
const ask = (path: string, headers: Readonly<Record<string, string>> = BROWSER) => {
  visitors += 1;
  return askWire(`${plane.url}${path}`, { "x-forwarded-for": `10.2.0.${visitors}`, ...headers });
};

it("the root shows a browser what the service is and how to get a key, without a script, in light and dark", async () => {
  const { status, headers, body } = await ask("/");
  const html = body.toString();
  expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(html).toContain("deploy/vantage keys create");
  expect(html).toContain(`href="/docs"`);
  expect(html).toContain("20 times a minute");
  expect(html).not.toMatch(/<script|\bon[a-z]+=|style="/);
  expect(html).toContain("prefers-color-scheme:dark");
  const [, style = ""] = /<style>(.*?)<\/style>/s.exec(html) ?? [];
  const hash = createHash("sha256").update(style).digest("base64");
  expect(headers["content-security-policy"]).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  );
});

it("the form of the root offers every tool of the open tier, and its answer is a page with the form", async () => {
  const html = (await ask("/")).body.toString();
  const names = Array.from(html.matchAll(/<option value="([^"]+)"/g), ([, name]) => name);
  expect(names).toEqual(CONTRACTS.flatMap(({ name, open }) => (open === undefined ? [] : [open.name ?? name])));
  expect(html).toContain(`<form method="get" action="/">`);
  const sent = new URLSearchParams({ tool: "ssl", q: ' https://example.com/?b="c&d ' });
  const { status, headers, body } = await ask(`/?${sent.toString()}`);
  // ssl takes a host.
  expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
    400,
    "text/html; charset=utf-8",
    "no-store",
  ]);
  expect(Number(headers["x-ratelimit-remaining"])).toBeGreaterThan(0);
  const page = body.toString();
  expect(page).toContain("<h1>No result</h1>");
  expect(page).toContain(`<option value="ssl" selected>`);
  // No probe is attached here.
  expect((await ask("/?tool=ssl&q=example.com")).status).toBe(503);
  expect(page).toContain('value="https://example.com/?b=&quot;c&amp;d"');
});

it.each(["/?tool=ssl", "/?tool=ssl&q=%20", "/?tool=//evil.example&q=x", "/?q=x", "/?tool=ssl&q=a&q=b"])(
  "%s shows the form again",
  async (path) => {
    expect((await ask(path)).status).toBe(200);
  },
);

it("the root is JSON with 404 for every other client, and has no page elsewhere", async () => {
  for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }]) {
    const { status, body } = await ask("/", headers);
    expect([status, JSON.parse(body.toString())]).toMatchObject([404, { error: { code: "not_found" } }]);
  }
  expect((await ask("/nothing")).status).toBe(404);
  expect((await ask("/feed.rss")).status).toBe(404);
});

it("a request without a key gets the command that creates one", async () => {
  const { body } = await plane.call("/api/v4/check?url=example.com");
  expect(body.error["message"]).toMatch(/deploy\/vantage keys create$/);
});
