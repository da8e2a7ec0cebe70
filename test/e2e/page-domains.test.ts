import { afterAll, describe, expect, it } from "vitest";
import { startDnsServer } from "#test/servers/dns.ts";
import { recordsOf } from "#test/servers/dnssec/zone.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { systemClock } from "#test/support/clock.ts";
import { startControlPlane, type Answer, type TestControlPlane } from "#test/support/control-plane.ts";
import { askWire } from "#test/support/raw-http.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SERVFAIL = { status: "SERVFAIL", answers: [], authority: [] } as const;

let offset = 0;
/** The service's time, which the test moves. */
const clock = { ...systemClock, now: () => new Date(Date.now() + offset) };
/** Values of TXT records by name; null: the server fails. */
const published = new Map<string, readonly string[] | null>();
let names = 0;

const bare = () => planes[0] as TestControlPlane;
const probed = () => planes[1] as TestControlPlane;

const resolver = await stopAfterAll(
  startDnsServer({
    answer(name) {
      const values = published.get(name.toLowerCase());
      if (values === null) return SERVFAIL;
      const lines = ["other", ...(values ?? [])].map((value) => `${name}. 60 IN TXT "${value}"`);
      const answers = values === undefined ? [] : recordsOf(lines.join("\n"));
      return { status: values === undefined ? "NXDOMAIN" : "NOERROR", answers, authority: [] };
    },
  }),
);
const base = await startControlPlane({ overrides: { clock } });
/** A replica without a probe, and one with a probe. */
const planes = [base, await startControlPlane({ overrides: { clock }, databaseUrl: base.databaseUrl })];
useAgent(probed(), "eu-west", { VANTAGE_DNS_SERVERS: resolver.address });
const mine = await base.createKey();
const theirs = await base.createKey();
afterAll(async () => {
  await planes[1]?.stop();
  await planes[0]?.stop();
});

interface Shown {
  readonly id: number;
  readonly slug: string;
  readonly url: string;
  readonly domain: string | null;
  readonly domain_state: string | null;
  readonly domain_note: string | null;
  readonly domain_record: { readonly name: string; readonly type: string; readonly value: string } | null;
}

const URL = "/api/v4/status";
const data = ({ body }: Answer): Shown => body.data;
const nextName = () => `status.shop-${(names += 1)}.com`;
const post = (domain: string, key = mine) => {
  names += 1;
  return bare().call(URL, { key, body: { title: `own-${names}`, slug: `own-${names}`, domain } });
};
const put = (id: number, body: object, key = mine) => bare().call(`${URL}?id=${id}`, { key, method: "PUT", body });
const read = async (id: number, key = mine) => data(await bare().call(`${URL}?id=${id}`, { key }));
const questions = (domain: string) =>
  resolver.queries.filter(({ name }) => name.toLowerCase() === `_vantage.${domain}`).length;
async function becomes(id: number, state: string, key = mine): Promise<void> {
  await expect.poll(async () => (await read(id, key)).domain_state).toBe(state);
}
/** Publishes the records of these pages, and no others, at the name of the first. */
const publish = (...pages: readonly Shown[]) =>
  published.set(
    pages[0]?.domain_record?.name ?? "",
    pages.map(({ domain_record: record }) => record?.value ?? ""),
  );
/** Statuses of the page at a host, at both replicas. */
const statuses = (host: string) =>
  Promise.all(planes.map(async (plane) => (await askWire(`${plane.url}/feed.rss`, { host })).status));
const refusal = ({ status, body }: Answer) => [status, body.error["field"], body.error["reason"]];

/** Waits until the record of a domain was asked for and what was found is stored. */
async function asked(domain: string, times: number): Promise<void> {
  const isSettled = async () => {
    const rows = await bare().app.sql`
      select from status_pages
      where domain = ${domain} and domain_due_at > ${new Date(clock.now().getTime() + 2 * MINUTE_MS)}`;
    return questions(domain) >= times && rows.count === 1;
  };
  await expect.poll(isSettled).toBe(true);
}

