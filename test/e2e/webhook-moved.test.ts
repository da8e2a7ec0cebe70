import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { FORMAT_NAMES, FORMATS } from "#control-plane/notify/webhooks/formats/formats.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createWebhook, webhookSettings } from "#test/support/webhooks.ts";
import { startWebhookReceiver, type WebhookReceiver } from "#test/support/webhook-receiver.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const PATH = "/api/v4/webhooks";
const HEADERS = { Authorization: "Bearer old-secret", "X-Token": "old-token" };
const OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  telegram: { bot_token: "11111:old-bot", chat_id: "-10077777" },
  ntfy: { topic: "old-topic", token: "old-token" },
  gotify: { app_token: "old-app" },
  pushover: { token: "old-application", user: "old-user", priority: "-1" },
  pagerduty: { routing_key: "old-routing" },
  opsgenie: { api_key: "old-api" },
  jsm: { api_key: "old-api" },
  "incident-io": { token: "old-source" },
};
const OTHERS: typeof OPTIONS = {
  telegram: { bot_token: "22222:new-bot", chat_id: "-10088888" },
  ntfy: { topic: "new-topic" },
  gotify: { app_token: "new-app" },
  pushover: { token: "new-application", user: "new-user" },
  pagerduty: { routing_key: "new-routing" },
  opsgenie: { api_key: "new-api" },
  jsm: { api_key: "new-api" },
  "incident-io": { token: "new-source" },
};
const secretNames = (format: keyof typeof FORMATS) => FORMATS[format].options.filter(({ secret }) => secret);
const withSecrets = FORMAT_NAMES.filter((name) => secretNames(name).length > 0);

let key: string;

const plane = await stopAfterAll(
  startControlPlane({
    config: { allow: { targets: ["127.0.0.1/32"], names: [] }, webhooks: webhookSettings([0]) },
  }),
);
const [own, stranger] = await Promise.all([startWebhookReceiver(), startWebhookReceiver()]);
afterAll(async () => {
  await Promise.all([own.close(), stranger.close()]);
});
beforeEach(async () => {
  key = await plane.createKey();
  own.received.length = 0;
  stranger.received.length = 0;
});

const create = (fields: object) => createWebhook(plane, key, { url: `${own.url}/hook`, ...fields });
const put = (id: number, body: object, query = "") =>
  plane.call(`${PATH}?id=${id}${query}`, { key, method: "PUT", body });
const test = (id: number) => plane.call(`${PATH}?action=test&id=${id}`, { key, method: "POST" });
const left = (parameter: string) => ({
  parameter,
  message: `"${parameter}" is left out, because the url leads to another origin: send it with the url.`,
  did_you_mean: null,
});

/** All that a receiver has seen, but for what the service signs with. */
const seenBy = ({ received }: WebhookReceiver) => JSON.stringify(received);

it("every format with secrets is tried", () => {
  expect(withSecrets).toEqual(Object.keys(OPTIONS));
});

describe.each(withSecrets)("a webhook of the format %s", (format) => {
  const options = OPTIONS[format]!;
  const required = secretNames(format).filter((one) => one.required);

  it("sends its secrets to its own origin, under each path", async () => {
    const { id } = await create({ format, format_options: options, headers: HEADERS });
    const same = await put(id, { url: `${own.url}/other` });
    const { warnings = [] } = same.body.meta as { readonly warnings?: readonly object[] };
    expect([same.status, warnings.length]).toEqual([200, format === "opsgenie" ? 1 : 0]);
    await test(id);
    for (const { name } of secretNames(format).filter((one) => one.required))
      expect(seenBy(own)).toContain(options[name]);
    expect(seenBy(own)).toContain(HEADERS["X-Token"]);
  });

  it.each(required.map(({ name }) => name))("does not move without its %s", async (name) => {
    const { id } = await create({ format, format_options: options, headers: HEADERS });
    const before = await plane.call(PATH, { key });
    const masked = { ...OTHERS[format], [name]: "****" };
    const { [name]: _gone, ...absent } = OTHERS[format]!;
    for (const given of [masked, absent, ...(required.length === 1 ? [undefined] : [])]) {
      for (const query of ["", "&dry_run=1"]) {
        const fields = given === undefined ? {} : { format_options: given };
        const refused = await put(id, { url: stranger.url, ...fields }, query);
        expect(refused.body.error, refused.text).toMatchObject({
          code: "missing_parameter",
          field: `format_options.${name}`,
        });
      }
    }
    expect((await plane.call(PATH, { key })).body.data).toEqual(before.body.data);
  });

  it("shows a stranger nothing of before", async () => {
    const { id } = await create({ format, format_options: options, headers: HEADERS });
    const moved = await put(id, { url: stranger.url, format_options: OTHERS[format] });
    expect(moved.status, moved.text).toBe(200);
    const { warnings } = moved.body.meta as { readonly warnings: readonly object[] };
    expect(warnings.filter((one) => !("parameter" in one && one.parameter === "format"))).toEqual(
      Object.keys(HEADERS).map((name) => left(`headers.${name}`)),
    );
    expect(moved.body.data).toMatchObject({ headers: {} });
    expect((await test(id)).body.data).toMatchObject({ status: "delivered" });
    expect(seenBy(stranger)).not.toMatch(/old|11111|77777/);
    expect(own.received).toEqual([]);
  });
});

