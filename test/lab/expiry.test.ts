import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { EVERYWHERE, SOON, startWatchedLab, type WatchedLab } from "#test/lab/watched.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

interface Shown {
  readonly status: string;
  readonly ssl_days: number | null;
  readonly certificate: { readonly trust_error: string | null } | null;
  readonly domain: { readonly registrar: string | null; readonly expires_at: string } | null;
  readonly last_error: { readonly reason: string } | null;
}

describe.skipIf(why !== null)("certificates and domains of the lab, watched by two replicas", () => {
  let lab: WatchedLab;
  beforeAll(async () => {
    lab = await startWatchedLab({ hubs: ["hub", "hub2"] });
  }, 180_000);
  afterAll(() => lab?.close());

  async function create(body: object): Promise<number> {
    const rest = { interval_minutes: 1, locations: EVERYWHERE };
    const made = await lab.service.plane.call("/api/v4/monitors", { key: lab.key, body: { ...rest, ...body } });
    if (made.status !== 201) throw new Error(made.text);
    return (made.body.data as { id: number }).id;
  }
  const ssl = (variant: string) => create({ check_type: "ssl", url: `${variant}.tls.test` });
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
    await expect.poll(() => stateOf(good ?? 0), SOON).toEqual(["up", null]);
    await expect.poll(() => stateOf(revoked ?? 0), SOON).toEqual(["down", "revoked"]);
    await expect.poll(() => stateOf(expired ?? 0), SOON).toEqual(["down", "expired"]);
    await expect.poll(() => stateOf(selfSigned ?? 0), SOON).toEqual(["down", "self_signed"]);
    await expect.poll(async () => (await read(revoked ?? 0)).certificate?.trust_error, SOON).toBe("revoked");
    expect((await lab.events(expired ?? 0)).filter((type) => type.startsWith("ssl."))).toEqual(["ssl.expired"]);
  }, 120_000);

  it("of a registry with RDAP or WHOIS are up; one that limits questions leaves its monitor unknown", async () => {
    const [rdap, referred, limited, absent] = await Promise.all(
      ["rdap.com", "referred.io", "limited.io", "none.com"].map(domain),
    );
    await expect.poll(() => stateOf(rdap ?? 0), SOON).toEqual(["up", null]);
    await expect.poll(() => stateOf(referred ?? 0), SOON).toEqual(["up", null]);
    expect((await read(rdap ?? 0)).domain?.expires_at).toBe("2030-02-03T04:05:06.000Z");
    await expect.poll(() => stateOf(absent ?? 0), SOON).toEqual(["down", "not_registered"]);
    expect((await lab.events(absent ?? 0)).filter((type) => type.startsWith("domain."))).toEqual(["domain.expired"]);
    const row = async () =>
      lab.query<{ error: string }>("select error from expiry_targets where target = 'limited.io'");
    await expect.poll(async () => (await row())[0]?.error, SOON).toBe("rate_limited");
    expect((await read(limited ?? 0)).status).toBe("unknown");
  }, 120_000);

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
    lab.service.planes[1]?.daemon.kill("SIGKILL");
    await lookAgain();
    await lookAgain();
    expect(await seen()).toEqual(["ssl.expiring"]);
  }, 180_000);
});
