import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { openBrowser, signIn, signInOwner } from "#test/support/dashboard.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { keepAlive } from "#test/support/measurements.ts";
import { openOldDatabase } from "#test/support/old-database.ts";
import { askWire } from "#test/support/raw-http.ts";
import { until } from "#test/support/until.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

// A database as release 0.1.0 left it at migration 51: written by that release itself, through its API and its pages. The
// rows of one invite's creation in the log were deleted, and an account has an address that mail cannot reach.
const RECORDED = new URL("../../../fixtures/upgrade/0051.json", import.meta.url);

const KEYS = ["vtg_4tSEEOTcYJochPiiVd8AasyfVLmzRU3SDPuq", "vtg_6DYB5gQrNEu66CbGPPsxKYhkuqy7HM2WR0XJ"] as const;
const [KEY] = KEYS;
const SESSIONS = {
  owner: "bnzAa3SrWjITQuOEoVYgUs4L1nxYlPtv",
  second: "fjOYRrHKM6Qxr9m8CRyzOMDrKfOxnCrZ",
  editor: "H9OyDAugfEARrVVnEVtmrzk8YVNRJJwm",
  viewer: "ZMWmn8o2E1I1aenceMeHB5N9lRJRsgCb",
};
const INVITES = {
  byOwner: "/invite/1yWhCqwitB6DxpsxHD9xU0ujSTGlFrxL",
  bySecond: "/invite/wKql4LKPGGdvmc9maiepuwBSEE0J6Si6",
  bound: "/invite/fcKAzXdK6Ibr7cS8Qduzt8C6tf8Rdtv7",
  byOperator: "/invite/2v37E2agtBaoA2O2K5ykaUIUJhWbm7EY",
  ofUnknownMaker: "/invite/POz6ng8La2eISTRABWSB037XKWmzmV1u",
};
const MONITORS = { sending: 1, site: 2, failing: 3 };
const HEARTBEAT = "/api/heartbeat/TDou11rEDPIhRHC1sTsxJx5fACaIlVro";
const NO_SLASHES = 2;
const PASSWORD = "correct horse battery staple";

const old = await stopAfterAll(openOldDatabase("mail-addresses"));
await load(old.sql);
const halves = String.raw`"keyword":"\ud800 \\ud800 \u0000"`;
await old.sql`
  update monitors set settings = replace(settings, '"keyword":null', ${halves}) where id = ${MONITORS.site}`;
await old.upgrade();
const plane = await stopAfterAll(startControlPlane({ databaseUrl: old.url }));

/** Loads the recorded rows, with their times moved as if they had been recorded now. */
async function load(on: Sql): Promise<void> {
  const { recordedAt, tables } = JSON.parse(readFileSync(RECORDED, "utf8")) as {
    readonly recordedAt: string;
    readonly tables: Readonly<Record<string, readonly object[]>>;
  };
  for (const [table, rows] of Object.entries(tables)) {
    // oxlint-disable-next-line no-await-in-loop -- later tables refer to earlier ones
    const columns = await on<{ name: string; type: string; isIdentity: boolean }[]>`
      select column_name as name, data_type as type, is_identity = 'YES' as "isIdentity" from information_schema.columns
      where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'`;
    const shown = columns.map(({ name, type }) =>
      type.startsWith("timestamp") ? `"${name}" + (now() - '${recordedAt}'::timestamptz)` : `"${name}"`,
    );
    const names = columns.map(({ name }) => `"${name}"`).join(", ");
    // oxlint-disable-next-line no-await-in-loop -- later tables refer to earlier ones
    await on.unsafe(
      `insert into "${table}" (${names}) overriding system value
       select ${shown.join(", ")} from json_populate_recordset(null::"${table}", $1::text::json)`,
      [JSON.stringify(rows)],
    );
    for (const { name, isIdentity } of columns)
      if (isIdentity)
        // oxlint-disable-next-line no-await-in-loop -- later tables refer to earlier ones
        await on.unsafe(
          `select setval(pg_get_serial_sequence('"${table}"', '${name}'), (select max("${name}") from "${table}"))`,
        );
  }
}

