import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { failed } from "#shared/contracts/outcome.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { noteDashboardRoutes } from "#test/support/dashboard-routes.ts";
import { brokenOutOf, fillAccount, pathsOf } from "#test/support/dashboard-world.ts";
import { COOKIE, signIn, type Browser, type DashboardAnswer, type FormFields } from "#test/support/dashboard.ts";
import {
  HOSTILE_BODIES,
  HOSTILE_COOKIES,
  HOSTILE_IDS,
  HOSTILE_QUERIES,
  HOSTILE_VALUES,
  insideOf,
  LARGE_BODIES,
  MORE_HOSTILE_VALUES,
  QUERY_NAMES,
  readForms,
  type FoundForm,
} from "#test/support/hostile-input.ts";
import { until } from "#test/support/until.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const routes = noteDashboardRoutes();
const clock = createManualClock(new Date());
/** What the service has logged of its own failures. */
const failures: string[] = [];

const plane = await stopAfterAll(
  startControlPlane({
    overrides: { clock },
    log: pino({ level: "error" }, { write: (line: string) => void failures.push(line) }),
    config: { trustedProxies: ["127.0.0.0/8"] },
  }),
);
const account = await fillAccount(plane, "input", "plain");
void refuseJobs();

/** Lets tries and tools have an answer at once. */
async function refuseJobs(): Promise<void> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const job = await account.agent.nextJob();
    account.agent.accept(job);
    account.agent.answer(job, failed("connect", "target", "refused", "The target refused the connection."));
  }
}

/** A session of the owner. */
interface SignedIn {
  readonly browser: Browser;
  readonly csrf: string;
  /** Number of requests that were sent before it. */
  readonly since: number;
}

let signedIn: SignedIn | null = null;
let sent = 0;

/** Returns a session of the owner, a new one before it has had all of its 300 views of a minute. */
async function owner(): Promise<SignedIn> {
  if (signedIn === null || sent - signedIn.since > 200) {
    // Longer than a sign-in is locked after wrong passwords.
    clock.advance(1_200_000);
    const browser = await signIn(plane, "owner-input@example.com", { address: `192.0.2.${sent % 256}` });
    signedIn = { browser, csrf: (await browser.get("/app/monitors")).csrf ?? "", since: sent };
  }
  return signedIn;
}

/** Header fields of a request from an address of its own: no limit of visitors hides an answer. */
function fromAnywhere(): Readonly<Record<string, string>> {
  sent += 1;
  return { "x-forwarded-for": `2001:db8:${(sent >> 16).toString(16)}:${(sent & 0xffff).toString(16)}::1` };
}

async function load(path: string): Promise<DashboardAnswer> {
  const { browser } = await owner();
  return unlessBusy(() => browser.get(path, fromAnywhere()));
}

async function post(path: string, fields: FormFields): Promise<DashboardAnswer> {
  const { browser } = await owner();
  return unlessBusy(() => browser.post(path, fields, fromAnywhere()));
}

/** Sends a request again while the answer is 503: that of a busy machine goes away, that of the input stays. */
async function unlessBusy(send: () => Promise<DashboardAnswer>): Promise<DashboardAnswer> {
  let answer = await send();
  const isAnswered = async () => answer.status !== 503 || (answer = await send()).status !== 503;
  await until(isAnswered, "an answer other than 503").catch(() => undefined);
  return answer;
}

/** Sends a request as it is. */
async function sendPlain(
  path: string,
  { headers: given, ...init }: Omit<RequestInit, "headers"> & { readonly headers: Readonly<Record<string, string>> },
): Promise<Pick<DashboardAnswer, "status" | "html">> {
  const headers = { ...fromAnywhere(), ...given };
  const response = await fetch(`${plane.url}${path}`, { ...init, headers, redirect: "manual" });
  return { status: response.status, html: await response.text() };
}

