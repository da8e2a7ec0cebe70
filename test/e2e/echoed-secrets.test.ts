import { describe, expect, it } from "vitest";
import { startTalker } from "#test/servers/talker.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { exportAudit } from "#test/support/audit.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { startWebhookReceiver } from "#test/support/webhook-receiver.ts";
import { createWebhook, webhookSettings } from "#test/support/webhooks.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** For calls that count against a key. */
const SETTLES = { interval: 250 };
const SECRET = "k3y-of-the-Target";

const plane = await stopAfterAll(
  startControlPlane({
    config: { allow: { targets: ["127.0.0.1/32"], names: [] }, webhooks: webhookSettings([0, 100, 200]) },
  }),
);
const key = await plane.createKey("captain");
useAgent(plane, "eu-west");
const receiver = await stopAfterAll(startWebhookReceiver());
const echo = await stopAfterAll(
  startTalker({ on: { AUTH: (socket) => void socket.end(`ERR unknown: AUTH ${SECRET}\r\n`) } }),
);
const site = await stopAfterAll(
  startHttpServer({
    handler(request, response) {
      const token = String(request.headers["x-token"]);
      response.writeHead(500, { "x-echo": token, location: `/${token}` }).end(token);
      return true;
    },
  }),
);

const call = (path: string, options: object = {}) => plane.call(`/api/v4/${path}`, { key, ...options });

/** Lets a monitor be down, and returns everything that anybody can read about it. */
async function readOutage(body: object): Promise<Readonly<Record<string, string>>> {
  const rest = { interval_minutes: 60, locations: ["eu-west"], retries: 0 };
  const given = { name: "Echo", ...rest, ...body };
  const tried = await call("monitors?action=try", { body: given });
  const made = await call("monitors", { body: given });
  expect(made.status, made.text).toBe(201);
  const { id } = made.body.data as { readonly id: number };
  const page = await call("status", {
    body: {
      slug: `page-${id}`,
      title: "Page",
      show_causes: true,
      auto_incidents_after_minutes: 0,
      monitors: [{ id, name: "Echo" }],
    },
  });
  expect(page.status, page.text).toBe(201);
  const read = () => call(`monitors?id=${id}`);
  await expect.poll(async () => (await read()).body.data["status"] as string, SETTLES).toBe("down");
  const ran = await call(`monitors?action=run&id=${id}`, { method: "POST" });
  const newest = async () => (await call(`incidents?monitor_id=${id}`)).body.data as readonly { readonly id: number }[];
  const incident = async () => call(`incidents?id=${(await newest())[0]?.id}`);
  await expect.poll(async () => (await incident()).body.data["evidence"] as object, SETTLES).not.toBeNull();
  const delivered = () =>
    receiver.received.find(({ event }) => (event.data["monitor"] as { id: number } | undefined)?.id === id);
  await expect.poll(() => delivered() !== undefined).toBe(true);
  const shown = async (path: string) => (await plane.call(`/status/page-${id}${path}`)).text;
  return {
    try: tried.text,
    monitor: (await read()).text,
    run: ran.text,
    incident: (await incident()).text,
    webhook: delivered()?.body ?? "",
    page: await shown(""),
    summary: await shown("/summary.json"),
    feed: await shown("/feed.atom"),
    audit: JSON.stringify(await exportAudit(plane, key, `type=monitor&id=${id}`)),
    tenant: JSON.stringify(await exportAudit(plane, key, "type=tenant")),
  };
}

describe("a secret that a target repeats", () => {
  it("is in nothing that anybody reads about a TCP server, whose other words are quoted", async () => {
    await createWebhook(plane, key, { url: `${receiver.url}/hook` });
    const read = await readOutage({
      check_type: "tcp",
      url: `127.0.0.1:${echo.port}`,
      tcp: { send: `AUTH ${SECRET}\r\n`, expect: "+OK" },
    });
    for (const [where, text] of Object.entries(read)) expect(text, where).not.toContain("k3y");
    for (const where of ["try", "monitor", "incident", "webhook", "page", "feed", "audit"]) {
      expect(read[where], where).toContain("ERR unknown:");
      expect(read[where], where).toContain("***");
    }
  });

  it("is in nothing that anybody reads about a website, nor in the evidence, which has the rest of its headers", async () => {
    const read = await readOutage({ url: site.url, request_headers: { "X-Token": SECRET } });
    for (const [where, text] of Object.entries(read)) expect(text, where).not.toContain("k3y");
    expect(read["incident"]).toContain('"name":"x-echo","value":"***"');
  });
});
