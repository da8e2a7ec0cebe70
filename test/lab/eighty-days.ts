import { expect } from "vitest";
import { readAuthority, revoke, SERIALS, STATUS_URLS } from "#test/lab/services/authority.ts";
import { startChangingSite } from "#test/lab/services/changing-site.ts";
import { register } from "#test/lab/services/made-registrations.ts";
import { startMailBox } from "#test/lab/services/mails.ts";
import { EVERYWHERE, SOON, untilUp, type WatchedLab } from "#test/lab/watched.ts";
import { DAY_MS, issue, type Issued } from "#test/servers/pki.ts";

/** One step of the story. */
export interface Step {
  /** Days after the beginning. */
  readonly day: number;
  /** Happens before the clock moves. */
  readonly change?: () => Promise<void>;
  /** What follows, in any order: name of the monitor, type, and what distinguishes the event. */
  readonly events: readonly string[];
}

/** An event as the database has it. */
interface EventRow {
  readonly id: string;
  readonly at: string;
  readonly monitor: string;
  readonly type: string;
  readonly detail: string | null;
}

/** Monitors of one certificate and of one domain, whose time a test moves over many weeks. */
interface EightyDays {
  /** Monitors by name: "ssl", "page" and "keyword" of one certificate, and "domain". */
  readonly ids: ReadonlyMap<string, number>;
  /** Returns these events of each monitor of the certificate. */
  readonly each: (...events: readonly string[]) => readonly string[];
  readonly renew: () => Promise<void>;
  readonly changeIssuer: () => Promise<void>;
  readonly revoke: () => Promise<void>;
  readonly replace: () => Promise<void>;
  /** Makes the registry delete the lapsed domain, which can still be restored. */
  readonly letDelete: () => Promise<void>;
  readonly renewDomain: () => Promise<void>;
  /** Moves the clock and waits for what follows. Kills one replica or the other meanwhile, and starts it again. */
  play(step: Step, index: number): Promise<void>;
  /** Makes each replica alone look at everything again. */
  lookAgain(): Promise<void>;
  /** Returns all events since the beginning, the oldest first. */
  rows(): Promise<readonly EventRow[]>;
  /** Returns them by the step in which they happened; those of one step are sorted. */
  steps(): Promise<readonly Pick<Step, "day" | "events">[]>;
  /** Returns the mails with their events, how many came more than once, and how many attempts were lost in a kill. */
  mails(): Promise<{ readonly mailed: readonly string[]; readonly copies: number; readonly lost: number }>;
}

const HOST = "web.lab.test";
const PORT = 8_443;
const DOMAIN = "lapsing.com";
/** The last day of the registration. */
const END = 80;
const WATCHING = ["keyword", "page", "ssl"];
const MONITORS = {
  ssl: { check_type: "ssl", url: HOST, port: PORT },
  page: { check_type: "http", url: `https://${HOST}:${PORT}/` },
  keyword: { check_type: "keyword", url: `https://${HOST}:${PORT}/`, keyword: "ok" },
  domain: { check_type: "domain", url: DOMAIN },
};
/** Age at which an agent asks for its next certificate, when it attaches; ten days later it would be refused. */
const RENEWAL_DAYS = 20;
/** Longer than the lease of anything that a killed replica did. */
const LEASES_MS = 120_000;
const OFTEN = { interval: 200 };
/** Longer than the first pause after a failed look, and after how many looks a step lets this time pass. */
const PAUSE_MS = 75 * 60_000;
const PATIENT_LOOKS = 20;

