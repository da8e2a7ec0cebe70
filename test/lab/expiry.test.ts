import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEightyDays, type Step } from "#test/lab/eighty-days.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { whyNoClock } from "#test/lab/services/clock.ts";
import { MAIL_SETTINGS } from "#test/lab/services/mails.ts";
import { EVERYWHERE, SOON, startWatchedLab, type WatchedLab } from "#test/lab/watched.ts";

const why = whyNoLab() ?? whyNoClock();
if (why !== null) console.warn(why);

interface Shown {
  readonly status: string;
  readonly ssl_days: number | null;
  readonly certificate: { readonly trust_error: string | null } | null;
  readonly domain: { readonly registrar: string | null; readonly expires_at: string } | null;
  readonly domain_error: { readonly reason: string } | null;
  readonly last_error: { readonly reason: string } | null;
}

describe.skipIf(why !== null)("certificates and domains of the lab, watched by two replicas", () => {
  let lab: WatchedLab;
  const created: number[] = [];
  beforeAll(async () => {
    // Events are kept as long as their deliveries.
    const planeSettings = { ...MAIL_SETTINGS, VANTAGE_RETENTION_DELIVERIES: "365d" };
    lab = await startWatchedLab({ hubs: ["hub", "hub2"], movableClock: true, planeSettings });
  });
  afterAll(() => lab?.close());

  async function create(body: object): Promise<number> {
    const rest = { interval_minutes: 1, locations: EVERYWHERE };
    const made = await lab.service.plane.call("/api/v4/monitors", { key: lab.key, body: { ...rest, ...body } });
    if (made.status !== 201) throw new Error(made.text);
    const { id } = made.body.data as { id: number };
    created.push(id);
    return id;
  }
  async function remove(id: number): Promise<void> {
    await lab.service.plane.call(`/api/v4/monitors?id=${id}`, { key: lab.key, method: "DELETE" });
  }
  const ssl = (variant: string) => create({ check_type: "ssl", url: `${variant}.tls.test` });
  const page = (variant: string) => create({ check_type: "http", url: `https://${variant}.tls.test/` });
  const domain = (url: string) => create({ check_type: "domain", url });
  const read = async (id: number) => (await lab.read(id)) as unknown as Shown;
  const stateOf = async (id: number) => {
    const { status, last_error: error } = await read(id);
    return [status, error?.reason ?? null];
  };

  it("are up or down as the certificate is, and each certificate is shown", async () => {
    const [good, revoked, expired, selfSigned] = await Promise.all(
      ["good", "revoked", "expired", "self-signed"].map(ssl),
    );
    const [goodPage, revokedPage] = await Promise.all(["status-good", "revoked"].map(page));
    await expect.poll(() => stateOf(good ?? 0), SOON).toEqual(["up", null]);
    await expect.poll(() => stateOf(revoked ?? 0), SOON).toEqual(["down", "revoked"]);
    await expect.poll(() => stateOf(expired ?? 0), SOON).toEqual(["down", "expired"]);
    await expect.poll(() => stateOf(selfSigned ?? 0), SOON).toEqual(["down", "self_signed"]);
    await expect.poll(() => stateOf(goodPage ?? 0), SOON).toEqual(["up", null]);
    await expect.poll(() => stateOf(revokedPage ?? 0), SOON).toEqual(["down", "revoked"]);
    await expect.poll(async () => (await read(revoked ?? 0)).certificate?.trust_error, SOON).toBe("revoked");
    expect((await lab.events(expired ?? 0)).filter((type) => type.startsWith("ssl."))).toEqual(["ssl.expired"]);
  });

  it("of a registry with RDAP or WHOIS are up; one that limits questions leaves its monitor unknown", async () => {
    const [rdap, referred, absent] = await Promise.all(["rdap.com", "referred.io", "none.com"].map(domain));
    await expect.poll(() => stateOf(rdap ?? 0), SOON).toEqual(["up", null]);
    await expect.poll(() => stateOf(referred ?? 0), SOON).toEqual(["up", null]);
    expect((await read(rdap ?? 0)).domain?.expires_at).toBe("2030-02-03T04:05:06.000Z");
    await expect.poll(() => stateOf(absent ?? 0), SOON).toEqual(["down", "not_registered"]);
    expect((await lab.events(absent ?? 0)).filter((type) => type.startsWith("domain."))).toEqual(["domain.expired"]);
    // A registry that limits questions is paused for all its domains.
    const limited = await domain("limited.io");
    const row = async () =>
      lab.query<{ error: string }>("select error from expiry_targets where target = 'limited.io'");
    await expect.poll(async () => (await row())[0]?.error, SOON).toBe("rate_limited");
    expect((await read(limited)).status).toBe("unknown");
    expect((await read(limited)).domain_error?.reason).toBe("rate_limited");
    const paused = await lab.query<{ n: number }>(
      "select count(*)::int as n from expiry_registries where paused_until > now() and refusals > 0",
    );
    expect(paused[0]?.n).toBe(1);
  });

  it("that expire soon are noticed once, however often they are looked at and whichever replica dies", async () => {
    const id = await ssl("expiring-soon");
    const seen = async () => (await lab.events(id)).filter((type) => type.startsWith("ssl."));
    await expect.poll(seen, SOON).toEqual(["ssl.expiring"]);
    await expect.poll(async () => (await read(id)).ssl_days, SOON).toBe(5);
    const lookedAt = async () => {
      const rows = await lab.query<{ at: string }>(
        "select looked_at as at from expiry_targets where target = 'expiring-soon.tls.test:443'",
      );
      return rows[0]?.at;
    };
    const lookAgain = async () => {
      const before = await lookedAt();
      await lab.query("update expiry_targets set next_at = now(), look_at = now() returning id");
      await expect.poll(lookedAt, SOON).not.toBe(before);
    };
    await lookAgain();
    await lab.service.planes[1]?.kill();
    await lookAgain();
    await lookAgain();
    expect(await seen()).toEqual(["ssl.expiring"]);
  });

  it("are noticed once in the eighty days in which they end, are renewed and change, whichever replica dies", async () => {
    await lab.service.planes[1]?.kill();
    await lab.service.planes[1]?.start();
    await Promise.all(created.map(remove));
    const story = await openEightyDays(lab);
    const { each } = story;
    const steps: readonly Step[] = [
      { day: 10.2, events: each("ssl.expiring 30") },
      { day: 26.2, events: each("ssl.expiring 14") },
      { day: 33.2, events: each("ssl.expiring 7") },
      { day: 39.2, events: each("ssl.expiring 1") },
      { day: 40.2, events: each("ssl.expired", "monitor.down tls_certificate_expired") },
      { day: 42, change: story.renew, events: each("ssl.chain_changed as a renewal", "monitor.up") },
      { day: 44, change: story.changeIssuer, events: each("ssl.chain_changed issuer, fingerprint") },
      { day: 46, change: story.revoke, events: each("monitor.down tls_certificate_revoked") },
      { day: 48, change: story.replace, events: each("ssl.chain_changed as a renewal", "monitor.up") },
      { day: 50.2, events: ["domain domain.expiring 30"] },
      { day: 66.2, events: ["domain domain.expiring 14"] },
      { day: 73.2, events: ["domain domain.expiring 7"] },
      { day: 79.2, events: ["domain domain.expiring 1"] },
      { day: 80.2, events: ["domain domain.expired expired", "domain monitor.down response_expired"] },
      { day: 82, change: story.letDelete, events: [] },
      { day: 84, change: story.renewDomain, events: ["domain monitor.up"] },
    ];
    for (const [index, step] of steps.entries()) await story.play(step, index);
    await story.lookAgain();
    expect(await story.steps()).toEqual(steps.map(({ day, events }) => ({ day, events: events.toSorted() })));
    const { mailed, copies, lost } = await story.mails();
    const published = (await story.rows()).map(({ id, type, monitor }) => `${id} ${type} to ${monitor}@lab.test`);
    expect(mailed).toEqual(published.toSorted());
    // A mail comes again, with the same Message-ID, if its replica died before it noted the mail server's answer.
    expect(copies).toBeLessThanOrEqual(lost);
    const incidents = await lab.incidents(story.ids.get("page") ?? 0);
    expect(incidents.map(({ status, cause }) => `${status}: ${cause.message}`)).toEqual([
      expect.stringMatching(
        /^resolved: Certificate not trusted from .+: certificate was revoked on .+ \(key compromise\)$/,
      ),
      expect.stringMatching(/^resolved: Certificate not trusted from .+: certificate expired .+ ago$/),
    ]);
  }, 600_000);
});
