import { Parser } from "htmlparser2";
import { expect, it } from "vitest";
import { ok } from "#shared/contracts/outcome.ts";
import { createPageLink } from "#control-plane/public/incident-pages/link.ts";
import { createUnsubscriptions } from "#control-plane/notify/mail/recipients/unsubscriptions.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { confirmRecipients } from "#test/support/confirm-recipients.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { fillAccount } from "#test/support/dashboard-world.ts";
import { openBrowser, PASSWORD, startPath } from "#test/support/dashboard.ts";
import { askWire } from "#test/support/raw-http.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { serveAt } from "#test/support/verified-domain.ts";

const BASE_PATH = "/vantage";
const BASE = `http://localhost${BASE_PATH}`;
const OPS = "ops@example.com";

const database = await stopAfterAll(createTestDatabase());
const config = { baseUrl: BASE, isBaseUrlSet: true };
const plane = await stopAfterAll(startControlPlane({ databaseUrl: database.url, config }));
// A replica at the root of its host fills the account.
const root = await stopAfterAll(startControlPlane({ databaseUrl: database.url }));
const account = await fillAccount(root, "crawled", "shop");
const cookie = `vantage_session=${account.owner.cookie}`;

/** Attaches an agent that answers every job. */
async function attachAnswering(region: string): Promise<void> {
  const agent = await attachScripted(plane, helloOf(region));
  void (async () => {
    for (;;) {
      const job = await agent.nextJob();
      agent.accept(job);
      agent.answer(job, ok(exampleOf("ip")?.data as object));
    }
  })();
}

/** Values of attributes that are texts, whatever they look like. */
const TEXTS: ReadonlySet<string> = new Set(["input value", "option value", "meta content"]);

/** Something that a page leads to. */
interface Way {
  readonly method: "GET" | "POST";
  readonly url: URL;
}

/** Returns where the page of an address leads on its host; `misplaced` are root-relative values outside of the base path. */
function readPage(address: string, html: string) {
  const ways: Way[] = [];
  const misplaced: string[] = [];
  let method: Way["method"] = "GET";
  const add = (by: Way["method"], value: string): void => {
    const url = value.startsWith("#") ? null : URL.parse(value, address);
    if (url?.host === new URL(BASE).host) ways.push({ method: by, url });
  };
  const parser = new Parser({
    onopentag(tag, attributes) {
      if (tag === "form") method = attributes["method"] === "post" ? "POST" : "GET";
      for (const [name, value] of Object.entries(attributes)) {
        const isPath = /^\/(?!\/)/.test(value) && !TEXTS.has(`${tag} ${name}`);
        if (isPath && !value.startsWith(`${BASE_PATH}/`)) misplaced.push(`<${tag} ${name}="${value}">`);
        if (/^(?:action|formaction)$/.test(name)) add(method, value);
        else if (/^(?:href|src|srcset|poster|data-preview)$/.test(name)) add("GET", value);
      }
    },
  });
  parser.end(html);
  return { ways, misplaced };
}

/** A form for addresses that differ only in ids and values: one of them is loaded. */
const shapeOf = ({ method, url }: Way) =>
  `${method} ${url.pathname.replaceAll(/\/\d+(?=\/|$)/g, "/N")}?${[...url.searchParams.keys()].join("&")}`;

await Promise.all([
  attachAnswering("eu-a"),
  attachAnswering("ap-a"),
  confirmRecipients(plane.app.sql, account.accountId, [OPS]),
]);
// A page in pieces, with a link to the result.
const { csrf } = await account.owner.get("/app/tools/ip");
const inPieces = await fetch(`${plane.url}/app/tools/ip`, {
  method: "POST",
  headers: { cookie, origin: plane.url },
  body: new URLSearchParams({ _csrf: csrf ?? "", host: "dns.google", locations: "eu-a,ap-a", share: "1" }),
});
const result = await inPieces.text();

