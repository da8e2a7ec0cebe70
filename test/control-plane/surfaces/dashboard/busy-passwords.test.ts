import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createAccount, openBrowser, PASSWORD, signInOwner, startPath, type Browser } from "#test/support/dashboard.ts";

/** Returns a stored hash that takes this many KiB and passes to compare with. */
const hashOf = (memory: number, passes: number) =>
  `$argon2id$v=19$m=${memory},t=${passes},p=1$${"A".repeat(22)}$${"A".repeat(43)}`;
/** It takes far longer than all requests of the test. */
const SLOW = hashOf(19_456, 150);
const QUICK = hashOf(8, 1);
/** Passwords of a network that can wait while two are being hashed. */
const MOST_WAITING = 100;
/** What a sign-in counts against: its user, address and network, and the user in the network. */
const SUBJECTS = 4;

let plane: TestControlPlane;
let owner: Browser;
/** Sign-ins that occupy the hashing while the tests run. */
const waiting: Promise<unknown>[] = [];

beforeAll(async () => {
  plane = await startControlPlane({ config: { trustedProxies: ["127.0.0.0/8"] } });
  ({ browser: owner } = await signInOwner(plane, "owner@example.com", { address: "198.51.100.251" }));
});

afterAll(async () => {
  await Promise.all(waiting);
  await plane.stop();
});

/** Sends sign-ins of the network, each of another user and address, until so many wait for their hashes that one is refused. */
async function occupyHashing(): Promise<void> {
  const { sql } = plane.app;
  await sql`
    insert into users (email, password_hash, created_at, updated_at)
    select 'user' || number || '@example.com', case when number < 2 then ${SLOW} else ${QUICK} end, now(), now()
    from generate_series(0, ${MOST_WAITING + 1}) as number`;
  const send = (name: string, address: string) =>
    openBrowser(plane, address).post("/sign-in", { email: `${name}@example.com`, password: "not the password" });
  const attempted = async () => {
    const [row] = await sql<{ attempts: number }[]>`select count(*) as attempts from sign_in_attempts`;
    return (row?.attempts ?? 0) / SUBJECTS;
  };
  const statuses: number[] = [];
  const start = (name: string, address: string) => {
    waiting.push(send(name, address).then(({ status }) => statuses.push(status)));
  };
  start("user0", "198.51.100.0");
  start("user1", "198.51.100.1");
  await expect.poll(attempted).toBe(2);
  for (let index = 2; index < MOST_WAITING + 2; index += 1) start(`user${index}`, `198.51.100.${index}`);
  let tries = 0;
  await expect
    .poll(() => {
      tries += 1;
      start(`late${tries}`, `198.51.100.${150 + (tries % 90)}`);
      return statuses;
    })
    .toContain(503);
}

describe("while too many passwords are checked", () => {
  it("every form that sets or proves one asks to try again soon, and keeps what was typed and its link", async () => {
    const start = await startPath(plane, await createAccount(plane));
    const invited = await owner.post("/app/members/invites", { role: "viewer" });
    const invite = /\/invite\/[0-9A-Za-z]{32}/.exec(invited.html)?.[0] ?? "no invite";
    const token = "r".repeat(32);
    await plane.app.sql`
      insert into one_time_links (digest, purpose, user_id, created_at, expires_at)
      select sha256(${token}::bytea), 'reset', id, now(), now() + interval '1 hour' from users where email = 'owner@example.com'`;
    await occupyHashing();
    const guest = openBrowser(plane, "198.51.100.250");
    const typed = { email: "guest@example.com", password: PASSWORD };
    const answers = {
      start: await guest.post(start, typed),
      invite: await guest.post(invite, typed),
      reset: await guest.post(`/reset/${token}`, typed),
      signIn: await guest.post("/sign-in", { ...typed, email: "guest@example.com" }),
      profile: await owner.post("/app/profile/password", { current: PASSWORD, next: "my next password" }),
    };
    for (const [name, { status, html, headers }] of Object.entries(answers)) {
      expect([name, status, headers.get("retry-after")]).toEqual([name, 503, "5"]);
      expect([name, html.includes("Try again in a few seconds"), html.includes("<form")]).toEqual([name, true, true]);
      expect([name, html.includes(PASSWORD)]).toEqual([name, false]);
    }
    for (const name of ["start", "invite", "signIn"] as const)
      expect([name, answers[name].html.includes('value="guest@example.com"')]).toEqual([name, true]);
    for (const path of [start, invite, `/reset/${token}`])
      expect([path, (await guest.get(path)).status]).toEqual([path, 200]);
    await Promise.all(waiting);
    expect((await guest.post(start, typed)).status).toBe(303);
  });
});
