import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import {
  listMembers,
  memberIdOf,
  openBrowser,
  PASSWORD,
  signIn,
  signInOwner,
  type Browser,
  type DashboardAnswer,
} from "#test/support/dashboard.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";

const DAY_MS = 86_400_000;
const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));
let plane: TestControlPlane;
/** Another owner of the account of all makers. */
let owner: Browser;
let accountId: number;

beforeAll(async () => {
  plane = await startControlPlane({ overrides: { clock }, config: { trustedProxies: ["127.0.0.0/8"] } });
  ({ browser: owner, accountId } = await signInOwner(plane, "owner@example.com"));
});

afterAll(() => plane.stop());

let people = 0;
/** A browser of a client address of its own. */
function openElsewhere(): Browser {
  people += 1;
  return openBrowser(plane, `198.51.${people >> 8}.${people & 255}`);
}

const pathIn = ({ html }: DashboardAnswer): string => /\/invite\/[0-9A-Za-z]{32}/.exec(html)?.[0] ?? "no invite";

const idOf = (email: string) => memberIdOf(owner, email);
const roleOf = async (email: string) => (await listMembers(owner)).find((one) => one.email === email)?.role ?? null;

/** Creates an invite of the operator to the account of all makers. */
async function inviteByOperator(role: string, email: string): Promise<string> {
  const bound = email === "" ? {} : { email };
  const { body } = await plane.operate("POST", "/api/admin/invites", { account_id: accountId, role, ...bound });
  return `/invite/${(body.data as { token: string }).token}`;
}

/** Lets a new owner into the account, who makes an invite. */
async function makeInvite(role: string, email: string) {
  const maker = `maker-${people}@example.com`;
  const browser = openElsewhere();
  await browser.post(await inviteByOperator("owner", ""), { email: maker, password: PASSWORD });
  const path = pathIn(await browser.post("/app/members/invites", { role, email }));
  return { maker, browser, path };
}

const lower = async (maker: string, role: string) =>
  owner.post(`/app/members/${await idOf(maker)}/role`, { role, confirmed: "1" });
const remove = async (maker: string) => owner.post(`/app/members/${await idOf(maker)}/remove`);

/** Rejects if a form was not accepted. */
async function done(answer: Promise<DashboardAnswer>): Promise<void> {
  const { status, html } = await answer;
  if (status !== 303) throw new Error(`the form answered ${status}: ${html}`);
}

/** What has become of the maker of an invite before it is used. Returns the path of the invite. */
const MAKERS = {
  "is an owner": async (email: string) => (await makeInvite("owner", email)).path,
  "is the operator": (email: string) => inviteByOperator("owner", email),
  "is an editor now, and the invite is for more": async (email: string) => {
    const { maker, path } = await makeInvite("owner", email);
    await done(lower(maker, "editor"));
    return path;
  },
  "is an editor now, and the invite is for less": async (email: string) => {
    const { maker, path } = await makeInvite("viewer", email);
    await done(lower(maker, "editor"));
    return path;
  },
  "was removed": async (email: string) => {
    const { maker, path } = await makeInvite("viewer", email);
    await done(remove(maker));
    return path;
  },
  "was removed by a replica of the older release": async (email: string) => {
    const { maker, path } = await makeInvite("owner", email);
    await plane.app.sql`delete from members where user_id = ${await idOf(maker)}`;
    return path;
  },
  "is not known": async (email: string) => {
    const { path } = await makeInvite("owner", email);
    await plane.app.sql`update one_time_links set made_by = null where account_id = ${accountId}`;
    return path;
  },
} as const;

/** Who uses it, and when. Returns the answer. */
const USES = {
  "a new user": (path: string, email: string) => openElsewhere().post(path, { email, password: PASSWORD }),
  "a user who is signed in": async (path: string, email: string) => {
    const { browser } = await signInOwner(plane, email, { address: `203.0.113.${people & 255}` });
    return browser.post(path);
  },
  "a new user, too late": async (path: string, email: string) => {
    clock.advance(7 * DAY_MS);
    owner = await signIn(plane, "owner@example.com");
    return openElsewhere().post(path, { email, password: PASSWORD });
  },
} as const;

const JOINED = "joined";
const LOWERED = "is no owner of the account any more";
const UNKNOWN = "Nobody knows any more who made this invite";
const OVER = "It works once, for a limited time";

/** What becomes of an invite: by a new user, by one who is signed in, and after its end. */
const LIFE: Readonly<Record<keyof typeof MAKERS, readonly [string, string, string]>> = {
  "is an owner": [JOINED, JOINED, OVER],
  "is the operator": [JOINED, JOINED, OVER],
  "is an editor now, and the invite is for more": [OVER, OVER, OVER],
  "is an editor now, and the invite is for less": [LOWERED, LOWERED, OVER],
  "was removed": [OVER, OVER, OVER],
  "was removed by a replica of the older release": [LOWERED, LOWERED, OVER],
  "is not known": [UNKNOWN, UNKNOWN, OVER],
};

