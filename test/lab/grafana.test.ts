import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "#test/laws/source-files.ts";
import { replaceIn, startPrometheus, whyNoPrometheus, type Prometheus } from "#test/lab/prometheus.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { freePort } from "#test/support/free-port.ts";
import { queriesOf, readDashboards, type Dashboard } from "#test/support/grafana.ts";
import { openDatabase, type OpenDatabase } from "#test/support/postgres.ts";
import { shortenIntervals } from "#test/support/shorten-intervals.ts";
import { until } from "#test/support/until.ts";

// Runs every query of the dashboards in a real Prometheus, with the configuration and the rules of the containers. Only
// addresses, paths and intervals are replaced, and alerts do not wait.
const missing = whyNoPrometheus();
if (missing !== null) console.warn(`grafana.test.ts ${missing}`);

const CONFIGURATION = join(ROOT, "deploy/prometheus");
const METRIC = /\b(?:vantage|nodejs|process|probe)[_:][a-z0-9_:]+/g;

const dashboards = readDashboards();
const queries = dashboards.flatMap((dashboard) => queriesOf(dashboard).map((query) => ({ ...query, dashboard })));

/** Puts values of variables into a query, as Grafana does. */
function fill(query: string, values: ReadonlyMap<string, string>): string {
  const filled = query.replaceAll("$__rate_interval", "10s");
  return [...values].reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), filled);
}

/**
 * Returns a query without its answer where nothing has happened, which would hide a wrong label: what it asks for has
 * happened here. A count of all events has no label that could be wrong.
 */
function withoutFallback(query: string): string {
  if (/^sum\(increase\(\w+\{job=~"\$job"\}\[\$__rate_interval\]\)\) or vector\(0\)$/.test(query)) return query;
  return query.replaceAll(/ or (?:on \(\) label_replace\(vector\(0\),[^)]*\)|vector\(0\))/g, "");
}

