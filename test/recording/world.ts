import { bodiesOf, planMaintenance, type NamedByPaths } from "#test/support/dashboard-world.ts";
import { openBrowser, PASSWORD, signInOwner, startPath, type Browser } from "#test/support/dashboard.ts";
import { attachExampleAgent, beat, readToolExamples, type ToolExamples } from "#test/recording/agent.ts";
import type { RecordedService } from "#test/recording/service.ts";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { CallOptions, TestControlPlane } from "#test/support/control-plane.ts";
import type { ScriptedAgent } from "#test/support/scripted-agent.ts";
import { until } from "#test/support/until.ts";
import { markVerified } from "#test/support/verified-domain.ts";

/** Where the status page of the world is served as at a domain of its own. */
export const DOMAIN = "status.shop.example";
/** The path of the status page is /status/SLUG. */
export const SLUG = "shop";

/** An account with something behind every route, and what requests need to name it. */
export interface RecordedWorld extends NamedByPaths {
  readonly key: string;
  readonly owner: Browser;
  readonly examples: ToolExamples;
  readonly agent: ScriptedAgent;
  readonly accountId: number;
  readonly webhookId: number;
  readonly maintenanceId: number;
  readonly publicIncidentId: number;
  readonly heartbeatToken: string;
  readonly batchId: string;
  readonly measurementId: string;
  readonly shareId: string;
}

/** Fills a service. Nothing of it is checked by itself, and what it starts has ended before this resolves. */
export async function fillWorld({ plane, clock }: RecordedService): Promise<RecordedWorld> {
  const examples = readToolExamples();
  // First, because it shows another time to the service.
  const agent = await attachExampleAgent({ plane, clock }, "eu-west", examples);
  const step = () => {
    clock.advance(1_000);
    beat(agent);
  };
  const { browser: owner, accountId } = await signInOwner(plane, "owner@example.com", { address: "192.0.2.1" });
  const made = await plane.operate("POST", "/api/admin/keys", { account_id: accountId, name: "recording" });
  const { key, id: keyId } = made.body.data as { readonly key: string; readonly id: number };
  const create = async <T>(path: string, body: object): Promise<T> => {
    step();
    return must(plane, path, { key, body });
  };

  const monitors: Partial<Record<CheckType, number>> = {};
  let heartbeatToken = "";
  for (const [kind, body] of bodiesOf("ok")) {
    // A heartbeat is checked by nobody, and says something only if it is active.
    const rest = {
      name: `shop ${kind}`,
      check_type: kind,
      tags: ["shop"],
      is_active: kind === "heartbeat",
      notify_email: false,
    };
    const monitor = await create<{ id: number; heartbeat_url: string }>("/api/v4/monitors", { ...rest, ...body });
    monitors[kind] = monitor.id;
    if (kind === "heartbeat") heartbeatToken = new URL(monitor.heartbeat_url).pathname.split("/").at(-1) ?? "";
  }
  const parts = { monitor_ids: [monitors.http, monitors.dns], down_when: "any" };
  const composite = { name: "shop composite", check_type: "composite", composite: parts, is_active: false };
  monitors.composite = (await create<{ id: number }>("/api/v4/monitors", composite)).id;

  const hook = { url: "https://hooks.example.com/shop", name: "chat", events: ["ssl.expired"] };
  const { id: webhookId } = await create<{ id: number }>("/api/v4/webhooks", hook);
  const { id: pageId } = await create<{ id: number }>("/api/v4/status", {
    title: "Shop",
    slug: SLUG,
    domain: DOMAIN,
    monitors: [{ id: monitors.http, name: "Website" }, { id: monitors.heartbeat }],
  });
  await markVerified(plane.app.sql, DOMAIN);
  const { id: maintenanceId } = await create<{ id: number }>("/api/v4/maintenance", {
    title: "Database upgrade",
    monitor_ids: [monitors.http],
    starts_at: "2026-03-05T02:00:00Z",
    ends_at: "2026-03-05T04:00:00Z",
    public: true,
  });
  const windowId = await planMaintenance(owner, { title: "Updates", monitor_ids: String(monitors.http) });
  const { id: publicIncidentId } = await create<{ id: number }>("/api/v4/incidents", {
    title: "Slow checkout",
    impact: "minor",
    text: "We are looking into it.",
    page_ids: [pageId],
  });
  const incidentId = await failHeartbeat(plane, heartbeatToken, step);

  const params = examples.get("dns")?.params ?? {};
  const measured = { tool: "dns", params, share: true };
  const { id: measurementId } = await create<{ id: string }>("/api/v4/measurements", measured);
  const { sql } = plane.app;
  // Asked of the database: how often a request waits differs, and each one counts against a limit that answers name.
  const shareId = await until(async () => {
    const [row] = await sql<{ share: string }[]>`
      select share_id as share from measurements where id = ${measurementId} and status = 'completed'`;
    return row?.share;
  }, "the end of the measurement");
  const batch = { type: "http-status", urls: ["https://example.com/", "https://example.org/"] };
  const { job_id: batchId } = await create<{ job_id: string }>("/api/v4/batch", batch);
  await until(async () => {
    const [row] = await sql`select id from batches where id = ${batchId} and status = 'completed'`;
    return row;
  }, "the end of the batch");

  const invited = await owner.post("/app/members/invites", { role: "editor", email: "" });
  const editor = openBrowser(plane, "192.0.2.2");
  await editor.post(inviteIn(invited.html), { email: "editor@example.com", password: PASSWORD });
  const [member] = await sql<{ id: number }[]>`select id from users where email = 'editor@example.com'`;
  const another = await owner.post("/app/members/invites", { role: "viewer", email: "" });
  step();
  // The mail that asks the owner to confirm its address cannot be sent, and would be tried again at the queue's own pace.
  await until(async () => {
    const { count } = await sql`delete from deliveries where attempts > 0 and not is_leased`;
    return count > 0;
  }, "the first attempt of the mail");
  return {
    key,
    owner,
    examples,
    agent,
    accountId,
    webhookId,
    maintenanceId,
    publicIncidentId,
    heartbeatToken,
    batchId,
    measurementId,
    shareId,
    monitors: monitors as Record<CheckType, number>,
    incidentId,
    windowId,
    pageId,
    keyId,
    memberId: member?.id ?? 0,
    startPath: await startPath(plane, accountId),
    invitePath: inviteIn(another.html),
  };
}

/** Lets a heartbeat fail after a success, and returns the id of its incident. */
async function failHeartbeat(plane: TestControlPlane, token: string, step: () => void): Promise<number> {
  const ping = (signal: string) =>
    plane.call(`/api/heartbeat/${token}${signal}?rid=run-1`, { method: "POST", body: "disk is full" });
  for (const signal of ["/start", "", "/fail"]) {
    step();
    await ping(signal);
  }
  return until(async () => {
    const [row] = await plane.app.sql<{ id: number }[]>`select id from incidents where monitor_id is not null`;
    return row?.id;
  }, "the incident of the heartbeat");
}

async function must<T>(plane: TestControlPlane, path: string, options: CallOptions): Promise<T> {
  const { status, body, text } = await plane.call(path, options);
  if (status >= 300) throw new Error(`${path} answered ${status}: ${text}`);
  return body.data;
}

function inviteIn(html: string): string {
  const found = /\/invite\/[0-9A-Za-z]{32}/.exec(html)?.[0];
  if (found === undefined) throw new Error(`no invite was created: ${html}`);
  return found;
}
