import { describe, expect, it } from "vitest";
import { startGrpcServer } from "#test/servers/grpc-health.ts";
import { startMailSink } from "#test/servers/mail-sink.ts";
import { startTalker } from "#test/servers/talker.ts";
import { serverFrame, startWebsocketServer } from "#test/servers/websocket.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { openMailWorld } from "#test/support/mail-world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** For calls that count against a key. */
const SETTLES = { interval: 250 };
const OPS = "ops@example.com";

interface Monitor {
  readonly id: number;
  readonly status: string;
  readonly checks: readonly { readonly status: string; readonly error: object | null }[];
}

interface Incident {
  readonly cause: { readonly code: string; readonly message: string };
  readonly resolved_at: string | null;
}

let pong = "+PONG\r\n";
let greeting = "welcome";

const database = await stopAfterAll(createTestDatabase());
const sink = await stopAfterAll(startMailSink({}));
const server = { host: "127.0.0.1", port: sink.port, tls: "offered", isVerified: true, credentials: null } as const;
const plane = await stopAfterAll(
  startControlPlane({
    databaseUrl: database.url,
    config: { mail: { server, from: "Vantage <alerts@example.com>" } },
  }),
);
const world = await stopAfterAll(openMailWorld(database.url));
const key = await plane.createKey("captain");
useAgent(plane, "eu-west");
const redis = await stopAfterAll(
  startTalker({ on: { PING: (socket) => void socket.write(pong), "AUTH s3cret": "+OK\r\n" } }),
);
const rpc = await stopAfterAll(startGrpcServer(1));
const live = await stopAfterAll(
  startWebsocketServer({ opened: (socket) => void socket.write(serverFrame(0x81, greeting)) }),
);

const call = async (body: object) => plane.call("/api/v4/monitors", { key, body: { interval_minutes: 1, ...body } });

