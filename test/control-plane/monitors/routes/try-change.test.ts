import { beforeEach, describe, expect, it } from "vitest";
import { ok } from "#shared/contracts/outcome.ts";
import { GOOD, startTrialWorld, TRY } from "#test/control-plane/monitors/try/world.ts";
import type { Answer } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const STORED = {
  url: "https://shop.example.com/health",
  method: "POST",
  request_headers: { "X-Api-Key": "secret-of-the-shop", Accept: "text/plain" },
  body: "secret-in-the-body",
  locations: ["eu-west"],
};

/** What the probes were asked for, the newest last. */
let asked: { readonly url: string; readonly headers: unknown; readonly body?: string }[];

const world = await stopAfterAll(startTrialWorld());
beforeEach(() => {
  asked = [];
  world.answer((job) => {
    if (job.tool === "monitor-http") asked.push(JSON.parse(job.params));
    return ok(GOOD);
  });
});

/** Opens an account with a paused monitor, which has no checks of its own. */
async function open(given: object = STORED) {
  const account = await world.openAccount();
  const { status, body } = await account.create({ ...given, is_active: false });
  expect(status, JSON.stringify(body)).toBe(201);
  const { id } = body.data as { readonly id: number };
  const tryOut = (change: object, as = account.key) => world.call(`${TRY}&id=${id}`, { key: as, body: change });
  return { ...account, monitor: id, tryOut };
}

const warnedOf = ({ body }: Answer) =>
  ((body.meta as { warnings?: readonly { parameter: string }[] }).warnings ?? []).map(({ parameter }) => parameter);

const SENT = expect.arrayContaining([["X-Api-Key", "secret-of-the-shop"]]);

describe("a try of a monitor with a change", () => {
  it("without one asks as the monitor does, with its stored secrets, and shows none of them", async () => {
    const { tryOut } = await open();
    const tried = await tryOut({});
    expect([tried.status, tried.body.data]).toMatchObject([200, { verdict: "up", checks: [{ location: "eu-west" }] }]);
    expect(asked).toMatchObject([{ url: STORED.url, headers: SENT, body: "secret-in-the-body" }]);
    expect(tried.text).not.toContain("secret-");
    expect(warnedOf(tried)).toEqual([]);
  });

  it("has stored secrets in the places of masks, and new ones where they are given", async () => {
    const { tryOut } = await open();
    const request_headers = { "x-api-key": "****", "X-New": "new-value" };
    await tryOut({ url: "https://shop.example.com/other", request_headers, body: "****" });
    expect(asked).toMatchObject([{ url: "https://shop.example.com/other", body: "secret-in-the-body" }]);
    expect(asked[0]?.headers).toEqual(
      expect.arrayContaining([
        ["x-api-key", "secret-of-the-shop"],
        ["X-New", "new-value"],
      ]),
    );
  });

  it.each([
    ["another host", { url: "https://attacker.example.net/health" }],
    ["a host below it", { url: "https://a.shop.example.com/health" }],
    ["plain http", { url: "http://shop.example.com/health" }],
    ["another port", { url: "https://shop.example.com:8443/health" }],
    [
      "masks of its own",
      { url: "https://attacker.example.net/", body: "****", request_headers: { "X-Api-Key": "****" } },
    ],
  ])("sends no stored secret to another origin: %s", async (_what, change) => {
    const { tryOut } = await open();
    const tried = await tryOut(change);
    expect(tried.status, tried.text).toBe(200);
    expect(asked).toHaveLength(1);
    expect(JSON.stringify(asked)).not.toContain("secret-");
    expect(warnedOf(tried)).toEqual(expect.arrayContaining(["body", "request_headers.X-Api-Key"]));
    expect(tried.text).toContain("was not sent, because the url leads to another origin");
  });

  it("changes nothing, and is refused as the change would be", async () => {
    const { tryOut, monitor, key } = await open();
    await tryOut({ url: "https://other.example.net/", name: "Tried" });
    const { body } = await world.call(`/api/v4/monitors?id=${monitor}`, { key });
    expect(body.data).toMatchObject({ url: STORED.url, body: "****", request_headers: { "X-Api-Key": "****" } });
    const field = async (change: object) => {
      const { status, body: refused } = await tryOut(change);
      return [status, (refused as { error: { field: string } }).error.field];
    };
    expect(await field({ interval_minutes: 0 })).toEqual([400, "interval_minutes"]);
    expect(await field({ depends_on: monitor })).toEqual([400, "depends_on"]);
    expect(await field({ url: "http://10.0.0.1/" })).toEqual([400, "url"]);
  });

  it("is not possible with the monitor of another account", async () => {
    const { tryOut } = await open();
    const stranger = await world.openAccount();
    expect((await tryOut({}, stranger.key)).status).toBe(404);
    expect(asked).toEqual([]);
  });

  it("warns where the plan has no room for the monitor that it would resume", async () => {
    const account = await world.openAccount("starter");
    const { body } = await account.create({ ...STORED, is_active: false });
    const { id } = body.data as { readonly id: number };
    await world.app.sql`update monitors set is_active = true where id = ${id}`;
    const [row] = await world.app.sql<{ id: number }[]>`
      insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at, updated_at)
      select account_id, name, url, check_type, interval_minutes, false, tags, settings, created_at, updated_at
      from monitors where id = ${id} returning id`;
    const tried = await world.call(`${TRY}&id=${row?.id}`, {
      key: account.key,
      body: { is_active: true, method: "GET" },
    });
    expect([tried.status, warnedOf(tried)]).toEqual([200, ["monitors"]]);
  });
});
