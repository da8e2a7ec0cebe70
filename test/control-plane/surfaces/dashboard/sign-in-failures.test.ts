import { beforeEach, describe, expect, it } from "vitest";
import { countersOf } from "#control-plane/people/users/failures.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import {
  createAccount,
  joinAccount,
  memberIdOf,
  openBrowser,
  PASSWORD,
  signIn,
  signInOwner,
  startPath,
} from "#test/support/dashboard.ts";
import type { Browser } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MINUTE_MS = 60_000;
const OWNER = "owner@example.com";
/** Where the owner is. */
const HOME = "192.0.2.1";
const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));
/** A browser in which the owner is signed in, with the cookie of its device. */
let owner: Browser;

const plane = await stopAfterAll(
  startControlPlane({ overrides: { clock }, config: { trustedProxies: ["127.0.0.0/8"] } }),
);
const { accountId } = await signInOwner(plane);

beforeEach(async () => {
  // Failures and visits of before do not count any more, and the page is open for too long.
  clock.advance(16 * MINUTE_MS);
  owner = await signIn(plane, OWNER, { address: HOME });
  await owner.get("/app/monitors");
  clock.advance(11 * MINUTE_MS);
});

/** Counts failures as sign-ins with wrong passwords do, without the time that these take. */
async function fail(count: number, from: (index: number) => { readonly user?: string; readonly address: string }) {
  const subjects = Array.from({ length: count }, (_, index) => {
    const { user = OWNER, address } = from(index);
    const network = address.startsWith("127.") ? address : address.slice(0, address.lastIndexOf("."));
    return countersOf({ user, address, network, session: null, deviceId: null });
  }).flat(2);
  await plane.app.sql`
    insert into sign_in_attempts (subject, attempted_at)
    select decode(hex, 'hex'), ${clock.now()} from unnest(${subjects.map(({ subject }) => subject)}::text[]) as hex`;
}

/** Uses up what strangers have: in the owner's network, or everywhere. */
const byNeighbour = () => fail(10, () => ({ address: "192.0.2.200" }));
const byEverybody = () => fail(100, (index) => ({ address: `198.51.${Math.floor(index / 10)}.7` }));

/** Signs in by the form without a session, and returns the status. */
async function attempt(password: string, { address = HOME, device = null as string | null } = {}): Promise<number> {
  const browser = openBrowser(plane, address);
  browser.device = device;
  return (await browser.post("/sign-in", { email: OWNER, password })).status;
}

describe.each([
  ["a neighbour in the network", byNeighbour],
  ["strangers everywhere", byEverybody],
])("when %s used up the failures of strangers", (_who, useUp) => {
  beforeEach(useUp);

  it("a stranger waits, also with the right password", async () => expect(await attempt(PASSWORD)).toBe(429));

  it("the owner signs in on the device, which fails 10 times of its own", async () => {
    for (let index = 0; index < 10; index += 1) expect(await attempt("wrong", owner)).toBe(403);
    expect(await attempt(PASSWORD, owner)).toBe(429);
    clock.advance(15 * MINUTE_MS);
    expect(await attempt(PASSWORD, owner)).toBe(303);
  });

  it("the owner confirms a form by the session, with and without its device", async () => {
    const bare = openBrowser(plane, HOME);
    bare.cookie = owner.cookie;
    const confirmed = await owner.post("/app/keys", { name: "with", scopes: "check", _password: PASSWORD });
    expect(confirmed.status).toBe(201);
    clock.advance(11 * MINUTE_MS);
    bare.cookie = owner.cookie;
    bare.device = null;
    for (let index = 0; index < 10; index += 1) {
      bare.device = null;
      const wrong = await bare.post("/app/profile/password", { current: "wrong", next: "my next password" });
      expect(wrong.status).toBe(403);
    }
    bare.device = null;
    expect((await bare.post("/sign-in", { password: PASSWORD })).status).toBe(429);
    bare.device = owner.device;
    expect((await bare.post("/sign-in", { password: PASSWORD })).status).toBe(303);
  });

  it("a device that is altered, or of another user, is a stranger's", async () => {
    const viewer = await joinAccount(plane, await createAccount(plane), "viewer");
    await viewer.get("/app/monitors");
    const [user, id, signature = ""] = owner.device?.split(/-(.*)-/) ?? [];
    for (const device of [viewer.device, `${user}-${Number(id) + 1}-${signature}`, "1-1-x", "x".repeat(4_000)])
      expect(await attempt(PASSWORD, { device })).toBe(429);
  });
});

