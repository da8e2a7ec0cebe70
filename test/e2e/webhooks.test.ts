import { beforeEach, expect, it } from "vitest";
import { signStandard, signV2 } from "#shared/webhooks/signature.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createWebhook, failHeartbeat, webhookSettings } from "#test/support/webhooks.ts";
import { startWebhookReceiver, type ReceivedDelivery } from "#test/support/webhook-receiver.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const PATH = "/api/v4/webhooks";

let key: string;

const plane = await stopAfterAll(
  startControlPlane({
    config: {
      allow: { targets: ["127.0.0.1/32"], names: [] },
      webhooks: webhookSettings([0, 100, 200]),
    },
  }),
);
const receiver = await stopAfterAll(startWebhookReceiver());

beforeEach(async () => {
  key = await plane.createKey();
  receiver.received.length = 0;
  receiver.replyWith(() => ({ status: 204 }));
});

const create = (fields: object = {}) => createWebhook(plane, key, { url: `${receiver.url}/hook`, ...fields });
const fail = (fields: object = {}) => failHeartbeat(plane, key, fields);

it("an outage is sent to a webhook, signed, with the time at which it is sent", async () => {
  const { signing_secret: secret, id } = await create({ headers: { Authorization: "Bearer of-mine" } });
  const failedAt = Math.floor(Date.now() / 1_000);
  const monitorId = await fail();

  await expect.poll(() => receiver.received).toHaveLength(1);
  const [{ headers, body, event, path } = expect.fail("nothing arrived")] = receiver.received;
  expect(path).toBe("/hook");
  expect(event).toMatchObject({ type: "monitor.down", data: { monitor: { id: monitorId, name: "Backup" } } });
  const timestamp = Number(headers["x-service-timestamp"]);
  // A second for the difference between the clocks of the database and of this process.
  expect(timestamp).toBeGreaterThanOrEqual(failedAt - 1);
  expect(timestamp).toBeLessThanOrEqual(Date.now() / 1_000 + 1);
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "x-service-event": "monitor.down",
    "x-service-attempt": "1",
    "x-service-signature-v2": signV2(secret, timestamp, body),
    "webhook-id": event.id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signStandard(secret, event.id, timestamp, body),
    authorization: "Bearer of-mine",
  });
  expect(headers).not.toHaveProperty("x-service-signature");
  expect(id).toBeGreaterThan(0);
});

it("a receiver that fails gets the same bytes again, with a new attempt number", async () => {
  await create();
  receiver.replyWith(() => ({ status: receiver.received.length < 3 ? 500 : 200 }));
  await fail();

  await expect.poll(() => receiver.received).toHaveLength(3);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(receiver.received.map(({ headers }) => headers["x-service-attempt"])).toEqual(["1", "2", "3"]);
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
});

it("a webhook is shown without its secret, listed, changed and deleted", async () => {
  const { id, signing_secret: secret, ...created } = await create({ name: "On-call", events: ["monitor.down"] });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(created).toMatchObject({
    name: "On-call",
    secret: `whsec_****${secret.slice(-4)}`,
    events: ["monitor.down"],
    is_active: true,
    inactive_reason: null,
    filter: null,
    headers: {},
  });
  const { body: listed } = await plane.call(PATH, { key });
  expect(listed.data).toEqual([{ id, ...created }]);

  const changed = await plane.call(`${PATH}?id=${id}`, { key, method: "PUT", body: { is_active: false, name: "" } });
  expect(changed.body.data).toMatchObject({ id, name: "", is_active: false });
  await fail();

  const gone = await plane.call(`${PATH}?id=${id}`, { key, method: "DELETE" });
  expect(gone.body.data).toEqual({ id, deleted: true });
  expect((await plane.call(PATH, { key })).body.data).toEqual([]);
  expect(receiver.received).toEqual([]);
});

it("a replaced secret signs too", async () => {
  const { id, signing_secret: old } = await create();
  const rotated = await plane.call(`${PATH}?action=rotate&id=${id}`, { key, method: "POST" });
  const { signing_secret: secret } = rotated.body.data as { signing_secret: string };
  expect(secret).not.toBe(old);
  await fail();

  await expect.poll(() => receiver.received).toHaveLength(1);
  const [{ headers, body, event } = expect.fail("nothing arrived")] = receiver.received;
  const timestamp = Number(headers["x-service-timestamp"]);
  expect(headers).toMatchObject({
    "x-service-signature-v2": signV2(secret, timestamp, body),
    "x-service-signature-v2-previous": signV2(old, timestamp, body),
    "webhook-signature": [secret, old].map((one) => signStandard(one, event.id, timestamp, body)).join(" "),
  });
});

