import { describe, expect, it } from "vitest";
import { createPasswords } from "#control-plane/people/users/passwords.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { openBrowser, PASSWORD, signIn, signInOwner, type DashboardAnswer } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));

const plane = await stopAfterAll(
  startControlPlane({ overrides: { clock }, config: { trustedProxies: ["127.0.0.0/8"] } }),
);
await signInOwner(plane, "owner@example.com");

/** Ends the time in which failed sign-ins and visits count. */
function forgetFailures(): void {
  clock.advance(16 * MINUTE_MS);
}

function guess(email: string, password: string, address = "192.0.2.1"): Promise<DashboardAnswer> {
  return openBrowser(plane, address).post("/sign-in", { email, password });
}

describe("a sign-in", () => {
  it("leads to the page that was asked for", async () => {
    const browser = openBrowser(plane);
    const refused = await browser.get("/app/monitors?page=2");
    expect(refused.status).toBe(303);
    expect(refused.location).toBe("/sign-in?next=%2Fapp%2Fmonitors%3Fpage%3D2");
    const form = await browser.get(refused.location ?? "");
    expect(form.html).toContain('name="next" value="/app/monitors?page=2"');
    const answer = await browser.post("/sign-in", {
      email: "OWNER@example.com",
      password: PASSWORD,
      next: "/app/monitors?page=2",
    });
    expect([answer.status, answer.location]).toEqual([303, "/app/monitors?page=2"]);
    expect((await browser.get("/app/monitors")).html).toContain("owner@example.com");
  });

  it("answers a wrong password and an unknown address in the same way, and keeps the address that was typed", async () => {
    forgetFailures();
    const wrong = await guess("owner@example.com", "not the password");
    const unknown = await guess("nobody@example.com", "not the password");
    expect([wrong.status, unknown.status]).toEqual([403, 403]);
    expect(unknown.html.replaceAll("nobody@", "owner@")).toBe(wrong.html);
    expect(wrong.html).toContain('value="owner@example.com"');
    expect(wrong.html).not.toContain("not the password");
  });

  it("hashes a password for an unknown address too, so that the answer takes as long", async () => {
    const passwords = createPasswords(systemRandom, (address) => address);
    const from = { address: "192.0.2.1", isGone: () => false };
    const many = await Promise.all(Array.from({ length: 103 }, () => passwords.verify(null, "secret", from)));
    // Two hashes are computed, a hundred wait: what does not hash would never be refused.
    expect(many.filter((one) => one === null)).toHaveLength(1);
    expect(many.filter((one) => one === false)).toHaveLength(102);
  });

  it("measures a password before it is normalised: one of more than 256 characters is wrong", async () => {
    const passwords = createPasswords(systemRandom, (address) => address);
    const from = { address: "192.0.2.1", isGone: () => false };
    const longest = "\u{1F511}".repeat(256);
    expect(await passwords.verify(await passwords.hash(longest, from), longest, from)).toBe(true);
    const composed = "\u00e9".repeat(200);
    const stored = await passwords.hash(composed, from);
    expect(await passwords.verify(stored, composed, from)).toBe(true);
    expect(await passwords.verify(stored, composed.normalize("NFD"), from)).toBe(false);
    expect(await passwords.verify(null, composed.normalize("NFD"), from)).toBe(false);
  });

  it("answers and counts a password of a megabyte as every wrong one", async () => {
    forgetFailures();
    const countFailures = async () => {
      const [row] = await plane.app.sql<{ count: number }[]>`select count(*) from sign_in_attempts`;
      return row?.count ?? 0;
    };
    const before = await countFailures();
    const wrong = await guess("owner@example.com", "not the password");
    const counted = await countFailures();
    // Marks that the normal form sorts: it takes time that grows with the square of their number.
    const hostile = await guess("owner@example.com", `a${"\u0300\u0316".repeat(86_000)}`);
    expect([hostile.status, hostile.html]).toEqual([403, wrong.html]);
    expect(await countFailures()).toBe(counted + (counted - before));
  });

  it("shows of an address that nobody can have no more than can be typed", async () => {
    forgetFailures();
    const { status, html } = await guess("<".repeat(300_000), "not the password");
    expect([status, html.split("&lt;").length - 1]).toEqual([403, 254]);
  });

  it("is limited to 10 failures of a user in 15 minutes, from any address, and never locked for good", async () => {
    forgetFailures();
    for (let index = 0; index < 10; index += 1)
      expect((await guess("owner@example.com", "wrong", `192.0.2.${index}`)).status).toBe(403);
    const limited = await guess("Owner@example.com", PASSWORD, "192.0.2.99");
    expect(limited.status).toBe(429);
    expect(limited.headers.get("retry-after")).toBe("900");
    expect((await guess("other@example.com", "wrong", "192.0.2.99")).status).toBe(403);
    clock.advance(15 * MINUTE_MS);
    expect((await guess("owner@example.com", PASSWORD)).status).toBe(303);
  });

  it("is limited to 30 failures of an address in 15 minutes; an IPv6 client is its /64", async () => {
    forgetFailures();
    const from = (index: number) => `2001:db8:1:2::${index.toString(16)}`;
    for (let index = 0; index < 30; index += 1)
      expect((await guess(`user${index}@example.com`, "wrong", from(index))).status).toBe(403);
    const limited = await guess("owner@example.com", PASSWORD, from(99));
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await guess("owner@example.com", PASSWORD, "2001:db8:1:3::1")).status).toBe(303);
  });

  it("is limited for guesses at the same time too", async () => {
    forgetFailures();
    const guesses = Array.from({ length: 25 }, (_, index) =>
      guess("owner@example.com", "wrong", `198.51.100.${index}`),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 403)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  });

  it("with a letter that lower case makes one of the address is wrong, so that no spelling has 10 failures of its own", async () => {
    forgetFailures();
    await signInOwner(plane, "Kiki@example.com");
    for (const email of ["k\u0130k\u0130@example.com", "\u212Aiki@example.com"])
      expect([email, (await guess(email, PASSWORD)).status]).toEqual([email, 403]);
    expect((await guess("KIKI@example.COM", PASSWORD)).status).toBe(303);
  });

  it("of a user from before whose address has no normal form needs that text", async () => {
    forgetFailures();
    await plane.app.sql`
      update users set email = 'J\u00F6rg@example.com' where email = 'Kiki@example.com'`;
    expect((await guess("J\u00D6RG@example.com", PASSWORD)).status).toBe(403);
    expect((await guess("J\u00F6rg@Example.com", PASSWORD)).status).toBe(303);
    for (let index = 0; index < 9; index += 1) expect((await guess("j\u00F6rg@example.com", "wrong")).status).toBe(403);
    expect((await guess("j\u00F6rg@example.com", "wrong")).status).toBe(403);
    expect((await guess("J\u00F6rg@example.com", PASSWORD)).status).toBe(429);
  });

  it("that succeeds does not count as a failure", async () => {
    forgetFailures();
    for (let index = 0; index < 12; index += 1) expect((await guess("owner@example.com", PASSWORD)).status).toBe(303);
  });
});