describe("an upgraded database of users, keys, monitors and open alerts", () => {
  it.each(["Olga.Owner@Example.COM", "olga.owner@example.com", "second@example.com", "Editor@bücher.example"])(
    "%s signs in",
    async (email) => {
      expect((await signIn(plane, email)).cookie).not.toBeNull();
    },
  );

  it.each(Object.entries(SESSIONS))("the session of the %s goes on", async (_, cookie) => {
    const browser = openBrowser(plane);
    browser.cookie = cookie;
    expect((await browser.get("/app/monitors")).status).toBe(200);
  });

  it.each(KEYS)("the key %s goes on", async (key) => {
    expect((await plane.call("/api/v4/monitors", { key })).status).toBe(200);
  });

  it.each([
    [INVITES.byOwner, "new-owner@example.com"],
    [INVITES.bySecond, "new-editor@example.com"],
    [INVITES.bound, "BOUND.PERSON@example.com"],
    [INVITES.byOperator, "new-viewer@example.com"],
  ])("the invite %s works", async (path, email) => {
    const browser = openBrowser(plane);
    const { status, location } = await browser.post(path, { email, password: PASSWORD });
    expect([status, location]).toEqual([303, "/app/"]);
  });

  it("a webhook whose address was stored without slashes can be changed in other fields", async () => {
    const path = `/api/v4/webhooks?id=${NO_SLASHES}`;
    const { status, body } = await plane.call(path, { key: KEY, method: "PUT", body: { name: "renamed" } });
    expect([status, (body.data as { name: string }).name]).toEqual([200, "renamed"]);
  });

  it("secrets of webhooks are kept", async () => {
    const { body } = await plane.call("/api/v4/webhooks", { key: KEY });
    expect(body.data).toMatchObject([
      { name: "standard", headers: { "X-Token": "****" }, secret: "whsec_****LaSw" },
      { id: NO_SLASHES, url: "https:hooks.example.com/bare", is_active: true },
      { name: "telegram", format_options: { bot_token: "****", chat_id: "****" } },
      { name: "gotify", format_options: { app_token: "****" } },
    ]);
  });

  it("a monitor with its own mail dialogue is still checked", async () => {
    const agent = await attachScripted(plane, helloOf("eu-west"));
    // It stays attached, however long it takes until the checks of the replica of before are given back.
    keepAlive(agent);
    const job = await until(() => agent.jobs.find(({ params }) => params.includes("EHLO")), "the dialogue is checked");
    expect(job.tool).toBe("monitor-tcp");
  });

  it("a monitor with its own mail dialogue gets another name", async () => {
    const path = `/api/v4/monitors?id=${MONITORS.sending}`;
    const { status, text } = await plane.call(path, { key: KEY, method: "PUT", body: { name: "Mail" } });
    expect(status, text).toBe(200);
  });

  it("settings that PostgreSQL could not read are readable", async () => {
    const [row] =
      await old.sql`select settings::json ->> 'keyword' as keyword from monitors where id = ${MONITORS.site}`;
    expect(row).toEqual({ keyword: "\ufffd \\ud800 \ufffd" });
  });

  it("a ping ends the outage that was open, and its webhooks get monitor.up", async () => {
    expect((await plane.call(HEARTBEAT)).status).toBe(200);
    await until(async () => {
      const { body } = await plane.call(`/api/v4/incidents?monitor_id=${MONITORS.failing}`, { key: KEY });
      return (body.data as readonly { status: string }[])[0]?.status === "resolved";
    }, "the outage is over");
    await until(async () => {
      const { body } = await plane.call("/api/v4/events?event_type=monitor.up", { key: KEY });
      return (body.data as readonly unknown[]).length === 4;
    }, "each webhook has a delivery");
  });

  it("a verified domain shows its page", async () => {
    const { status, body } = await askWire(`${plane.url}/`, { host: "status.example.com" });
    expect([status, body.includes("Shop")]).toEqual([200, true]);
  });

  it("a start link takes over an account whose address is no mail address", async () => {
    const { browser } = await signInOwner(plane, "joerg@example.com", { accountId: 4 });
    expect((await browser.get("/app/monitors")).status).toBe(200);
  });
});