it("a filter selects by monitor or tag", async () => {
  await create({ filter: { tags: ["nightly"] } });
  await fail();
  const tagged = await fail({ tags: ["nightly"] });

  await expect.poll(() => receiver.received).toHaveLength(1);
  expect(receiver.received[0]?.event.data).toMatchObject({ monitor: { id: tagged } });
});

it.each([
  [{ url: "http://example.com/hook" }, 400, "invalid_url"],
  [{ url: "https://10.0.0.1/" }, 400, "target_not_allowed"],
  [{ url: "https://example.com/", events: [] }, 400, "missing_parameter"],
  [{ url: "https://example.com/", events: ["monitor.gone"] }, 400, "missing_parameter"],
  [{ url: "https://example.com/", secret: "short" }, 400, "missing_parameter"],
  [{ url: "https://example.com/", secret: "whsec_not base64" }, 400, "missing_parameter"],
  [{ url: "https://example.com/", headers: { Host: "x" } }, 400, "missing_parameter"],
  [{ url: "https://example.com/", headers: { "Webhook-Id": "x" } }, 400, "missing_parameter"],
  [{ url: "https://example.com/", headers: { "X-Service-Event": "x" } }, 400, "missing_parameter"],
  [{ url: "https://example.com/", headers: { "X-A": "a\r\nb" } }, 400, "missing_parameter"],
  [{ url: "https://example.com/", filter: {} }, 400, "missing_parameter"],
  [{}, 400, "missing_parameter"],
])("refuses %j", async (fields, status, code) => {
  const answer = await plane.call(PATH, { key, body: fields });
  expect([answer.status, answer.body.error]).toMatchObject([status, { code }]);
});

it("a plan limits the number of webhooks, and the surplus is made inactive with a smaller plan", async () => {
  const starter = await plane.createKey("starter");
  const urls = Array.from({ length: 6 }, (_, index) => `https://example.com/${index}`);
  const answers = [];
  for (const url of urls) answers.push(await plane.call(PATH, { key: starter, body: { url } }));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 403]);
  expect(answers.at(-1)?.body.error).toMatchObject({ code: "plan_limit_exceeded" });
});

it("an address that is stored without the slashes of https:// is sent to until it is written again", async () => {
  const unwritten = `https:${new URL(receiver.url).host}/hook`;
  for (const url of [unwritten, unwritten.replace("https:", "https:///"), unwritten.replace("https:", "HTTPS:/")]) {
    const refused = await plane.call(PATH, { key, body: { url } });
    expect([refused.status, refused.body.error]).toMatchObject([400, { code: "invalid_url", field: "url" }]);
  }
  const { id } = await create({ url: `HTTPS://${new URL(receiver.url).host}/hook`, headers: { "X-A": "a" } });
  await plane.app.sql`update webhooks set url = ${unwritten} where id = ${id}`;
  const put = (body: object) => plane.call(`${PATH}?id=${id}`, { key, method: "PUT", body });
  expect((await put({ name: "On-call" })).body.data).toMatchObject({ name: "On-call", url: unwritten });
  await fail();
  await expect.poll(() => receiver.received).toMatchObject([{ path: "/hook", headers: { "x-a": "a" } }]);
  expect((await put({ url: unwritten })).body.error).toMatchObject({ code: "invalid_url", field: "url" });
  // The same origin, so that its header field stays.
  expect((await put({ url: `${receiver.url}/hook` })).body.data).toMatchObject({ headers: { "X-A": "****" } });
});

