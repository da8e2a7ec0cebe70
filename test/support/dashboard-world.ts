import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { TestControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { memberIdOf, openBrowser, PASSWORD, signInOwner, startPath, type Browser } from "#test/support/dashboard.ts";
import { attachScripted, helloOf, type ScriptedAgent } from "#test/support/scripted-agent.ts";
import { createWebhook, failHeartbeat } from "#test/support/webhooks.ts";

/** Secret texts that members store; no page may show one. */
const SECRET = "5ecret-5ecret-5ecret";

/** What the paths of the dashboard name. */
export type NamedByPaths = Pick<
  FilledAccount,
  "monitors" | "incidentId" | "windowId" | "pageId" | "keyId" | "memberId" | "startPath" | "invitePath"
>;

/** An account with everything that the dashboard shows. */
export interface FilledAccount {
  readonly accountId: number;
  readonly key: string;
  readonly owner: Browser;
  /** The agent of the account, which answers nothing by itself. */
  readonly agent: ScriptedAgent;
  /** Lets a user join the account with a role, by a program of this name; a browser in which it is signed in. */
  join(email: string, role: "owner" | "editor" | "viewer", program?: string): Promise<Browser>;
  /** Ids of monitors, one of every kind. */
  readonly monitors: Readonly<Record<CheckType, number>>;
  readonly incidentId: number;
  readonly windowId: number;
  readonly pageId: number;
  readonly keyId: number;
  /** An editor of the account. */
  readonly memberId: number;
  readonly startPath: string;
  readonly invitePath: string;
  /** What no page may show. */
  readonly secrets: readonly string[];
  /** The address of the heartbeat, for those who may change it. */
  readonly heartbeatUrl: string;
}

/** Bodies of monitors, one of every kind but composite, with secrets wherever a kind takes one. */
export function bodiesOf(text: string): readonly (readonly [CheckType, object])[] {
  const url = `https://shop.example.com/?q=${encodeURIComponent(text)}`;
  const http = { url, method: "POST", request_headers: { "x-token": SECRET }, body: `{"token":"${SECRET}"}` };
  return [
    ["http", { ...http, json: { path: "$.status", op: "equals", value: text } }],
    ["keyword", { url, keyword: text, keyword_mode: "present", request_headers: { authorization: SECRET } }],
    ["ssl", { url: "shop.example.com" }],
    ["domain", { url: "example.com" }],
    ["dns", { url: "example.com", dns: { type: "TXT", op: "contains", values: [text] } }],
    ["ping", { url: "shop.example.com" }],
    ["port", { url: "shop.example.com", port: 443 }],
    ["tcp", { url: "shop.example.com:25", tcp: { send: SECRET, expect: text } }],
    ["grpc", { url: "shop.example.com:443", grpc: { metadata: { "x-token": SECRET } } }],
    ["websocket", { url: "wss://shop.example.com/", websocket: { send: SECRET, expect: text } }],
    ["visual", { url }],
    ["heartbeat", { heartbeat: { period_seconds: 3_600 } }],
  ];
}

/** Fills an account in which every name, condition and cause has a text. `name`: makes addresses of users differ. */
export async function fillAccount(plane: TestControlPlane, name: string, text: string): Promise<FilledAccount> {
  const { browser: owner, accountId } = await signInOwner(plane, `owner-${name}@example.com`);
  const made = await plane.operate("POST", "/api/admin/keys", { account_id: accountId, name: text });
  const { key, id: keyId } = made.body.data as { readonly key: string; readonly id: number };
  // It does nothing, but without a location there are no monitors.
  const agent = await attachScripted(plane, helloOf(`eu-${name}`, { capabilities: ["browser"] }));
  const monitors: Partial<Record<CheckType, number>> = {};
  let heartbeatUrl = "";
  for (const [kind, body] of bodiesOf(text)) {
    const rest = { name: `${kind} ${text}`, tags: ["shop"], notify_email: true };
    // oxlint-disable-next-line no-await-in-loop -- the account's lock
    const created = await createMonitor(plane, key, { ...rest, check_type: kind, ...body });
    monitors[kind] = created.id;
    if (kind === "heartbeat") heartbeatUrl = created.heartbeat_url;
  }
  const composite = {
    check_type: "composite",
    composite: { monitor_ids: [monitors.http, monitors.dns], down_when: "any" },
  };
  monitors.composite = (await createMonitor(plane, key, { name: `composite ${text}`, ...composite })).id;
  await failHeartbeat(plane, key, { name: `failing ${text}` });
  for (const body of [text, `${text}\n${"long ".repeat(500)}`]) {
    const path = `${new URL(heartbeatUrl).pathname}/log?rid=${encodeURIComponent(text)}`;
    // oxlint-disable-next-line no-await-in-loop -- one ping after the other
    await plane.call(path, { method: "POST", body, headers: { "content-type": "text/plain" } });
  }
  const hook = await createWebhook(plane, key, {
    url: `https://hooks.example.com/${SECRET}`,
    name: text,
    events: ["monitor.down"],
  });
  // What a target says can have any characters; names have none that hide.
  const incidentId = await storeOutage(plane, accountId, monitors.http ?? 0, `\u202Egnp ${text}`);
  await storeCheck(plane, monitors.http ?? 0);

  const page = await fetch(`${plane.url}/api/v4/status`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({
      title: `page ${text}`,
      slug: `page-${name}`,
      monitors: [{ id: monitors.http, name: text }],
    }),
  });
  if (page.status !== 201) throw new Error(`the page was not created: ${await page.text()}`);
  const { data } = (await page.json()) as { readonly data: { readonly id: number } };

  const windowId = await planMaintenance(owner, { title: text, monitor_ids: String(monitors.http) });

  const join = async (email: string, role: string, program = "test"): Promise<Browser> => {
    const browser = openBrowser(plane);
    const typed = { email, password: PASSWORD };
    const joined = await browser.post(await inviteTo(owner, role, email), typed, { "user-agent": program });
    if (joined.status !== 303) throw new Error(`the invite answered ${joined.status}: ${joined.html}`);
    return browser;
  };
  const memberEmail = `member-${name}@example.com`;
  await join(memberEmail, "editor");
  return {
    accountId,
    key,
    owner,
    agent,
    join,
    monitors: monitors as Record<CheckType, number>,
    incidentId,
    windowId,
    pageId: data.id,
    keyId,
    memberId: await memberIdOf(owner, memberEmail),
    startPath: await startPath(plane, accountId),
    invitePath: await inviteTo(owner, "viewer"),
    secrets: [SECRET, hook.signing_secret, key],
    heartbeatUrl,
  };
}