/** Starts the server, registers the domain, and creates the monitors. The lab has two replicas and a movable clock. */
export async function openEightyDays(lab: WatchedLab): Promise<EightyDays> {
  const { network } = lab;
  const { folder } = network;
  const { clock, planes, plane } = lab.service;
  const startedAt = clock.now().getTime();
  const day = (days: number): Date => new Date(startedAt + days * DAY_MS);
  const { root, intermediate } = await readAuthority(folder);
  const authority = { ca: true, pathLength: 0, issuer: root, notBefore: day(-365), notAfter: day(3_650) };
  const other = await issue({ ...authority, subject: "Lab Other Intermediate" });
  const make = (from: number, to: number, options: object = {}): Promise<Issued> =>
    issue({ dns: [HOST], issuer: intermediate, notBefore: day(from), notAfter: day(to), ...options });
  const registerUntil = (end: number, status: string): Promise<void> => {
    register(folder, { [DOMAIN]: { expires: day(end).toISOString(), status: [status] } });
    return Promise.resolve();
  };
  await registerUntil(END, "active");
  const first = await make(-60, 40, { issuer: other });
  const [site, box] = await Promise.all([
    startChangingSite(network, { node: "web", port: PORT }, first, other),
    startMailBox(network),
  ]);
  const ids = await createMonitors(lab);
  const begins: { readonly day: number; readonly from: number }[] = [];
  const rows = () => readEvents(lab, day(0));
  const between = async (from: number, to = Infinity): Promise<readonly string[]> => {
    const found = (await rows()).filter(({ at }) => Date.parse(at) >= from && Date.parse(at) < to);
    // When the clock moves by days, the newest results are too old until the next check: whether that is noticed first is chance.
    return found
      .map(describe)
      .filter((event) => !/ monitor\.(?:un)?watched\b/.test(event))
      .toSorted();
  };
  const count = async (rest: string): Promise<number> =>
    (await lab.query<{ n: number }>(`select count(*)::integer as n from ${rest}`))[0]?.n ?? 0;

  /** Waits until every agent has attached to a restarted replica, and got its next certificate, if it is old enough. */
  async function untilRenewed(): Promise<void> {
    await expect.poll(agentsDue, SOON).toEqual([]);
  }
  const agentsDue = (): readonly string[] => {
    const dueSince = clock.now().getTime() - RENEWAL_DAYS * DAY_MS;
    const agents = Array.from(lab.service.agents);
    return agents.filter(([, agent]) => (renewedAt(agent.log()) ?? startedAt) <= dueSince).map(([name]) => name);
  };

  /**
   * Returns the same read for a wait. A look whose replica has no agent yet fails and is repeated after a pause, as is a
   * look that says for the first time that a domain has lapsed: the clock moves on when the wait takes long.
   */
  function patiently<T>(read: () => Promise<T>): () => Promise<T> {
    let looks = 0;
    return async () => {
      looks += 1;
      if (looks % PATIENT_LOOKS === 0) clock.moveTo(new Date(clock.now().getTime() + PAUSE_MS));
      return read();
    };
  }

  /** Kills a replica, and ends the leases of what it did. */
  async function kill(index: number): Promise<void> {
    await planes[index]?.kill();
    clock.moveTo(new Date(clock.now().getTime() + LEASES_MS));
  }

  return {
    ids,
    rows,
    each: (...events) => WATCHING.flatMap((name) => events.map((event) => `${name} ${event}`)),
    renew: async () => site.install(await make(38, 138, { issuer: other }), other),
    async changeIssuer() {
      const status = { serial: SERIALS.doomed, ocspUrls: [STATUS_URLS.ocsp] };
      await site.install(await make(40, 430, status), intermediate);
    },
    async revoke() {
      revoke(folder, SERIALS.doomed, day(45));
      return Promise.resolve();
    },
    replace: async () => site.install(await make(44, 440), intermediate),
    letDelete: () => registerUntil(END, "redemption period"),
    renewDomain: () => registerUntil(END + 365, "active"),
    async play({ day: days, change, events }, index) {
      const from = clock.now().getTime();
      const seen = () => between(from);
      begins.push({ day: days, from });
      await change?.();
      clock.moveTo(day(days));
      // Two kills come before anything follows, the next two in the middle of it.
      if (index % 4 >= 2 && events.length > 0) await expect.poll(patiently(seen), OFTEN).not.toEqual([]);
      await kill(index % 2);
      await planes[index % 2]?.start();
      await untilRenewed();
      const looked = `expiry_targets where kind = 'domain' and looked_at >= '${day(days).toISOString()}'`;
      if (events.length === 0)
        await expect
          .poll(
            patiently(() => count(looked)),
            SOON,
          )
          .toBe(1);
      await expect.poll(patiently(seen), SOON).toEqual(events.toSorted());
      await expect.poll(() => count("deliveries where status <> 'delivered'"), SOON).toBe(0);
    },
    async lookAgain() {
      for (const index of planes.keys()) {
        await kill(index);
        const [now] = await lab.query<{ at: string }>("select clock_timestamp() as at");
        await lab.query("update expiry_targets set next_at = now(), look_at = now() returning id");
        const countUnseen = () => count(`expiry_targets where looked_at < '${now?.at}'`);
        await expect.poll(patiently(countUnseen), SOON).toBe(0);
        await planes[index]?.start();
        await expect.poll(async () => (await plane.call("/readyz")).status, SOON).toBe(200);
      }
    },
    steps: () =>
      Promise.all(
        begins.map(async ({ day: days, from }, index) => {
          return { day: days, events: await between(from, begins[index + 1]?.from) };
        }),
      ),
    async mails() {
      const all = box.mails();
      const distinct = new Map(all.map((mail) => [mail.messageId, mail]));
      const mailed = Array.from(distinct.values(), ({ messageId, kind, to }) => {
        const [, eventId = messageId] = /^<(.+)\.\d+@/.exec(messageId) ?? [];
        return `${eventId} ${kind} to ${to}`;
      });
      const lost = await count("delivery_attempts where error_code = 'attempt_lost'");
      return { mailed: mailed.toSorted(), copies: all.length - distinct.size, lost };
    },
  };
}