/** Addresses that nothing leads to but a person or a mail. Those who are not signed in see other pages at some. */
async function listEntrances(): Promise<{ readonly open: readonly string[]; readonly own: readonly string[] }> {
  const [row] = await plane.app.sql<{ id: number }[]>`select id from mail_recipients where email = ${OPS}`;
  const recipientId = row?.id ?? 0;
  const mail = { incidentId: account.incidentId, eventId: "", recipientId, createdAt: new Date() };
  const unsubscriptions = createUnsubscriptions({ ...plane.app, baseUrl: BASE });
  return {
    open: [
      ...["/sign-in", "/status/page-crawled", "/api/open/"].map((path) => BASE + path),
      `http://localhost${await startPath(plane, account.accountId)}`,
      /http:[^"]*\/s\/[\w-]+/.exec(result)?.[0] ?? "",
      createPageLink(plane.app.encryption, BASE)(mail),
      unsubscriptions.urlOf(recipientId),
    ],
    own: ["", "/", "/app/", "/docs", "/openapi.json"].map((path) => BASE + path),
  };
}

it.each([
  ["passes the path through", (path: string) => path],
  ["strips the base path", (path: string) => path.slice(BASE_PATH.length) || "/"],
])("every page leads to paths below the base path, behind a proxy that %s", async (_way, forward) => {
  const { open, own } = await listEntrances();
  const waiting: Way[] = [...open, ...own].map((address) => ({ method: "GET", url: new URL(address) }));
  const known = new Set(waiting.map(shapeOf));
  const faults: string[] = [];

  function read(address: string, text: string, isPage: boolean): void {
    const absolute = /http:\/\/localhost\/(?!vantage(?![\w-])).{0,40}/.exec(text)?.[0];
    if (absolute !== undefined) faults.push(`${address} names ${absolute}`);
    const { ways, misplaced } = isPage ? readPage(address, text) : { ways: [], misplaced: [] };
    faults.push(...misplaced.map((one) => `${address} has ${one}`));
    for (const way of ways) {
      if (!`${way.url.pathname}/`.startsWith(`${BASE_PATH}/`)) faults.push(`${address} leads to ${way.url.href}`);
      if (known.has(shapeOf(way))) continue;
      known.add(shapeOf(way));
      waiting.push(way);
    }
  }

  read(`${BASE}/app/tools/ip`, result, true);
  for (const { method, url } of waiting) {
    // A form without a session changes nothing of the account.
    const headers = { accept: "text/html", ...(method === "GET" && !open.includes(url.href) ? { cookie } : {}) };
    const asked = `${plane.url}${forward(url.pathname)}${url.search}`;
    // oxlint-disable-next-line no-await-in-loop -- each page leads to others
    const answer = await fetch(asked, { method, redirect: "manual", headers });
    if ([404, 405, 429, 500].includes(answer.status)) faults.push(`${method} ${url.href}: ${answer.status}`);
    const isPage = answer.headers.get("content-type")?.startsWith("text/html") === true;
    // oxlint-disable-next-line no-await-in-loop -- the same
    read(url.href, await answer.text(), isPage);
    const location = answer.headers.get("location");
    if (location !== null) read(url.href, `<a href="${location}">`, true);
  }
  expect(faults).toEqual([]);
  // Sections, forms, feeds, files of pages and of the API reference are among what was loaded.
  expect([...known].map((shape) => shape.replace(/[0-9a-f]{16}|page-[\w-]{16}\//, "*"))).toEqual(
    expect.arrayContaining([
      "POST /vantage/app/monitors/N/edit?",
      "GET /vantage/app/assets/*/style.css?",
      "POST /vantage/sign-in?",
      "GET /vantage/status/page-crawled/feed.atom?",
      "GET /vantage/docs/js/scalar.js?",
      "GET /vantage/app/monitors/next-runs?",
    ]),
  );
});

it("cookies are for the base path, and the sign-in leads back below it", async () => {
  const browser = openBrowser(plane);
  const asked = await browser.get(`${BASE_PATH}/app/keys`);
  expect(asked.location).toBe("/vantage/sign-in?next=%2Fapp%2Fkeys");
  const fields = { email: "owner-crawled@example.com", password: PASSWORD, next: "/app/keys" };
  const signedIn = await browser.post(`${BASE_PATH}/sign-in`, fields);
  expect(signedIn.location).toBe("/vantage/app/keys");
  const cookies = signedIn.headers.getSetCookie();
  expect(cookies.length).toBeGreaterThan(0);
  expect(cookies.filter((one) => !/; Path=\/vantage(?:;|$)/.test(one))).toEqual([]);
});

it("addresses in answers are below the base path", async () => {
  const { key } = account;
  const batch = await plane.call("/vantage/api/v4/batch", { key, body: { urls: ["dns.google"], type: "ip" } });
  expect(batch.body.data["poll_url"]).toMatch(/^\/vantage\/api\/v4\/batch\?job_id=/);
  expect((await plane.call(batch.body.data["poll_url"], { key })).status).toBe(200);
  const old = await plane.call("/vantage/api/v1/ip?host=dns.google", { key });
  expect(old.headers.get("link")).toBe('</vantage/api/v4/ip>; rel="successor-version"');
  const { body } = await plane.call("/vantage/openapi.json");
  expect(body["servers" as never]).toEqual([{ url: BASE }]);
  const heartbeat = await plane.call(`/api/v4/monitors?id=${account.monitors.heartbeat}`, { key });
  const { heartbeat_url: address } = heartbeat.body.data as { readonly heartbeat_url: string };
  expect(address).toMatch(/^http:\/\/localhost\/vantage\/api\/heartbeat\/\w+$/);
  expect((await plane.call(new URL(address).pathname)).status).toBe(200);
});

it("only whole segments are the base path, and it is removed once", async () => {
  const paths = ["/vantage/healthz", "/healthz", "/vantagehealthz", "/vantage2/healthz", "/vantage/vantage/healthz"];
  const answers = await Promise.all(paths.map((path) => plane.call(path)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404, 404]);
});

it("a status page is at the root of its own domain", async () => {
  const domain = "status.crawled.example";
  const put = await root.call(`/api/v4/status?id=${account.pageId}`, {
    method: "PUT",
    key: account.key,
    body: { domain },
  });
  expect(put.status, put.text).toBe(200);
  await serveAt(plane, domain);
  const { status, body } = await askWire(`${plane.url}/`, { host: domain });
  expect([status, body.toString()]).toEqual([200, expect.stringContaining('href="/feed.rss"')]);
  expect(body.toString()).not.toContain('="/vantage');
  expect((await askWire(`${plane.url}/vantage/`, { host: domain })).status).toBe(404);
});
