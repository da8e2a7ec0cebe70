import { createServer, type Server, type Socket } from "node:net";
import { beforeEach, describe, expect, it } from "vitest";
import { startDnsServer } from "#test/servers/dns.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { until } from "#test/support/until.ts";
import { startWebhookReceiver } from "#test/support/webhook-receiver.ts";
import { createWebhook, failHeartbeat, listDeliveries, readDelivery, webhookSettings } from "#test/support/webhooks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const NAME = "hooks.example.com";
const REBOUND = "rebound.example.com";
const ABSENT = "absent.example.com";

let key: string;

const receiver = await stopAfterAll(startWebhookReceiver({ name: NAME }));
const dns = await stopAfterAll(
  startDnsServer({
    zones: {
      [NAME]: { A: ["127.0.0.1"] },
      // One address that is allowed and one that is not.
      [REBOUND]: { A: ["127.0.0.1", "127.0.0.2"] },
    },
  }),
);
const plane = await stopAfterAll(
  startControlPlane({
    config: {
      allow: { targets: ["127.0.0.1/32"], names: [] },
      dnsServers: [dns.address],
      webhooks: webhookSettings([0, 100], new Date("2099-01-01")),
    },
  }),
);

beforeEach(async () => {
  key = await plane.createKey();
  receiver.received.length = 0;
  receiver.replyWith(() => ({ status: 204 }));
});

/** Fails a heartbeat and returns its delivery when it has ended. */
async function deliverTo(url: string) {
  await createWebhook(plane, key, { url });
  await failHeartbeat(plane, key);
  const { id } = await until(async () => {
    const found = await listDeliveries(plane, key);
    return found.find(({ status }) => ["delivered", "failed", "dead"].includes(status));
  }, "the end of the delivery");
  return readDelivery(plane, key, id);
}

describe("a receiver", () => {
  it("is found by its name, which it proves by its certificate", async () => {
    const delivery = await deliverTo(`https://${NAME}:${receiver.port}/hook`);
    expect(delivery).toMatchObject({ status: "delivered", attempts: 1 });
    expect(receiver.received[0]?.headers["host"]).toBe(`${NAME}:${receiver.port}`);
    // Until its date the legacy signature is sent too.
    expect(receiver.received[0]?.headers["x-service-signature"]).toMatch(/^sha256=[0-9a-f]{64}$/);
  });

  it("with one address that is not allowed is refused without a connection", async () => {
    const accepted = receiver.accepted();
    const delivery = await deliverTo(`https://${REBOUND}:${receiver.port}/`);
    expect(delivery).toMatchObject({ status: "failed", attempts: 1, error_code: "target_not_allowed" });
    expect(receiver.accepted()).toBe(accepted);
  });

  it("whose name has no address is tried again", async () => {
    const delivery = await deliverTo(`https://${ABSENT}/`);
    expect(delivery).toMatchObject({ status: "dead", attempts: 2, error_code: "dns_failed" });
  });

  it("that is a chat and refuses in an answer with success has not got the event, nor the test", async () => {
    receiver.replyWith(() => ({ status: 200, body: "no_service" }));
    const { id } = await createWebhook(plane, key, { url: `${receiver.url}/`, format: "slack" });
    const test = await plane.call(`/api/v4/webhooks?action=test&id=${id}`, { key, method: "POST" });
    const refused = { error_code: "refused_by_provider", http_status_code: 200 };
    expect(test.body.data).toMatchObject({ ...refused, status: "failed", error_message: "no_service" });
    await failHeartbeat(plane, key);
    const delivery = await until(async () => {
      const [newest] = await listDeliveries(plane, key, "?event_type=monitor.down");
      return newest?.status === "failed" ? newest : undefined;
    }, "the end of the delivery");
    expect(delivery).toMatchObject({ ...refused, attempts: 1 });
  });

  it("that redirects is not followed", async () => {
    receiver.replyWith(() => ({ status: 301, headers: { location: `${receiver.url}/elsewhere` } }));
    const delivery = await deliverTo(`${receiver.url}/first`);
    expect(delivery).toMatchObject({ status: "dead", attempts: 2, http_status_code: 301 });
    expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set(["/first"]));
  });

  it("that does not speak TLS, or resets, is a failed attempt", async () => {
    const sockets = new Set<Socket>();
    const plain = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.end("HTTP/1.1 200 OK\r\n\r\n");
    });
    const port = await listenOn(plain);
    expect(await deliverTo(`https://127.0.0.1:${port}/`)).toMatchObject({ status: "dead", error_code: "tls_failed" });
    for (const socket of sockets) socket.destroy();
    plain.close();
  });

  it("that is not there is a failed attempt", async () => {
    const free = createServer();
    const port = await listenOn(free);
    await new Promise((resolve) => free.close(resolve));
    const delivery = await deliverTo(`https://127.0.0.1:${port}/`);
    expect(delivery).toMatchObject({ status: "dead", attempts: 2, error_code: "connection_refused" });
  });
});

describe("a receiver that hangs", () => {
  it("has one attempt at a time, and delays no other", async () => {
    const hanging = await startWebhookReceiver();
    hanging.replyWith(() => null);
    await createWebhook(plane, key, { url: `${hanging.url}/` });
    await failHeartbeat(plane, key);
    await expect.poll(async () => (await listDeliveries(plane, key))[0]?.status).toBe("dead");
    hanging.received.length = 0;
    await createWebhook(plane, key, { url: `${receiver.url}/` });
    for (let n = 0; n < 10; n += 1) await failHeartbeat(plane, key);

    await expect.poll(() => receiver.received).toHaveLength(10);
    // The time limit of an attempt is 3 s: those for the failing receiver follow each other.
    expect(hanging.received.length).toBeLessThan(8);
    await hanging.close();
  });
});

function listenOn(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
}
