import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CHROMIUM, describeBrowser, launchChromium, openContext } from "#test/browser/chromium.ts";
import { MISFITS } from "#test/browser/misfits.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { noteDashboardRoutes } from "#test/support/dashboard-routes.ts";
import { fillAccount, pathsOf, type FilledAccount } from "#test/support/dashboard-world.ts";
import { makeToken } from "#control-plane/public/incident-pages/link.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { confirmRecipients } from "#test/support/confirm-recipients.ts";
import { COOKIE, createAccount, openBrowser, PASSWORD, signInOwner } from "#test/support/dashboard.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";

const routes = noteDashboardRoutes();
const clock = createManualClock(new Date());
/** Names that are long, some in one word. */
const LONG = `The shop of the customers in the north ${"x".repeat(60)}`;
/** Nothing listens there: no mail is sent. */
const MAIL_SERVER = { host: "127.0.0.1", port: 1, tls: "never", isVerified: true, credentials: null } as const;

/** The width of small and large phones, of tablets, and of laptops, in pixels. */
const WIDTHS = [320, 390, 700, 1280] as const;
/** Pages of which every part is open when it is looked at. */
const OPENED: ReadonlySet<string> = new Set(["/app/changes", "/app/profile"]);
/** Results of tools have tables of any number of columns. */
const WITH_RESULTS = /^\/app\/tools|^results/;

let plane: TestControlPlane;
let account: FilledAccount;
let empty: string | null;
/** The page behind the link of a mail. */
let mailed: string;
let browser: Browser;

beforeAll(async () => {
  if (CHROMIUM === null) return;
  const mail = { server: MAIL_SERVER, from: "Vantage <alerts@example.com>" };
  plane = await startControlPlane({ overrides: { clock }, config: { mail, signUp: "open" } });
  account = await fillAccount(plane, "long", LONG);
  await fillLists();
  mailed = await acknowledgeByMail();
  empty = (await signInOwner(plane, "empty@example.com")).browser.cookie;
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await plane?.stop();
});

/** Acknowledges the incident by the link of a mail, as somebody with a long address. Returns the link. */
async function acknowledgeByMail(): Promise<string> {
  const { sql, encryption } = plane.app;
  const email = `${"x".repeat(30)}.of.the.night.shift@example.com`;
  await confirmRecipients(sql, account.accountId, [email]);
  const [row] = await sql<{ id: number }[]>`select id from mail_recipients where email = ${email}`;
  const expiresAt = new Date(Date.now() + 86_400_000);
  const link = { subject: { incidentId: account.incidentId }, recipientId: row?.id ?? 0, expiresAt };
  const path = `/i/${makeToken(encryption, link)}`;
  expect((await plane.call(path, { method: "POST" })).status).toBe(200);
  return path;
}

/** Fills the lists of the profile and the log of changes: further sessions, a second account, and long values. */
async function fillLists(): Promise<void> {
  const email = "owner-long@example.com";
  const phone =
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
  for (const program of [phone, "x".repeat(200), ""]) {
    // oxlint-disable-next-line no-await-in-loop -- one sign-in after the other
    await openBrowser(plane).post("/sign-in", { email, password: PASSWORD }, { "user-agent": program });
  }
  await plane.app.sql`
    insert into members (account_id, user_id, role, created_at)
    select ${await createAccount(plane)}, id, 'viewer', now() from users where email = ${email}`;
  const fields = { before: LONG, after: [LONG, LONG] };
  const changed = ["name", "notify_emails"].map((field) => ({ field, ...fields }));
  const change = { resource: "monitor", id: 7, name: LONG, action: "changed", changed } as const;
  const actor = { type: "member", id: 1, name: `${"x".repeat(60)}@example.com` } as const;
  const set = { accountId: account.accountId, actor, address: `2001:db8:${"ffff:".repeat(5)}ffff` };
  await plane.app.changes.record(plane.app.sql, { ...set, changes: [change] });
}

/** Opens a window in which the owner of the session is signed in; null: nobody. */
async function openWindow(session: string | null, options: BrowserContextOptions = {}) {
  const context = await openContext(browser, { baseURL: plane.url, bypassCSP: true, ...options });
  if (session !== null) await context.addCookies([{ name: COOKIE, value: session, url: plane.url }]);
  return { context, page: await context.newPage() };
}

