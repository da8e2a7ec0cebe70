import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { serveAt } from "#test/support/verified-domain.ts";

const PROGRAMS = fileURLToPath(new URL("programs", import.meta.url));
/** The client asks https://<id>.statuspage.io only: that is the page's own domain here, and this server its proxy. */
const PROGRAM = `
  const { Statuspage } = require("statuspage.js");
  const client = new Statuspage("example-shop");
  (async () => {
    const [summary, status, components, unresolved, incidents, maintenances, upcoming, active] = await Promise.all([
      client.summary(), client.status(), client.components(), client.unresolvedIncidents(), client.allIncidents(),
      client.allScheduledMaintenances(), client.upcomingScheduledMaintenances(), client.activeScheduledMaintenances(),
    ]);
    process.stdout.write(JSON.stringify({ summary, status, components, unresolved, incidents, maintenances, upcoming, active }));
  })().catch((error) => { console.error(error); process.exitCode = 1; });
`;

let plane: TestControlPlane;
let key: string;

beforeAll(async () => {
  plane = await startControlPlane();
  key = await plane.createKey("captain");
});
afterAll(() => plane?.stop());

it("a client of Statuspage's API reads a page, its components, incidents and maintenance", async () => {
  const made = await plane.call("/api/v4/monitors", { key, body: { check_type: "heartbeat", name: "internal" } });
  const { id, heartbeat_url: url } = made.body.data as { readonly id: number; readonly heartbeat_url: string };
  const page = await plane.call("/api/v4/status", {
    key,
    body: {
      title: "Example Shop",
      slug: "example-shop",
      auto_incidents_after_minutes: 0,
      domain: "example-shop.statuspage.io",
      monitors: [{ id, name: "Orders" }],
    },
  });
  expect(page.status, page.text).toBe(201);
  await serveAt(plane, "example-shop.statuspage.io");
  await plane.call(`${new URL(url).pathname}/3`);
  await plane.call("/api/v4/maintenance", {
    key,
    body: { title: "Upgrade", monitor_ids: [id], starts_at: inHours(24), ends_at: inHours(25), public: true },
  });

  const { stdout } = await promisify(execFile)(process.execPath, ["-e", PROGRAM], {
    cwd: PROGRAMS,
    env: { PATH: process.env["PATH"], HTTPS_PROXY: plane.url },
    timeout: 240_000,
  });
  const read = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
  const failing = { name: "Orders", status: "major_outage" };
  const incident = { name: "Orders is down", status: "investigating", impact: "major" };
  expect(read["summary"]).toMatchObject({
    page: { name: "Example Shop" },
    status: { indicator: "critical" },
    components: [failing],
    incidents: [incident],
    scheduled_maintenances: [{ name: "Upgrade", status: "scheduled" }],
  });
  expect(read["status"]).toMatchObject({ status: { indicator: "critical" } });
  expect(read["components"]).toMatchObject({ components: [failing] });
  expect(read["unresolved"]).toMatchObject({ incidents: [incident] });
  expect(read["incidents"]).toMatchObject({ incidents: [incident] });
  expect(read["upcoming"]).toMatchObject({ scheduled_maintenances: [{ name: "Upgrade" }] });
  expect(read["active"]).toMatchObject({ scheduled_maintenances: [] });
  expect(read["maintenances"]).toMatchObject({ scheduled_maintenances: [{ name: "Upgrade" }] });
});

function inHours(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString();
}