describe("a session", () => {
  it("is a new one at each sign-in, also where a cookie was given before, and the old one has ended", async () => {
    forgetFailures();
    const browser = await signIn(plane, "owner@example.com");
    const before = browser.cookie;
    forgetFailures();
    expect((await browser.post("/sign-in", { password: PASSWORD })).status).toBe(303);
    expect(browser.cookie).not.toBe(before);
    const old = openBrowser(plane);
    old.cookie = before;
    expect((await old.get("/app/monitors")).status).toBe(303);
    // A value that somebody else has planted is never taken over.
    const planted = openBrowser(plane);
    planted.cookie = "A".repeat(32);
    await planted.post("/sign-in", { email: "owner@example.com", password: PASSWORD });
    expect(planted.cookie).not.toBe("A".repeat(32));
  });

  it("ends with its sign-out", async () => {
    const browser = await signIn(plane, "owner@example.com");
    const copy = openBrowser(plane);
    copy.cookie = browser.cookie;
    const out = await browser.post("/sign-out");
    expect([out.status, out.location, browser.cookie]).toEqual([303, "/sign-in?done=signed_out", null]);
    expect((await copy.get("/app/monitors")).status).toBe(303);
  });

  it("ends when it was not used for 30 days", async () => {
    const browser = await signIn(plane, "owner@example.com");
    clock.advance(29 * DAY_MS);
    expect((await browser.get("/app/monitors")).status).toBe(200);
    clock.advance(29 * DAY_MS);
    expect((await browser.get("/app/monitors")).status).toBe(200);
    clock.advance(30 * DAY_MS);
    expect((await browser.get("/app/monitors")).status).toBe(303);
  });

  it("ends 90 days after its sign-in, however much it is used", async () => {
    const browser = await signIn(plane, "owner@example.com");
    for (let day = 0; day < 80; day += 20) {
      expect((await browser.get("/app/monitors")).status).toBe(200);
      clock.advance(20 * DAY_MS);
    }
    clock.advance(10 * DAY_MS - 1);
    expect((await browser.get("/app/monitors")).status).toBe(200);
    clock.advance(1);
    expect((await browser.get("/app/monitors")).status).toBe(303);
  });

  it("is stored as a hash: no row has the value of the cookie", async () => {
    const browser = await signIn(plane, "owner@example.com");
    const rows = await plane.app.sql<{ row: string }[]>`
      select sessions::text || encode(digest, 'escape') as row from sessions`;
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ row }) => row.includes(browser.cookie ?? ""))).toEqual([]);
  });
});