/** The colour schemes in which axe looks at a page, by the width: the colours are those of the scheme alone. */
type Schemes = Readonly<Record<number, readonly ("light" | "dark")[]>>;
const SCHEMES: Schemes = { 320: ["light", "dark"], 1280: ["light"] };
/** For the other pages of a route, which have its frame and its style: what they contain is looked at once. */
const SCHEMES_AGAIN: Schemes = { 320: ["light"] };

/** What axe finds on the page that is shown, on a small and a large screen, and what does not fit. */
async function faultsOf(page: Page, path: string, schemes = SCHEMES): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const faults: string[] = [];
  if (OPENED.has(path))
    await page.evaluate(`for (const one of document.querySelectorAll("main details")) one.open = true`);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const misfits = await page.evaluate<readonly string[]>(MISFITS);
    const isKnown = (fault: string) => WITH_RESULTS.test(path) && fault.startsWith("a part is scrolled");
    faults.push(...misfits.filter((fault) => !isKnown(fault)).map((fault) => `${path}, ${width} pixels: ${fault}`));
    for (const colorScheme of schemes[width] ?? []) {
      await page.emulateMedia({ colorScheme });
      const found = await page.evaluate(async () => {
        const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run();
        return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
      });
      faults.push(...found.map((fault) => `${path}, ${colorScheme}, ${width} pixels: ${fault}`));
    }
  }
  return faults;
}

/** The paths of all pages of the routes that a condition chooses. */
function pathsWhere(isWanted: (url: string) => boolean): readonly string[] {
  // The next runs are a part of a page.
  const isPage = (url: string) => url !== "/app/monitors/next-runs" && isWanted(url);
  const urls = routes.filter(({ method, url }) => method === "GET" && isPage(url)).map(({ url }) => url);
  return urls.flatMap((url) => pathsOf(url, account));
}

/** Goes to these pages one after the other, in less time than that after which owners give their password again. */
async function faultsAt(session: string | null, paths: readonly string[]): Promise<readonly string[]> {
  const { context, page } = await openWindow(session);
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const path of paths) {
    const route = path.replace(/\d+|\?.*/g, "");
    const schemes = seen.has(route) ? SCHEMES_AGAIN : SCHEMES;
    seen.add(route);
    clock.advance(1_000);
    // oxlint-disable-next-line no-await-in-loop -- one window
    const answer = await page.goto(path);
    if ((answer?.status() ?? 500) >= 500) faults.push(`${path}: ${answer?.status()}`);
    // oxlint-disable-next-line no-await-in-loop -- one window
    faults.push(...(await faultsOf(page, path, schemes)));
  }
  await context.close();
  return faults;
}

