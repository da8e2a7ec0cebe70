import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { startDnsServer } from "#test/servers/dns.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { startWebhookReceiver } from "#test/support/webhook-receiver.ts";
import { createWebhook, failHeartbeat, listDeliveries, webhookSettings } from "#test/support/webhooks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const ENDED = new Set(["delivered", "failed", "dead"]);

/** Hosts that no webhook may have. */
const REFUSED = ["0x7f.2", "[64:ff9b::7f00:2]", "169.254.169.254", "LOCALHOST", "printer.local"];
/** Texts that are no address of a webhook at all. */
const MALFORMED = [
  "http://hooks.example.com/",
  "hooks.example.com",
  "https:///path",
  "https://user:password@hooks.example.com/",
  "https://hooks.example.com/\r\nHost: 127.0.0.2",
];
/** Addresses that a name leads to, by record type. */
const LED_TO = [
  ["A", "127.0.0.2"],
  ["A", "169.254.169.254"],
  ["AAAA", "::1"],
  ["AAAA", "::ffff:127.0.0.2"],
] as const;

const sentinels: Server[] = [];
/** Connections that reached an address that is not allowed. */
let reached = 0;
const zones: Record<string, Record<string, string[]>> = {};

const receiver = await stopAfterAll(startWebhookReceiver());
const { port } = receiver;
for (const host of ["127.0.0.2", "::1"]) {
  const sentinel = createServer((socket) => {
    reached += 1;
    socket.destroy();
  });
  sentinel.listen(port, host);
  await once(sentinel, "listening");
  sentinels.push(sentinel);
}
for (const [index, [type, address]] of LED_TO.entries()) zones[`name-${index}.example.com`] = { [type]: [address] };
const dns = await stopAfterAll(startDnsServer({ zones }));
const plane = await stopAfterAll(
  startControlPlane({
    config: {
      allow: { targets: ["127.0.0.1/32"], names: [] },
      dnsServers: [dns.address],
      webhooks: webhookSettings([0, 100, 100, 100]),
    },
  }),
);

afterAll(async () => {
  for (const sentinel of sentinels) sentinel.close();
});

/** Fails a heartbeat and returns its deliveries when they have ended. */
async function deliver(key: string, count: number) {
  await failHeartbeat(plane, key);
  await expect
    .poll(
      async () => (await listDeliveries(plane, key, "?per_page=100")).filter(({ status }) => ENDED.has(status)).length,
    )
    .toBe(count);
  return listDeliveries(plane, key, "?per_page=100");
}

describe("an address that webhooks may not reach", () => {
  it.each(REFUSED)("is refused when the webhook is created and when it is changed: %s", async (host) => {
    const key = await plane.createKey();
    const refused = { status: 400, body: { error: { code: "target_not_allowed", field: "url" } } };
    const url = `https://${host}:${port}/`;
    expect(await plane.call("/api/v4/webhooks", { key, body: { url } })).toMatchObject(refused);
    const { id } = await createWebhook(plane, key, { url: "https://hooks.example.com/" });
    expect(await plane.call(`/api/v4/webhooks?id=${id}`, { key, method: "PUT", body: { url } })).toMatchObject(refused);
  });

  it.each(MALFORMED)("is refused if it is no address: %j", async (url) => {
    const key = await plane.createKey();
    const { status, body } = await plane.call("/api/v4/webhooks", { key, body: { url } });
    expect([status, body.error["field"]]).toEqual([400, "url"]);
    expect(["invalid_url", "target_not_allowed", "missing_parameter"]).toContain(body.error["code"]);
  });

  it("that a name leads to ends each delivery at its first attempt, without a connection", async () => {
    const key = await plane.createKey("captain");
    for (const index of LED_TO.keys()) {
      await createWebhook(plane, key, { url: `https://name-${index}.example.com:${port}/` });
    }
    const failed = { status: "failed", attempts: 1, error_code: "target_not_allowed", http_status_code: null };
    expect(await deliver(key, LED_TO.length)).toMatchObject(LED_TO.map(() => failed));
  });

  it("that a name leads to only after the creation is refused too", async () => {
    const key = await plane.createKey();
    zones["later.example.com"] = { A: ["127.0.0.1"] };
    await createWebhook(plane, key, { url: `https://later.example.com:${port}/` });
    zones["later.example.com"] = { A: ["127.0.0.2"] };
    expect(await deliver(key, 1)).toMatchObject([{ status: "failed", attempts: 1, error_code: "target_not_allowed" }]);
  });

  it("that follows the look-up is not connected to: the address that was checked is", async () => {
    const key = await plane.createKey();
    // Every second answer leads to the sentinel, and none may be used again.
    let answers = 0;
    Object.defineProperty(zones, "flipping.example.com", {
      enumerable: true,
      configurable: true,
      get: () => ({ A: [(answers += 1) % 2 === 1 ? "127.0.0.1" : "127.0.0.2"] }),
    });
    const accepted = receiver.accepted();
    await createWebhook(plane, key, { url: `https://flipping.example.com:${port}/` });
    const [delivery] = await deliver(key, 1);
    // The certificate is for another name, so attempts at the checked address fail; at the other one none is made.
    expect(["tls_certificate", "target_not_allowed"]).toContain(delivery?.error_code);
    expect(receiver.accepted() - accepted).toBeLessThanOrEqual(4);
    expect(answers).toBeGreaterThan(0);
  });

  it("has got no connection by all this", () => {
    expect(reached).toBe(0);
  });
});
