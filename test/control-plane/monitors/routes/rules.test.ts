import { describe, expect, it } from "vitest";
import { ago } from "#test/support/ago.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { BODY, startMonitorsWorld, URL, type Monitor } from "#test/control-plane/monitors/routes/world.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const world = await stopAfterAll(startMonitorsWorld());

describe("a dependency", () => {
  it("is on a monitor of the account, without a cycle, in a chain of at most five", async () => {
    const chain: number[] = [];
    for (let n = 0; n < 5; n += 1) chain.push((await world.create({ ...BODY, depends_on: chain.at(-1) ?? null })).id);
    const [top = 0, second = 0] = chain;
    const sixth = await world.call(URL, { key: world.key, body: { ...BODY, depends_on: chain.at(-1) } });
    expect([sixth.status, sixth.body.error]).toMatchObject([400, { field: "depends_on", reason: "range" }]);
    const cycle = await world.change(top, { depends_on: second });
    expect([cycle.status, cycle.body.error]).toMatchObject([400, { field: "depends_on", reason: "range" }]);
    expect((await world.change(top, { depends_on: top })).body.error["message"]).toContain("cycle");
    expect((await world.change(second, { depends_on: null })).status).toBe(200);
    expect((await world.change(top, { depends_on: chain[4] })).status).toBe(200);
    const above = await world.create();
    expect((await world.change(second, { depends_on: above.id })).status).toBe(400);
  });

  it("never becomes a cycle, also if both sides are written at the same time", async () => {
    for (let round = 0; round < 5; round += 1) {
      const [one, two] = [await world.create(), await world.create()];
      const answers = await Promise.all([
        world.change(one.id, { depends_on: two.id }),
        world.change(two.id, { depends_on: one.id }),
      ]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    }
  });
});

describe("a target", () => {
  it.each<readonly [object, boolean]>([
    [{ url: "http://example.com" }, true],
    [{ url: "http://example.com/path", check_type: "keyword", keyword: "x" }, true],
    [{ url: "https://example.com" }, false],
    [{ url: "http://example.com:8080" }, false],
    [{ url: "http://192.0.2.1" }, false],
    [{ url: "example.com", check_type: "ping" }, false],
  ])("over plain http is taken, and the answer says how to watch a certificate: %j is %s", async (given, isWarned) => {
    const { status, body } = await world.call(URL, { key: world.key, body: { ...BODY, ...given } });
    const { warnings = [] } = body.meta as { warnings?: readonly { parameter: string; message: string }[] };
    expect(warnings.map(({ parameter }) => parameter)).toEqual(isWarned ? ["url"] : []);
    if (isWarned) expect([status, warnings[0]?.message]).toEqual([201, expect.stringContaining("check_type ssl")]);
  });

  it.each<readonly [object, string]>([
    [{ url: "nonsense" }, "missing_parameter"],
    [{ url: "ftp://example.com" }, "missing_parameter"],
    [{ url: "http://10.0.0.1/" }, "target_not_allowed"],
    [{ url: "https://example.com/", check_type: "dns" }, "missing_parameter"],
    [{ url: "192.0.2.1", check_type: "dns" }, "missing_parameter"],
    [{ url: "db.internal", check_type: "dns" }, "target_not_allowed"],
    [{ url: "example.com:443", check_type: "ping" }, "missing_parameter"],
    [{ url: "10.0.0.1", check_type: "ping" }, "target_not_allowed"],
    [{ url: "router", check_type: "port", port: 22 }, "target_not_allowed"],
    [{ url: "http://example.com", check_type: "ssl" }, "missing_parameter"],
    [{ url: "example.com:0", check_type: "ssl" }, "missing_parameter"],
    [{ url: "10.0.0.1:443", check_type: "ssl" }, "target_not_allowed"],
    [{ url: "co.uk", check_type: "domain" }, "missing_parameter"],
    [{ url: "https://example.com/", check_type: "domain" }, "missing_parameter"],
    [{ url: "192.0.2.1", check_type: "domain" }, "missing_parameter"],
  ])("that no tool would take is refused: %j", async (body, code) => {
    const { status, body: answered } = await world.call(URL, {
      key: world.key,
      body: { locations: ["eu-west"], ...body },
    });
    expect([status, answered.error]).toMatchObject([400, { code, field: "url" }]);
  });

  it("in a private range is accepted if an agent that the account can use allows it", async () => {
    expect(await world.create({ ...BODY, url: "http://127.0.0.1:8080/" })).toMatchObject({
      url: "http://127.0.0.1:8080/",
    });
    expect(await world.create({ url: "127.0.0.1", check_type: "ping", locations: ["eu-west"] })).toMatchObject({
      id: expect.any(Number),
    });
  });

  it("that is not changed is not checked again", async () => {
    const { id } = await world.create();
    await world.app.sql`update monitors set url = 'http://10.0.0.1/' where id = ${id}`;
    expect((await world.change(id, { name: "New" })).status).toBe(200);
    expect((await world.change(id, { url: "http://10.0.0.2/" })).body.error).toMatchObject({
      code: "target_not_allowed",
    });
  });
});

describe("locations", () => {
  it("that no probe has ever had are refused with the known ones", async () => {
    const { body } = await world.call(URL, { key: world.key, body: { ...BODY, locations: ["eu-west", "eu-wset"] } });
    expect(body.error).toMatchObject({ field: "locations", reason: "unknown_location" });
    expect(body.error["message"]).toMatch(/Did you mean eu-west\?.*eu-west, us-east/);
  });

  it("can be named while their probes are away; without names such a monitor is not made", async () => {
    const agent = world.attach("ap-south", { allowTargets: ["10.9.0.0/16"] });
    agent.cut();
    expect(await world.create({ ...BODY, locations: ["ap-south"] })).toMatchObject({ locations: ["ap-south"] });
    const quiet = await startMonitorService();
    const theirs = await quiet.createKey();
    const none = await quiet.call(URL, { key: theirs, body: { url: "https://example.com" } });
    expect([none.status, none.body.error]).toMatchObject([503, { code: "probe_unavailable", reason: "no_probe" }]);
    expect(none.body.error["message"]).toContain("Name the locations");
    const unknown = await quiet.call(URL, { key: theirs, body: BODY });
    expect([unknown.status, unknown.body.error]).toMatchObject([400, { reason: "unknown_location" }]);
    await quiet.stop();
  });
});

describe("a check that a user requests", () => {
  it("is accepted six times a minute, for an active monitor", async () => {
    const { id } = await world.create();
    const run = () => world.call(`${URL}?action=run&id=${id}`, { method: "POST", key: world.key });
    const shift = (by: string) =>
      world.app.sql`
        update monitors set runs_requested_at = array(select at + ${by}::interval from unnest(runs_requested_at) as at)
        where id = ${id}`;
    const first = await run();
    expect([first.status, first.body.data]).toEqual([202, { id }]);
    await shift("-30 s");
    for (let more = 1; more < 6; more += 1) expect((await run()).status).toBe(202);
    const seventh = await run();
    expect([seventh.status, seventh.body.error]).toMatchObject([429, { code: "rate_limit_exceeded" }]);
    const wait = Number(seventh.headers.get("retry-after"));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(30);
    // The first of them is older than a minute now, the others are not.
    await shift("-31 s");
    expect([(await run()).status, (await run()).status]).toEqual([202, 429]);
    // The clock was set back by an hour.
    await shift("1 h");
    expect((await run()).status).toBe(202);
    const paused = await world.create({ ...BODY, is_active: false });
    const refused = await world.call(`${URL}?action=run&id=${paused.id}`, { method: "POST", key: world.key });
    expect([refused.status, refused.body.error]).toMatchObject([400, { field: "id" }]);
    expect((await world.call(`${URL}?action=run`, { method: "POST", key: world.key })).body.error).toMatchObject({
      field: "id",
    });
  });

  it("to accept a picture is for visual monitors", async () => {
    const { id } = await world.create();
    const { status, body } = await world.call(`${URL}?action=accept&id=${id}`, { method: "POST", key: world.key });
    expect([status, body.error]).toMatchObject([400, { field: "id", reason: "enum" }]);
    expect(body.error["message"]).toContain("only a visual monitor");
  });
});

/** The addresses of the account whose owners are to be asked for their confirmation, in order. */
const asked = async (): Promise<readonly string[]> => {
  const rows = await world.app.sql<{ email: string }[]>`
    select email from mail_recipients where account_id = ${world.accountId} and wants_confirmation order by id`;
  return rows.map(({ email }) => email);
};
/** Confirms an address of the account. */
const confirm = (email: string) => world.app.sql`
  insert into mail_recipients (account_id, email, created_at, confirmed_at, wants_confirmation)
  values (${world.accountId}, ${email}, now(), now(), false)
  on conflict (account_id, lower(email)) do update set confirmed_at = now(), wants_confirmation = false`;
/** Makes an address of the account one to which mail has failed for two minutes. */
const fail = (email: string) => world.app.sql`
  insert into failing_receivers (channel, receiver_id, failing_since, failures, next_attempt_at)
  select 'mail', r.id, now() - interval '2 minutes', 2, now() from mail_recipients as r
  where r.account_id = ${world.accountId} and r.email = ${email}`;

describe("mail addresses", () => {
  it("are shown with whether they are confirmed, and their owners are asked", async () => {
    const { id } = await world.create({ ...BODY, notify_emails: ["a@example.com", "B@example.com"] });
    expect(await asked()).toEqual([]);
    await confirm("b@example.com");
    const { body } = await world.change(id, { notify_email: true });
    expect(body.data).toMatchObject({
      notify_emails: [
        { email: "a@example.com", confirmed: false, unsubscribed_at: null },
        { email: "B@example.com", confirmed: true, unsubscribed_at: null },
      ],
      notify_state: "ok",
    });
    expect(await asked()).toEqual(["a@example.com"]);
    expect((await world.change(id, { notify_emails: ["c@example.com"] })).body.data).toMatchObject({
      notify_state: "no_recipient",
    });
  });

  it("of which one gets no mail make notify_state mail_failing, unless nobody is to be mailed", async () => {
    const emails = ["ok@example.com", "Full@example.com"];
    const { id } = await world.create({ ...BODY, notify_email: true, notify_emails: emails });
    const state = async () => {
      const [single, list] = await Promise.all([
        world.call(`${URL}?id=${id}`, { key: world.key }),
        world.call(`${URL}?per_page=100`, { key: world.key }),
      ]);
      const listed = (list.body.data as Monitor[]).find((monitor) => monitor.id === id);
      expect(listed?.["notify_state"]).toBe((single.body.data as Monitor)["notify_state"]);
      return listed?.["notify_state"];
    };
    await fail("Full@example.com");
    expect(await state()).toBe("no_recipient");
    await confirm("ok@example.com");
    // Nothing is mailed to the other one, so nothing fails.
    expect(await state()).toBe("ok");
    await confirm("full@example.com");
    expect(await state()).toBe("mail_failing");
    await world.change(id, { notify_email: false });
    expect(await state()).toBe("off");
  });

  it("are the account's one by default, also after a record was sent back", async () => {
    const account = await world.operate("POST", "/api/admin/accounts", {
      email: "Owner@example.com",
      plan: "captain",
    });
    const { id: accountId } = account.body.data as Monitor;
    const made = await world.operate("POST", "/api/admin/keys", { account_id: accountId });
    const { key: own } = made.body.data as { key: string };
    const monitor = await world.create({ ...BODY, notify_email: true }, own);
    expect(monitor["notify_emails"]).toEqual([{ email: "Owner@example.com", confirmed: false, unsubscribed_at: null }]);
    await world.change(monitor.id, monitor, own);
    await world.operate("PUT", `/api/admin/accounts?id=${accountId}`, { email: "new@example.com" });
    expect((await world.read(monitor.id, own))["notify_emails"]).toEqual([
      { email: "new@example.com", confirmed: false, unsubscribed_at: null },
    ]);
  });
});

it("a further read of one monitor is registered with its fields and finds only the account's own", async () => {
  const { id } = await world.create();
  const from = ago(3_600_000).toISOString();
  const own = await world.call(`${URL}?action=history&id=${id}&from=${from}`, { key: world.key });
  expect([own.status, own.body.data]).toEqual([200, { points: [] }]);
  expect(own.body.meta).not.toHaveProperty("warnings");
  expect((await world.call(`${URL}?action=history`, { key: world.key })).body.error).toMatchObject({ field: "id" });
  const stranger = await world.createKey();
  expect((await world.call(`${URL}?action=history&id=${id}`, { key: stranger })).status).toBe(404);
});