it.each([
  ["standard", {}, {}],
  ["gotify", { app_token: "of-the-format" }, { "x-gotify-key": "of-the-format" }],
  ["ntfy", { topic: "alerts" }, { authorization: "Bearer of-mine" }],
  ["ntfy", { topic: "alerts", token: "of-the-format" }, { authorization: "Bearer of-the-format" }],
  ["opsgenie", { api_key: "of-the-format" }, { authorization: "GenieKey of-the-format" }],
  ["incident-io", { token: "of-the-format" }, { authorization: "Bearer of-the-format" }],
])(
  "a request of the format %s has each header field once, and an own User-Agent",
  async (format, options, expected) => {
    const own = {
      "USER-agent": "of-mine/1",
      Accept: "text/plain",
      Authorization: "Bearer of-mine",
      "X-Gotify-Key": "of-mine",
      Date: "Tue, 03 Mar 2026 10:00:00 GMT",
    };
    const { id } = await create({ headers: own, format, format_options: options });
    await plane.call(`${PATH}?action=test&id=${id}`, { key, method: "POST" });
    const { id: plain } = await create();
    await plane.call(`${PATH}?action=test&id=${plain}`, { key, method: "POST" });
    const [{ headers, fields }, ours] = receiver.received as [ReceivedDelivery, ReceivedDelivery];
    const names = fields.map(([name]) => name.toLowerCase());
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
    expect(headers).toMatchObject({ "user-agent": "of-mine/1", accept: "text/plain", ...expected });
    expect(ours.fields.filter(([name]) => name.toLowerCase() === "user-agent")).toEqual([
      ["user-agent", expect.stringMatching(/Vantage/i)],
    ]);
  },
);

it("an event is written as its format says, with options that are masked", async () => {
  const { format_options: shown, signing_secret: secret } = await create({
    format: "pagerduty",
    format_options: { routing_key: "R".repeat(32) },
  });
  expect(shown).toEqual({ routing_key: "****" });
  await fail();

  await expect.poll(() => receiver.received).toHaveLength(1);
  const [{ body, headers } = expect.fail("nothing arrived")] = receiver.received;
  expect(JSON.parse(body)).toMatchObject({ routing_key: "R".repeat(32), event_action: "trigger" });
  // The signature is over what was sent.
  const timestamp = Number(headers["webhook-timestamp"]);
  expect(headers).toMatchObject({
    "x-service-signature-v2": signV2(secret, timestamp, body),
    "webhook-signature": signStandard(secret, `${headers["webhook-id"]}`, timestamp, body),
  });
});

it.each([
  [{ format: "pagerduty" }, "format_options.routing_key"],
  [{ format: "smoke" }, "format"],
  [{ format: "pushover", format_options: { token: "a", user: "b", priority: 2 } }, "format_options.priority"],
])("refuses %j", async (fields, field) => {
  const answer = await plane.call(PATH, { key, body: { url: "https://example.com/", ...fields } });
  expect([answer.status, answer.body.error]).toMatchObject([400, { field }]);
});

it("a write of a webhook whose provider ends says so, also when it is repeated", async () => {
  const OPSGENIE = { url: "https://api.opsgenie.com", format: "opsgenie", format_options: { api_key: "k" } };
  const warning = {
    parameter: "format",
    message: "Opsgenie ends on 2027-04-05. The format jsm takes its place: change the webhook before that day.",
    did_you_mean: null,
  };
  const headers = { "x-idempotency-key": "opsgenie" };
  const created = await plane.call(PATH, { key, body: OPSGENIE, headers });
  expect([created.status, created.body.meta]).toMatchObject([201, { warnings: [warning] }]);
  const repeated = await plane.call(PATH, { key, body: OPSGENIE, headers });
  expect(repeated.headers.get("x-idempotent-replayed")).toBe("true");
  expect(repeated.text).toBe(created.text);

  const { id } = created.body.data as { readonly id: number };
  const put = (body: object, query = "") =>
    plane.call(`${PATH}?id=${id}${query}`, { key, method: "PUT", body }).then(({ body: { meta } }) => meta);
  expect(await put({ name: "On-call" })).toMatchObject({ warnings: [warning] });
  const ignored = { parameter: "nane", message: expect.any(String), did_you_mean: null };
  expect(await put({ name: "Ops" }, "&nane=x")).toMatchObject({ warnings: [warning, ignored] });
  const rotated = await plane.call(`${PATH}?action=rotate&id=${id}`, { key, method: "POST" });
  expect(rotated.body.meta).toMatchObject({ warnings: [warning] });

  const jsm = { url: "https://api.atlassian.com", format: "jsm", format_options: { api_key: "k" } };
  expect(await put(jsm)).toMatchObject({ warnings: [{ parameter: "secret" }] });
  expect(await put({ name: "On-call" })).not.toHaveProperty("warnings");
  const list = await plane.call(PATH, { key });
  expect(list.body.meta).not.toHaveProperty("warnings");
});