describe.skipIf(missing !== null)("the dashboards", () => {
  let database: OpenDatabase;
  let plane: ControlPlaneProcess;
  let agent: AgentProcess;
  let web: HttpServer;
  let folder: string;
  let prometheus: Prometheus;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "vantage-grafana-"));
    database = await openDatabase();
    for (const statement of shortenIntervals(1)) await database.sql.unsafe(statement);
    const [planeMetrics, agentMetrics, nothing] = [await freePort(), await freePort(), await freePort()];
    plane = await startControlPlaneProcess(database.url, {
      settings: {
        VANTAGE_METRICS_ADDR: `127.0.0.1:${planeMetrics}`,
        VANTAGE_BACKUP_DIR: folder,
        VANTAGE_BACKUP_SCHEDULE: "0 3 * * *",
        VANTAGE_ALLOW_TARGETS: "127.0.0.0/8",
        VANTAGE_WEBHOOK_RETRY_SCHEDULE: "0s",
        VANTAGE_TARGET_BUDGET: "1",
        // Mail that waits, and a warning.
        VANTAGE_SMTP_URL: `smtp://127.0.0.1:${nothing}`,
        VANTAGE_MAIL_FROM: "vantage@example.com",
      },
    });
    await until(async () => (await plane.call("/readyz")).status === 503, "a failed request");
    web = await startHttpServer();
    agent = await startAgent(plane, "eu-west", {
      VANTAGE_AGENT_METRICS_ADDR: `127.0.0.1:${agentMetrics}`,
      // It resolves no name.
      VANTAGE_DNS_SERVERS: `127.0.0.1:${nothing}`,
    });
    const key = await plane.createKey();
    // Its receiver speaks no TLS: a delivery that fails.
    const webhook = { url: `https://127.0.0.1:${new URL(web.url).port}/` };
    await plane.call("/api/v4/webhooks", { key, body: webhook });
    for (const status of [200, 500])
      await createMonitor(plane, key, {
        url: `${web.url}/status/${status}`,
        notify_email: true,
        notify_emails: ["sre@example.com"],
      });
    const ask = async () => (await plane.call("/api/v4/check?url=http://www.example.com/", { key })).text;
    await until(async () => (await ask()).includes("rate_limit_exceeded"), "the budget of the target is used up");
    // A job that waits.
    await database.sql`insert into pgboss.job (name, start_after)
      select name, now() + interval '1 day' from pgboss.queue where name not like '\\_\\_%' limit 1`;

    const read = (name: string): string => readFileSync(join(CONFIGURATION, name), "utf8");
    const configuration = replaceIn(read("containers.yml"), [
      ["15s", "1s"],
      ["control-plane:9464", `127.0.0.1:${planeMetrics}`],
      ["control-plane:8080", new URL(plane.url).host],
      ["agent-eu-west:9465", `127.0.0.1:${agentMetrics}`],
      // Two agents are down.
      ["agent-us-east:9465", `127.0.0.1:${nothing}`],
      ["agent-ap-south:9465", `127.0.0.2:${nothing}`],
      ["/run/secrets", folder],
    ]);
    writeFileSync(join(folder, "prometheus.yml"), configuration);
    writeFileSync(join(folder, "rules.yml"), read("rules.yml").replaceAll(/^ +for: .*\n/gm, ""));
    writeFileSync(join(folder, "monitors-key"), key);
    prometheus = await startPrometheus(folder);
    await until(async () => (await prometheus.query("up == 1")).length === 3, "three targets are up");
  });
  afterAll(async () => {
    await prometheus?.stop();
    await agent?.stop();
    await plane?.end("SIGTERM");
    await web?.close();
    await database?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Waits until each variable has values; returns its choice "All", and each value, by name. */
  async function choices(dashboard: Dashboard) {
    const all = new Map<string, string>();
    const each = new Map<string, readonly string[]>();
    for (const variable of dashboard.templating.list) {
      if (variable.type === "datasource") continue;
      const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(variable.query.query) ?? [];
      expect(selector, `${dashboard.name}: ${variable.name}`).toBeDefined();
      const path = `label/${label}/values?match[]=${encodeURIComponent(fill(selector ?? "", all))}`;
      const values = await until(async () => {
        const found = await prometheus.ask<readonly string[]>(path);
        return found !== null && found.length > 0 && found;
      }, `${dashboard.name}: values of ${variable.name}`);
      all.set(variable.name, variable.allValue ?? `(${values.join("|")})`);
      each.set(variable.name, values);
    }
    return { all, each };
  }

  const hasNumber = async (expression: string): Promise<boolean> =>
    (await prometheus.query(expression)).some(({ value: [, value] }) => Number.isFinite(Number(value)));

  it.each(queries)("$where has data", async ({ dashboard, expr }) => {
    const { all } = await choices(dashboard);
    for (const query of new Set([expr, withoutFallback(expr)])) {
      const filled = fill(query, all);
      await expect.poll(() => hasNumber(filled), { message: filled }).toBe(true);
    }
  });

  it.each(queries.filter(({ expr }) => expr.includes("$region")))("$where has data of one region", async (query) => {
    const { all, each } = await choices(query.dashboard);
    expect(each.get("region")).toEqual(["eu-west"]);
    const one = fill(query.expr, new Map([...all, ["region", "eu-west"]]));
    await expect.poll(() => hasNumber(one), { message: one }).toBe(true);
  });

  it.each(dashboards)("$name selects jobs of its own", async (dashboard) => {
    const { each } = await choices(dashboard);
    for (const job of each.get("job") ?? []) expect(job).toMatch(/^vantage-/);
  });

  it.each(dashboards)("$name names metrics that exist", async (dashboard) => {
    const texts = queriesOf(dashboard).map(({ expr }) => expr);
    for (const variable of dashboard.templating.list) if (variable.type === "query") texts.push(variable.query.query);
    const recorded = readFileSync(join(CONFIGURATION, "rules.yml"), "utf8");
    // A metric whose first event has not happened has no series yet, but a type.
    const known = await until(() => prometheus.ask<Readonly<Record<string, unknown>>>("metadata"), "metadata");
    const named = new Set(texts.flatMap((text) => text.match(METRIC) ?? []));
    const exists = (name: string): boolean =>
      recorded.includes(`- record: ${name}\n`) || name in known || name.replace(/_(?:bucket|count|sum)$/, "") in known;
    expect(named.size).toBeGreaterThan(0);
    expect([...named].filter((name) => !exists(name))).toEqual([]);
  });
});