/** What members of an account can change, with how often they have. */
export async function readAll(plane: TestControlPlane, { key }: FilledAccount): Promise<readonly unknown[]> {
  const paths = ["monitors?action=export", "incidents", "changes"];
  const [all, incidents, changes] = await Promise.all(paths.map((path) => plane.call(`/api/v4/${path}`, { key })));
  const listed = (incidents?.body.data ?? []) as readonly { id: number; title: string; status: string }[];
  return [all?.body.data, listed.map(({ id, title, status }) => [id, title, status]), changes?.body.meta["pagination"]];
}

/** Plans maintenance by the form, from January 2031 on if the fields do not say otherwise. Returns its id. */
export async function planMaintenance(
  browser: Browser,
  fields: Record<string, string | readonly string[]>,
): Promise<number> {
  const when = { starts: "2031-01-04T02:00", lasts: "2", unit: "hours", repeats: "once", timezone: "UTC" };
  const planned = await browser.post("/app/maintenance/new", { title: "Updates", ...when, ...fields });
  const id = /^\/app\/maintenance\/(\d+)\?done=window_created$/.exec(planned.location ?? "")?.[1];
  if (id === undefined) throw new Error(`the maintenance was not planned: ${planned.status} ${planned.html}`);
  return Number(id);
}

async function inviteTo(owner: Browser, role: string, email = ""): Promise<string> {
  const { html } = await owner.post("/app/members/invites", { role, email });
  const found = /\/invite\/[0-9A-Za-z]{32}/.exec(html)?.[0];
  if (found === undefined) throw new Error(`no invite was created: ${html}`);
  return found;
}

