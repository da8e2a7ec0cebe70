import { createServer, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import { afterAll, describe, expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { startMailSink } from "#test/servers/mail-sink.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { confirmRecipients } from "#test/support/confirm-recipients.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** For calls that count against a key. */
const SETTLES = { interval: 250 };
const OPS = "ops@example.com";

const portOf = (server: Server) => (server.address() as AddressInfo).port;

const sink = await stopAfterAll(startMailSink());
const server = { host: "127.0.0.1", port: sink.port, tls: "offered", isVerified: true, credentials: null } as const;
const plane = await stopAfterAll(
  startControlPlane({ config: { mail: { server, from: "Vantage <alerts@example.com>" } } }),
);
useAgent(plane, "eu-west");
const sql = await stopAfterAll(
  connect(plane.databaseUrl, { name: "test", connections: 2, statementTimeoutMs: 30_000 }),
);
const made = await plane.operate("POST", "/api/admin/keys", { plan: "captain" });
const { account_id: accountId, key } = made.body.data as { account_id: number; key: string };
await confirmRecipients(sql, accountId, [OPS]);
let servers: readonly Server[] = [createServer(), createServer()];
for (const one of servers) await once(one.listen(0, "127.0.0.1"), "listening");
const ports = servers.map(portOf);

afterAll(async () => {
  for (const one of servers) one.close();
});

const create = async (body: object) => (await createMonitor(plane, key, body)).id;

interface Read {
  readonly status: string;
  readonly composite: { readonly members: readonly { readonly name: string; readonly status: string }[] } | null;
}

const read = async (id: number): Promise<Read> => (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data;
const statusOf = async (id: number) => (await read(id)).status;

/** Checks of a monitor are due now. */
async function check(...ids: readonly number[]): Promise<void> {
  await sql`update monitor_slots set planned_at = now(), due_at = now() where monitor_id = any(${[...ids]}::bigint[]) and lease = 0`;
}

interface Incident {
  readonly monitor: { readonly url: string | null };
  readonly cause: { readonly code: string; readonly message: string };
  readonly evidence: object | null;
  readonly status: string;
}

async function incidentOf(id: number): Promise<Incident> {
  const list = (await plane.call(`/api/v4/incidents?monitor_id=${id}`, { key })).body.data as { id: number }[];
  return (await plane.call(`/api/v4/incidents?id=${list[0]?.id ?? 0}`, { key })).body.data;
}

describe("a composite of two ports", () => {
  it("is down when both are, mails why, and is up again with them", async () => {
    const at = { url: "127.0.0.1", check_type: "port", locations: ["eu-west"], retries: 0, interval_minutes: 1 };
    const ids = [
      await create({ ...at, name: "Main database", port: ports[0] }),
      await create({ ...at, name: "Standby database", port: ports[1] }),
    ];
    const composite = await create({
      name: "Databases",
      check_type: "composite",
      composite: { monitor_ids: ids, down_when: "all" },
      notify_email: true,
      notify_emails: [OPS],
    });
    await expect.poll(() => statusOf(composite), SETTLES).toBe("up");
    servers[0]?.close();
    await check(...ids);
    await expect.poll(() => statusOf(ids[0] ?? 0), SETTLES).toBe("down");
    expect(await statusOf(composite)).toBe("up");
    servers[1]?.close();
    await check(...ids);
    await expect.poll(() => statusOf(composite), SETTLES).toBe("down");
    expect((await read(composite)).composite?.members).toEqual([
      { id: ids[0], name: "Main database", status: "down" },
      { id: ids[1], name: "Standby database", status: "down" },
    ]);
    const cause = { code: "members_down", message: "2 of 2 monitors are down: Main database and Standby database" };
    expect(await incidentOf(composite)).toMatchObject({ monitor: { url: null }, cause, evidence: null });

    await expect.poll(() => sink.mails.length, SETTLES).toBe(1);
    const [mail] = sink.mails;
    expect(mail?.header("subject")).toBe(`Down: Databases - ${cause.message}`);
    expect(mail?.text).toContain(cause.message);

    servers = ports.map(() => createServer());
    for (const [index, one] of servers.entries()) await once(one.listen(ports[index], "127.0.0.1"), "listening");
    await check(...ids);
    await expect.poll(() => statusOf(composite), SETTLES).toBe("up");
    await expect.poll(() => sink.mails.length, SETTLES).toBe(2);
    expect(sink.mails[1]?.header("subject")).toContain("Databases");
    expect((await incidentOf(composite)).status).toBe("resolved");
  });
});
