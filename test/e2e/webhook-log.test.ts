import { beforeEach, describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { startWebhookReceiver } from "#test/support/webhook-receiver.ts";
import {
  createWebhook,
  failHeartbeat,
  listDeliveries,
  readDelivery,
  type CreatedWebhook,
  webhookSettings,
} from "#test/support/webhooks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const PATH = "/api/v4/webhooks";

let key: string;
let webhook: CreatedWebhook;

const plane = await stopAfterAll(
  startControlPlane({
    config: {
      allow: { targets: ["127.0.0.1/32"], names: [] },
      webhooks: webhookSettings([0, 100, 100]),
    },
  }),
);
const receiver = await stopAfterAll(startWebhookReceiver());

beforeEach(async () => {
  key = await plane.createKey();
  webhook = await createWebhook(plane, key, { url: `${receiver.url}/hook` });
  receiver.received.length = 0;
  receiver.replyWith(() => ({ status: 204 }));
});

const act = (query: string, headers: Record<string, string> = {}) =>
  plane.call(`${PATH}?${query}`, { key, method: "POST", headers });
const statuses = async () => (await listDeliveries(plane, key)).map(({ status }) => status);

describe("the delivery log", () => {
  it("has every attempt with what the receiver answered", async () => {
    receiver.replyWith(() =>
      receiver.received.length < 2 ? { status: 503, body: "x".repeat(5_000) } : { status: 200, body: "thanks" },
    );
    await failHeartbeat(plane, key);
    await expect.poll(statuses).toEqual(["delivered"]);

    const [{ id } = expect.fail("no delivery")] = await listDeliveries(plane, key);
    const delivery = await readDelivery(plane, key, id);
    expect(delivery).toMatchObject({
      webhook_id: webhook.id,
      event_type: "monitor.down",
      event_id: receiver.received[0]?.event.id,
      http_status_code: 200,
      attempts: 2,
      error_code: null,
      next_attempt_at: null,
    });
    expect(delivery.attempt_log).toMatchObject([
      {
        attempt: 1,
        http_status_code: 503,
        error_code: "http_status",
        response_body: "x".repeat(4_096),
        truncated: true,
      },
      { attempt: 2, http_status_code: 200, error_code: null, response_body: "thanks", truncated: false },
    ]);
  });

  it("has the id that the provider gives a message, of each delivery its own", async () => {
    const discord = await createWebhook(plane, key, { url: `${receiver.url}/discord`, format: "discord" });
    receiver.replyWith(({ path }) => {
      const sent = receiver.received.filter((request) => request.path === path).length;
      // The first attempt fails: what its answer says is no id of a message.
      return { status: sent === 1 ? 500 : 200, body: JSON.stringify({ id: `11022033044${sent}` }) };
    });
    await failHeartbeat(plane, key);
    const listed = async ({ id }: CreatedWebhook) =>
      (await listDeliveries(plane, key, `?webhook_id=${id}`)).map(({ status, provider_ref }) => [status, provider_ref]);
    await expect.poll(() => listed(discord)).toEqual([["delivered", "110220330442"]]);
    await expect.poll(() => listed(webhook)).toEqual([["delivered", null]]);

    const [{ id } = expect.fail("no delivery")] = await listDeliveries(plane, key, `?webhook_id=${discord.id}`);
    expect(await readDelivery(plane, key, id)).toMatchObject({ provider_ref: "110220330442" });
    const params = { name: "list_events", arguments: { webhook_id: discord.id } };
    const asked = await plane.call("/mcp", {
      headers: { authorization: `Bearer ${key}`, accept: "application/json, text/event-stream" },
      body: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
    });
    expect(asked.text).toContain('"provider_ref":"110220330442"');
    await act(`action=replay&delivery_id=${id}`);
    await expect
      .poll(() => listed(discord))
      .toEqual([
        ["delivered", "110220330443"],
        ["delivered", "110220330442"],
      ]);
  });

  it("is filtered by webhook, type and status, and by pages", async () => {
    const other = await createWebhook(plane, key, { url: `${receiver.url}/other`, events: ["monitor.up"] });
    await failHeartbeat(plane, key);
    await failHeartbeat(plane, key);
    await expect.poll(statuses).toEqual(["delivered", "delivered"]);

    expect(await listDeliveries(plane, key, `?webhook_id=${other.id}`)).toEqual([]);
    expect(await listDeliveries(plane, key, `?webhook_id=${webhook.id}`)).toHaveLength(2);
    expect(await listDeliveries(plane, key, "?event_type=monitor.up")).toEqual([]);
    expect(await listDeliveries(plane, key, "?status=dead")).toEqual([]);
    const { body } = await plane.call("/api/v4/events?per_page=1&page=2", { key });
    expect(body.data).toHaveLength(1);
    expect(body.meta).toMatchObject({ pagination: { total: 2, page: 2, per_page: 1, pages: 2 } });
  });

  it("shows an account nothing of another", async () => {
    await failHeartbeat(plane, key);
    await expect.poll(statuses).toEqual(["delivered"]);
    const [{ id } = expect.fail("no delivery")] = await listDeliveries(plane, key);
    const stranger = await plane.createKey();
    expect(await listDeliveries(plane, stranger)).toEqual([]);
    expect((await plane.call(`/api/v4/events?id=${id}`, { key: stranger })).status).toBe(404);
    const replay = await plane.call(`${PATH}?action=replay&delivery_id=${id}`, { key: stranger, method: "POST" });
    expect(replay.status).toBe(404);
  });
});

describe("a test", () => {
  it("is one attempt, whose result it answers", async () => {
    const good = await act(`action=test&id=${webhook.id}`);
    expect(good.status).toBe(200);
    expect(good.body.data).toMatchObject({ status: "delivered", http_status_code: 204 });
    receiver.replyWith(() => ({ status: 500 }));
    const bad = await act(`action=test&id=${webhook.id}`);
    expect(bad.body.data).toMatchObject({ status: "failed", http_status_code: 500, error_code: "http_status" });
    expect(receiver.received.map(({ event }) => event.type)).toEqual(["test", "test"]);
    expect(await statuses()).toEqual(["failed", "delivered"]);
  });

  it("reaches an inactive webhook too", async () => {
    await plane.call(`${PATH}?id=${webhook.id}`, { key, method: "PUT", body: { is_active: false } });
    expect((await act(`action=test&id=${webhook.id}`)).body.data).toMatchObject({ status: "delivered" });
  });

  it("is sent once for an idempotency key, and answers the same again", async () => {
    const headers = { "x-idempotency-key": "once" };
    const answers = [
      await act(`action=test&id=${webhook.id}`, headers),
      await act(`action=test&id=${webhook.id}`, headers),
    ];
    expect(receiver.received).toHaveLength(1);
    expect(answers[1]?.text).toBe(answers[0]?.text);
    expect(answers[1]?.headers.get("x-idempotent-replayed")).toBe("true");
  });

  it("is a conflict while the first of its key is running", async () => {
    receiver.replyWith(() => null);
    const headers = { "x-idempotency-key": "running" };
    const first = act(`action=test&id=${webhook.id}`, headers);
    await expect.poll(() => receiver.received).toHaveLength(1);
    expect((await act(`action=test&id=${webhook.id}`, headers)).body.error).toMatchObject({ code: "conflict" });
    // The receiver never answers: the time limit of the attempt ends it.
    expect((await first).body.data).toMatchObject({ status: "failed", error_code: "timeout" });
  });
});

describe("a replay", () => {
  it("is a new delivery of the same event", async () => {
    await failHeartbeat(plane, key);
    await expect.poll(statuses).toEqual(["delivered"]);
    const [{ id } = expect.fail("no delivery")] = await listDeliveries(plane, key);
    const answer = await act(`action=replay&delivery_id=${id}`);
    const { delivery_id: again } = answer.body.data as { delivery_id: number };
    await expect.poll(() => receiver.received).toHaveLength(2);

    const [one, two] = receiver.received;
    expect(two?.body).toBe(one?.body);
    expect(two?.headers["webhook-id"]).toBe(one?.headers["webhook-id"]);
    expect([one?.headers["x-service-delivery"], two?.headers["x-service-delivery"]]).toEqual([`${id}`, `${again}`]);
    await expect.poll(statuses).toEqual(["delivered", "delivered"]);
    expect((await listDeliveries(plane, key))[0]).toMatchObject({ id: again, replay_of: id });
  });

  it("recovers what was not delivered, each event once", async () => {
    receiver.replyWith(() => ({ status: 500 }));
    await failHeartbeat(plane, key);
    await failHeartbeat(plane, key);
    await expect.poll(statuses).toEqual(["dead", "dead"]);
    receiver.replyWith(() => ({ status: 200 }));
    receiver.received.length = 0;
    expect((await act(`action=recover&id=${webhook.id}`)).body.data).toEqual({ count: 2 });
    await expect.poll(() => receiver.received).toHaveLength(2);
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(2);
    await expect.poll(async () => (await statuses()).slice(0, 2)).toEqual(["delivered", "delivered"]);
    expect((await act(`action=recover&id=${webhook.id}`)).body.data).toEqual({ count: 0 });
    expect((await act(`action=recover&id=${webhook.id}&since=2099-01-01T00:00:00Z`)).body.data).toEqual({ count: 0 });
  });
});