/** Returns what is wrong with an answer: a failure, words from the inside of the service, markup of the input. */
function judge(asked: object, { status, html }: Pick<DashboardAnswer, "status" | "html">): readonly object[] {
  const inside = insideOf(html);
  const broken = html === "" ? [] : brokenOutOf(html);
  if (status < 500 && inside === null && broken.length === 0) return [];
  return [{ ...asked, status, inside, broken, log: status < 500 ? null : failures.at(-1)?.slice(0, 600) }];
}

const short = (text: string): string => JSON.stringify(text).slice(0, 60);

/** Returns a path of every route with a method, without the query. */
function pathsWith(method: string): readonly string[] {
  const urls = routes.filter((route) => route.method === method).map(({ url }) => url);
  return urls.flatMap((url) => pathsOf(url, account)[0]?.split("?")[0] ?? []);
}

/** Collects the forms of every page that the owner is shown. */
async function everyForm(): Promise<readonly FoundForm[]> {
  const forms = new Map<string, FoundForm>();
  for (const { url } of routes.filter(({ method }) => method === "GET"))
    for (const path of pathsOf(url, account))
      for (const form of readForms((await load(path)).html)) {
        // The forms of all kinds of monitors are sent to the same path.
        const key = `${form.action} ${String(form.fields["check_type"] ?? "")}`;
        const { fields = {}, names = [] } = forms.get(key) ?? {};
        const all = [...new Set([...names, ...form.names])];
        forms.set(key, { ...form, fields: { ...fields, ...form.fields }, names: all });
      }
  // Some are on pages in another state.
  const actions = new Set(Array.from(forms.values(), ({ action }) => action));
  const others = pathsWith("POST").filter((path) => !actions.has(path));
  return [...forms.values(), ...others.map((action) => ({ action, fields: {}, names: HIDDEN_NAMES }))];
}

/** Names of the fields of forms that no page of the account shows. */
const HIDDEN_NAMES = ["id", "window", "remove", "email", "password", "next", "account_id"];

/** Forms that end what others need come last. */
const isEnding = (action: string): boolean =>
  /delete|revoke|remove|sign-|start|invite|reset|members|keys|profile/.test(action);

/** The parts of the forms, in the order in which they are sent. */
const PARTS = [
  ["of monitors", ({ action }) => !isEnding(action) && action.startsWith("/app/monitors")],
  ["of all else", ({ action }) => !isEnding(action) && !action.startsWith("/app/monitors")],
  ["that ends what the others need", ({ action }) => isEnding(action)],
] as const satisfies readonly (readonly [string, (form: FoundForm) => boolean])[];

let forms: readonly FoundForm[] = [];

/** Fields that were sent: a form of several kinds or ids has the same code for the same field. */
const done = new Set<string>();

/** Sends a form with hostile values, first in each field, then in all. Returns what is wrong with the answers. */
async function attack({ action, fields, names }: FoundForm): Promise<readonly object[]> {
  const wrong: object[] = [];
  const { _csrf: _own, ...usual } = fields;
  const send = async (name: string, value: string, changed: FormFields) => {
    wrong.push(...judge({ action, name, value: short(value) }, await post(action, { ...usual, ...changed })));
  };
  const route = action.replaceAll(/\d+/g, "0");
  const isFurther = done.has(route);
  done.add(route);
  for (const name of names.filter((one) => one !== "_csrf" && !done.has(`${route} ${one}`))) {
    done.add(`${route} ${name}`);
    await owner();
    await Promise.all(HOSTILE_VALUES.map((value) => send(name, value, { [name]: value })));
  }
  const others = names.filter((name) => !["_csrf", "do", "check_type"].includes(name));
  const allAs = (value: string | readonly string[]) => Object.fromEntries(others.map((name) => [name, value]));
  const values = isFurther ? HOSTILE_VALUES.slice(0, 3) : MORE_HOSTILE_VALUES;
  // More at once would wait for each other as long as the product lets a request wait.
  for (let at = 0; at < values.length; at += HOSTILE_VALUES.length) {
    await owner();
    await Promise.all(values.slice(at, at + HOSTILE_VALUES.length).map((value) => send("*", value, allAs(value))));
  }
  await send("twice", "-1", allAs(["-1", "-1"]));
  return wrong;
}

