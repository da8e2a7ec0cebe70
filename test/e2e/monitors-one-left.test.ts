import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { until } from "#test/support/until.ts";
import { createMonitor } from "#test/support/create-monitor.ts";

const LOCATIONS = ["eu-west", "us-east"] as const;
const CAUSE = "HTTP 500 instead of 200 from eu-west, the only one of 2 locations that could check";

let plane: TestControlPlane;
let sql: Sql;
let key: string;
let site: HttpServer;
let status = 200;
let agents: AgentProcess[];

beforeAll(async () => {
  plane = await startControlPlane();
  sql = connect(plane.databaseUrl, { name: "test", connections: 2, statementTimeoutMs: 30_000 });
  key = await plane.createKey("captain");
  site = await startHttpServer({
    handler: (_request, response) => {
      response.writeHead(status).end();
      return true;
    },
  });
  agents = await Promise.all(LOCATIONS.map((region) => startAgent(plane, region)));
});

afterAll(async () => {
  await Promise.all((agents ?? []).map((agent) => agent.stop()));
  await sql?.end();
  await plane?.stop();
  await site?.close();
});

async function read<T>(path: string): Promise<T> {
  const { body } = await plane.call(`/api/v4/${path}`, { key });
  return body.data;
}

interface Monitor {
  readonly status: string;
  readonly last_change_at: string;
  readonly checks: readonly { readonly id: number; readonly location: string; readonly status: string }[];
}

interface Incident {
  readonly id: number;
  readonly cause: { readonly code: string; readonly message: string };
  readonly resolved_at: string | null;
  readonly timeline: readonly { readonly kind: string; readonly text: string }[];
}

describe("a monitor of two regions, of which one has lost its agent", () => {
  let id = 0;
  const shown = () => read<Monitor>(`monitors?id=${id}`);
  /** Makes its next checks due now, as after an interval. */
  const check = async (): Promise<void> => {
    await sql`update monitor_slots set planned_at = now(), due_at = now() where monitor_id = ${id} and lease = 0`;
  };
  const becomes = (wanted: string) =>
    until(async () => {
      await check();
      return (await shown()).status === wanted;
    }, `the status ${wanted}`);
  /** The ids of the newest checks of a location that are up or down. */
  const checksAt = async (location: string): Promise<readonly number[]> =>
    (await shown()).checks.filter((one) => one.location === location && one.status !== "unknown").map((one) => one.id);

  it("is down when the other finds it down, and its incident, event and cause say that only that could check", async () => {
    const body = { url: `${site.url}/`, name: "Shop", interval_minutes: 60, locations: LOCATIONS };
    ({ id } = await createMonitor(plane, key, body));
    await until(async () => (await shown()).status === "up", "the status up");
    const [, other] = agents;
    await other?.stop();
    status = 500;
    await becomes("down");
    const [incident] = await read<readonly Incident[]>(`incidents?monitor_id=${id}`);
    expect(incident?.cause).toEqual({ code: "http_status", message: CAUSE });
    const { timeline } = await read<Incident>(`incidents?id=${incident?.id}`);
    expect(timeline).toContainEqual(expect.objectContaining({ kind: "confirmed", text: CAUSE }));
    // Until the loss of the agent is noticed, the other location fails alone.
    const events = await sql<{ type: string; body: string }[]>`
      select type, body::text from events where monitor_id = ${id} and type <> 'monitor.advisory'`;
    expect(events.map(({ type }) => type)).toEqual(["monitor.down"]);
    expect(events[0]?.body).toContain(CAUSE);
  });

  it("stays down when the agent returns and finds it down too, with one incident and one event", async () => {
    const { last_change_at: wentDownAt } = await shown();
    const before = await checksAt("us-east");
    agents = [...agents.slice(0, 1), await startAgent(plane, "us-east")];
    await until(async () => {
      await check();
      return (await checksAt("us-east")).filter((one) => !before.includes(one)).length > 1;
    }, "checks of the agent that is back");
    expect(await shown()).toMatchObject({ status: "down", last_change_at: wentDownAt });
    expect(await read<readonly Incident[]>(`incidents?monitor_id=${id}`)).toMatchObject([{ resolved_at: null }]);
  });

  it("is up again when both find it up", async () => {
    status = 200;
    await becomes("up");
    expect((await read<readonly Incident[]>(`incidents?monitor_id=${id}`))[0]?.resolved_at).not.toBeNull();
  });
});