const CELLS = (Object.keys(MAKERS) as (keyof typeof MAKERS)[]).flatMap((maker) =>
  (Object.keys(USES) as (keyof typeof USES)[]).map((use, at) => ({ maker, use, becomes: LIFE[maker][at] ?? "" })),
);

describe.each([
  { invite: "for one address", isBound: true },
  { invite: "for anybody", isBound: false },
])("an invite $invite", ({ isBound }) => {
  it.each(CELLS)("whose maker $maker, used by $use: $becomes", async ({ maker, use, becomes }) => {
    people += 1;
    const email = `guest-${people}@example.com`;
    const path = await MAKERS[maker](isBound ? email : "");
    const used = await USES[use](path, email);
    const found = used.status === 303 ? JOINED : (used.html.match(new RegExp(becomes))?.[0] ?? used.html);
    expect([found, (await roleOf(email)) !== null]).toEqual([becomes, becomes === JOINED]);
    expect(used.status).toBe(becomes === JOINED ? 303 : 404);
    // However it has ended, it has ended.
    const again = await openElsewhere().get(path);
    expect([again.status, again.html.includes(OVER)]).toEqual([404, true]);
  });

  it.each([
    ["that removes its maker", "removed"],
    ["that lowers its maker's role", "lowered"],
  ] as const)("is worth nothing when it is used at the moment %s, and something just before", async (_moment, how) => {
    const { sql } = plane.app;
    for (const isFirst of [false, true]) {
      people += 1;
      const email = `raced-${people}@example.com`;
      const { maker, path } = await makeInvite("owner", isBound ? email : "");
      const change = () => (how === "removed" ? remove(maker) : lower(maker, "viewer"));
      const use = () => openElsewhere().post(path, { email, password: PASSWORD });
      await owner.get("/app/members");
      const answers: Promise<DashboardAnswer>[] = [];
      await sql.begin(async (tx) => {
        await tx`select from accounts where id = ${accountId} for no key update`;
        for (const [at, send] of (isFirst ? [use, change] : [change, use]).entries()) {
          answers.push(send());
          // oxlint-disable-next-line no-await-in-loop -- one waits behind the other
          await untilLockIsAwaited(sql, at + 1);
        }
      });
      const [one, other] = await Promise.all(answers);
      expect([one?.status, other?.status, await roleOf(email)]).toEqual(
        isFirst ? [303, 303, "owner"] : [303, 404, null],
      );
    }
  });
});

describe("an invite whose maker is no owner any more", () => {
  it("is in the log of changes as ended: with the role by who took it, or at its use by the service", async () => {
    const ended = async (path: string) => {
      const { rows } = await plane.app.changes.list(
        plane.app.sql,
        accountId,
        { subject: { kind: "invite", id: null }, actor: null, from: null, to: null },
        { limit: 1, offset: 0 },
      );
      const [row] = rows;
      return [path.length > 0, row?.action, row?.actor.kind];
    };
    const lost = await makeInvite("owner", "");
    await lower(lost.maker, "editor");
    expect(await ended(lost.path)).toEqual([true, "deleted", "member"]);
    const kept = await makeInvite("viewer", "");
    await lower(kept.maker, "editor");
    await openElsewhere().post(kept.path, { email: "nobody@example.com", password: PASSWORD });
    expect(await ended(kept.path)).toEqual([true, "deleted", "system"]);
    expect(await idOf("nobody@example.com")).toBe(0);
  });

  it("works again for a maker who is one again", async () => {
    const { maker, path } = await makeInvite("viewer", "");
    await lower(maker, "editor");
    await owner.post(`/app/members/${await idOf(maker)}/role`, { role: "owner" });
    const email = "promoted@example.com";
    expect((await openElsewhere().post(path, { email, password: PASSWORD })).status).toBe(303);
  });
});

describe("the open invites of an account", () => {
  it("are at most 100, also when more are made at the same time", async () => {
    const { browser } = await signInOwner(plane, "many@example.com");
    await browser.get("/app/members");
    const made = await Promise.all(
      Array.from({ length: 120 }, () => browser.post("/app/members/invites", { role: "viewer" })),
    );
    const open = (await browser.get("/app/members")).html.match(/\/invites\/\d+\/revoke/g);
    const refused = made.filter(({ status }) => status === 409);
    expect([open?.length, refused.length]).toEqual([100, 20]);
    expect(refused[0]?.html).toContain("There are 100 open invites");
  });
});