/** Waits until what was found at the newest look at the domain of each page is stored. */
async function settled(...ids: readonly number[]): Promise<void> {
  const count = async () => {
    const rows = await bare().app.sql`
      select from status_pages where id = any(${[...ids]}::bigint[])
        and case when domain_state = 'verified' then domain_recheck_at else domain_due_at end
          > ${new Date(clock.now().getTime() + 2 * MINUTE_MS)}`;
    return rows.count;
  };
  await expect.poll(count).toBe(ids.length);
}

async function createVerified(domain: string, key = mine): Promise<Shown> {
  const made = data(await post(domain, key));
  publish(made);
  await put(made.id, { domain }, key);
  await becomes(made.id, "verified", key);
  return made;
}

describe("the domain of a page", () => {
  it("serves it after its record was found, at every replica, and then without the record", async () => {
    const domain = nextName();
    const made = data(await post(domain));
    expect(made).toMatchObject({ domain_state: "pending", domain_record: { name: `_vantage.${domain}`, type: "TXT" } });
    await asked(domain, 1);
    published.set(`_vantage.${domain}`, ["vantage-page=somebody-else"]);
    offset += 11 * MINUTE_MS;
    await asked(domain, 2);
    expect([await statuses(domain), (await read(made.id)).domain_state]).toEqual([[404, 404], "pending"]);

    publish(made);
    offset += 11 * MINUTE_MS;
    await becomes(made.id, "verified");
    await expect.poll(() => statuses(domain)).toEqual([200, 200]);
    expect((await read(made.id)).url).toBe(`http://${domain}`);
    published.delete(`_vantage.${domain}`);
    const count = questions(domain);
    offset += 20 * HOUR_MS;
    const other = data(await post(nextName()));
    await settled(other.id);
    expect(questions(domain)).toBe(count);
    offset += 5 * HOUR_MS;
    await settled(made.id);
    expect([await statuses(domain), questions(domain)]).toEqual([[200, 200], count + 1]);
    const missing = await read(made.id);
    expect(missing.domain_state).toBe("verified");
    expect(missing.domain_note).toMatch(
      /^The record of \S+ has been missing since \S+\. Publish it again: from \S+ on, /,
    );
    publish(made);
    await put(made.id, { domain });
    await settled(made.id);
    expect((await read(made.id)).domain_note).toBeNull();
  });

  it("is asked for at once when it is sent again, fails after a day, and is asked for every hour then", async () => {
    const domain = nextName();
    published.set(`_vantage.${domain}`, null);
    const { id } = data(await post(domain));
    await asked(domain, 1);
    expect((await read(id)).domain_state).toBe("pending");
    offset += DAY_MS;
    await becomes(id, "failed");
    const count = questions(domain);
    offset += 30 * MINUTE_MS;
    const other = data(await post(nextName()));
    await asked(other.domain ?? "", 1);
    expect(questions(domain)).toBe(count);
    publish(await read(id));
    await put(id, { title: "Not the domain" });
    await put(id, { domain });
    await becomes(id, "verified");
  });

  it("belongs to the page whose record stands, however many claim it, and to no other while it stands", async () => {
    const domain = nextName();
    const first = data(await post(domain));
    const second = data(await post(domain, theirs));
    expect([first.domain_note, second.domain_note]).toEqual([null, null]);
    publish(second);
    offset += 11 * MINUTE_MS;
    await becomes(second.id, "verified", theirs);
    publish(first, second);
    offset += DAY_MS;
    await settled(first.id, second.id);
    const third = data(await post(domain));
    for (const page of [await read(first.id), third]) {
      expect(page).toMatchObject({ domain_state: "pending", url: expect.stringContaining(`/status/${page.slug}`) });
      expect(page.domain_note).toMatch(/^Another status page has the domain /);
    }
    expect((await read(second.id, theirs)).url).toBe(`http://${domain}`);
  });

  it("passes on to a claim whose record stands when its own has been missing for 7 days, not before", async () => {
    const domain = nextName();
    const held = await createVerified(domain, theirs);
    const claim = data(await post(domain));
    publish(claim);
    offset += DAY_MS;
    await settled(held.id, claim.id);
    // The record is back for one look: the 7 days begin again.
    offset += 5 * DAY_MS;
    publish(held, claim);
    await settled(held.id, claim.id);
    publish(claim);
    offset += DAY_MS;
    await settled(held.id, claim.id);
    offset += 6 * DAY_MS;
    await settled(held.id, claim.id);
    expect([(await read(claim.id)).domain_state, (await read(held.id, theirs)).domain_state]).toEqual([
      "pending",
      "verified",
    ]);
    offset += DAY_MS;
    await becomes(claim.id, "verified");
    await becomes(held.id, "failed", theirs);
    const served = async () => String((await askWire(`${bare().url}/feed.rss`, { host: domain })).body);
    await expect.poll(served).toContain(claim.slug);
    expect(await read(held.id, theirs)).toMatchObject({
      url: expect.stringContaining(`/status/${held.slug}`),
      domain_note: expect.stringMatching(/^Another status page has the domain /),
    });
  });

  it("is not missing while its servers fail", async () => {
    const domain = nextName();
    const { id } = await createVerified(domain);
    published.set(`_vantage.${domain}`, null);
    for (const days of [1, 8]) {
      offset += days * DAY_MS;
      await settled(id);
    }
    expect(await read(id)).toMatchObject({ domain_state: "verified", domain_note: null });
  });

  it("belongs to one of two pages whose records are found at the same time", async () => {
    const domain = nextName();
    const pages = [data(await post(domain)), data(await post(domain, theirs)), data(await post(domain))];
    await settled(...pages.map(({ id }) => id));
    publish(...pages);
    offset += 11 * MINUTE_MS;
    const states = async () => {
      const found = await Promise.all(pages.map(({ id }, index) => read(id, index === 1 ? theirs : mine)));
      return found.map(({ domain_state: state }) => `${state}`).toSorted();
    };
    await expect.poll(states).toEqual(["pending", "pending", "verified"]);
    offset += 2 * MINUTE_MS;
    await settled(...pages.map(({ id }) => id));
    expect(await states()).toEqual(["pending", "pending", "verified"]);
  });

  it.each([
    ["is given up", ({ id }: Shown, key: string) => put(id, { domain: null }, key)],
    ["is changed", ({ id }: Shown, key: string) => put(id, { domain: nextName() }, key)],
    ["goes with its page", ({ id }: Shown, key: string) => bare().call(`${URL}?id=${id}`, { key, method: "DELETE" })],
  ])("that %s is free for its account at once, for others after 7 days", async (_how, release) => {
    const domain = nextName();
    await release(await createVerified(domain), mine);
    await expect.poll(() => statuses(domain)).toEqual([404, 404]);
    expect(refusal(await post(domain, theirs))).toEqual([400, "domain", "duplicate"]);
    const again = data(await post(domain));
    expect(again).toMatchObject({ domain, domain_state: "pending" });
    await put(again.id, { domain: null });
    offset += 7 * DAY_MS - HOUR_MS;
    expect(refusal(await post(domain, theirs))).toEqual([400, "domain", "duplicate"]);
    offset += 2 * HOUR_MS;
    expect((await post(domain, theirs)).status).toBe(201);
  });

  it("of an erased account is free after 7 days", async () => {
    const domain = nextName();
    const { data: account } = (await bare().operate("POST", "/api/admin/keys", { plan: "captain" })).body as {
      readonly data: { readonly account_id: number; readonly key: string };
    };
    await createVerified(domain, account.key);
    await bare().operate("DELETE", `/api/admin/accounts?id=${account.account_id}`);
    await expect.poll(() => statuses(domain)).toEqual([404, 404]);
    expect(refusal(await post(domain, theirs))).toEqual([400, "domain", "duplicate"]);
    offset += 8 * DAY_MS;
    expect((await post(domain, theirs)).status).toBe(201);
  });
});