describe("a webhook whose url leads to another origin", () => {
  it.each([
    ["are absent", undefined],
    ["come back masked", { Authorization: "****", "X-Token": "****" }],
  ])("loses its own headers that %s", async (_how, headers) => {
    const { id } = await create({ headers: HEADERS });
    const change = { url: stranger.url, ...(headers === undefined ? {} : { headers }) };
    const warnings = Object.keys(HEADERS).map((name) => left(`headers.${name}`));
    const tried = await put(id, change, "&dry_run=1");
    expect(tried.body).toMatchObject({
      data: { changed: ["url", "headers.authorization", "headers.x-token"] },
      meta: { warnings },
    });
    expect((await put(id, change)).body.meta).toMatchObject({ warnings });
    await test(id);
    expect(stranger.received).toHaveLength(1);
    expect(seenBy(stranger)).not.toContain("old");
  });

  it("has the headers and options that come with the change", async () => {
    const { id } = await create({ headers: HEADERS, format: "ntfy", format_options: OPTIONS["ntfy"] });
    const change = {
      url: stranger.url,
      headers: { "X-Token": "new", Authorization: "****" },
      format_options: { topic: "new-topic", token: "****" },
    };
    const moved = await put(id, change);
    expect(moved.body).toMatchObject({
      data: { headers: { "X-Token": "****" }, format_options: { topic: "****" } },
      meta: { warnings: [left("headers.Authorization"), left("format_options.token")] },
    });
    await test(id);
    expect(stranger.received).toMatchObject([{ headers: { "x-token": "new" } }]);
    expect(seenBy(stranger)).not.toContain("old");
  });

  it("keeps what is no secret", async () => {
    const { id } = await create({ format: "pushover", format_options: OPTIONS["pushover"] });
    const { priority: _none, ...secrets } = OTHERS["pushover"]!;
    const moved = await put(id, { url: stranger.url, format_options: { ...secrets, priority: "-1" } });
    expect(moved.body.data).toMatchObject({ format_options: { priority: "-1" } });
  });

  it("gets no masked option of another format", async () => {
    const { id } = await create({ format: "gotify", format_options: OPTIONS["gotify"] });
    const change = { format: "incident-io", format_options: { token: "****" } };
    for (const url of [{}, { url: stranger.url }]) {
      const refused = await put(id, { ...url, ...change });
      expect(refused.body.error).toMatchObject({ code: "missing_parameter", field: "format_options.token" });
    }
    expect((await put(id, { url: stranger.url, format: "slack" })).status).toBe(200);
    await test(id);
    expect(stranger.received).toHaveLength(1);
    expect(seenBy(stranger)).not.toContain("old");
  });

  it.each([
    ["after a rotation", {}],
    ["with the one that the change replaces", { secret: "secret-of-the-stranger" }],
  ])("is signed with the present secret alone, %s", async (_when, secret) => {
    const { id } = await create({});
    await plane.call(`${PATH}?action=rotate&id=${id}`, { key, method: "POST" });
    const kept = await put(id, { url: `${own.url}/other` });
    expect(kept.body.meta).not.toHaveProperty("warnings");
    await test(id);
    expect(own.received).toMatchObject([{ headers: { "x-service-signature-v2-previous": expect.any(String) } }]);
    const moved = await put(id, { url: stranger.url, ...secret });
    expect(moved.body.meta).toMatchObject({ warnings: [{ parameter: "secret" }] });
    await test(id);
    const [{ headers } = expect.fail("nothing arrived")] = stranger.received;
    expect(headers).not.toHaveProperty("x-service-signature-v2-previous");
    expect(headers["webhook-signature"]).not.toContain(" ");
  });

  it("has another scheme, host or port: a spelling of the same keeps the secrets", async () => {
    const { id } = await create({ url: "https://hooks.example.com/a", headers: HEADERS });
    for (const url of ["https://HOOKS.example.com:443/b", " https://hooks.example.com"])
      expect((await put(id, { url })).body.data).toMatchObject({ headers: { Authorization: "****" } });
    for (const url of ["https://hooks.example.com:8443/a", "https://hooks2.example.com/a", "https://example.com./a"])
      expect((await put(id, { url }, "&dry_run=1")).body.data).toEqual({
        changed: ["url", "headers.authorization", "headers.x-token"],
      });
  });
});