/** Stores an open outage whose texts are the target's. */
async function storeOutage(plane: TestControlPlane, accountId: number, id: number, text: string): Promise<number> {
  const [row] = await plane.app.sql<{ id: number }[]>`
    insert into incidents (account_id, monitor_id, monitor_name, monitor_url, check_type, monitor_ids, page_ids, title,
      status, impact, is_public, started_at, confirmed_at, cause_code, cause_message, locations, entry_count)
    values (${accountId}, ${id}, ${text}, 'https://shop.example.com/', 'http', ${[id]}::bigint[], '{}', ${text},
      'investigating', 'major', false, now(), now(), 'connect_refused', ${text}, '[{"location":"eu-west","status":"down","error":null}]', 0)
    returning id`;
  return row?.id ?? 0;
}

async function storeCheck(plane: TestControlPlane, id: number): Promise<void> {
  await plane.app.sql`
    insert into checks (monitor_id, checked_at, location, status, response_ms, http_status, lag_ms, is_recheck, missed)
    values (${id}, now(), 'eu-west', 1, 50, 200, 0, false, 0)`;
}

/**
 * Returns the paths of a route of the dashboard with ids of an account: of every kind of monitor, and of the views that
 * the address chooses. Throws for a parameter that is not known here.
 */
export function pathsOf(url: string, account: NamedByPaths): readonly string[] {
  if (url === "/app/monitors") return [url, `${url}?sort=newest&q=e&state=unknown`, `${url}?q=no+such+monitor`];
  if (url === "/app/monitors/new")
    return [
      url,
      ...Object.keys(account.monitors).map((kind) => `${url}?kind=${kind}`),
      ...Object.values(account.monitors).map((id) => `${url}?from=${id}`),
    ];
  if (url === "/app/monitors/next-runs") return [url, `${url}?heartbeat.cron=${encodeURIComponent(HOSTILE_TEXT)}`];
  if (url.startsWith("/app/assets/")) return [];
  if (url === "/app/*") return ["/app/no-such-page"];
  if (url.startsWith("/start/")) return [account.startPath];
  if (url.startsWith("/invite/")) return [account.invitePath];
  if (url.startsWith("/reset/")) return ["/reset/none"];
  if (!url.includes(":")) return [url];
  const ids = IDS.find(([prefix]) => url.startsWith(prefix))?.[1];
  if (ids === undefined) throw new Error(`no id is known for ${url}: add it to IDS`);
  return ids(account).map((id) => url.replace(/:[a-z_]+/i, String(id)));
}

const IDS: readonly (readonly [prefix: string, ids: (account: NamedByPaths) => readonly (number | string)[]])[] = [
  ["/app/monitors/:id/pings", ({ monitors }) => [monitors.heartbeat]],
  ["/app/monitors/:id/rotate", ({ monitors }) => [monitors.heartbeat]],
  ["/app/monitors/:id", ({ monitors }) => Object.values(monitors)],
  ["/app/incidents/:id", ({ incidentId }) => [incidentId]],
  ["/app/maintenance/:id", ({ windowId }) => [windowId]],
  ["/app/status-pages/:id", ({ pageId }) => [pageId]],
  ["/app/tools/:name", () => ["dns", "ssl"]],
  ["/app/keys/:id", ({ keyId }) => [keyId]],
  ["/app/members/invites/:id", () => [1]],
  ["/app/members/:id", ({ memberId }) => [memberId]],
];

/** A text that breaks out of markup that does not escape it. */
export const HOSTILE_TEXT = `"><script>alert(1)</script></textarea></title><img src=x onerror=alert(2)>'javascript:alert(3)`;

/** Returns the markup of a page that HOSTILE_TEXT has written: scripts beside the one of the frame, handlers, pictures, script links. */
export function brokenOutOf(html: string): readonly string[] {
  const scripts = html.match(/<script[^>]*>/gi) ?? [];
  // What is left of tags without the values of attributes, which are texts.
  const tags = html.replaceAll(/"[^"]*"/g, "");
  return [
    ...scripts.filter(
      (tag) => !/^<script type="module" src="\/app\/assets\/[0-9a-f]{16}\/(?:live|controls)\.js">$/.test(tag),
    ),
    ...(html.match(/<img\b[^>]*|(?:href|src|action)="\s*javascript:[^"]*/gi) ?? []),
    ...(tags.match(/<[^>]*\son[a-z]+\s*=[^>]*/gi) ?? []),
  ];
}