describe("strangers", () => {
  it("who fail elsewhere keep nobody else out", async () => {
    await fail(10, () => ({ address: "198.51.100.1" }));
    expect(await attempt(PASSWORD)).toBe(303);
  });

  it("fail 30 times from an address, which its neighbours do not feel, and 300 times in a network", async () => {
    await fail(30, (index) => ({ user: `user${index}@example.com`, address: HOME }));
    expect(await attempt(PASSWORD)).toBe(429);
    expect(await attempt(PASSWORD, { address: "192.0.2.2" })).toBe(303);
    await fail(270, (index) => ({ user: `user${index}@example.com`, address: `192.0.2.${100 + (index % 100)}` }));
    expect(await attempt(PASSWORD, { address: "192.0.2.2" })).toBe(429);
    expect(await attempt(PASSWORD, { address: "203.0.113.2" })).toBe(303);
  });

  it("behind one trusted proxy do not use up another one beside it", async () => {
    await fail(10, () => ({ address: "127.0.0.8" }));
    expect(await attempt(PASSWORD, { address: "127.0.0.8" })).toBe(429);
    expect(await attempt(PASSWORD, { address: "127.0.0.9" })).toBe(303);
  });
});

describe("a device", () => {
  it("is given once to a session, however often its cookie is dropped, and stays at the next sign-in", async () => {
    const { device } = owner;
    const [{ count: before } = { count: 0 }] = await plane.app.sql<{ count: number }[]>`select count(*) from devices`;
    for (let index = 0; index < 3; index += 1) {
      owner.device = null;
      const page = await owner.get("/app/monitors");
      expect(owner.device).toBe(device);
      const line = page.headers.getSetCookie().find((one) => one.startsWith("vantage_device=")) ?? "";
      expect(line.split("; ").toSorted().slice(0, 4)).toEqual([
        "HttpOnly",
        "Max-Age=31536000",
        "Path=/",
        "SameSite=Lax",
      ]);
    }
    await owner.post("/sign-out");
    expect((await owner.post("/sign-in", { email: OWNER, password: PASSWORD })).status).toBe(303);
    await owner.get("/app/monitors");
    expect(owner.device).toBe(device);
    const [{ count: after } = { count: 0 }] = await plane.app.sql<{ count: number }[]>`select count(*) from devices`;
    expect(after).toBe(before);
  });

  it("alone signs nobody in", async () => {
    const browser = openBrowser(plane, HOME);
    browser.device = owner.device;
    expect((await browser.get("/app/monitors")).status).toBe(303);
  });

  it("ends after 20 newer ones, and a year after its last use", async () => {
    await plane.app.sql`
      insert into devices (user_id, created_at, used_at)
      select id, ${clock.now()}, ${clock.now()} from users, generate_series(1, 20) where email = ${OWNER}`;
    await (await signIn(plane, OWNER, { address: HOME })).get("/app/monitors");
    await byNeighbour();
    expect(await attempt(PASSWORD, owner)).toBe(429);
    const [{ count } = { count: 0 }] = await plane.app.sql<{ count: number }[]>`
      select count(*) from devices join users on users.id = user_id where email = ${OWNER}`;
    expect(count).toBe(20);
    clock.advance(16 * MINUTE_MS);
    const newer = await signIn(plane, OWNER, { address: HOME });
    await newer.get("/app/monitors");
    clock.advance(365 * 1_440 * MINUTE_MS);
    await byNeighbour();
    expect(await attempt(PASSWORD, newer)).toBe(429);
  });

  it.each([
    [
      "a change of the password",
      async () => {
        const other = await signIn(plane, OWNER, { address: "203.0.113.1" });
        const changed = await other.post("/app/profile/password", { current: PASSWORD, next: PASSWORD });
        expect(changed.status).toBe(303);
      },
    ],
    [
      "a link that sets the password",
      async () => {
        const path = await startPath(plane, accountId);
        expect((await openBrowser(plane).post(path, { email: OWNER, password: PASSWORD })).status).toBe(303);
      },
    ],
    [
      "the end of all other sessions",
      async () => {
        const other = await signIn(plane, OWNER, { address: "203.0.113.1" });
        expect((await other.post("/app/profile/sessions")).status).toBe(303);
        await byNeighbour();
        expect(await attempt(PASSWORD, other)).toBe(303);
      },
    ],
    [
      "the removal from an account",
      async () => {
        const path = await startPath(plane, accountId);
        const deputy = openBrowser(plane);
        const joined = await deputy.post(path, { email: `deputy@example.com`, password: PASSWORD });
        expect(joined.status).toBe(303);
        // A user of another account, too: who has none left is erased.
        const invite = await plane.operate("POST", "/api/admin/invites", { account_id: await createAccount(plane) });
        const { token } = invite.body.data as { readonly token: string };
        expect((await owner.post(`/invite/${token}`)).status).toBe(303);
        expect((await deputy.post(`/app/members/${await memberIdOf(deputy, OWNER)}/remove`)).status).toBe(303);
      },
    ],
  ])("ends with %s", async (_what, end) => {
    await end();
    await byNeighbour();
    expect(await attempt(PASSWORD, owner)).toBe(429);
  });
});