/** Creates the monitors, each with a confirmed recipient of its own, and waits until they are up. */
async function createMonitors(lab: WatchedLab): Promise<ReadonlyMap<string, number>> {
  const [account] = await lab.query<{ id: number }>("select id from accounts order by id limit 1");
  const ids = new Map<string, number>();
  for (const [name, settings] of Object.entries(MONITORS)) {
    const email = `${name}@lab.test`;
    await lab.query(`
      insert into mail_recipients (account_id, email, created_at, confirmed_at, wants_confirmation)
      values (${account?.id}, '${email}', now(), now(), false) returning id`);
    const rest = { interval_minutes: 1, timeout_seconds: 5, locations: EVERYWHERE };
    const body = { name, notify_email: true, notify_emails: [email], ...rest, ...settings };
    const made = await lab.service.plane.call("/api/v4/monitors", { key: lab.key, body });
    if (made.status !== 201) throw new Error(made.text);
    ids.set(name, (made.body.data as { id: number }).id);
  }
  for (const id of ids.values()) await untilUp(lab.query, id);
  return ids;
}

/** Reads the events of all monitors since a time. */
function readEvents(lab: WatchedLab, since: Date): Promise<readonly EventRow[]> {
  return lab.query<EventRow>(`
    select e.id, e.created_at as at, m.name as monitor, e.type, coalesce(
      d.data ->> 'threshold', d.data #>> '{cause,code}',
      case when (d.data ->> 'looks_like_renewal')::boolean then 'as a renewal'
        else (select string_agg(c.part, ', ') from json_array_elements_text(d.data -> 'changed') as c (part)) end
    ) as detail
    from events as e cross join lateral (select e.body::json -> 'data' as data) as d
      left join monitors as m on m.id = e.monitor_id
    where e.created_at >= '${since.toISOString()}' order by e.created_at, e.id`);
}

function describe({ monitor, type, detail }: EventRow): string {
  // The end of an outage has its cause, too.
  return detail === null || type === "monitor.up" ? `${monitor} ${type}` : `${monitor} ${type} ${detail}`;
}

/** Returns when an agent last got its next certificate, by its log, in Unix milliseconds; undefined if it has its first. */
function renewedAt(log: string): number | undefined {
  const line = log.split("\n").findLast((one) => one.includes('"certificate renewed"'));
  return line === undefined ? undefined : Date.parse((JSON.parse(line) as { readonly time: string }).time);
}
