import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { askWire, sendRaw } from "#test/support/raw-http.ts";
import { serveAt } from "#test/support/verified-domain.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());
const key = await plane.createKey("pro");
const monitorId = await create("/api/v4/monitors", { name: "Shop", check_type: "heartbeat", interval_minutes: 5 });

async function create(path: string, body: object): Promise<number> {
  const answer = await plane.call(path, { key, method: "POST", body });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return (answer.body.data as { id: number }).id;
}

const createPage = (body: object) =>
  create("/api/v4/status", { title: "Acme", monitors: [{ id: monitorId, name: "Shop <1>" }], ...body });
const ask = (path: string, headers: Record<string, string> = {}) => askWire(`${plane.url}${path}`, headers);

describe("a status page", () => {
  it("is shown to everybody, with its monitors, and its other forms have the same content", async () => {
    await createPage({ slug: "acme", description: "All of Acme" });
    const page = await ask("/status/acme");
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const html = page.body.toString();
    expect(html).toContain(`<h1 dir="auto">Acme</h1>`);
    expect(html).toContain(`<h3 dir="auto">Shop &lt;1&gt;</h3>`);
    expect(html.match(/ data-day=/g)).toHaveLength(90);
    const summary = JSON.parse((await ask("/status/acme/summary.json")).body.toString()) as object;
    expect(summary).toMatchObject({
      page: { id: "acme", name: "Acme" },
      components: [{ id: String(monitorId), name: "Shop <1>" }],
    });
    expect((await ask("/status/acme/feed.atom")).body.toString()).toContain("/status/acme</id>");
    expect((await ask(`/status/acme/badge.svg?monitor=${monitorId}`)).status).toBe(200);
  });

  it("shows a change long before a cached page gets old", async () => {
    const id = await createPage({ slug: "changing" });
    expect((await ask("/status/changing")).body.toString()).toContain("Acme</h1>");
    const changed = await plane.call(`/api/v4/status?id=${id}`, { key, method: "PUT", body: { title: "Renamed" } });
    expect(changed.status).toBe(200);
    // A cached page is used for 10 s. The notification of the change ends that.
    const title = async () => (await ask("/status/changing")).body.toString().includes("Renamed</h1>");
    await expect.poll(title).toBe(true);
  });

  it("that is not public is shown to its account's keys only, and no cache stores it", async () => {
    await createPage({ slug: "hidden", is_public: false });
    for (const path of ["/status/hidden", "/status/hidden/summary.json", "/status/hidden/badge.svg"]) {
      expect((await ask(path)).status).toBe(404);
      expect((await ask(path, { "x-api-key": await plane.createKey() })).status).toBe(404);
      const shown = await ask(path, { "x-api-key": key });
      expect([shown.status, shown.headers["cache-control"]]).toEqual([200, "private, no-store"]);
    }
  });

  it("has a domain of its own", async () => {
    await createPage({ slug: "own", title: "Own", domain: "status.acme.example" });
    const host = { host: "status.acme.example" };
    expect((await ask("/", host)).body.toString(), "before it is verified").not.toContain("Own</h1>");
    await serveAt(plane, host.host);
    const page = await ask("/", host);
    expect([page.status, page.body.toString()]).toEqual([200, expect.stringContaining("Own</h1>")]);
    expect(page.body.toString()).toContain(`href="/feed.rss"`);
    for (const path of [
      "/feed.rss",
      "/feed.atom",
      "/feed.json",
      "/summary.json",
      "/api/v2/summary.json",
      "/badge.svg",
    ]) {
      expect((await ask(path, host)).status, path).toBe(200);
    }
    expect((await ask("/nothing", host)).status).toBe(404);
    expect((await ask("/feed.rss")).status).toBe(404);
  });

  it("has nothing but itself at its domain", async () => {
    await createPage({ slug: "apart", domain: "status.apart.example" });
    await createPage({ slug: "next-door" });
    const host = { host: "status.apart.example" };
    await serveAt(plane, host.host);
    expect((await ask("/status/apart/feed.rss", host)).status).toBe(200);
    const paths = ["/healthz", "/readyz", "/docs", "/openapi.json", "/api/v4/tools", "/api/v4/status?slug=apart"];
    const others = ["/api/open/", "/api/heartbeat/x", "/metrics", "/s/Zm9vYmFyMDEyMzQ1Njc4OQ", "/status/next-door"];
    for (const path of [...paths, ...others, "/api/v4/status.php?slug=apart", "/%64ocs", "/docs/"]) {
      expect((await ask(path)).status, `${path} at the service`).not.toBe(500);
      const { status, headers } = await ask(path, { ...host, "x-api-key": key });
      expect([status, headers["allow"]], path).toEqual([404, undefined]);
    }
    for (const path of ["/healthz", "/api/v4/monitors", "/mcp"]) {
      const answer = await askWire(`${plane.url}${path}`, host, "{}");
      expect([answer.status, answer.headers["allow"]], path).toEqual([404, undefined]);
    }
  });

  it("at its domain is asked for by the target in absolute form, whatever the Host field says", async () => {
    await createPage({ slug: "absolute", title: "Absolute", domain: "status.absolute.example" });
    await serveAt(plane, "status.absolute.example");
    const shows = async (target: string, host: string) => {
      const head = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const answer = await sendRaw(plane.url, head);
      return [Number(answer.split(" ", 2)[1]), answer.includes("Absolute</h1>")];
    };
    const service = new URL(plane.url).host;
    expect(await shows("http://status.absolute.example/", service)).toEqual([200, true]);
    expect(await shows("http://STATUS.absolute.example:80", service)).toEqual([200, true]);
    expect(await shows("http://status.absolute.example/healthz", service)).toEqual([404, false]);
    expect(await shows(`http://${service}/healthz`, "status.absolute.example")).toEqual([200, false]);
    expect(await shows(`http://user@${service}/healthz`, service)).toEqual([400, false]);
  });
});