describe("hostile input", () => {
  it.each(PARTS)("is no failure in any field of any form %s", async (_, isOfPart) => {
    if (forms.length === 0) forms = (await everyForm()).filter(({ action }) => action !== "/sign-out");
    expect(forms.length).toBeGreaterThan(60);
    const wrong: object[] = [];
    for (const form of forms.filter(isOfPart)) wrong.push(...(await attack(form)));
    expect(wrong).toEqual([]);
  });

  it("is no failure in any query of any page", async () => {
    const wrong: object[] = [];
    for (const path of pathsWith("GET")) {
      await owner();
      const ask = async (query: string) =>
        wrong.push(...judge({ path, query: query.slice(0, 60) }, await load(`${path}?${query}`)));
      await Promise.all([...HOSTILE_VALUES.map(toQuery), ...HOSTILE_QUERIES].map(ask));
    }
    expect(wrong).toEqual([]);
  });

  it("is no failure in any id of any path, and finds nothing", async () => {
    const wrong: object[] = [];
    for (const { url, method } of routes.filter((route) => route.url.includes(":")))
      for (const id of HOSTILE_IDS) {
        const path = url.replaceAll(/:\w+/g, id);
        const answer = await (method === "POST" ? post(path, {}) : load(path));
        const asked = { path: path.slice(0, 80), method };
        wrong.push(...judge(asked, answer));
        // Links with a token answer with a page that there is no such token.
        if (answer.status < 300 && url.startsWith("/app/")) wrong.push({ ...asked, status: answer.status });
      }
    expect(wrong).toEqual([]);
  });

  it("is no failure as a body of any kind", async () => {
    const wrong: object[] = [];
    for (const path of pathsWith("POST"))
      for (const [type, body] of path.startsWith("/app/monitors/")
        ? [...HOSTILE_BODIES, ...LARGE_BODIES]
        : HOSTILE_BODIES) {
        const { browser, csrf } = await owner();
        const answer = await sendPlain(path, {
          method: "POST",
          headers: { origin: plane.url, cookie: `${COOKIE}=${browser.cookie}`, "content-type": type },
          body: body.replaceAll("TOKEN", csrf),
        });
        wrong.push(...judge({ path, type, body: body.slice(0, 60) }, answer));
      }
    expect(wrong).toEqual([]);
  });

  it("is no failure in any method and any cookie", async () => {
    const wrong: object[] = [];
    const { browser } = await owner();
    const own = `${COOKIE}=${browser.cookie}`;
    for (const path of new Set([...pathsWith("GET"), ...pathsWith("POST")]))
      for (const method of ["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"]) {
        const answer = await sendPlain(path, { method, headers: { origin: plane.url, cookie: own } });
        wrong.push(...judge({ path, method }, answer));
        if (answer.status !== 405) wrong.push({ path, method, status: answer.status });
      }
    for (const cookie of HOSTILE_COOKIES) {
      const answer = await sendPlain("/app/monitors", { headers: { cookie } });
      wrong.push(...judge({ cookie: cookie.slice(0, 60) }, answer));
      if (answer.status !== 303) wrong.push({ cookie: cookie.slice(0, 60), status: answer.status });
    }
    expect(wrong).toEqual([]);
  });
});

/** Writes a query in which every known name has a value. */
function toQuery(value: string): string {
  const written = encodeURIComponent(value.slice(0, 200).toWellFormed());
  return QUERY_NAMES.map((name) => `${name}=${written}`)
    .join("&")
    .slice(0, 12_000);
}
