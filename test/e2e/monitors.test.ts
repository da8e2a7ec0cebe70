import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";

interface Monitor {
  readonly id: number;
  readonly status: string;
  readonly last_error: { readonly reason: string } | null;
  readonly next_check_at: string | null;
  readonly checks: readonly {
    readonly status: string;
    readonly location: string;
    readonly http_status_code: number | null;
    readonly error: object | null;
  }[];
}

interface Incident {
  readonly id: number;
  readonly status: string;
  readonly cause: { readonly code: string; readonly message: string };
  readonly resolved_at: string | null;
  readonly timeline: readonly { readonly kind: string }[];
}

/** For calls that count against a key. */
const SETTLES = { interval: 250 };

let plane: TestControlPlane;
let agents: readonly AgentProcess[];
let site: Server;
let status = 200;
let url: string;
let key: string;

beforeAll(async () => {
  plane = await startControlPlane();
  key = await plane.createKey("captain");
  agents = await Promise.all(["eu-west", "us-east", "ap-south"].map((region) => startAgent(plane, region)));
  site = createServer((_request, response) => void response.writeHead(status).end("Welcome")).listen(0, "127.0.0.1");
  await once(site, "listening");
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
});

afterAll(async () => {
  await Promise.all(agents?.map((agent) => agent.stop()) ?? []);
  site?.close();
  await plane?.stop();
});

const create = async (body: object) =>
  (await createMonitor(plane, key, { url, check_type: "http", interval_minutes: 1, ...body })).id;

async function read(id: number): Promise<Monitor> {
  return (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data;
}

async function incidents(id: number): Promise<readonly Incident[]> {
  return (await plane.call(`/api/v4/incidents?monitor_id=${id}`, { key })).body.data;
}

describe("a monitor with three locations", () => {
  it("is up after its first checks, down when the target fails, and up again, with one incident", async () => {
    status = 200;
    const id = await create({ locations: ["eu-west", "us-east", "ap-south"], name: "Shop" });
    await expect.poll(async () => (await read(id)).status, SETTLES).toBe("up");
    // Two of three locations are enough to be up.
    const checkedFrom = async () => new Set((await read(id)).checks.map(({ location }) => location));
    await expect.poll(checkedFrom, SETTLES).toEqual(new Set(["eu-west", "us-east", "ap-south"]));
    const up = await read(id);
    expect(up.checks.every(({ http_status_code: code, status: verdict }) => code === 200 && verdict === "up")).toBe(
      true,
    );
    expect(await incidents(id)).toEqual([]);

    status = 503;
    await plane.call(`/api/v4/monitors?id=${id}&action=run`, { key, method: "POST" });
    await expect.poll(async () => (await read(id)).status, SETTLES).toBe("down");
    const [open] = await incidents(id);
    expect(open).toMatchObject({ resolved_at: null, cause: { code: "http_status" } });
    expect(open?.cause.message).toContain("503");

    status = 200;
    await expect.poll(async () => (await read(id)).status, SETTLES).toBe("up");
    const all = await incidents(id);
    expect(all).toHaveLength(1);
    expect(all[0]).toMatchObject({ id: open?.id, status: "resolved" });
  });
});

describe("a monitor with one location", () => {
  it("is down only after its retries, and its target is named in the cause", async () => {
    status = 200;
    const id = await create({ locations: ["eu-west"], check_type: "keyword", keyword: "Goodbye" });
    await expect.poll(async () => (await read(id)).status, SETTLES).toBe("down");
    const { checks, last_error: error } = await read(id);
    expect(checks.filter(({ status: verdict }) => verdict === "down").length).toBeGreaterThanOrEqual(3);
    expect(error?.reason).toBe("keyword_missing");
  });

  it("is not checked any more when it is paused, and its incident ends", async () => {
    const id = await create({ locations: ["eu-west"], check_type: "keyword", keyword: "Goodbye" });
    await expect.poll(async () => (await read(id)).status, SETTLES).toBe("down");
    await plane.call(`/api/v4/monitors?id=${id}`, { key, method: "PUT", body: { is_active: false } });
    const paused = await read(id);
    expect(paused).toMatchObject({ status: "unknown", next_check_at: null });
    const [incident] = await incidents(id);
    expect(incident?.resolved_at).not.toBeNull();
  });
});