describeBrowser("every page of the dashboard is accessible in light and dark, and fits a small screen", () => {
  it.each([
    ["of each monitor", (url: string) => url.startsWith("/app/monitors/:id")],
    ["of all and of new monitors", (url: string) => /^\/app\/monitors(?!\/:id)/.test(url)],
    ["of everything else", (url: string) => /^\/app\/(?!monitors)/.test(url)],
  ])("inside an account: the pages %s", async (_, isWanted) => {
    // The form of a copy is that of its kind.
    const paths = pathsWhere(isWanted).filter((path) => !path.includes("?from="));
    expect(paths.length).toBeGreaterThan(15);
    expect(await faultsAt(account.owner.cookie, paths)).toEqual([]);
  });

  it("before the sign-in", async () => {
    const paths = pathsWhere((url) => !url.startsWith("/app"));
    expect(paths).toEqual(expect.arrayContaining(["/sign-in", "/reset", "/sign-up"]));
    expect(await faultsAt(null, [...paths, mailed])).toEqual([]);
  });

  it("of an account that has nothing yet", async () => {
    const paths = ["/app/monitors", "/app/changes", "/app/keys", "/app/members", "/app/no-such-page"];
    expect(await faultsAt(empty, paths)).toEqual([]);
  });

  it("that a form answers with: problems, a plan, an invite and a key", async () => {
    const { context, page } = await openWindow(account.owner.cookie);
    const faults: string[] = [];
    const check = async (name: string) => void faults.push(...(await faultsOf(page, name)));
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();

    await page.goto("/app/monitors/new?kind=http");
    await page.getByLabel("Address").fill("no address at all");
    await page.getByText("When, and from where").click();
    await page.getByLabel("Check every (minutes)").fill("never");
    await press("Save without a try");
    await page.locator(".problem").first().waitFor();
    await check("a form with problems");

    await page.goto("/app/monitors/paste");
    await page.getByLabel("Addresses").fill(`http:// ${LONG}\nftp://${"x".repeat(80)}.example`);
    await press("Try them");
    await page.getByText("Not possible").first().waitFor();
    await check("pasted addresses");

    await page.goto("/app/monitors/bulk");
    await page.getByLabel("Add tags").fill("north");
    await press("Show what changes");
    await page.getByRole("button", { name: "Change them" }).waitFor();
    await check("a plan");

    await page.goto(`/app/monitors/${account.monitors.http}/delete`);
    await page.getByLabel("Type its name to delete it").fill("another one");
    await press("Delete");
    await page.getByText("Nothing was deleted.").waitFor();
    await check("a deletion that is refused");

    await page.goto("/app/members");
    await press("Create the invite");
    await page.getByLabel("Link").waitFor();
    await check("an invite");

    await page.goto("/app/keys");
    await press("Create the key");
    await page.getByLabel("Key", { exact: true }).waitFor();
    await check("a key");

    await page.goto("/app/monitors?done=saved");
    await page.locator("details.menu summary").click();
    await check("the menu");

    // The results of several locations come in pieces, here a result and a failure.
    const agents = await Promise.all(["eu-a", "ap-a"].map((region) => attachScripted(plane, helloOf(region))));
    await page.goto("/app/tools/ip?host=dns.google&locations=eu-a,ap-a");
    const answered = agents.map(async (agent, index) => {
      const job = await agent.nextJob();
      agent.accept(job);
      const failure = { status: "failed", stage: "dns", source: "target", reason: "nxdomain", message: LONG };
      agent.answer(job, (index === 0 ? { status: "ok", data: exampleOf("ip")?.data } : failure) as never);
    });
    await page.getByRole("button", { name: "Run" }).click();
    await Promise.all(answered);
    await page.getByText("From 2 locations").waitFor();
    await check("results that came in pieces");
    for (const agent of agents) agent.cut();
    expect(faults).toEqual([]);
    await context.close();
  });
});

describeBrowser("without JavaScript", () => {
  it("a monitor is added, found, changed with others, paused and deleted", async () => {
    const { context, page } = await openWindow(empty, { javaScriptEnabled: false, bypassCSP: false });
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
    await page.goto("/app/monitors");
    await page.getByRole("link", { name: /^Watch something else/ }).click();
    await page.getByRole("link", { name: /^Heartbeat / }).click();
    await page.getByLabel("Name", { exact: true }).fill("Backup");
    await page.getByLabel("Period (seconds)").fill("3600");
    await press("Save");
    await page.getByRole("heading", { name: "Backup" }).waitFor();
    expect(await page.getByLabel("Address that the job calls").inputValue()).toContain("/api/heartbeat/");
    const path = new URL(page.url()).pathname;

    await press("Pause");
    await page.getByText("The monitor is paused.").waitFor();
    await page.getByRole("link", { name: "Edit" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Nightly backup");
    await press("Save");
    await page.getByRole("heading", { name: "Nightly backup" }).waitFor();

    await page.goto("/app/monitors");
    await page.getByLabel("Search").fill("nightly");
    await page.getByLabel("State").selectOption("paused");
    await press("Apply");
    await page.waitForURL("**/app/monitors?q=nightly&state=paused*");
    await page.getByRole("link", { name: "Change these monitors" }).click();
    await page.getByLabel("Add tags").fill("north");
    await press("Show what changes");
    await press("Change them");
    await page.waitForURL("**/app/monitors?done=bulk");
    expect(await page.locator("#rows .tag").allTextContents()).toEqual(["north"]);

    await page.goto(`${path}/delete`);
    await page.getByLabel("Type its name to delete it").fill("Nightly backup");
    await press("Delete");
    await page.waitForURL("**/app/monitors?done=deleted");
    expect(await page.locator("main").textContent()).toContain("No monitors yet");
    await context.close();
  });
});
