import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { recordsOf } from "#test/servers/dnssec/zone.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { systemClock } from "#test/support/clock.ts";
import { startControlPlane, type Answer, type TestControlPlane } from "#test/support/control-plane.ts";
import { askWire } from "#test/support/raw-http.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SERVFAIL = { status: "SERVFAIL", answers: [], authority: [] } as const;

let offset = 0;
/** The service's time, which the test moves. */
const clock = { ...systemClock, now: () => new Date(Date.now() + offset) };
/** Values of TXT records by name; null: the server fails. */
const published = new Map<string, string | null>();
/** A replica without a probe, and one with a probe. */
let planes: readonly TestControlPlane[] = [];
let agent: AgentProcess;
let resolver: DnsServer;
let mine: string;
let theirs: string;
let names = 0;

const bare = () => planes[0] as TestControlPlane;
const probed = () => planes[1] as TestControlPlane;

beforeAll(async () => {
  resolver = await startDnsServer({
    answer(name) {
      const value = published.get(name.toLowerCase());
      if (value === null) return SERVFAIL;
      const answers =
        value === undefined ? [] : recordsOf(`${name}. 60 IN TXT "other" ; \n${name}. 60 IN TXT "${value}"`);
      return { status: value === undefined ? "NXDOMAIN" : "NOERROR", answers, authority: [] };
    },
  });
  const first = await startControlPlane({ overrides: { clock } });
  planes = [first, await startControlPlane({ overrides: { clock }, databaseUrl: first.databaseUrl })];
  agent = await startAgent(probed(), "eu-west", { VANTAGE_DNS_SERVERS: resolver.address });
  mine = await first.createKey();
  theirs = await first.createKey();
});
afterAll(async () => {
  await agent?.stop();
  await planes[1]?.stop();
  await planes[0]?.stop();
  await resolver?.close();
});

interface Shown {
  readonly id: number;
  readonly slug: string;
  readonly url: string;
  readonly domain: string | null;
  readonly domain_state: string | null;
  readonly domain_record: { readonly name: string; readonly type: string; readonly value: string } | null;
}

const URL = "/api/v4/status";
const data = ({ body }: Answer): Shown => body.data;
const nextName = () => `status.shop-${(names += 1)}.com`;
const post = (domain: string, key = mine) => {
  names += 1;
  return bare().call(URL, { key, body: { title: "Shop", slug: `own-${names}`, domain } });
};
const put = (id: number, body: object, key = mine) => bare().call(`${URL}?id=${id}`, { key, method: "PUT", body });
const read = async (id: number, key = mine) => data(await bare().call(`${URL}?id=${id}`, { key }));
const questions = (domain: string) =>
  resolver.queries.filter(({ name }) => name.toLowerCase() === `_vantage.${domain}`).length;
/** Waits for a state. Reads of the API count against the plan of the key. */
async function becomes(id: number, state: string): Promise<void> {
  const stored = async () => {
    const [row] = await bare().app.sql<{ state: string }[]>`
      select domain_state as state from status_pages where id = ${id}`;
    return row?.state;
  };
  await expect.poll(stored).toBe(state);
}
const publish = ({ domain_record: record }: Shown) => published.set(record?.name ?? "", record?.value ?? "");
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

async function createVerified(domain: string, key = mine): Promise<Shown> {
  const made = data(await post(domain, key));
  publish(made);
  await put(made.id, { domain }, key);
  await becomes(made.id, "verified");
  return made;
}

describe("the domain of a page", () => {
  it("serves it after its record was found, at every replica, and then without the record", async () => {
    const domain = nextName();
    const made = data(await post(domain));
    expect(made).toMatchObject({ domain_state: "pending", domain_record: { name: `_vantage.${domain}`, type: "TXT" } });
    await asked(domain, 1);
    published.set(`_vantage.${domain}`, "vantage-page=somebody-else");
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
    offset += 2 * DAY_MS;
    await put(made.id, { domain });
    const other = data(await post(nextName()));
    await asked(other.domain ?? "", 1);
    expect([await statuses(domain), questions(domain)]).toEqual([[200, 200], count]);
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

  it("belongs to one page; a claim that failed keeps nobody else from it", async () => {
    const domain = nextName();
    const first = data(await post(domain));
    expect(refusal(await post(domain, theirs))).toEqual([400, "domain", "duplicate"]);
    offset += DAY_MS;
    await becomes(first.id, "failed");
    const second = await createVerified(domain, theirs);
    publish(first);
    await put(first.id, { domain });
    await asked(domain, 3);
    expect([(await read(first.id)).domain_state, (await read(second.id, theirs)).domain_state]).toEqual([
      "failed",
      "verified",
    ]);
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
