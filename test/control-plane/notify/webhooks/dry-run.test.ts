import { beforeEach, expect, it } from "vitest";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const PATH = "/api/v4/webhooks";
const URL = "https://hooks.example.com/vantage";

let key: string;

const service = await stopAfterAll(startMonitorService());
beforeEach(async () => {
  key = await service.createKey("starter");
});

const post = (body: object, query = "") => service.call(`${PATH}${query}`, { key, body });
const put = (id: number, body: object, query = "") =>
  service.call(`${PATH}?id=${id}${query}`, { key, method: "PUT", body });
const list = async () => (await service.call(PATH, { key })).body.data as readonly object[];

it("a dry run of a creation checks it, names what it would set, and creates nothing", async () => {
  const tried = await post({ url: URL, name: "On-call", headers: { Authorization: "Bearer a" } }, "?dry_run=1");
  expect(tried.status).toBe(200);
  expect(tried.body.data).toEqual({ changed: ["name", "url", "headers.authorization"] });
  const refused = await post({ url: "http://hooks.example.com", name: "On-call" }, "?dry_run=1");
  expect(refused).toMatchObject({ status: 400, body: { error: { code: "invalid_url", field: "url" } } });
  expect(await list()).toEqual([]);
});

it("a dry run of a change names the values that differ, also secret ones, and changes nothing", async () => {
  const secrets = { secret: "secret-of-the-hook", headers: { Authorization: "Bearer a", "X-Token": "b" } };
  const { id } = (await post({ url: URL, ...secrets })).body.data as { readonly id: number };
  const before = await list();
  const same = await put(id, { url: URL, events: null, ...secrets }, "&dry_run=1");
  expect(same).toMatchObject({ status: 200, body: { data: { changed: [] } } });
  const others = { secret: "other-secret-of-it", headers: { authorization: "Bearer b", "X-Token": "****" } };
  const other = await put(id, { is_active: false, events: ["monitor.up"], ...others }, "&dry_run=1");
  expect(other.body.data).toEqual({ changed: ["secret", "events", "headers.authorization", "is_active"] });
  expect((await put(id, { filter: { tags: [] } }, "&dry_run=1")).body.error).toMatchObject({ field: "filter" });
  expect((await put(id + 1, {}, "&dry_run=1")).status).toBe(404);
  expect(await list()).toEqual(before);
});

it("a dry run of an option compares the value that is masked", async () => {
  const options = { format: "telegram", format_options: { bot_token: "123:abc", chat_id: "42" } };
  const made = await post({ url: "https://api.telegram.org", ...options });
  expect(made.status, made.text).toBe(201);
  const { id } = made.body.data as { readonly id: number };
  expect((await put(id, options, "&dry_run=1")).body.data).toEqual({ changed: [] });
  const other = { format_options: { bot_token: "****", chat_id: 43 } };
  expect((await put(id, other, "&dry_run=1")).body.data).toEqual({ changed: ["format_options.chat_id"] });
});

it("an action has no dry run", async () => {
  const { id } = (await post({ url: URL })).body.data as { readonly id: number };
  const before = await list();
  const refused = await service.call(`${PATH}?action=rotate&id=${id}&dry_run=1`, { key, method: "POST" });
  expect(refused).toMatchObject({ status: 400, body: { error: { field: "dry_run" } } });
  expect(await list()).toEqual(before);
});

it("says who manages a webhook, until a change says otherwise", async () => {
  const made = await post({ url: URL, managed_by: "shop/web" });
  expect(made.body.data).toMatchObject({ managed_by: "shop/web" });
  const { id } = made.body.data as { readonly id: number };
  expect((await put(id, { name: "On-call" })).body.data).toMatchObject({ name: "On-call", managed_by: "shop/web" });
  expect((await put(id, { managed_by: "A b" })).body.error).toMatchObject({
    field: "managed_by",
    message: "managed_by: must be 1 to 42 of the characters a-z 0-9 : _ . / -, or null.",
  });
  expect((await put(id, { managed_by: null })).body.data).toMatchObject({ managed_by: null });
  expect((await post({ url: URL })).body.data).toMatchObject({ managed_by: null });
});