const read = async (id: number): Promise<Monitor> => (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data;

const run = (id: number) => plane.call(`/api/v4/monitors?action=run&id=${id}`, { key, method: "POST" });

/** A monitor's way: up, down with an incident and a mail while its server is broken, and up again. */
async function liveThrough(
  body: Readonly<Record<string, unknown>> & { readonly name: string },
  { break: breakServer, repair }: { readonly break: () => void; readonly repair: () => void },
): Promise<{ readonly cause: Incident["cause"]; readonly subject: string; readonly text: string }> {
  const rest = { locations: ["eu-west"], retries: 0, notify_email: true, notify_emails: [OPS] };
  const made = await call({ ...body, ...rest });
  expect(made.text).toContain('"id"');
  const { id } = made.body.data as Monitor;
  await world.sql`update mail_recipients set confirmed_at = now(), wants_confirmation = false where email = ${OPS}`;
  await expect.poll(async () => (await read(id)).status, SETTLES).toBe("up");
  breakServer();
  await run(id);
  await expect.poll(async () => (await read(id)).status, SETTLES).toBe("down");
  const mailOf = (event: string) =>
    sink.mails.find(
      (mail) => mail.header("x-service-event") === event && mail.header("subject")?.includes(body.name) === true,
    );
  await expect.poll(() => mailOf("monitor.down") !== undefined, SETTLES).toBe(true);
  repair();
  await run(id);
  await expect.poll(async () => (await read(id)).status, SETTLES).toBe("up");
  await expect.poll(() => mailOf("monitor.up") !== undefined, SETTLES).toBe(true);
  const incidents = (await plane.call(`/api/v4/incidents?monitor_id=${id}`, { key })).body.data as readonly Incident[];
  expect(incidents).toHaveLength(1);
  expect(incidents[0]?.resolved_at).not.toBeNull();
  const mail = mailOf("monitor.down");
  return {
    cause: incidents[0]?.cause ?? { code: "", message: "" },
    subject: mail?.header("subject") ?? "",
    text: mail?.text ?? "",
  };
}

describe("a monitor of a dialogue", () => {
  it("of type tcp is up, down with the server's words, and up again", async () => {
    const { cause, subject, text } = await liveThrough(
      { name: "Cache", check_type: "tcp", url: `tcp://127.0.0.1:${redis.port}`, tcp: { preset: "redis" } },
      { break: () => (pong = "-LOADING Redis is loading\r\n"), repair: () => (pong = "+PONG\r\n") },
    );
    const words = '+PONG expected, the server said "-LOADING Redis is loading"';
    expect(cause).toEqual({
      code: "response_unexpected_answer",
      message: `Unexpected answer from eu-west: ${words}`,
    });
    expect(subject).toBe(`Down: Cache - Unexpected answer: ${words}`);
    expect(text).toContain(words);
  });
});

describe("metadata of a grpc monitor", () => {
  it("reaches the server, and is shown to nobody: a mask in a change keeps it, another server drops it", async () => {
    const metadata = { authorization: "Bearer s3cret" };
    const url = `grpc://127.0.0.1:${rpc.port}`;
    const made = await call({ name: "Secret", check_type: "grpc", url, locations: ["eu-west"], grpc: { metadata } });
    expect(made.text).not.toContain("s3cret");
    const { id, grpc } = made.body.data as Monitor & { readonly grpc: object };
    expect(grpc).toEqual({ service: null, tls: null, metadata: { authorization: "****" } });
    await expect.poll(async () => (await read(id)).status, SETTLES).toBe("up");
    const sent = () => rpc.requests.at(-1)?.metadata["authorization"];
    expect(sent()).toBe("Bearer s3cret");
    const change = async (body: object) => {
      const changed = await plane.call(`/api/v4/monitors?id=${id}`, { key, method: "PUT", body });
      return (changed.body.data as { readonly grpc: object }).grpc;
    };
    const masked = { service: "shop.Cart", metadata: { authorization: "****" } };
    expect(await change({ grpc: masked })).toMatchObject(masked);
    await run(id);
    await expect.poll(() => rpc.requests.at(-1)?.service, SETTLES).toBe("shop.Cart");
    expect(sent()).toBe("Bearer s3cret");
    const [row] = await world.sql<{ settings: unknown }[]>`select settings::text from monitors where id = ${id}`;
    expect(JSON.stringify(row)).toContain("shop.Cart");
    expect(JSON.stringify(row)).not.toContain("s3cret");
    expect(await change({ url: "grpc://127.0.0.2:1" })).toMatchObject({ metadata: {} });
  });

  it("is dropped by a change from TLS to clear text, and kept by one that names the present form", async () => {
    const body = { name: "Plain", check_type: "grpc", url: "127.0.0.2:1", locations: ["eu-west"] };
    const made = await call({ ...body, grpc: { tls: true, metadata: { authorization: "Bearer s3cret" } } });
    const { id } = made.body.data as Monitor;
    const change = async (grpc: object) =>
      (await plane.call(`/api/v4/monitors?id=${id}`, { key, method: "PUT", body: { grpc } })).body;
    const kept = { data: { grpc: { tls: true, metadata: { authorization: "****" } } } };
    expect(await change({ tls: true, metadata: { authorization: "****" } })).toMatchObject(kept);
    const { data, meta } = (await change({ tls: false })) as { data: object; meta: { warnings: unknown } };
    expect(data).toMatchObject({ grpc: { tls: false, metadata: {} } });
    expect(JSON.stringify(meta.warnings)).toContain("grpc.metadata.authorization");
  });
});

describe("the text that a monitor says to its server", () => {
  const change = async (id: number, body: object) =>
    (await plane.call(`/api/v4/monitors?id=${id}`, { key, method: "PUT", body })).body.data as Record<string, object>;
  const shownAs = (made: { readonly body: { readonly data?: unknown } }) =>
    (made.body.data as Record<string, object>)["tcp"];

  it("reaches a TCP server, and is shown to nobody: a mask in a change keeps it, another server drops it", async () => {
    const tcp = { send: "AUTH s3cret\r\n", expect: "+OK" };
    const url = `127.0.0.1:${redis.port}`;
    const made = await call({ name: "Said", check_type: "tcp", url, locations: ["eu-west"], tcp });
    expect(made.text).not.toContain("s3cret");
    expect(shownAs(made)).toMatchObject({ preset: null, send: "****", expect: "+OK", tls: "none", send_limited: true });
    const { id } = made.body.data as Monitor;
    await expect.poll(async () => (await read(id)).status, SETTLES).toBe("up");
    expect(await change(id, { tcp: { send: "****", expect: "OK" } })).toMatchObject({
      tcp: { send: "****", expect: "OK" },
    });
    await expect.poll(async () => (await read(id)).status, SETTLES).toBe("up");
    const [row] = await world.sql<{ settings: unknown }[]>`select settings::text from monitors where id = ${id}`;
    expect(JSON.stringify(row)).not.toContain("s3cret");
    const document = await plane.call("/api/v4/monitors?action=export", { key });
    expect(document.text).not.toContain("s3cret");
    expect(document.text).toContain("tcp.send");
    expect(await change(id, { url: "127.0.0.2:1" })).toMatchObject({ tcp: { send: null } });
  });

  it("reaches a WebSocket", async () => {
    const websocket = { send: "token s3cret" };
    const url = `ws://127.0.0.1:${live.port}/`;
    const made = await call({ name: "Heard", check_type: "websocket", url, locations: ["eu-west"], websocket });
    expect(made.text).not.toContain("s3cret");
    await expect.poll(() => live.frames.map(({ text }) => text), SETTLES).toContain("token s3cret");
  });
});

describe("an agent of an earlier release", () => {
  it("declines the check, so that the monitor is unknown and not down, and the check says why", async () => {
    const old = await attachScripted(plane, helloOf("old-land"));
    const made = await call({ name: "Old", check_type: "tcp", url: "127.0.0.1:9", locations: ["old-land"] });
    const { id } = made.body.data as Monitor;
    let job = await old.nextJob();
    // On a busy machine the other agent is offline for a moment, and its monitors are checked from here.
    while (job.tool !== "monitor-tcp") job = await old.nextJob();
    const { jobId, attempt } = job;
    old.send({ body: { $case: "declined", value: { jobId, attempt, reason: "incapable" } } });
    await expect.poll(async () => (await read(id)).checks.length, SETTLES).toBeGreaterThan(0);
    const { status, checks } = await read(id);
    expect(status).toBe("unknown");
    expect(checks[0]).toMatchObject({ status: "unknown", error: { source: "probe", reason: "declined" } });
    old.cut();
  });
});

describe("a write", () => {
  it.each<[object, string, string]>([
    [{ check_type: "tcp", url: "example.com" }, "url", "must have a port, such as example.com:4222"],
    [{ check_type: "tcp", url: "https://example.com" }, "url", "must be"],
    [{ check_type: "tcp", url: "example.com:25", tcp: { tls: "starttls" } }, "tcp.tls", "must be none or implicit"],
    [{ check_type: "tcp", url: "example.com", tcp: { preset: "ssh", expect: "x" } }, "tcp.expect", "must be null"],
    [{ check_type: "tcp", url: "example.com", tcp: { preset: "ssh", send: "x" } }, "tcp.send", "must be null"],
    [{ check_type: "tcp", url: "example.com:9", tcp: { send: "****" } }, "tcp.send", "give the text itself"],
    [{ check_type: "tcp", url: "10.0.0.1:25" }, "url", ""],
    [{ check_type: "grpc", url: "example.com" }, "url", "must have a port, such as example.com:50051"],
    [{ check_type: "grpc", url: "grpc://example.com", grpc: { tls: true } }, "grpc.tls", "must be false"],
    [
      { check_type: "grpc", url: "a.example:1", grpc: { metadata: { "grpc-x": "1" } } },
      "grpc.metadata",
      "cannot be set",
    ],
    [
      { check_type: "grpc", url: "a.example:1", grpc: { metadata: { X: "****" } } },
      "grpc.metadata.X",
      "give the value",
    ],
    [{ check_type: "websocket", url: "https://example.com" }, "url", "must be a ws:// or wss:// URL"],
    [
      { check_type: "websocket", url: "wss://e.com", websocket: { subprotocol: "a b" } },
      "websocket.subprotocol",
      "must be a token",
    ],
    [{ check_type: "websocket", url: "ws://10.0.0.1/" }, "url", ""],
    [{ check_type: "http", url: "https://example.com", tcp: { preset: "ssh" } }, "tcp", "is only for check_type tcp"],
  ])("of %j is refused by the field %s", async (body, field, words) => {
    const { status, body: answer } = await call({ name: "x", locations: ["eu-west"], ...body });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect((answer as { error: { field: string } }).error).toMatchObject({ field });
    expect((answer as { error: { message: string } }).error.message).toContain(words);
  });
});
